//! The name of a private key in a key store. Steps hold handles in place of keys.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::encoding::{base64url_decode, base64url_encode};
use crate::error::KeyError;
use crate::public_key::PublicKey;

/// The name of a private key: the base64url thumbprint (RFC 7638) of its public key.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyHandle(String);

impl KeyHandle {
    /// The handle of the private key that belongs to the public key `key`.
    pub fn of(key: &PublicKey) -> Self {
        Self(base64url_encode(&key.thumbprint()))
    }

    /// The handle as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for KeyHandle {
    type Error = KeyError;

    fn try_from(text: String) -> Result<Self, KeyError> {
        match base64url_decode(&text) {
            Ok(thumbprint) if thumbprint.len() == 32 => Ok(Self(text)),
            _ => Err(KeyError::Malformed("key handle")),
        }
    }
}

impl From<KeyHandle> for String {
    fn from(handle: KeyHandle) -> Self {
        handle.0
    }
}

impl std::str::FromStr for KeyHandle {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        Self::try_from(text.to_owned())
    }
}

impl fmt::Display for KeyHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
