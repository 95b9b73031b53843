//! Why a number or a point is refused.

/// The reason for a refusal: the sender of the number or the point must correct it. No variant carries a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A number or a point does not have the form or the property that it should have.
    #[error("{what} is malformed: {why}")]
    Malformed {
        /// What it is for.
        what: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A number is longer than this implementation computes with.
    #[error("{what} is too large: {limit} at most")]
    TooLarge {
        /// What it is for.
        what: &'static str,
        /// The most bits that it may have.
        limit: usize,
    },
}
