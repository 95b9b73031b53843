//! Decentralized identifiers (DIDs), by the grammar of DID Core §3.1.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

mod url;

pub use url::DidUrl;

/// The maximum length of a DID or DID URL in bytes. A did:jwk of the largest RSA key needs 2,000 bytes.
pub(crate) const MAX_BYTES: usize = 4096;

/// Why a text is not a DID or not a DID URL.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SyntaxError {
    /// The text is longer than 4,096 bytes.
    #[error("the identifier is too long")]
    TooLong,
    /// The text does not start with `did:`.
    #[error("the identifier does not begin with did:")]
    Scheme,
    /// The method name is empty or has characters other than lower-case letters and digits.
    #[error("the DID method is malformed")]
    Method,
    /// The part after the method name is empty, ends in a colon or has a character that is not allowed.
    #[error("the method-specific identifier is malformed")]
    MethodId,
    /// The path, query or fragment has a character that is not allowed.
    #[error("the path, query or fragment of the DID URL is malformed")]
    Url,
}

/// A DID: `did:<method>:<method-specific identifier>`, without path, query or fragment.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Did(String);

impl Did {
    /// Parses a DID.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        if text.len() > MAX_BYTES {
            return Err(SyntaxError::TooLong);
        }
        let rest = text.strip_prefix("did:").ok_or(SyntaxError::Scheme)?;
        let (method, id) = rest.split_once(':').ok_or(SyntaxError::Method)?;
        if method.is_empty()
            || !method
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        {
            return Err(SyntaxError::Method);
        }
        let allowed =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':');
        if id.is_empty() || id.ends_with(':') || !is_encoded(id, allowed) {
            return Err(SyntaxError::MethodId);
        }
        Ok(Self(text.to_owned()))
    }

    /// The complete identifier.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The method name.
    pub fn method(&self) -> &str {
        self.parts().0
    }

    /// The method-specific identifier.
    pub fn method_id(&self) -> &str {
        self.parts().1
    }

    /// The DID URL of this DID with the fragment `fragment`.
    pub fn with_fragment(&self, fragment: &str) -> Result<DidUrl, SyntaxError> {
        DidUrl::parse(&format!("{self}#{fragment}"))
    }

    /// Makes a DID of a method whose identifiers contain only allowed characters.
    pub(crate) fn made(method: &str, id: impl fmt::Display) -> Self {
        let did = Self(format!("did:{method}:{id}"));
        debug_assert!(Self::parse(&did.0).is_ok());
        did
    }

    fn parts(&self) -> (&str, &str) {
        self.0
            .strip_prefix("did:")
            .and_then(|rest| rest.split_once(':'))
            .unwrap_or_default()
    }
}

/// Whether every byte is allowed or part of a percent-encoding (RFC 3986 §2.1).
pub(crate) fn is_encoded(text: &str, allowed: impl Fn(u8) -> bool) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let fits = match byte {
            b'%' => {
                let mut digit = || bytes.next().is_some_and(|digit| digit.is_ascii_hexdigit());
                digit() && digit()
            }
            _ => allowed(byte),
        };
        if !fits {
            return false;
        }
    }
    true
}

impl fmt::Display for Did {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for Did {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl FromStr for Did {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for Did {
    type Error = SyntaxError;

    fn try_from(text: String) -> Result<Self, SyntaxError> {
        Self::parse(&text)
    }
}

impl From<Did> for String {
    fn from(did: Did) -> Self {
        did.0
    }
}

#[cfg(test)]
mod tests;
