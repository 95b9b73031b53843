//! What a status list says besides its signature, whichever specification it follows.

use selfsame_crypto::time::UnixTime;
use serde_json::{Map, Value as Json};

use super::{Purpose, StatusError, bits::Width};

/// The specification that a list follows.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum ListKind {
    /// Token Status List.
    Token(Width),
    /// Bitstring Status List, for these purposes.
    Bitstring(Vec<Purpose>),
}

/// The times of a list.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub(super) issued_at: Option<UnixTime>,
    pub(super) not_before: Option<UnixTime>,
    pub(super) expires_at: Option<UnixTime>,
    /// In seconds.
    pub(super) ttl: Option<u64>,
}

/// The terms of a list, besides its bits.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// The URI of the list; credentials refer to it.
    pub uri: &'a str,
    /// The issuer of the list.
    pub issuer: &'a str,
    /// The JOSE header: `alg`, and the members that identify the key (`kid`, `x5c`). `typ` is added.
    pub header: &'a Map<String, Json>,
    /// When it was issued.
    pub issued_at: UnixTime,
    /// When it expires.
    pub expires_at: Option<UnixTime>,
    /// For how many seconds it may be cached.
    pub ttl: Option<u64>,
}

impl Terms<'_> {
    pub(super) fn header(&self, typ: &str) -> Json {
        let mut header = self.header.clone();
        header.insert("typ".into(), typ.into());
        Json::Object(header)
    }
}

/// The common content of the claims of either kind of list.
pub(super) struct ListClaims {
    pub(super) kind: ListKind,
    pub(super) bytes: Vec<u8>,
    pub(super) issuer: Option<String>,
    pub(super) times: Times,
}

/// A number of seconds (RFC 7519 §2, NumericDate), rounded down.
pub(super) fn seconds(
    claims: &Map<String, Json>,
    name: &'static str,
) -> Result<Option<u64>, StatusError> {
    let Some(value) = claims.get(name) else {
        return Ok(None);
    };
    /// Beyond this a double is no longer exact, and not a plausible date.
    const LIMIT: f64 = 9_007_199_254_740_991.0;
    if let Some(whole) = value.as_u64() {
        return Ok(Some(whole));
    }
    match value.as_f64() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the guard keeps it in the range, and the fraction shall go"
        )]
        Some(number) if (0.0..LIMIT).contains(&number) => Ok(Some(number as u64)),
        _ => Err(StatusError::Malformed(name)),
    }
}
