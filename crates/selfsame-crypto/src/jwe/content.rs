//! Content encryption (`enc`): AES-GCM, AES-CBC with HMAC (RFC 7518 §5), XChaCha20-Poly1305 (draft-amringer-jose-chacha-02).

use aws_lc_rs::aead::{self, AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::cipher::{
    AES_256, DecryptionContext, EncryptionContext, PaddedBlockDecryptingKey,
    PaddedBlockEncryptingKey, UnboundCipherKey,
};
use aws_lc_rs::hmac;
use zeroize::Zeroizing;

use super::JweError;
use crate::hash::ct_eq;
use crate::seal::chacha20_poly1305::{ChaChaKey, Detached};
use crate::secret::Secret;

/// The content encryption algorithm (`enc`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ContentEncryption {
    /// `A128GCM`.
    A128Gcm,
    /// `A256GCM`.
    A256Gcm,
    /// `A256CBC-HS512`.
    A256CbcHs512,
    /// `XC20P`.
    Xc20p,
}

/// A ciphertext and what it was made with.
pub(super) struct Encrypted<'a> {
    pub(super) iv: &'a [u8],
    pub(super) aad: &'a [u8],
    pub(super) ciphertext: &'a [u8],
    pub(super) tag: &'a [u8],
}

impl ContentEncryption {
    /// All supported algorithms.
    pub const ALL: [Self; 4] = [
        Self::A256Gcm,
        Self::A128Gcm,
        Self::A256CbcHs512,
        Self::Xc20p,
    ];
    /// AES-GCM, the stronger first.
    pub const GCM: [Self; 2] = [Self::A256Gcm, Self::A128Gcm];

    /// The algorithm's name (RFC 7518 §5.1).
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::A128Gcm => "A128GCM",
            Self::A256Gcm => "A256GCM",
            Self::A256CbcHs512 => "A256CBC-HS512",
            Self::Xc20p => "XC20P",
        }
    }

    /// The length of the key in bytes.
    pub(super) const fn key_len(self) -> usize {
        match self {
            Self::A128Gcm => 16,
            Self::A256Gcm | Self::Xc20p => 32,
            Self::A256CbcHs512 => 64,
        }
    }

    /// The length of the initialisation vector in bytes.
    pub(super) const fn iv_len(self) -> usize {
        match self {
            Self::A128Gcm | Self::A256Gcm => 12,
            Self::A256CbcHs512 => 16,
            Self::Xc20p => 24,
        }
    }

    const fn tag_len(self) -> usize {
        match self {
            Self::A128Gcm | Self::A256Gcm | Self::Xc20p => 16,
            Self::A256CbcHs512 => 32,
        }
    }

    /// Encrypts `content` in its memory and returns the tag.
    pub(super) fn encrypt(
        self,
        key: &[u8],
        of: &Encrypted<'_>,
        content: &mut Vec<u8>,
    ) -> Result<Vec<u8>, JweError> {
        match self {
            Self::A128Gcm | Self::A256Gcm => {
                let nonce =
                    Nonce::try_assume_unique_for_key(of.iv).map_err(|_| JweError::Backend)?;
                let tag =
                    gcm(self, key)?.seal_in_place_separate_tag(nonce, Aad::from(of.aad), content);
                Ok(tag.map_err(|_| JweError::Backend)?.as_ref().to_vec())
            }
            Self::Xc20p => {
                let (key, nonce) = chacha(key, of.iv)?;
                let tag = key
                    .seal(nonce, of.aad, content)
                    .map_err(|_| JweError::Backend)?;
                Ok(tag.to_vec())
            }
            Self::A256CbcHs512 => {
                let (mac, cipher) = halves(key)?;
                let iv: [u8; 16] = of.iv.try_into().map_err(|_| JweError::Backend)?;
                let cipher =
                    PaddedBlockEncryptingKey::cbc_pkcs7(cipher).map_err(|_| JweError::Backend)?;
                let context = EncryptionContext::Iv128((&iv).into());
                cipher
                    .less_safe_encrypt(content, context)
                    .map_err(|_| JweError::Backend)?;
                Ok(hs512(&mac, of, content).to_vec())
            }
        }
    }

    /// Decrypts. All failures are one error, so that an attacker learns nothing from it.
    pub(super) fn decrypt(self, key: &[u8], of: &Encrypted<'_>) -> Result<Secret, JweError> {
        let fits = key.len() == self.key_len()
            && of.iv.len() == self.iv_len()
            && of.tag.len() == self.tag_len();
        if !fits {
            return Err(JweError::Decryption);
        }
        match self {
            Self::A128Gcm | Self::A256Gcm => {
                let nonce =
                    Nonce::try_assume_unique_for_key(of.iv).map_err(|_| JweError::Decryption)?;
                let mut plain = Zeroizing::new(vec![0; of.ciphertext.len()]);
                gcm(self, key)?
                    .open_separate_gather(
                        nonce,
                        Aad::from(of.aad),
                        of.ciphertext,
                        of.tag,
                        &mut plain,
                    )
                    .map_err(|_| JweError::Decryption)?;
                Ok(Secret::new(std::mem::take(&mut *plain)))
            }
            Self::Xc20p => {
                let (key, nonce) = chacha(key, of.iv)?;
                let sealed = Detached {
                    nonce: &nonce,
                    aad: of.aad,
                    ciphertext: of.ciphertext,
                    tag: of.tag,
                };
                key.open_detached(sealed).map_err(|_| JweError::Decryption)
            }
            Self::A256CbcHs512 => decrypt_cbc(key, of),
        }
    }
}

