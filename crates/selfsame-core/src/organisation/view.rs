//! What is shown of organisations, and what can be asked of them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An organisation to create.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewOrganisation {
    /// Its name in addresses: lower-case letters, digits, and single hyphens between them; 63 characters at most.
    pub name: String,
    /// Its name for people, 100 characters at most.
    pub title: String,
    /// Whether it issues credentials; default true.
    #[serde(default = "yes")]
    pub issuer: bool,
    /// Whether it asks for presentations; default true.
    #[serde(default = "yes")]
    pub verifier: bool,
    /// Whether it issues the samples, if the instance has them; default true.
    #[serde(default = "yes")]
    pub samples: bool,
    /// The method of its DID. Default: `selfsame` with a registry, else `jwk`.
    #[serde(default)]
    pub did_method: Option<String>,
    /// A host name of its own, such as `id.clinic.example`: its addresses and its identifiers begin with it. It can't be
    /// changed later. Default: its addresses stand below `/o/` and its name.
    #[serde(default)]
    pub host: Option<String>,
}

/// What to change of an organisation; what is absent stays.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OrganisationChange {
    /// Its name for people.
    #[serde(default)]
    pub title: Option<String>,
    /// Whether it issues credentials.
    #[serde(default)]
    pub issuer: Option<bool>,
    /// Whether it asks for presentations.
    #[serde(default)]
    pub verifier: Option<bool>,
    /// Whether it issues the samples, if the instance has them.
    #[serde(default)]
    pub samples: Option<bool>,
    /// Its state: `active` or `suspended`.
    #[serde(default)]
    pub state: Option<OrganisationState>,
    /// Its host name, which can't be changed: another one is refused.
    #[serde(default)]
    pub host: Option<String>,
}

/// The state of an organisation.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrganisationState {
    /// It issues and verifies.
    Active,
    /// It only serves what others need to verify the credentials that it issued.
    Suspended,
    /// It is being erased: what it has of people is being removed.
    Erasing,
    /// It was erased. For a time it serves what others need to verify the credentials that it issued.
    Erased,
}

impl OrganisationState {
    /// Its name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended => "suspended",
            Self::Erasing => "erasing",
            Self::Erased => "erased",
        }
    }
}

/// An organisation.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct OrganisationView {
    /// Its name in addresses.
    pub name: String,
    /// Its own host name, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Its name for people.
    pub title: String,
    /// Whether it issues credentials.
    pub issuer: bool,
    /// Whether it asks for presentations.
    pub verifier: bool,
    /// Whether it issues the samples, if the instance has them.
    pub samples: bool,
    /// The address of its logo.
    #[serde(default)]
    pub logo: Option<String>,
    /// Its colour, `#rrggbb`.
    #[serde(default)]
    pub colour: Option<String>,
    /// Its state.
    pub state: OrganisationState,
    /// Its identifier as an issuer in OpenID4VCI, which all its addresses begin with.
    pub identifier: String,
    /// Its DID.
    pub did: String,
    /// When it was created, RFC 3339.
    pub created: String,
    /// Its erasure, if one was ordered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasure: Option<ErasureView>,
}

/// The erasure of an organisation.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct ErasureView {
    /// When it began, RFC 3339.
    pub begun: String,
    /// Until when what others need to verify is kept, RFC 3339.
    pub until: String,
    /// Whether its keys and all its records are destroyed.
    pub over: bool,
}

/// What the erasure of an organisation would make unverifiable, and when.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct ErasureForecast {
    /// Until when what others need to verify would be kept, RFC 3339.
    pub until: String,
    /// The number of its credentials that are valid now.
    pub valid_credentials: u64,
    /// Whether there may be more: only the newest 2,000 credentials are looked through.
    pub and_more: bool,
    /// When the last of those credentials expires, RFC 3339; absent if none is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_expires: Option<String>,
}

/// The order to erase an organisation.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ErasureOrder {
    /// The name of the organisation, typed again.
    pub confirm: String,
    /// Whether to destroy at once what others need to verify, also of an organisation that is erased already.
    #[serde(default)]
    pub now: bool,
}

pub(super) fn yes() -> bool {
    true
}
