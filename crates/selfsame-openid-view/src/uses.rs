//! The use of a single-use credential.

use selfsame_credential::single_use::Use;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::words;

/// The use of a single-use credential.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct CredentialUse {
    /// What happened to it.
    #[schema(value_type = words::UseKind)]
    pub action: String,
    /// The DID that did it.
    pub by: String,
    /// When it happened, RFC 3339.
    pub at: String,
    /// The number of the transaction in the registry.
    pub seq_no: u64,
}

impl CredentialUse {
    /// The use, as shown to people.
    #[must_use]
    pub fn of(used: &Use) -> Self {
        Self {
            action: used.action.as_str().to_owned(),
            by: used.by.to_string(),
            at: used.at.rfc3339(),
            seq_no: used.seq_no,
        }
    }
}
