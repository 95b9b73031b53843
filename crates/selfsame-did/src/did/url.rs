//! DID URLs by the grammar of DID Core §3.2, and references relative to a DID.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Did, MAX_BYTES, SyntaxError, is_encoded};

/// A DID with path, query and fragment.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct DidUrl {
    /// The DID.
    pub did: Did,
    /// The path with its leading slash, or empty.
    pub path: String,
    /// The query, without `?`.
    pub query: Option<String>,
    /// The fragment, without `#`.
    pub fragment: Option<String>,
}

impl DidUrl {
    /// Parses an absolute DID URL.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        if text.len() > MAX_BYTES {
            return Err(SyntaxError::TooLong);
        }
        let (rest, fragment) = split(text, '#');
        let (rest, query) = split(rest, '?');
        let (did, path) = match rest.find('/').and_then(|at| rest.split_at_checked(at)) {
            Some((did, path)) => (did, path),
            None => (rest, ""),
        };
        let did = Did::parse(did)?;
        let tail =
            |text: &str| is_encoded(text, |byte| is_pchar(byte) || matches!(byte, b'/' | b'?'));
        let sound = is_encoded(path, |byte| is_pchar(byte) || byte == b'/')
            && query.is_none_or(tail)
            && fragment.is_none_or(tail);
        if !sound {
            return Err(SyntaxError::Url);
        }
        Ok(Self {
            did,
            path: path.to_owned(),
            query: query.map(str::to_owned),
            fragment: fragment.map(str::to_owned),
        })
    }

    /// Parses a DID URL that may be relative to `base` (DID Core §3.2.2): `#key-1`, `/path`, `?query`.
    pub fn join(base: &Did, text: &str) -> Result<Self, SyntaxError> {
        if text.starts_with(['#', '/', '?']) {
            Self::parse(&format!("{base}{text}"))
        } else {
            Self::parse(text)
        }
    }
}

fn split(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at)
        .map_or((text, None), |(before, after)| (before, Some(after)))
}

/// `pchar` of RFC 3986 §3.3, without percent-encoding.
fn is_pchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'-' | b'.' | b'_' | b'~' | b'!' | b'$' | b'&' | b'\'' | b'(' | b')'
        )
        || matches!(byte, b'*' | b'+' | b',' | b';' | b'=' | b':' | b'@')
}

impl fmt::Display for DidUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.did, self.path)?;
        if let Some(query) = &self.query {
            write!(f, "?{query}")?;
        }
        if let Some(fragment) = &self.fragment {
            write!(f, "#{fragment}")?;
        }
        Ok(())
    }
}

impl FromStr for DidUrl {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for DidUrl {
    type Error = SyntaxError;

    fn try_from(text: String) -> Result<Self, SyntaxError> {
        Self::parse(&text)
    }
}

impl From<DidUrl> for String {
    fn from(url: DidUrl) -> Self {
        url.to_string()
    }
}

impl From<Did> for DidUrl {
    fn from(did: Did) -> Self {
        Self {
            did,
            path: String::new(),
            query: None,
            fragment: None,
        }
    }
}
