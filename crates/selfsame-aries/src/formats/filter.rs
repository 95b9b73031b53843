//! Which credential a holder wants, in the words of no format.

use selfsame_crypto::json::{self, JsonError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::LIMITS;

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
    /// What a format says that has no credential definitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<Value>,
}

/// The names of the issuers in a format, beside the names here.
pub(super) type IssuerNames = [(&'static str, &'static str); 2];

/// Reads a filter of a format that names the issuers so.
pub(super) fn read(bytes: &[u8], names: &IssuerNames) -> Result<CredentialFilter, JsonError> {
    let mut members: Map<String, Value> = json::parse_as(bytes, &LIMITS)?;
    members.remove("terms");
    for (theirs, ours) in names {
        members.remove(*ours);
        if let Some(value) = members.remove(*theirs) {
            members.insert((*ours).to_owned(), value);
        }
    }
    json::parse_as(&json::to_bytes(&Value::Object(members)), &LIMITS)
}

/// Writes it.
pub(super) fn write(filter: &CredentialFilter, names: &IssuerNames) -> Vec<u8> {
    let mut value = serde_json::to_value(filter).unwrap_or_default();
    if let Some(members) = value.as_object_mut() {
        members.remove("terms");
        for (theirs, ours) in names {
            if let Some(value) = members.remove(*ours) {
                members.insert((*theirs).to_owned(), value);
            }
        }
    }
    json::to_bytes(&value)
}
