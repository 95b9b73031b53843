//! The messages of OpenID4VCI 1.0 and OpenID4VP 1.0, parsed strictly and once into their types, and their encryption.
//!
//! Owns: the messages that contain no query, what describes a credential, the errors of both protocols, and which URLs may
//! be used. Does not own: queries, formats, and the steps of each side (selfsame-openid4vc).
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

mod as_object;
pub mod client_metadata;
pub mod credential;
pub mod credential_metadata;
pub mod deferred;
pub mod encryption;
pub mod error;
pub mod http_answer;
pub mod issuer_nonce;
pub mod nonce;
pub mod notification;
pub mod offer;
pub mod offer_link;
pub mod planned_encryption;
mod posted;
pub mod request_object;
pub mod request_parameters;
pub mod response;
pub mod signed_metadata;
pub mod transaction;
pub mod transport;
pub mod verifier_attestation;

use selfsame_crypto::json::Limits;

/// The limits for JSON from the other side.
pub fn limits() -> Limits {
    Limits::default()
}

/// The media type in lower case, without parameters.
pub fn media_type(content_type: &str) -> String {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// Whether `text` consists only of ASCII URL-safe characters (OpenID4VP 1.0 §5.2, `nonce` and `state`).
pub fn is_url_safe(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-._~".contains(&b))
}
