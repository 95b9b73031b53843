//! Which credential a holder wants, in the words of no format.

use serde::{Deserialize, Serialize};

/// What a credential must be of; what is missing may be anything.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct CredentialFilter {
    /// The identifier of the credential definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cred_def_id: Option<String>,
    /// The issuer of the credential.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The identifier of the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_id: Option<String>,
    /// Who published the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_issuer: Option<String>,
    /// The name of the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_name: Option<String>,
    /// The version of the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_version: Option<String>,
}
