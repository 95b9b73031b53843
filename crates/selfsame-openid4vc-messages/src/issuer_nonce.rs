//! An issuer's nonces, which need no record until they are used (OpenID4VCI 1.0 §7).
//!
//! A nonce consists of its creation time, 128 random bits, and a keyed hash over both. The hash proves that it is ours,
//! the time that it is fresh. The application ensures that it is used only once: it records each used nonce until the
//! nonce would have expired.

use selfsame_crypto::{
    ctx::Ctx,
    encoding::{base64url_decode, base64url_encode},
    hash::{ct_eq, sha256},
    seal::SealingKey,
    time::UnixTime,
};

use crate::nonce::NonceResponse;

const TIME: usize = 8;
const RANDOM: usize = 16;
const MAC: usize = 16;

/// A used nonce, which must not be accepted again.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Spent {
    /// The key under which to record it.
    pub id: String,
    /// The time from which the record is no longer needed, since the nonce has expired.
    pub expires: UnixTime,
}

/// The reason a nonce is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NonceError {
    /// We did not create it.
    #[error("the nonce was not created by this issuer")]
    Foreign,
    /// Its lifetime is over.
    #[error("the nonce has expired")]
    Expired,
}

/// Creates a nonce under this key.
pub fn make(key: &SealingKey, ctx: &Ctx) -> NonceResponse {
    let mut bytes = ctx.now().0.to_be_bytes().to_vec();
    bytes.extend_from_slice(&ctx.random::<RANDOM>("issuer/nonce"));
    let mac = mac(key, &bytes);
    bytes.extend_from_slice(&mac);
    NonceResponse {
        c_nonce: base64url_encode(&bytes),
    }
}

/// Checks that a nonce is ours and has not expired, and returns the record that marks it as used.
///
/// # Errors
/// A nonce of others, or one whose lifetime, in seconds, is over.
pub fn check(
    key: &SealingKey,
    lifetime: u64,
    nonce: &str,
    now: UnixTime,
) -> Result<Spent, NonceError> {
    let bytes = base64url_decode(nonce).map_err(|_| NonceError::Foreign)?;
    let signed = TIME.saturating_add(RANDOM);
    let (body, given) = bytes.split_at_checked(signed).ok_or(NonceError::Foreign)?;
    if !ct_eq(&mac(key, body), given) {
        return Err(NonceError::Foreign);
    }
    let time = body.first_chunk::<TIME>().ok_or(NonceError::Foreign)?;
    let expires = UnixTime(u64::from_be_bytes(*time)).plus(lifetime);
    if now >= expires {
        return Err(NonceError::Expired);
    }
    Ok(Spent {
        id: base64url_encode(&sha256(nonce.as_bytes())),
        expires,
    })
}

fn mac(key: &SealingKey, body: &[u8]) -> Vec<u8> {
    let mac = key.derive(b"nonce").mac(body);
    mac.into_iter().take(MAC).collect()
}
