//! The nonces of an issuer with its settings (OpenID4VCI 1.0 §7).

use selfsame_crypto::{ctx::Ctx, time::UnixTime};
use selfsame_openid4vc_messages::issuer_nonce;
pub use selfsame_openid4vc_messages::issuer_nonce::{NonceError, Spent};

use super::IssuerSettings;
use crate::wire::nonce::NonceResponse;

/// Creates a nonce.
pub fn make(settings: &IssuerSettings, ctx: &Ctx) -> NonceResponse {
    issuer_nonce::make(&settings.key, ctx)
}

/// Checks that a nonce is ours and has not expired, and returns the record that marks it as used.
pub fn check(settings: &IssuerSettings, nonce: &str, now: UnixTime) -> Result<Spent, NonceError> {
    issuer_nonce::check(&settings.key, settings.nonce_lifetime, nonce, now)
}
