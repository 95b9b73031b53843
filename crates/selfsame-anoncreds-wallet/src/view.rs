//! What controllers see and say. The members have the names of ACA-Py's admin API.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A credential as controllers see it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct CredentialInfo {
    /// Its identifier in the wallet.
    pub referent: String,
    /// The attributes with their raw values.
    pub attrs: BTreeMap<String, String>,
    /// The identifier of the schema.
    pub schema_id: String,
    /// The identifier of the credential definition.
    pub cred_def_id: String,
    /// The revocation registry.
    pub rev_reg_id: Option<String>,
    /// The index there.
    pub cred_rev_id: Option<String>,
}

/// A credential that can answer some of what a request asks for.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct MatchingCredential {
    /// The credential.
    pub cred_info: CredentialInfo,
    /// The interval in which it must not be revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Value>,
    /// The referents of the request that it can answer.
    pub presentation_referents: Vec<String>,
}

/// What a holder shows.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct ChosenCredentials {
    /// The credential for each attribute referent.
    #[serde(default)]
    pub requested_attributes: BTreeMap<String, ShownAttribute>,
    /// The credential for each predicate referent.
    #[serde(default)]
    pub requested_predicates: BTreeMap<String, ShownPredicate>,
    /// Values that the holder states without a credential.
    #[serde(default)]
    pub self_attested_attributes: BTreeMap<String, String>,
}

/// The credential for an attribute.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ShownAttribute {
    /// The credential's identifier in the wallet.
    pub cred_id: String,
    /// Whether its value is shown.
    pub revealed: bool,
    /// As of when it is proven not to be revoked, in seconds since 1970; the newest state without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<u64>,
}

/// The credential for a predicate.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ShownPredicate {
    /// The credential's identifier in the wallet.
    pub cred_id: String,
    /// As for an attribute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<u64>,
}
