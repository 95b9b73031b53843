//! Errors of verifying and of making proofs.

/// Why a frontier, a note or a checkpoint is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ProofError {
    /// The bytes are not a frontier.
    #[error("not a log frontier")]
    Frontier,
    /// The text is not a signed note; its author must act.
    #[error("not a signed note: {0}")]
    Note(&'static str),
    /// A proof does not show the presence or absence of an object in a state; its author must act.
    #[error("not a proof of the state: {0}")]
    Tree(&'static str),
    /// A proof does not show the claimed property of a log; its author must act.
    #[error("not a proof of the log: {0}")]
    Log(&'static str),
    /// The transactions are not those requested that are in the log; the node that sent them must act.
    #[error("not the transactions that were asked for")]
    Entries,
    /// The transaction with this number is not proven to be in the log; the node that sent it must act.
    #[error("transaction {0} is not proven to be in the log")]
    Entry(u64),
    /// The text of the note is not a checkpoint; its author must act.
    #[error("not a checkpoint: {0}")]
    Checkpoint(&'static str),
    /// The text is not a verifier key; the operator that configured it must act.
    #[error("not a verifier key: {0}")]
    VerifierKey(&'static str),
    /// The text is not a call of a witness or its answer; its author must act.
    #[error("not of the witness protocol: {0}")]
    Witness(&'static str),
    /// Too few of the trusted keys signed.
    #[error("too few of the trusted keys signed")]
    Untrusted,
    /// The checkpoint's height is before the one from which these validators sign.
    #[error("the checkpoint is of a height before the validators were named")]
    Early,
    /// A signature names a trusted key but was not made by it.
    #[error("a signature that names a trusted key is not by that key")]
    BadSignature,
}

/// Why the store could not read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct ReadError(pub String);

/// Why a tree cannot be changed or a proof not be made; the operator of the tree must act.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TreeError {
    /// The store cannot be read.
    #[error("the tree cannot be read: {0}")]
    Read(#[from] ReadError),
    /// A node is missing; the requested version may have been pruned.
    #[error("a node of the tree is not there (any more)")]
    Missing,
    /// A node has been changed since it was written.
    #[error("a node of the tree is damaged")]
    Damaged,
    /// A key is empty or too long.
    #[error("a key of the tree has 1 to 1,024 bytes")]
    Key,
    /// A version is not greater than the previous one.
    #[error("versions of the tree grow")]
    Version,
}
