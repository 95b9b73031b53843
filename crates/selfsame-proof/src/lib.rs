//! Owns: the transaction log and the state's tree with their proofs, signed notes and checkpoints,
//! the validators that sign them, and the judgement of a read. Does not own: what a transaction or an
//! object means, private keys, storage, fetching.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

pub mod cbor;
pub mod checkpoint;
pub mod client;
pub mod entries;
pub mod kept;
pub mod log;
pub mod note;
pub mod read;
pub mod reads;
pub mod tree;
pub mod validators;
pub mod witness;

/// Why a frontier, a note or a checkpoint is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ProofError {
    /// The bytes are not a frontier.
    #[error("not a log frontier")]
    Frontier,
    /// The text is not a signed note; whoever made it must act.
    #[error("not a signed note: {0}")]
    Note(&'static str),
    /// A proof does not show that an object is, or none is, in a state; whoever made it must act.
    #[error("not a proof of the state: {0}")]
    Tree(&'static str),
    /// A proof does not show what it should of a log; whoever made it must act.
    #[error("not a proof of the log: {0}")]
    Log(&'static str),
    /// Other transactions were given than were asked for and are in the log; whoever gave them must act.
    #[error("not the transactions that were asked for")]
    Entries,
    /// The transaction of this number is not proven to be in the log; whoever gave it must act.
    #[error("transaction {0} is not proven to be in the log")]
    Entry(u64),
    /// The text of the note is not a checkpoint; whoever made it must act.
    #[error("not a checkpoint: {0}")]
    Checkpoint(&'static str),
    /// The text is not a verifier key; whoever configured it must act.
    #[error("not a verifier key: {0}")]
    VerifierKey(&'static str),
    /// The text is not a call of a witness or its answer; whoever made it must act.
    #[error("not of the witness protocol: {0}")]
    Witness(&'static str),
    /// Too few of the trusted keys signed.
    #[error("too few of the trusted keys signed")]
    Untrusted,
    /// The validators signed a checkpoint of a height that others judge.
    #[error("the checkpoint is of a height before the validators were named")]
    Early,
    /// A signature that names a trusted key is not by that key.
    #[error("a signature that names a trusted key is not by that key")]
    BadSignature,
}
