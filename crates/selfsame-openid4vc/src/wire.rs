//! The messages of both protocols, parsed strictly and once into their types.

pub mod client_metadata;
pub mod credential;
pub mod encryption;
pub mod metadata;
pub mod nonce;
pub mod offer;
pub mod request;
pub mod response;

use selfsame_crypto::json::Limits;

/// The limits for JSON from the other side.
pub(crate) fn limits() -> Limits {
    Limits::default()
}

/// The media type in lower case, without parameters.
pub(crate) fn media_type(content_type: &str) -> String {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// Whether `text` consists only of ASCII URL-safe characters (OpenID4VP 1.0 §5.2, `nonce` and `state`).
pub(crate) fn is_url_safe(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-._~".contains(&b))
}
