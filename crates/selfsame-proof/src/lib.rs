//! Owns: transaction-log hashes (RFC 6962), signed notes and checkpoints (C2SP), their verification.
//! Does not own: what a transaction means, private keys, storage, fetching.
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

pub mod checkpoint;
pub mod log;
pub mod note;

/// Why a frontier, a note or a checkpoint is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ProofError {
    /// The bytes are not a frontier.
    #[error("not a log frontier")]
    Frontier,
    /// The text is not a signed note; whoever made it must act.
    #[error("not a signed note: {0}")]
    Note(&'static str),
    /// The text of the note is not a checkpoint; whoever made it must act.
    #[error("not a checkpoint: {0}")]
    Checkpoint(&'static str),
    /// The text is not a verifier key; whoever configured it must act.
    #[error("not a verifier key: {0}")]
    VerifierKey(&'static str),
    /// No signature is by a trusted key.
    #[error("no signature is by a trusted key")]
    Untrusted,
    /// A signature that names a trusted key is not by that key.
    #[error("a signature that names a trusted key is not by that key")]
    BadSignature,
}
