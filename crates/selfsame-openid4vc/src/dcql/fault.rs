//! Errors in a DCQL query.

/// The verifier's query is not a valid DCQL query; the verifier must act.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{at}: {fault}")]
pub struct DcqlError {
    /// The position in the query.
    pub at: String,
    /// The error there.
    pub fault: Fault,
}

/// An error in a part of a query.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Fault {
    /// The value is of another kind.
    #[error("{0} is expected")]
    Wanted(&'static str),
    /// A member is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// An identifier has characters other than letters, digits, `_` and `-`, or is too long.
    #[error("not an identifier")]
    Identifier,
    /// An identifier occurs twice.
    #[error("the identifier occurs twice")]
    Duplicate,
    /// An identifier refers to no element.
    #[error("the identifier refers to no element")]
    Unknown,
    /// `claim_sets` without `claims`.
    #[error("`claim_sets` without `claims`")]
    SetsWithoutClaims,
    /// Not a claims path pointer of the format.
    #[error("not a claims path pointer of this format")]
    Path,
    /// More elements than this maximum.
    #[error("more than {0} elements")]
    TooMany(usize),
    /// A string of more bytes than this maximum.
    #[error("longer than {0} bytes")]
    TooLong(usize),
}
