//! JSON Web Encryption (RFC 7516): one parser and one writer for the compact and the JSON forms, `ECDH-ES` (RFC 7518
//! §4.6, RFC 8037) and `ECDH-1PU` (draft-madden-jose-ecdh-1pu-04), with and without key wrapping.

mod content;
mod decrypt;
mod encrypt;
mod form;
mod header;
mod kdf;
mod recipient;

use crate::error::KeyError;
use crate::json::JsonError;

pub use content::ContentEncryption;
pub use decrypt::Opening;
pub use encrypt::{Addressee, JweDraft};
pub use form::{Jwe, JweRecipient};
pub use header::{JweHeader, KeyManagement};
pub use recipient::Recipient;

/// Why a JWE was not read, not decrypted or not made. The sender must act; on `NoKey`, the party that chose the
/// key; on `Backend`, the operator.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum JweError {
    /// It is longer than the limit, or has more recipients than the limit.
    #[error("the JWE is too long")]
    TooLong,
    /// It is neither compact nor a JSON object with the members of one.
    #[error("the {0} of the JWE is malformed")]
    Form(&'static str),
    /// A part is not JSON within the limits.
    #[error("the JWE cannot be read: {0}")]
    Json(JsonError),
    /// An algorithm or a member is not supported.
    #[error("the {0} of the JWE is not supported")]
    Unsupported(&'static str),
    /// The ephemeral key, or the key of the recipient or the sender, cannot be used.
    #[error("a key of the JWE cannot be used: {0}")]
    Key(#[from] KeyError),
    /// It has no recipient with this key, or none of the sender's keys was given.
    #[error("the JWE is not encrypted for this key")]
    NoKey,
    /// It was not encrypted with these keys, or has been changed.
    #[error("the JWE cannot be decrypted with this key")]
    Decryption,
    /// The cryptographic library failed.
    #[error("the cryptographic library failed")]
    Backend,
}

#[cfg(test)]
mod tests;
