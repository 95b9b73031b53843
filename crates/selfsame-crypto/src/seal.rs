//! Sealing with AES-256-GCM-SIV, key derivation and keyed hashes. Each algorithm has its own secret.

pub mod chacha20_poly1305;
pub mod master;

use std::fmt;
use std::sync::{Arc, OnceLock};

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::hkdf::Prk;
use aws_lc_rs::hmac;
use zeroize::Zeroizing;

use crate::hkdf;

pub use crate::generate::random_seed;

/// A secret key. The keys for sealing, for hashing and for further derivation are all derived from it. Clones share one
/// copy in memory.
#[derive(Clone)]
pub struct SealingKey(Arc<DerivedKeys>);

struct DerivedKeys {
    prk: Prk,
    /// A prepared key would take forty times its memory, and saves half a microsecond a hash.
    mac: Zeroizing<[u8; 32]>,
    /// Created on the first seal or open.
    aead: OnceLock<LessSafeKey>,
}

/// The data was not sealed with this key and `aad`, or has been changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("what was sealed cannot be opened with this key")]
pub struct SealError;

/// A prepared key for HMAC-SHA256. It takes some 1,300 bytes, and saves half a microsecond a hash.
pub struct MacKey(hmac::Key);

impl MacKey {
    /// The hash that [`SealingKey::mac`] gives.
    #[must_use]
    pub fn mac(&self, data: &[u8]) -> [u8; 32] {
        let tag = hmac::sign(&self.0, data);
        let mut out = [0_u8; 32];
        for (to, from) in out.iter_mut().zip(tag.as_ref()) {
            *to = *from;
        }
        out
    }
}

impl fmt::Debug for MacKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MacKey(…)")
    }
}

impl SealingKey {
    /// The key made from these 256 secret bits.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        let bytes = Zeroizing::new(bytes);
        let prk = hkdf::extract(b"selfsame seal v1", bytes.as_slice());
        let mac = Zeroizing::new(hkdf::expand::<32>(&prk, &[b"mac"]));
        let aead = OnceLock::new();
        Self(Arc::new(DerivedKeys { prk, mac, aead }))
    }

    /// Derives the key for `info`. It reveals nothing about this key or those for other infos.
    #[must_use]
    pub fn derive(&self, info: &[u8]) -> Self {
        Self::from_bytes(*self.derive_seed(info))
    }

    /// The 256 secret bits from which [`SealingKey::derive`] makes the key for `info`, to be sealed elsewhere.
    #[must_use]
    pub fn derive_seed(&self, info: &[u8]) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(hkdf::expand(&self.0.prk, &[b"derive ", info]))
    }

    /// Seals `plain`; opening it needs the same `aad`. Returns the nonce, then the ciphertext with its tag. Reusing a
    /// nonce reveals whether the two plaintexts were equal and nothing else (RFC 8452 §9).
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

    /// Opens data that [`SealingKey::seal`] sealed with the same `aad`.
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

    /// The key of [`SealingKey::mac`], prepared for many hashes.
    #[must_use]
    pub fn mac_key(&self) -> MacKey {
        MacKey(hmac::Key::new(hmac::HMAC_SHA256, self.0.mac.as_slice()))
    }

    /// HMAC-SHA256 under a separate derived key.
    pub fn mac(&self, data: &[u8]) -> [u8; 32] {
        self.mac_key().mac(data)
    }

    fn aead(&self) -> Result<&LessSafeKey, SealError> {
        let DerivedKeys { prk, aead, .. } = &*self.0;
        if let Some(key) = aead.get() {
            return Ok(key);
        }
        let bytes = Zeroizing::new(hkdf::expand::<32>(prk, &[b"aead"]));
        let key = UnboundKey::new(&AES_256_GCM_SIV, bytes.as_slice()).map_err(|_| SealError)?;
        Ok(aead.get_or_init(|| LessSafeKey::new(key)))
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealingKey(…)")
    }
}

#[cfg(test)]
mod tests;
