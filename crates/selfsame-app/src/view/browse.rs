//! What the registry's pages show of its ledger.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A block, as its checkpoint says it.
#[derive(Clone, Debug, Serialize)]
pub struct BlockView {
    /// Its height, from 1.
    pub height: u64,
    /// When, RFC 3339.
    pub time: String,
    /// The number of its first transaction, if it has any.
    pub first: u64,
    /// How many transactions it has.
    pub transactions: u64,
    /// The digest of log and state, hexadecimal.
    pub app_hash: String,
}

/// An operation of a transaction.
#[derive(Clone, Debug, Serialize)]
pub struct OperationView {
    /// The number of its transaction, from 1; 0 for what the genesis says.
    pub seq_no: u64,
    /// Which of the transaction's operations, from 1.
    pub place: u64,
    /// How many operations the transaction has.
    pub of: u64,
    /// The block it is in.
    pub height: u64,
    /// When, seconds since the epoch.
    pub unix_time: u64,
    /// When, RFC 3339.
    pub time: String,
    /// The transaction's hash, hexadecimal.
    pub hash: String,
    /// What kind it is, such as `create_did`.
    pub kind: String,
    /// Who signed it; empty for what the genesis says.
    pub author: String,
    /// Who vouched for it.
    pub endorser: Option<String>,
    /// What it is about.
    pub subject: String,
    /// What it says, in a sentence.
    pub said: String,
    /// The operation in readable form.
    pub content: Value,
    /// The author's nonce.
    pub nonce: u64,
    /// Who signed with which key, and the signature, hexadecimal.
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

/// What a search found.
#[derive(Clone, Debug, Serialize)]
pub struct FoundView {
    /// How many there are; at most 10,000 where words are searched.
    pub total: u64,
    /// A page of them.
    pub items: Vec<OperationView>,
    /// Where the next page begins, if there is one.
    pub next: Option<u64>,
    /// Up to which transaction was searched; all, unless many came at once.
    pub searched: u64,
    /// How many transactions there are.
    pub transactions: u64,
}

/// That a transaction is in the log, and why: all that a reader needs who trusts the validators and nobody else.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct InclusionView {
    /// The transaction's number; its place in the tree is one less.
    pub seq_no: u64,
    /// The transaction as logged, base64.
    pub transaction: String,
    /// The hash of its leaf (RFC 6962 §2.1), hexadecimal.
    pub leaf: String,
    /// The hashes beside the way from the leaf to the root, from below, hexadecimal.
    pub path: Vec<String>,
    /// For each of them, whether it stands left of the way.
    pub left: Vec<bool>,
    /// How many transactions the log had at the checkpoint.
    pub size: u64,
    /// The log's root, hexadecimal.
    pub root: String,
    /// The signed checkpoint, a C2SP note.
    pub checkpoint: String,
    /// Who signed the checkpoint, by name.
    pub signers: Vec<String>,
    /// The checkpoint's height.
    pub height: u64,
    /// The checkpoint's time, RFC 3339.
    pub time: String,
}

/// A validator, and whether it took part in the newest checkpoint.
#[derive(Clone, Debug, Serialize)]
pub struct ValidatorView {
    /// Its name.
    pub name: String,
    /// Its weight.
    pub power: u64,
    /// Its part of the weight of all, in percent.
    pub percent: u64,
    /// Its key for checkpoints, as multikey.
    pub key: String,
    /// Its key in the consensus engine, as multikey.
    pub consensus_key: Option<String>,
    /// The steward who runs it.
    pub steward: Option<String>,
    /// Whether its signature is under the newest checkpoint.
    pub signed: bool,
}

/// The validators and what they signed last.
#[derive(Clone, Debug, Serialize)]
pub struct ValidatorsView {
    /// Those of the next height.
    pub validators: Vec<ValidatorView>,
    /// The height of the newest signed checkpoint; none while too few have signed.
    pub height: Option<u64>,
    /// Its time, RFC 3339.
    pub time: Option<String>,
    /// How many may fail before writing stops.
    pub tolerates: u64,
}

/// What stands under a key of the state, and the proof of that.
#[derive(Clone, Debug, Serialize)]
pub struct ObjectView {
    /// The key.
    pub key: String,
    /// What stands there in readable form; none if nothing does.
    pub value: Option<Value>,
    /// Bytes of the value.
    pub bytes: usize,
    /// Whether the proof holds for who trusts the genesis.
    pub holds: bool,
    /// The rules it was judged by: name, result, what was seen, paragraph.
    pub rules: Vec<RuleView>,
    /// Who signed the checkpoint, by name.
    pub signers: Vec<String>,
    /// The checkpoint's height, if it was signed.
    pub height: Option<u64>,
    /// The checkpoint's time, RFC 3339.
    pub time: Option<String>,
    /// The hashes of the proof, from the root's side, hexadecimal.
    pub path: Vec<String>,
    /// How many changes of validators lead from the genesis to the checkpoint.
    pub handovers: usize,
    /// The proof as bytes, base64url, as `/registry/read` gives it.
    pub bundle_bytes: usize,
    /// Its versions, the newest first, of those that change.
    pub versions: Vec<VersionView>,
}

/// A rule of a judgement.
#[derive(Clone, Debug, Serialize)]
pub struct RuleView {
    /// Its name.
    pub name: String,
    /// Whether it holds; none if it does not apply.
    pub passed: Option<bool>,
    /// What was seen.
    pub detail: String,
    /// The paragraph it rests on.
    pub paragraph: String,
}

/// A version of an object.
#[derive(Clone, Debug, Serialize)]
pub struct VersionView {
    /// Its number, from 1.
    pub number: u64,
    /// The transaction that made it; 0 for the genesis.
    pub seq_no: u64,
    /// The block.
    pub height: u64,
    /// When, RFC 3339.
    pub time: String,
}
