//! What is told of a node's identity.

use serde::{Deserialize, Serialize};

/// A node's identity.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct NodeIdentity {
    /// Its DID.
    pub did: String,
    /// The handle of its current key.
    pub key: String,
    /// `active`, `pending` or `deactivated`.
    pub state: String,
    /// The credential that it shows, if it has one.
    pub credential: Option<NodeCredential>,
}

/// A node's credential.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct NodeCredential {
    /// Its format.
    pub format: String,
    /// Who issued it.
    pub issuer: String,
    /// What kinds of credential it is.
    pub types: Vec<String>,
    /// Until when it can be used.
    pub expires: Option<String>,
}
