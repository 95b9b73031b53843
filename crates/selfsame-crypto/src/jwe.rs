//! JWE in compact form with `ECDH-ES` over P-256 and AES-GCM (RFC 7516, RFC 7518 §4.6, §5.3): encryption to one
//! recipient.

use aws_lc_rs::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::agreement::{ECDH_P256, PrivateKey, UnparsedPublicKey, agree};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::ctx::Ctx;
use crate::encoding::base64url_encode;
use crate::hash::sha256_parts;
use crate::jwk::Jwk;
use crate::public_key::PublicKey;
use crate::{KeyError, KeyType};

/// Labels of repeated draws for a key. A draw is not a valid key about once in 2^32 times.
const DRAWS: [&str; 4] = ["jwe/key/1", "jwe/key/2", "jwe/key/3", "jwe/key/4"];

/// The content encryption algorithm (`enc`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ContentEncryption {
    /// `A128GCM`.
    A128Gcm,
    /// `A256GCM`.
    A256Gcm,
}

impl ContentEncryption {
    /// All supported algorithms, the stronger first.
    pub const ALL: [Self; 2] = [Self::A256Gcm, Self::A128Gcm];

    /// The algorithm's name (RFC 7518 §5.1).
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::A128Gcm => "A128GCM",
            Self::A256Gcm => "A256GCM",
        }
    }

    fn key(self, bytes: &[u8; 32]) -> Option<LessSafeKey> {
        let (algorithm, len) = match self {
            Self::A128Gcm => (&AES_128_GCM, 16),
            Self::A256Gcm => (&AES_256_GCM, 32),
        };
        let key = UnboundKey::new(algorithm, bytes.get(..len)?).ok()?;
        Some(LessSafeKey::new(key))
    }

    const fn bits(self) -> u32 {
        match self {
            Self::A128Gcm => 128,
            Self::A256Gcm => 256,
        }
    }
}

/// The recipient of an encrypted message.
#[derive(Clone, Debug)]
pub struct Recipient {
    key: PublicKey,
    kid: Option<String>,
}

/// Encryption failed in the cryptographic library.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the cryptographic library failed")]
pub struct JweError;

impl Recipient {
    /// The recipient with this `ECDH-ES` key on P-256.
    ///
    /// # Errors
    /// `Unsupported` if the key has another curve, algorithm or use; other `KeyError`s if it is invalid.
    pub fn of(jwk: &Jwk) -> Result<Self, KeyError> {
        let is_meant = jwk.alg.as_deref().is_none_or(|alg| alg == "ECDH-ES")
            && jwk.use_.as_deref().is_none_or(|used| used == "enc");
        let key = PublicKey::from_jwk(jwk)?;
        if !is_meant || key.key_type() != KeyType::P256 {
            return Err(KeyError::Unsupported);
        }
        Ok(Self {
            key,
            kid: jwk.kid.clone(),
        })
    }

    /// Encrypts to the recipient, with an ephemeral key that is used only once.
    ///
    /// # Errors
    /// If the cryptographic library fails.
    pub fn encrypt(
        &self,
        content: &[u8],
        encryption: ContentEncryption,
        ctx: &Ctx,
    ) -> Result<String, JweError> {
        let ephemeral = DRAWS.iter().find_map(|draw| {
            let bytes = Zeroizing::new(ctx.random::<32>(draw));
            PrivateKey::from_private_key(&ECDH_P256, bytes.as_slice()).ok()
        });
        let ephemeral = ephemeral.ok_or(JweError)?;
        let header = self.header(&ephemeral, encryption)?;
        let protected = base64url_encode(header.to_string().as_bytes());
        let secret = shared(&ephemeral, self.key.bytes(), encryption)?;
        let key = encryption.key(&secret).ok_or(JweError)?;
        let nonce = ctx.random::<12>("jwe/nonce");
        let mut sealed = content.to_vec();
        let tag = key
            .seal_in_place_separate_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(protected.as_bytes()),
                &mut sealed,
            )
            .map_err(|_| JweError)?;
        let parts = [&nonce[..], &sealed, tag.as_ref()].map(base64url_encode);
        // With direct key agreement there is no encrypted key (RFC 7516 §5.1).
        Ok(format!("{protected}..{}", parts.join(".")))
    }

    fn header(
        &self,
        ephemeral: &PrivateKey,
        encryption: ContentEncryption,
    ) -> Result<Value, JweError> {
        let public = ephemeral.compute_public_key().map_err(|_| JweError)?;
        let public = PublicKey::from_raw(KeyType::P256, public.as_ref()).map_err(|_| JweError)?;
        let mut header = json!({
            "alg": "ECDH-ES",
            "enc": encryption.as_str(),
            "epk": public.to_jwk().to_value(),
        });
        if let (Some(kid), Some(members)) = (&self.kid, header.as_object_mut()) {
            members.insert("kid".to_owned(), Value::from(kid.as_str()));
        }
        Ok(header)
    }
}

/// The content encryption key: the shared secret through the Concat KDF (RFC 7518 §4.6.2), without party information.
/// One hash gives as many bits as the longest key needs.
fn shared(
    own: &PrivateKey,
    peer: &[u8],
    encryption: ContentEncryption,
) -> Result<Zeroizing<[u8; 32]>, JweError> {
    let peer = UnparsedPublicKey::new(&ECDH_P256, peer);
    agree(own, peer, JweError, |secret| {
        Ok(Zeroizing::new(derived(secret, encryption, b"", b"")))
    })
}

/// The key for a message from `producer` to `consumer` (PartyUInfo and PartyVInfo of RFC 7518 §4.6.2).
fn derived(
    secret: &[u8],
    encryption: ContentEncryption,
    producer: &[u8],
    consumer: &[u8],
) -> [u8; 32] {
    let name = encryption.as_str().as_bytes();
    let len = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes();
    sha256_parts(&[
        &1_u32.to_be_bytes(),
        secret,
        &len(name),
        name,
        &len(producer),
        producer,
        &len(consumer),
        consumer,
        &encryption.bits().to_be_bytes(),
    ])
}

#[cfg(test)]
mod tests;
