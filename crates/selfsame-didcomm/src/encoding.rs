//! Base64 as agents write it: either alphabet, with or without padding (RFC 0017, RFC 0019).

use selfsame_crypto::encoding::{base64_encode, base64url_decode};

use crate::error::Error;

/// The text as base64url without padding.
pub(crate) fn unpadded(text: &str) -> String {
    let text = text.trim_end_matches('=');
    match text.contains(['+', '/']) {
        true => text.replace('+', "-").replace('/', "_"),
        false => text.to_owned(),
    }
}

/// The bytes of a text in any of the four forms. `what` names it in an error.
pub(crate) fn decode(text: &str, what: &'static str) -> Result<Vec<u8>, Error> {
    base64url_decode(&unpadded(text)).map_err(|_| Error::Malformed(what))
}

/// Base64url with padding, which every agent of v1 reads.
pub(crate) fn padded(bytes: &[u8]) -> String {
    base64_encode(bytes).replace('+', "-").replace('/', "_")
}
