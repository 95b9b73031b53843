//! The messages of both protocols, parsed strictly and once into their types.

pub mod metadata;
pub mod request;

pub use selfsame_openid4vc_messages::{
    client_metadata, credential, deferred, encryption, nonce, notification, offer, response,
    signed_metadata, transaction, verifier_attestation,
};
pub(crate) use selfsame_openid4vc_messages::{is_url_safe, limits, media_type};
