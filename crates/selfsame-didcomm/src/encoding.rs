//! Base64 as agents write it: either alphabet, with or without padding (RFC 0017, RFC 0019).

use std::borrow::Cow;

use selfsame_crypto::encoding::{base64url_decode, base64url_encode};

use crate::error::Error;

/// The text as base64url without padding.
pub(crate) fn unpadded(text: &str) -> Cow<'_, str> {
    let text = text.trim_end_matches('=');
    match text.contains(['+', '/']) {
        true => text.replace('+', "-").replace('/', "_").into(),
        false => text.into(),
    }
}

/// The bytes of a text in any of the four forms. `what` names it in an error.
pub(crate) fn decode(text: &str, what: &'static str) -> Result<Vec<u8>, Error> {
    base64url_decode(&unpadded(text)).map_err(|_| Error::Malformed(what))
}

/// Base64url with padding, which every agent of v1 reads.
pub(crate) fn padded(bytes: &[u8]) -> String {
    let mut text = base64url_encode(bytes);
    let missing = text.len().wrapping_neg() % 4;
    text.extend(std::iter::repeat_n('=', missing));
    text
}
