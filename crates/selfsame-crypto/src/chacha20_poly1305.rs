//! ChaCha20-Poly1305 (RFC 8439 §2.8) without additional data, to read what other programs sealed.

use std::fmt;

use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use zeroize::Zeroize as _;

use crate::seal::SealError;
use crate::secret::Secret;

/// A key of ChaCha20-Poly1305.
pub struct ChaChaKey(LessSafeKey);

impl ChaChaKey {
    /// The key of these 32 bytes; `None` if there are more or fewer.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let key = UnboundKey::new(&CHACHA20_POLY1305, bytes).ok()?;
        Some(Self(LessSafeKey::new(key)))
    }

    /// Opens a nonce followed by the ciphertext and its tag. Works in the memory of `sealed`.
    ///
    /// # Errors
    /// If this was not sealed with this key, or has been changed.
    pub fn open(&self, mut sealed: Vec<u8>) -> Result<Secret, SealError> {
        let nonce = sealed.first_chunk::<NONCE_LEN>().ok_or(SealError)?;
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let opened = (self
            .0
            .open_within(nonce, Aad::empty(), &mut sealed, NONCE_LEN..))
        .map(|plain| plain.len());
        match opened {
            Ok(length) => {
                sealed.truncate(length);
                Ok(Secret::new(sealed))
            }
            Err(_) => {
                sealed.zeroize();
                Err(SealError)
            }
        }
    }
}

impl fmt::Debug for ChaChaKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ChaChaKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(key: [u8; 32], plain: &[u8]) -> Vec<u8> {
        let key = LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &key).unwrap());
        let nonce = [7; NONCE_LEN];
        let mut within = plain.to_vec();
        let nonce_of = Nonce::assume_unique_for_key(nonce);
        key.seal_in_place_append_tag(nonce_of, Aad::empty(), &mut within)
            .unwrap();
        [&nonce[..], &within].concat()
    }

    #[test]
    fn what_was_sealed_is_opened_with_its_key_alone() {
        let key = ChaChaKey::from_bytes(&[1; 32]).unwrap();
        for plain in [&b""[..], b"x", &[9; 1000]] {
            let of_key = sealed([1; 32], plain);
            assert_eq!(key.open(of_key.clone()).unwrap().expose(), plain);
            for at in 0..of_key.len() {
                let mut changed = of_key.clone();
                changed[at] ^= 1;
                assert_eq!(key.open(changed), Err(SealError));
            }
            assert_eq!(key.open(sealed([2; 32], plain)), Err(SealError));
        }
    }

    #[test]
    fn a_text_shorter_than_nonce_and_tag_is_refused_and_a_key_of_another_length_too() {
        let key = ChaChaKey::from_bytes(&[1; 32]).unwrap();
        for length in 0..28 {
            assert_eq!(key.open(vec![0; length]), Err(SealError));
        }
        assert!(ChaChaKey::from_bytes(&[1; 31]).is_none());
        assert!(ChaChaKey::from_bytes(&[1; 33]).is_none());
    }
}
