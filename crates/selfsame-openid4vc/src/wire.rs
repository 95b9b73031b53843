//! The messages of both protocols, as types that are parsed once and strictly.

pub mod credential;
pub mod encryption;
pub mod metadata;
pub mod nonce;
pub mod offer;
pub mod request;
pub mod response;

use selfsame_crypto::json::Limits;

/// What JSON from the other side may cost.
pub(crate) fn limits() -> Limits {
    Limits::default()
}

/// The media type, without parameters, in lower case.
pub(crate) fn media_type(content_type: &str) -> String {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// Whether `text` holds ASCII URL-safe characters only (OpenID4VP 1.0 §5.2, `nonce` and `state`).
pub(crate) fn is_url_safe(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-._~".contains(&b))
}