/// RFC 7518 §5.2.2.2: the tag is checked before anything is decrypted.
fn decrypt_cbc(key: &[u8], of: &Encrypted<'_>) -> Result<Secret, JweError> {
    let (mac, cipher) = halves(key)?;
    if !ct_eq(&hs512(&mac, of, of.ciphertext), of.tag) {
        return Err(JweError::Decryption);
    }
    let iv: [u8; 16] = of.iv.try_into().map_err(|_| JweError::Decryption)?;
    let cipher = PaddedBlockDecryptingKey::cbc_pkcs7(cipher).map_err(|_| JweError::Backend)?;
    let mut plain = Zeroizing::new(of.ciphertext.to_vec());
    let context = DecryptionContext::Iv128((&iv).into());
    let length = cipher.decrypt(&mut plain, context).map(|plain| plain.len());
    plain.truncate(length.map_err(|_| JweError::Decryption)?);
    Ok(Secret::new(std::mem::take(&mut *plain)))
}

fn gcm(encryption: ContentEncryption, key: &[u8]) -> Result<LessSafeKey, JweError> {
    let algorithm: &aead::Algorithm = match encryption {
        ContentEncryption::A128Gcm => &AES_128_GCM,
        _ => &AES_256_GCM,
    };
    let key = UnboundKey::new(algorithm, key).map_err(|_| JweError::Decryption)?;
    Ok(LessSafeKey::new(key))
}

fn chacha(key: &[u8], iv: &[u8]) -> Result<(ChaChaKey, [u8; 12]), JweError> {
    let (Ok(key), Ok(iv)) = (key.try_into(), iv.try_into()) else {
        return Err(JweError::Decryption);
    };
    ChaChaKey::extended(key, iv).ok_or(JweError::Backend)
}

/// The keys of HMAC and of AES (RFC 7518 §5.2.2.1).
fn halves(key: &[u8]) -> Result<(hmac::Key, UnboundCipherKey), JweError> {
    let (mac, cipher) = key.split_at_checked(32).ok_or(JweError::Decryption)?;
    let cipher = UnboundCipherKey::new(&AES_256, cipher).map_err(|_| JweError::Decryption)?;
    Ok((hmac::Key::new(hmac::HMAC_SHA512, mac), cipher))
}

/// The tag of `A256CBC-HS512`: the first half of HMAC-SHA512 over additional data, vector, ciphertext and the length of
/// the additional data in bits (RFC 7518 §5.2.2.1).
fn hs512(mac: &hmac::Key, of: &Encrypted<'_>, ciphertext: &[u8]) -> [u8; 32] {
    let bits = u64::try_from(of.aad.len())
        .unwrap_or(u64::MAX)
        .saturating_mul(8);
    let mut context = hmac::Context::with_key(mac);
    for part in [of.aad, of.iv, ciphertext, &bits.to_be_bytes()] {
        context.update(part);
    }
    let whole = context.sign();
    whole.as_ref().first_chunk().copied().unwrap_or_default()
}
