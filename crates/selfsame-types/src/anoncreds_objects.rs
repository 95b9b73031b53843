//! What a version of a type has in the registry for AnonCreds.

use selfsame_driver::Reason;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The schema and the credential definition of a version of a type.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct AnonCredsObjects {
    /// How far their publication is.
    pub state: PublishingState,
    /// The identifier of the schema, a DID URL. The registry has it once the state is `published`.
    pub schema_id: String,
    /// The identifier of the credential definition, a DID URL.
    pub cred_def_id: String,
    /// The number of the transaction that published them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq_no: Option<u64>,
    /// Why the publication failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub reason: Option<Reason>,
}

/// How far a publication is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PublishingState {
    /// The keys are made, or the registry has not answered yet.
    Publishing,
    /// The registry has them.
    Published,
    /// It failed, and is tried again when the operator says so.
    Failed,
}

impl PublishingState {
    /// Its name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Publishing => "publishing",
            Self::Published => "published",
            Self::Failed => "failed",
        }
    }
}
