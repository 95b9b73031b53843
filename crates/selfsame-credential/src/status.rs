//! Status lists: what a credential's issuer says of it today (Token Status List, Bitstring Status List).
//!
//! A [`Reference`] in a credential leads to a place in a [`List`]; a list is inflated once and keeps its signed
//! token, so that whoever judges the credential judges the list's signature too; whose it must be is not known here.

mod bits;
pub mod bitstring;
mod inflate;
mod list;
mod permutation;
mod reference;
pub mod token_list;

#[cfg(test)]
mod tests;

use std::fmt;

pub use bits::{Bits, Width};
pub use list::{List, Terms};
pub use permutation::Permutation;
pub use reference::{Mechanism, Reference};

/// The longest list as text, in bytes.
pub const MAX_TOKEN_BYTES: usize = 4 * 1024 * 1024;

/// The longest list when inflated, in bytes: 16,777,216 one-bit entries.
pub const MAX_LIST_BYTES: usize = 2 * 1024 * 1024;

/// What a list says of one credential (Token Status List §7.1).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Value {
    /// 0: valid.
    Valid,
    /// 1: revoked, for good.
    Invalid,
    /// 2: suspended, for now.
    Suspended,
    /// Something registered later or private to an application.
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

/// What a place in a Bitstring Status List speaks of (Bitstring Status List §2.1).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Purpose {
    /// Revoked, for good.
    Revocation,
    /// Suspended, for now.
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

/// Why a status list or a reference to one says nothing; no statement about the credential can then be made.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum StatusError {
    /// The list is longer than the limit, as text or inflated.
    #[error("the status list exceeds the size limit")]
    TooLarge,
    /// The list is no signed token at all.
    #[error("the status list is not a signed token: {0}")]
    NotAToken(&'static str),
    /// The token's or the response's type is not that of a status list.
    #[error("the token is not of a status list's type")]
    WrongType,
    /// This member is missing or of the wrong form.
    #[error("`{0}` is missing or malformed")]
    Malformed(&'static str),
    /// The list is that of another URI.
    #[error("the status list is that of another URI")]
    WrongSubject,
    /// The list is no longer valid.
    #[error("the status list has expired")]
    Expired,
    /// The list is not valid yet.
    #[error("the status list is not valid yet")]
    NotYetValid,
    /// The list cannot be inflated.
    #[error("the status list's compression is broken")]
    Compression,
    /// The index lies outside of the list.
    #[error("the index lies outside of the status list")]
    OutOfRange,
    /// The list has fewer entries than group privacy asks for (Bitstring Status List §3.2).
    #[error("the status list is too short")]
    TooShort,
    /// The list does not speak of what the reference asks, or is of the other kind.
    #[error("the status list does not serve the reference's purpose")]
    WrongPurpose,
    /// The status mechanism, or this use of it, is not supported.
    #[error("the status mechanism is not supported")]
    Unsupported,
}
