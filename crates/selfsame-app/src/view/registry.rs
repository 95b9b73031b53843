//! The registry's shapes for pages and API.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// What the registry is and how far it has come.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct RegistryStatus {
    /// The network's name in DIDs.
    pub network: String,
    /// Blocks so far.
    pub height: u64,
    /// Transactions so far.
    pub transactions: u64,
    /// The signed checkpoint, a C2SP note.
    pub checkpoint: String,
    /// The key that verifies it.
    pub verifier_key: String,
}

/// A transaction in the log.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct RegistryEntry {
    /// Its number, from 1.
    pub seq_no: u64,
    /// The block it is in.
    pub height: u64,
    /// When, RFC 3339.
    pub time: String,
    /// Its hash, hexadecimal.
    pub hash: String,
    /// `create_did`, `update_did`, `deactivate_did` or `anchor_status`.
    pub kind: String,
    /// Who signed it.
    pub author: String,
    /// What it is about: a DID or a list.
    pub subject: String,
    /// The transaction in readable form.
    #[schema(value_type = Object)]
    pub content: Value,
}
