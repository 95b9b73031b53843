//! Owns: status lists, which say whether credentials are valid, as stated by their issuer (Token Status List, Bitstring
//! Status List): the places of credentials in them, and how they are encoded, inflated and read.
//! Does not own: whose signature a list needs, and how old it may be.
//!
//! A [`Reference`] in a credential names an index in a [`List`]. A list is inflated once and keeps its signed token, so
//! that the verification of a credential includes the list's signature.
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

mod bits;
pub mod bitstring;
pub mod cwt_list;
mod inflate;
mod inflated;
mod list;
mod list_claims;
mod permutation;
mod reference;
pub mod token_list;

#[cfg(test)]
mod tests;

use std::fmt;

pub use bits::{Bits, Width};
pub use list::List;
pub use list_claims::Terms;
pub use permutation::Permutation;
pub use reference::{Mechanism, Reference};

/// Maximum length of a list as text, in bytes.
pub const MAX_TOKEN_BYTES: usize = 4 * 1024 * 1024;

/// Maximum length of a list when inflated, in bytes: 16,777,216 one-bit entries.
pub const MAX_LIST_BYTES: usize = 2 * 1024 * 1024;

/// The status of one credential in a list (Token Status List §7.1).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Value {
    /// 0: valid.
    Valid,
    /// 1: revoked permanently.
    Invalid,
    /// 2: suspended temporarily.
    Suspended,
    /// A value that was registered later or is private to an application.
    Other(u8),
}

impl From<u8> for Value {
    fn from(value: u8) -> Self {
        match value {
            0 => Self::Valid,
            1 => Self::Invalid,
            2 => Self::Suspended,
            other => Self::Other(other),
        }
    }
}

impl From<Value> for u8 {
    fn from(value: Value) -> Self {
        match value {
            Value::Valid => 0,
            Value::Invalid => 1,
            Value::Suspended => 2,
            Value::Other(other) => other,
        }
    }
}

/// The purpose of an entry in a Bitstring Status List (Bitstring Status List §2.1).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Purpose {
    /// Revoked permanently.
    Revocation,
    /// Suspended temporarily.
    Suspension,
}

impl Purpose {
    /// The purpose's name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Revocation => "revocation",
            Self::Suspension => "suspension",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::Revocation, Self::Suspension]
            .into_iter()
            .find(|purpose| purpose.as_str() == name)
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a status list or a reference to one is unusable; the status of the credential is then unknown.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum StatusError {
    /// The list is longer than the limit, as text or inflated.
    #[error("the status list exceeds the size limit")]
    TooLarge,
    /// The list is not a signed token.
    #[error("the status list is not a signed token: {0}")]
    NotAToken(&'static str),
    /// The token's or the response's type is not that of a status list.
    #[error("the token is not of a status list's type")]
    WrongType,
    /// This member is missing or malformed.
    #[error("`{0}` is missing or malformed")]
    Malformed(&'static str),
    /// The list belongs to another URI.
    #[error("the status list belongs to another URI")]
    WrongSubject,
    /// The list is no longer valid.
    #[error("the status list has expired")]
    Expired,
    /// The list is not valid yet.
    #[error("the status list is not valid yet")]
    NotYetValid,
    /// The list can't be inflated.
    #[error("the status list can't be inflated")]
    Compression,
    /// The index is outside of the list.
    #[error("the index is outside of the status list")]
    OutOfRange,
    /// The list has fewer entries than group privacy requires (Bitstring Status List §3.2).
    #[error("the status list is too short")]
    TooShort,
    /// The list does not have the purpose that the reference names, or is of the other kind.
    #[error("the status list does not have the reference's purpose")]
    WrongPurpose,
    /// The status mechanism, or this use of it, is not supported.
    #[error("the status mechanism is not supported")]
    Unsupported,
}
