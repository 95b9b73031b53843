//! The registry's types for the pages that show its ledger.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A block, as described by its checkpoint.
#[derive(Clone, Debug, Serialize)]
pub struct BlockView {
    /// Its height, from 1.
    pub height: u64,
    /// Its time, RFC 3339.
    pub time: String,
    /// The number of its first transaction, if it has any.
    pub first: u64,
    /// Number of its transactions.
    pub transactions: u64,
    /// The digest of log and state, hexadecimal.
    pub app_hash: String,
}

/// An operation of a transaction.
#[derive(Clone, Debug, Serialize)]
pub struct OperationView {
    /// The number of its transaction, from 1; 0 for the genesis.
    pub seq_no: u64,
    /// The operation's position in the transaction, from 1.
    pub place: u64,
    /// Number of operations in the transaction.
    pub of: u64,
    /// The height of its block.
    pub height: u64,
    /// Its time, in seconds since the epoch.
    pub unix_time: u64,
    /// Its time, RFC 3339.
    pub time: String,
    /// The transaction's hash, hexadecimal.
    pub hash: String,
    /// Its kind, such as `create_did`.
    pub kind: String,
    /// The DID that signed it; empty for the genesis.
    pub author: String,
    /// The DID that endorsed it.
    pub endorser: Option<String>,
    /// The object it changes.
    pub subject: String,
    /// A description in a sentence.
    pub said: String,
    /// The operation in readable form.
    pub content: Value,
    /// The author's nonce.
    pub nonce: u64,
    /// The signatures, each with the DID URL of its key.
    pub signatures: Vec<SignatureView>,
}

/// A signature under a transaction.
#[derive(Clone, Debug, Serialize)]
pub struct SignatureView {
    /// The DID URL of the key.
    pub key: String,
    /// 64 bytes.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

/// The result of a search.
#[derive(Clone, Debug, Serialize)]
pub struct FoundView {
    /// Number of hits; at most 10,000 in a word search.
    pub total: u64,
    /// A page of hits.
    pub items: Vec<OperationView>,
    /// Where the next page begins, if there is one.
    pub next: Option<u64>,
    /// The last transaction searched; the newest one, unless many were added at once.
    pub searched: u64,
    /// Number of transactions in the log.
    pub transactions: u64,
}

/// Proof that a transaction is in the log: all that a reader needs who trusts only the validators.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct InclusionView {
    /// The transaction's number; its index in the tree is one less.
    pub seq_no: u64,
    /// The transaction as logged, base64.
    pub transaction: String,
    /// The hash of its leaf (RFC 6962 §2.1), hexadecimal.
    pub leaf: String,
    /// The sibling hashes on the path from the leaf to the root, from below, hexadecimal.
    pub path: Vec<String>,
    /// For each of them, whether it is the left sibling.
    pub left: Vec<bool>,
    /// Number of transactions in the log at the checkpoint.
    pub size: u64,
    /// The log's root, hexadecimal.
    pub root: String,
    /// The signed checkpoint, a C2SP note.
    pub checkpoint: String,
    /// The names of the checkpoint's signers.
    pub signers: Vec<String>,
    /// The checkpoint's height.
    pub height: u64,
    /// The checkpoint's time, RFC 3339.
    pub time: String,
}

/// A validator, and whether it signed the newest checkpoint.
#[derive(Clone, Debug, Serialize)]
pub struct ValidatorView {
    /// Its name.
    pub name: String,
    /// Its voting power.
    pub power: u64,
    /// Its share of the total voting power, in percent.
    pub percent: u64,
    /// Its key for checkpoints, as multikey.
    pub key: String,
    /// Its key in the consensus engine, as multikey.
    pub consensus_key: Option<String>,
    /// The steward that runs it.
    pub steward: Option<String>,
    /// Whether it signed the newest checkpoint.
    pub signed: bool,
}

/// The validators and the newest checkpoint they signed.
#[derive(Clone, Debug, Serialize)]
pub struct ValidatorsView {
    /// The validators of the next height.
    pub validators: Vec<ValidatorView>,
    /// The height of the newest signed checkpoint; absent while too few have signed.
    pub height: Option<u64>,
    /// Its time, RFC 3339.
    pub time: Option<String>,
    /// Number of validators that may fail before writing stops.
    pub tolerates: u64,
}

/// The object under a key of the state, with its proof.
#[derive(Clone, Debug, Serialize)]
pub struct ObjectView {
    /// The key.
    pub key: String,
    /// The object in readable form; absent if the value has no readable form.
    pub value: Option<Value>,
    /// Bytes of the value.
    pub bytes: usize,
    /// Whether the proof is valid for a reader who trusts the genesis.
    pub holds: bool,
    /// The rules that the proof was checked by.
    pub rules: Vec<RuleView>,
    /// The names of the checkpoint's signers.
    pub signers: Vec<String>,
    /// The checkpoint's height, if it is signed.
    pub height: Option<u64>,
    /// The checkpoint's time, RFC 3339.
    pub time: Option<String>,
    /// The hashes of the proof, from the root's side, hexadecimal.
    pub path: Vec<String>,
    /// Number of validator set changes between the genesis and the checkpoint.
    pub handovers: usize,
    /// Size in bytes of the proof that `/registry/read` returns.
    pub bundle_bytes: usize,
    /// Its versions, newest first, for objects that can change.
    pub versions: Vec<VersionView>,
}

/// A rule of a verification.
#[derive(Clone, Debug, Serialize)]
pub struct RuleView {
    /// Its name.
    pub name: String,
    /// Whether the rule is satisfied; absent if it does not apply.
    pub passed: Option<bool>,
    /// What was found.
    pub detail: String,
    /// The paragraph it comes from.
    pub paragraph: String,
}

/// A version of an object.
#[derive(Clone, Debug, Serialize)]
pub struct VersionView {
    /// Its number, from 1.
    pub number: u64,
    /// The number of the transaction that made it; 0 for the genesis.
    pub seq_no: u64,
    /// The height of its block.
    pub height: u64,
    /// Its time, RFC 3339.
    pub time: String,
}
