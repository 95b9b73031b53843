//! ChaCha20-Poly1305 (RFC 8439 §2.8) for formats of others, and XChaCha20-Poly1305 with its longer nonces
//! (draft-irtf-cfrg-xchacha-03).

use std::fmt;

use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use zeroize::{Zeroize as _, Zeroizing};

use crate::seal::SealError;
use crate::secret::Secret;

/// A key of ChaCha20-Poly1305.
pub struct ChaChaKey(LessSafeKey);

/// A ciphertext with its tag and what else the tag is over. Each part is a piece of a message of another format.
#[derive(Clone, Copy, Debug)]
pub struct Detached<'a> {
    /// The nonce.
    pub nonce: &'a [u8; NONCE_LEN],
    /// The additional data.
    pub aad: &'a [u8],
    /// The ciphertext.
    pub ciphertext: &'a [u8],
    /// The tag, 16 bytes.
    pub tag: &'a [u8],
}

impl ChaChaKey {
    /// The key of these 32 bytes; `None` if there are more or fewer.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let key = UnboundKey::new(&CHACHA20_POLY1305, bytes).ok()?;
        Some(Self(LessSafeKey::new(key)))
    }

    /// The key and the nonce that XChaCha20-Poly1305 uses with this key and nonce (draft-irtf-cfrg-xchacha-03 §2.3).
    pub fn extended(key: &[u8; 32], nonce: &[u8; 24]) -> Option<(Self, [u8; NONCE_LEN])> {
        let (first, last) = nonce.split_first_chunk::<16>()?;
        let mut short = [0; NONCE_LEN];
        short.last_chunk_mut::<8>()?.copy_from_slice(last);
        let derived = hchacha20(key, first);
        Some((Self::from_bytes(derived.as_slice())?, short))
    }

    /// Seals `content` in its memory and returns the tag. A nonce must be used only once with a key.
    ///
    /// # Errors
    /// If the cryptographic library fails.
    pub fn seal(
        &self,
        nonce: [u8; NONCE_LEN],
        aad: &[u8],
        content: &mut [u8],
    ) -> Result<[u8; 16], SealError> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        let tag = (self.0)
            .seal_in_place_separate_tag(nonce, Aad::from(aad), content)
            .map_err(|_| SealError)?;
        tag.as_ref().try_into().map_err(|_| SealError)
    }

    /// Opens a ciphertext whose nonce and tag stand elsewhere.
    ///
    /// # Errors
    /// If this was not sealed with this key and this additional data, or has been changed.
    pub fn open_detached(&self, sealed: Detached<'_>) -> Result<Secret, SealError> {
        let nonce = Nonce::assume_unique_for_key(*sealed.nonce);
        let mut plain = Zeroizing::new(vec![0; sealed.ciphertext.len()]);
        (self.0)
            .open_separate_gather(
                nonce,
                Aad::from(sealed.aad),
                sealed.ciphertext,
                sealed.tag,
                &mut plain,
            )
            .map_err(|_| SealError)?;
        Ok(Secret::new(std::mem::take(&mut *plain)))
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

/// HChaCha20 (draft-irtf-cfrg-xchacha-03 §2.2): a key for the first 16 bytes of a nonce.
fn hchacha20(key: &[u8; 32], nonce: &[u8; 16]) -> Zeroizing<[u8; 32]> {
    let mut state = Zeroizing::new([0_u32; 16]);
    let begin = b"expand 32-byte k".as_chunks::<4>().0.iter();
    let words = begin.chain(key.as_chunks::<4>().0);
    let words = words.chain(nonce.as_chunks::<4>().0);
    for (to, word) in state.iter_mut().zip(words) {
        *to = u32::from_le_bytes(*word);
    }
    for _ in 0..10 {
        for quarter in QUARTERS {
            quarter_round(&mut state, quarter);
        }
    }
    let mut derived = Zeroizing::new([0; 32]);
    let [first @ .., _, _, _, _, _, _, _, _, l0, l1, l2, l3] = *state;
    let words = first.iter().chain([&l0, &l1, &l2, &l3]);
    for (to, word) in derived.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *to = word.to_le_bytes();
    }
    derived
}

/// The columns and the diagonals of the state (RFC 8439 §2.3).
const QUARTERS: [[usize; 4]; 8] = [
    [0, 4, 8, 12],
    [1, 5, 9, 13],
    [2, 6, 10, 14],
    [3, 7, 11, 15],
    [0, 5, 10, 15],
    [1, 6, 11, 12],
    [2, 7, 8, 13],
    [3, 4, 9, 14],
];

/// RFC 8439 §2.1, on four words of the state.
fn quarter_round(state: &mut [u32; 16], at: [usize; 4]) {
    let Ok([a, b, c, d]) = state.get_disjoint_mut(at) else {
        return;
    };
    for (first, second) in [(16, 12), (8, 7)] {
        *a = a.wrapping_add(*b);
        *d = (*d ^ *a).rotate_left(first);
        *c = c.wrapping_add(*d);
        *b = (*b ^ *c).rotate_left(second);
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
    use crate::encoding::{hex_decode, hex_encode};

    #[test]
    fn the_example_of_the_draft_of_xchacha_holds() {
        // draft-irtf-cfrg-xchacha-03 §2.2.1.
        let key: [u8; 32] = std::array::from_fn(|at| at as u8);
        let nonce = hex_decode("000000090000004a0000000031415927").unwrap();
        let derived = hchacha20(&key, nonce.first_chunk().unwrap());
        let expected = "82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc";
        assert_eq!(hex_encode(&*derived), expected);
        // §A.3.1.
        let key: [u8; 32] = std::array::from_fn(|at| 0x80 + at as u8);
        let nonce: [u8; 24] = std::array::from_fn(|at| 0x40 + at as u8);
        let aad = hex_decode("50515253c0c1c2c3c4c5c6c7").unwrap();
        let mut content =
            b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip \
            for the future, sunscreen would be it."
                .to_vec();
        let (key, nonce) = ChaChaKey::extended(&key, &nonce).unwrap();
        let tag = key.seal(nonce, &aad, &mut content).unwrap();
        assert!(
            hex_encode(&content).starts_with("bd6d179d3e83d43b9576579493c0e939572a1700252bfacc")
        );
        assert_eq!(hex_encode(&tag), "c0875924c1c7987947deafd8780acf49");
        let sealed = Detached {
            nonce: &nonce,
            aad: &aad,
            ciphertext: &content,
            tag: &tag,
        };
        assert!(
            key.open_detached(sealed)
                .unwrap()
                .expose()
                .starts_with(b"Ladies and")
        );
        for changed in [
            Detached { aad: b"", ..sealed },
            Detached {
                tag: &[0; 16],
                ..sealed
            },
            Detached {
                tag: &tag[..15],
                ..sealed
            },
            Detached {
                ciphertext: &content[1..],
                ..sealed
            },
            Detached {
                nonce: &[0; 12],
                ..sealed
            },
        ] {
            assert_eq!(key.open_detached(changed), Err(SealError));
        }
    }

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
