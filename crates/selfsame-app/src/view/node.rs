//! A node's identity, as shown to its operator.

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
    /// The credential that it presents, if it has one.
    pub credential: Option<NodeCredential>,
}

/// A node's credential.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct NodeCredential {
    /// Its format.
    pub format: String,
    /// Its issuer.
    pub issuer: String,
    /// Its types.
    pub types: Vec<String>,
    /// Until when it is valid.
    pub expires: Option<String>,
}
