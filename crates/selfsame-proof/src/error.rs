//! Why proofs are refused, and why they cannot be made.

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

/// What the store said when it could not read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct ReadError(pub String);

/// Why a tree cannot be changed or a proof not be made; the keeper of the tree must act.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TreeError {
    /// The store cannot be read.
    #[error("the tree cannot be read: {0}")]
    Read(#[from] ReadError),
    /// A node is gone; perhaps the version asked for is pruned.
    #[error("a node of the tree is not there (any more)")]
    Missing,
    /// A node is not what was written.
    #[error("a node of the tree is damaged")]
    Damaged,
    /// A key is empty or too long.
    #[error("a key of the tree has 1 to 1,024 bytes")]
    Key,
    /// A version is not later than the one before.
    #[error("versions of the tree grow")]
    Version,
}
