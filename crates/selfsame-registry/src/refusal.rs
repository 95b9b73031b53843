//! Why a transaction is refused, and how checking one can fail.

use crate::content::ContentFault;
use crate::state::StateError;

/// Why a transaction is refused. A refused transaction changes nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// It is for another network.
    #[error("the transaction is for another network")]
    Network,
    /// The new DID's identifier does not belong to its first key.
    #[error("the identifier does not belong to the first key")]
    Identifier,
    /// The author is not in the state the operation needs.
    #[error("{0}")]
    Author(AuthorFault),
    /// The version does not follow the present one.
    #[error("the present version is {present}; the next must be one more")]
    Version {
        /// The present version.
        present: u64,
    },
    /// A signature is missing or wrong.
    #[error("{0}")]
    Signature(SignatureFault),
    /// The author has used the nonce for something else.
    #[error("the nonce was used for another transaction")]
    NonceUsed,
    /// Keys, services, names or URIs are not as the network wants them.
    #[error("the content is refused: {0}")]
    Content(ContentFault),
    /// The status list anchored before is as new or newer.
    #[error("the status list anchored before is as new or newer")]
    NotNewer,
    /// The status list was issued in the future.
    #[error("the status list was issued later than now")]
    Future,
    /// It is larger than the network allows.
    #[error("the transaction is larger than the network allows")]
    TooLarge,
    /// A quota is used up; come back later.
    #[error("a quota of the network is used up")]
    Quota {
        /// Seconds until the next window.
        retry_after: u64,
    },
    /// The block is full; send it again for the next.
    #[error("the block is full")]
    BlockFull,
}

/// What is wrong with the author's state.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum AuthorFault {
    /// There is such a DID already.
    #[error("the DID exists already")]
    Exists,
    /// There is no such DID.
    #[error("the author is not registered")]
    Unknown,
    /// The DID has been deactivated.
    #[error("the author's DID has been deactivated")]
    Deactivated,
}

/// What is wrong with a signature.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SignatureFault {
    /// The key is not among the author's, or may not sign transactions.
    #[error("a signature is by no key that may sign transactions of the author")]
    UnknownKey,
    /// The same key signs twice.
    #[error("a key signs twice")]
    Repeated,
    /// The first key of a new DID does not sign.
    #[error("the first key of a new DID has to sign")]
    FirstKeyMissing,
    /// The signature is not over these bytes by that key.
    #[error("a signature is not by the key it names")]
    Bad,
}

impl Refusal {
    /// A stable name, for interfaces.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Network => "wrong_network",
            Self::Identifier => "identifier_not_of_key",
            Self::Author(AuthorFault::Exists) => "did_exists",
            Self::Author(AuthorFault::Unknown) => "author_unknown",
            Self::Author(AuthorFault::Deactivated) => "did_deactivated",
            Self::Version { .. } => "wrong_version",
            Self::Signature(_) => "bad_signature",
            Self::NonceUsed => "nonce_used",
            Self::Content(_) => "content_refused",
            Self::NotNewer => "status_not_newer",
            Self::Future => "status_from_future",
            Self::TooLarge => "too_large",
            Self::Quota { .. } => "quota_used_up",
            Self::BlockFull => "block_full",
        }
    }

    /// Seconds after which the same transaction may be accepted, where waiting helps.
    pub fn retry_after(&self) -> Option<u64> {
        match self {
            Self::Quota { retry_after } => Some(*retry_after),
            Self::BlockFull => Some(1),
            _ => None,
        }
    }
}

/// Why the machine gave no receipt.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CheckError {
    /// The transaction is refused; its author must act.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The state cannot be read; the operator must act.
    #[error(transparent)]
    State(#[from] StateError),
}

/// Why a block cannot be applied; nothing of it counts.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ApplyError {
    /// The block is earlier than the one before; the sequencer must act.
    #[error("the block is earlier than the one before it")]
    Time,
    /// The state cannot be read; the operator must act.
    #[error(transparent)]
    State(#[from] StateError),
}
