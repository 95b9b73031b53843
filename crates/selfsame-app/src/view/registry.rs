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

/// What time it is to a registry that runs in this process.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct RegistryClock {
    /// What the machine's clock says.
    pub clock: String,
    /// The time that is believed, which checkpoints are signed with.
    pub believed: String,
    /// Why the clock is not believed, and nothing is written; none while it is.
    pub doubt: Option<String>,
}

/// How a node of a network is, for its operator.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct NodeHealth {
    /// Its name, which its signatures have.
    pub name: String,
    /// The blocks it has stored; those that enough validators have signed may be one less.
    pub height: u64,
    /// Why it does not take part at this moment; none while both of its halves run.
    pub trouble: Option<String>,
    /// What its engine found validators to have done against the protocol.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub misbehaviour: Vec<Misbehaviour>,
}

/// What a validator did against the protocol, as evidence in the network's blocks says.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Misbehaviour {
    /// Its name.
    pub validator: String,
    /// What it did last: `double_vote`, `light_client_attack` or `unknown`.
    pub kind: String,
    /// How often.
    pub count: u64,
    /// The height it did so first at.
    pub first_height: u64,
    /// The height it did so last at.
    pub last_height: u64,
}

/// How a witness of the registry has done since the start.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct WitnessFigures {
    /// The name it signs under.
    pub name: String,
    /// Checkpoints it cosigned.
    pub cosigned: u64,
    /// Those for which it answered anything else.
    pub refused: u64,
    /// Those for which it did not answer in time.
    pub silent: u64,
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
    /// Such as `create_did`, `update_did`, `deactivate_did`, `anchor_status`, `delegate`, `consume` or `revoke`.
    pub kind: String,
    /// Who signed it.
    pub author: String,
    /// What it is about: a DID or a list.
    pub subject: String,
    /// The transaction in readable form.
    #[schema(value_type = Object)]
    pub content: Value,
    /// What of all this nothing proves: the words of one node. Empty where the ledger is at hand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unproven: Vec<String>,
}

/// What became of a credential for one use.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct RegistryUse {
    /// `consume` or `revoke`.
    pub action: String,
    /// The DID that did it.
    pub by: String,
    /// When, RFC 3339.
    pub at: String,
    /// The number of the transaction.
    pub seq_no: u64,
    /// The issuer's delegation it was done under; none where the issuer himself did it.
    pub delegation: Option<String>,
}

/// A delegation as the registry has it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct RegistryDelegation {
    /// Its name among the issuer's.
    pub name: String,
    /// The DID that may.
    pub to: String,
    /// The types of the credentials it is for.
    pub scope: Vec<String>,
    /// `consume` or `revoke`.
    pub action: String,
    /// Until when, RFC 3339, exclusively.
    pub until: String,
    /// The number of the transaction that gave it.
    pub seq_no: u64,
    /// The number of the transaction that withdrew it.
    pub withdrawn: Option<u64>,
}
