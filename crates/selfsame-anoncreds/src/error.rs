//! Why a message, a key or a proof is refused, and who must act.

/// The reason for a refusal. No variant carries a secret or the value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A message does not have the form that it should have; its sender must correct it.
    #[error("{what} is malformed: {why}")]
    Malformed {
        /// The message or the part of it.
        what: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Two messages do not belong together.
    #[error("{what} does not fit: {why}")]
    Mismatch {
        /// The message or the part of it.
        what: &'static str,
        /// What it does not match, and how.
        why: &'static str,
    },
    /// The issuer's key or signature is wrong and must not be used.
    #[error("do not trust this issuer: {0}")]
    Issuer(&'static str),
    /// A proof does not hold; its sender has not proven the claim.
    #[error("the proof does not hold: {0}")]
    Proof(&'static str),
    /// The wallet has no credential or value that answers a referent of the request.
    #[error("{referent} cannot be answered: {why}")]
    Unsatisfied {
        /// The referent in the presentation request.
        referent: String,
        /// What is missing.
        why: &'static str,
    },
    /// The revocation registry is full, or the index is already taken.
    #[error("the revocation registry cannot do this: {0}")]
    Registry(&'static str),
    /// A limit of this implementation is exceeded.
    #[error("{what} is too large: {limit} at most")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

impl From<selfsame_bignum::Error> for Error {
    fn from(error: selfsame_bignum::Error) -> Self {
        match error {
            selfsame_bignum::Error::Malformed { what, why } => Self::Malformed { what, why },
            selfsame_bignum::Error::TooLarge { what, limit } => Self::TooLarge { what, limit },
        }
    }
}
