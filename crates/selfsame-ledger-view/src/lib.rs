//! What registries show of themselves, as data for pages, the API and other nodes.
//!
//! Owns: the types of a registry's status, clock and nodes, of its transactions and objects. Does not own: how they are
//! read from a ledger (`selfsame-ledger`), how pages show them (`selfsame-pages`).

pub mod browse;

use selfsame_driver::{Reason, Reasons};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The identity of the registry and its size.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct RegistryStatus {
    /// The network's name in DIDs.
    pub network: String,
    /// Number of blocks.
    pub height: u64,
    /// Number of transactions.
    pub transactions: u64,
    /// The signed checkpoint, a C2SP note.
    pub checkpoint: String,
    /// The key that verifies the checkpoint.
    pub verifier_key: String,
}

/// The clock of a registry that runs in this process.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct RegistryClock {
    /// The time of the machine's clock.
    pub clock: String,
    /// The believed time, which checkpoints are signed with.
    pub believed: String,
    /// Why the clock is not believed, so that nothing is written; absent while it is believed.
    #[schema(value_type = Option<String>)]
    pub doubt: Option<Reason>,
}

impl Reasons for RegistryClock {
    fn reasons(&mut self) -> Vec<&mut Reason> {
        self.doubt.iter_mut().collect()
    }
}

/// The health of a node of a network, for its operator.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct NodeHealth {
    /// The name it signs under.
    pub name: String,
    /// The number of blocks it has stored; enough validators may have signed one less.
    pub height: u64,
    /// Why it does not take part now; absent while both of its halves run.
    pub trouble: Option<String>,
    /// Violations of the protocol by validators, as found by its engine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub misbehaviour: Vec<Misbehaviour>,
}

/// A validator's violations of the protocol, from the evidence in the network's blocks.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Misbehaviour {
    /// The validator's name.
    pub validator: String,
    /// The latest kind: `double_vote`, `light_client_attack` or `unknown`.
    pub kind: String,
    /// Number of violations.
    pub count: u64,
    /// The height of the first one.
    pub first_height: u64,
    /// The height of the latest one.
    pub last_height: u64,
}

/// Figures of a witness of the registry since the start.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct WitnessFigures {
    /// The name it signs under.
    pub name: String,
    /// Number of checkpoints it cosigned.
    pub cosigned: u64,
    /// Number of checkpoints that it answered with anything else.
    pub refused: u64,
    /// Number of checkpoints that it did not answer in time.
    pub silent: u64,
}

/// A transaction in the log.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct RegistryEntry {
    /// Its number, from 1.
    pub seq_no: u64,
    /// The height of its block.
    pub height: u64,
    /// Its time, RFC 3339.
    pub time: String,
    /// Its hash, hexadecimal.
    pub hash: String,
    /// For example `create_did`, `update_did`, `deactivate_did`, `anchor_status`, `delegate`, `consume` or `revoke`.
    pub kind: String,
    /// The DID that signed it.
    pub author: String,
    /// The object it changes: a DID or a list.
    pub subject: String,
    /// The transaction in readable form.
    #[schema(value_type = Object)]
    pub content: Value,
    /// The members above that are not proven and rest on the word of one node. Empty if this instance has the ledger.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unproven: Vec<String>,
}

/// The use or revocation of a single-use credential.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct RegistryUse {
    /// `consume` or `revoke`.
    pub action: String,
    /// The DID that did it.
    pub by: String,
    /// Its time, RFC 3339.
    pub at: String,
    /// The number of the transaction.
    pub seq_no: u64,
    /// The issuer's delegation that permitted it; absent if the issuer did it.
    pub delegation: Option<String>,
}

/// A delegation in the registry.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct RegistryDelegation {
    /// Its name, unique for the issuer.
    pub name: String,
    /// The delegate's DID.
    pub to: String,
    /// The types of credentials it covers.
    pub scope: Vec<String>,
    /// `consume` or `revoke`.
    pub action: String,
    /// When it ends, RFC 3339; exclusive.
    pub until: String,
    /// The number of the transaction that created it.
    pub seq_no: u64,
    /// The number of the transaction that withdrew it.
    pub withdrawn: Option<u64>,
}
