//! Sealing: AES-256-GCM-SIV, keys derived from keys, and keyed hashes. One secret never serves two algorithms.

use std::fmt;
use std::sync::{Arc, OnceLock};

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::hmac;
use zeroize::Zeroizing;

use crate::hkdf;

pub use crate::generate::random_seed;

/// A secret key from which the keys that seal, that hash and that are derived further all come.
#[derive(Clone)]
pub struct SealingKey {
    prk: hmac::Key,
    mac: hmac::Key,
    /// Made when something is sealed or opened first.
    aead: Arc<OnceLock<LessSafeKey>>,
}

/// What was to be opened was not sealed with this key for this purpose, or has been changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("what was sealed cannot be opened with this key")]
pub struct SealError;

impl SealingKey {
    /// The key made of these 256 secret bits.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        let bytes = Zeroizing::new(bytes);
        let prk = hkdf::extract(b"selfsame seal v1", bytes.as_slice());
        let mac = Zeroizing::new(hkdf::expand::<32>(&prk, &[b"mac"]));
        Self {
            mac: hmac::Key::new(hmac::HMAC_SHA256, mac.as_slice()),
            prk,
            aead: Arc::default(),
        }
    }

    /// The key that belongs to `info`; it tells nothing of this one or of those for other infos.
    #[must_use]
    pub fn derive(&self, info: &[u8]) -> Self {
        Self::from_bytes(hkdf::expand(&self.prk, &[b"derive ", info]))
    }

    /// Seals `plain` so that it opens only with the same `aad`: the nonce, then the ciphertext with its tag. A
    /// nonce used twice shows whether the two plaintexts were equal and nothing else (RFC 8452 §9).
    pub fn seal(&self, nonce: [u8; 12], aad: &[u8], plain: &[u8]) -> Result<Vec<u8>, SealError> {
        let key = self.aead()?;
        let around = NONCE_LEN.saturating_add(key.algorithm().tag_len());
        let mut sealed = Vec::with_capacity(plain.len().saturating_add(around));
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(plain);
        let (_, in_place) = sealed.split_at_mut(NONCE_LEN);
        let tag = key
            .seal_in_place_separate_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(aad),
                in_place,
            )
            .map_err(|_| SealError)?;
        sealed.extend_from_slice(tag.as_ref());
        Ok(sealed)
    }

    /// Opens what [`SealingKey::seal`] made with the same `aad`.
    pub fn open(&self, aad: &[u8], sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        let (nonce, ciphertext) = sealed.split_first_chunk::<NONCE_LEN>().ok_or(SealError)?;
        let mut buffer = ciphertext.to_vec();
        let len = self
            .aead()?
            .open_in_place(
                Nonce::assume_unique_for_key(*nonce),
                Aad::from(aad),
                &mut buffer,
            )
            .map_err(|_| SealError)?
            .len();
        buffer.truncate(len);
        Ok(buffer)
    }

    /// HMAC-SHA256 under a key of its own.
    pub fn mac(&self, data: &[u8]) -> [u8; 32] {
        let tag = hmac::sign(&self.mac, data);
        let mut out = [0_u8; 32];
        for (to, from) in out.iter_mut().zip(tag.as_ref()) {
            *to = *from;
        }
        out
    }

    fn aead(&self) -> Result<&LessSafeKey, SealError> {
        if let Some(key) = self.aead.get() {
            return Ok(key);
        }
        let bytes = Zeroizing::new(hkdf::expand::<32>(&self.prk, &[b"aead"]));
        let key = UnboundKey::new(&AES_256_GCM_SIV, bytes.as_slice()).map_err(|_| SealError)?;
        Ok(self.aead.get_or_init(|| LessSafeKey::new(key)))
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealingKey(…)")
    }
}

#[cfg(test)]
mod tests;
