//! Why a message, a key or a proof is refused, and who must act.

/// Why something is refused. No variant carries a secret or the value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A message is not what it claims to be; who made it must mend it.
    #[error("{what} is malformed: {why}")]
    Malformed {
        /// The message or its part.
        what: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Two messages do not belong together.
    #[error("{what} does not fit: {why}")]
    Mismatch {
        /// The message or its part.
        what: &'static str,
        /// What it does not fit, and how.
        why: &'static str,
    },
    /// The issuer's key or signature is wrong; nothing may be done with it.
    #[error("do not trust this issuer: {0}")]
    Issuer(&'static str),
    /// A proof does not hold; who sent it cannot prove what it claims.
    #[error("the proof does not hold: {0}")]
    Proof(&'static str),
    /// The wallet has nothing that answers what is asked.
    #[error("{referent} cannot be answered: {why}")]
    Unsatisfied {
        /// The referent in the presentation request.
        referent: String,
        /// What is missing.
        why: &'static str,
    },
    /// The revocation registry has no room, or the index is taken.
    #[error("the revocation registry cannot do this: {0}")]
    Registry(&'static str),
    /// A bound of ours is exceeded.
    #[error("{what} is too large: {limit} at most")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// The bound.
        limit: usize,
    },
}
