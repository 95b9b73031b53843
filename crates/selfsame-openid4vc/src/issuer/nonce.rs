//! Nonces that need no record until they are spent (OpenID4VCI 1.0 §7).
//!
//! A nonce is the time it was made, 128 random bits, and a keyed hash over both. It is known as ours by the hash and
//! as fresh by the time; that it is used once is seen to by the application, which keeps spent ones until they
//! would have expired.

use selfsame_crypto::{
    ctx::Ctx,
    encoding::{base64url_decode, base64url_encode},
    hash::{ct_eq, sha256},
    seal::SealingKey,
    time::UnixTime,
};

use super::Settings;
use crate::wire::nonce::NonceResponse;

const TIME: usize = 8;
const RANDOM: usize = 16;
const MAC: usize = 16;

/// A nonce that must not be taken again.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Spent {
    /// By which it is known.
    pub id: String,
    /// From when on its expiry keeps it from being used.
    pub expires: UnixTime,
}

/// Why a nonce is not taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NonceError {
    /// We did not make it.
    #[error("the nonce is not one of ours")]
    Foreign,
    /// We made it too long ago.
    #[error("the nonce has expired")]
    Expired,
}

/// Makes a nonce.
pub fn make(settings: &Settings, ctx: &Ctx) -> NonceResponse {
    let mut bytes = ctx.now().0.to_be_bytes().to_vec();
    bytes.extend_from_slice(&ctx.random::<RANDOM>("issuer/nonce"));
    let mac = mac(&settings.key, &bytes);
    bytes.extend_from_slice(&mac);
    NonceResponse {
        c_nonce: base64url_encode(&bytes),
    }
}

/// Checks that a nonce is ours and fresh, and answers what to remember of it.
pub fn check(settings: &Settings, nonce: &str, now: UnixTime) -> Result<Spent, NonceError> {
    let bytes = base64url_decode(nonce).map_err(|_| NonceError::Foreign)?;
    let signed = TIME.saturating_add(RANDOM);
    let (body, given) = bytes.split_at_checked(signed).ok_or(NonceError::Foreign)?;
    if !ct_eq(&mac(&settings.key, body), given) {
        return Err(NonceError::Foreign);
    }
    let time = body.first_chunk::<TIME>().ok_or(NonceError::Foreign)?;
    let expires = UnixTime(u64::from_be_bytes(*time)).plus(settings.nonce_lifetime);
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
