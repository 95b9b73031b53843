//! Applications for credentials that need others, as an organisation sees them.

use selfsame_driver::{Reason, Reasons};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// An application to begin.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewApplication {
    /// The id of the type that is applied for.
    #[serde(rename = "type")]
    pub type_id: String,
    /// A note for the issuer's own list; not sent anywhere.
    #[serde(default)]
    pub label: Option<String>,
}

/// The state of an application.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApplicationState {
    /// The wallet was asked and has not answered.
    Asked,
    /// What the wallet has shown meets the rule: the offer can be made.
    Proven,
    /// What the wallet has shown does not meet the rule.
    Refused,
    /// The person declined, or the time is over.
    Over,
    /// The offer was made.
    Offered,
}

impl ApplicationState {
    /// Its name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Proven => "proven",
            Self::Refused => "refused",
            Self::Over => "over",
            Self::Offered => "offered",
        }
    }
}

/// An application.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ShownApplication {
    /// Its id.
    pub id: String,
    /// The id of the type that is applied for.
    #[serde(rename = "type")]
    pub type_id: String,
    /// Its version.
    pub version: u32,
    /// Its state.
    pub state: ApplicationState,
    /// The link for the wallet: `openid4vp://…`.
    pub uri: String,
    /// Until when the proof counts, RFC 3339: the credential must be issued by then.
    pub until: String,
    /// The needed credentials.
    pub needs: Vec<NeededCredential>,
    /// Why the rule is not met.
    #[schema(value_type = Vec<String>)]
    pub unmet: Vec<Reason>,
    /// The claims that the form is filled with, once the rule is met.
    #[schema(value_type = Object)]
    pub claims: Map<String, Value>,
    /// The paths of the locked ones.
    pub locked: Vec<Vec<String>>,
    /// The id of the offer, once it was made.
    pub offer: Option<String>,
    /// A note for the issuer's own list.
    pub label: Option<String>,
}

impl Reasons for ShownApplication {
    fn reasons(&mut self) -> Vec<&mut Reason> {
        self.unmet.iter_mut().collect()
    }
}

/// A needed credential.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct NeededCredential {
    /// Its name within the rule.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// Its SD-JWT VC types.
    pub vct_values: Vec<String>,
    /// The issuers it may come from; empty for all that the organisation trusts.
    pub issuers: Vec<String>,
    /// The address where people get it.
    pub get_at: Option<String>,
    /// Whether it was shown, and counts.
    pub is_proven: bool,
}

/// A form that was filled in.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FilledApplication {
    /// The claims. Those that are absent are taken from what the form was filled with.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub claims: Map<String, Value>,
    /// A format that the settings enable; default: the first one enabled.
    #[serde(default)]
    pub format: Option<String>,
    /// Whether the wallet must send a transaction code that reaches the person separately.
    #[serde(default)]
    pub tx_code: bool,
    /// Whether the link contains a reference instead of the offer itself.
    #[serde(default)]
    pub by_reference: bool,
}
