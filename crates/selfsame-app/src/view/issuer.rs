//! The issuer's types: templates, offers, issued credentials.

use selfsame_credential::date::is_full_date;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{CredentialUse, Labels};

/// A type of credential that this issuer can issue.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Template {
    /// Its name in URLs and commands, such as `immunization`.
    pub id: String,
    /// Its title for people.
    pub title: String,
    /// What it attests, in one sentence.
    pub description: String,
    /// The last part of its SD-JWT VC type.
    pub vct: String,
    /// Its W3C types, the general one first.
    pub types: Vec<String>,
    /// Whether a credential is single-use. Applies to SD-JWT VCs of an issuer with a `did:selfsame`.
    #[serde(default)]
    pub single_use: bool,
    /// Number of days for which a credential is valid.
    pub validity_days: u64,
    /// The card's colour, as CSS.
    pub color: String,
    /// A pictogram, such as an emoji.
    pub icon: String,
    /// Its claims, in the order of the form.
    pub claims: Vec<ClaimField>,
    /// The request that a verifier typically makes.
    pub request: TypicalRequest,
}

/// A permission to create: to use up or revoke credentials on the issuer's behalf.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewDelegation {
    /// The delegate: a `did:selfsame` of the issuer's network.
    pub to: String,
    /// `consume` or `revoke`.
    pub action: String,
    /// The templates whose credentials it covers.
    pub templates: Vec<String>,
    /// When it ends, RFC 3339; default 90 days from now.
    #[serde(default)]
    pub until: Option<String>,
}

/// A delegation: the permission to use up or revoke credentials on the issuer's behalf.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Delegation {
    /// Its name in the registry, unique for this issuer.
    pub id: String,
    /// The delegate's DID.
    pub to: String,
    /// `consume` or `revoke`.
    pub action: String,
    /// The templates whose credentials it covers.
    pub templates: Vec<String>,
    /// When it ends, RFC 3339.
    pub until: String,
    /// Its state.
    pub state: DelegationState,
    /// The number of the transaction that created it; absent while it is pending.
    pub seq_no: Option<u64>,
}

/// The state of a delegation.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DelegationState {
    /// The registry does not have it yet; it will be sent again.
    Pending,
    /// It is in force.
    Active,
    /// It has expired.
    Expired,
    /// The issuer has withdrawn it.
    Withdrawn,
}

impl DelegationState {
    /// Its name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Active => "active",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// One claim of a template.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ClaimField {
    /// The names of the object members that lead to it.
    pub path: Vec<String>,
    /// Its label for people, by language.
    pub label: Labels,
    /// The kind of value.
    pub kind: ClaimKind,
    /// Whether every credential must have it.
    pub mandatory: bool,
    /// Whether the holder may withhold it.
    pub disclosable: bool,
    /// Whether the holder may disclose single elements of a list and withhold the others.
    #[serde(default)]
    pub each: bool,
    /// The members of a list's elements, if they are objects; empty for lists of texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<ItemField>,
    /// A realistic value about an obviously invented person.
    #[schema(value_type = Value)]
    pub example: Value,
}

/// One member of the objects in a list; an object may lack it.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ItemField {
    /// The member's name.
    pub name: String,
    /// Its label for people, by language.
    pub label: Labels,
    /// The kind of value.
    pub kind: ClaimKind,
}

/// The kind of a claim's value.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimKind {
    /// A line of text.
    Text,
    /// A date, `YYYY-MM-DD`.
    Date,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A list of texts or objects.
    List,
}

impl ClaimKind {
    /// Whether a value is of this kind.
    #[must_use]
    pub fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Date => value.as_str().is_some_and(is_full_date),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::List => value.is_array(),
        }
    }

    /// The kind of value expected, in words for people.
    #[must_use]
    pub fn expectation(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Date => "date such as 2026-01-31",
            Self::Number => "number",
            Self::Boolean => "true or false",
            Self::List => "list",
        }
    }
}

/// The request that a verifier typically makes for a template.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct TypicalRequest {
    /// Its title for people.
    pub title: String,
    /// The claims it requests.
    pub claims: Vec<Vec<String>>,
}

/// An offer to create.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewOffer {
    /// The template's id.
    pub template: String,
    /// `dc+sd-jwt`, `jwt_vc_json` or `vc+jwt`, if the settings enable it; default: the first one enabled.
    #[serde(default)]
    pub format: Option<String>,
    /// The claims; with `examples`, absent ones take the template's examples.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub claims: Map<String, Value>,
    /// Whether absent claims take the template's examples.
    #[serde(default)]
    pub examples: bool,
    /// How many times it can be accepted; default 1.
    #[serde(default)]
    pub uses: Option<u32>,
    /// Whether the wallet must send a transaction code that reaches the person separately.
    #[serde(default)]
    pub tx_code: bool,
    /// Whether the link contains a reference instead of the offer itself.
    #[serde(default)]
    pub by_reference: bool,
    /// How long it can be accepted, in seconds; default one hour.
    #[serde(default)]
    pub expires_in: Option<u64>,
    /// A note for the issuer's own list; not sent anywhere.
    #[serde(default)]
    pub label: Option<String>,
}

/// An offer.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Offer {
    /// Its id.
    pub id: String,
    /// The template's id.
    pub template: String,
    /// The credential's format.
    pub format: String,
    /// The link for the wallet: `openid-credential-offer://…`.
    pub uri: String,
    /// The transaction code for the person; only in the response that created the offer.
    pub tx_code: Option<String>,
    /// `open`, `taken`, `locked` (too many wrong codes) or `expired`.
    pub state: String,
    /// How many more times it can be accepted.
    pub uses_left: u32,
    /// Until when it can be accepted, RFC 3339.
    pub expires: String,
    /// The issuer's note.
    pub label: Option<String>,
}

/// An issued credential; its claims are not stored.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct IssuedCredential {
    /// Its id in this issuer's records; not part of the credential.
    pub id: String,
    /// The template's id.
    pub template: String,
    /// Its format.
    pub format: String,
    /// The id of its offer.
    pub offer: String,
    /// When it was issued, rounded, RFC 3339.
    pub issued: String,
    /// Until when it is valid, RFC 3339.
    pub expires: String,
    /// `valid`, `revoked` or `suspended`.
    pub status: CredentialStatus,
    /// Whether the served status lists show this status; they do within a second of a change.
    pub published: bool,
    /// The URI of its status list.
    pub status_list: String,
    /// Its index in that list.
    pub status_index: u64,
    /// The issuer's note.
    pub label: Option<String>,
    /// The use of a single-use credential, or its revocation by a delegate; absent if the registry has none.
    #[serde(default)]
    pub used: Option<CredentialUse>,
}

/// The status of a credential.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CredentialStatus {
    /// Valid, as issued.
    Valid,
    /// Revoked for good.
    Revoked,
    /// Suspended for now.
    Suspended,
}

/// A signed status list, ready to be served.
#[derive(Clone, Debug)]
pub struct ServedList {
    /// The signed token.
    pub body: std::sync::Arc<[u8]>,
    /// Its media type.
    pub content_type: &'static str,
    /// Its entity tag, with quotes.
    pub etag: String,
    /// How long a cache may keep it, in seconds.
    pub max_age: u64,
}
