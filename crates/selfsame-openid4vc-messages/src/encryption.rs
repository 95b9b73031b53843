//! The encryption of messages (OpenID4VP 1.0 §8.3, OpenID4VCI 1.0 §10): compact JWE with `ECDH-ES` and AES-GCM.

use selfsame_crypto::agreement::{AgreementCurve, AgreementPrivate};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::hash::ct_eq;
use selfsame_crypto::jwe::{ContentEncryption, Jwe, JweError, KeyManagement, Opening, Recipient};
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Jwk, Secret, SecretString};
use selfsame_oauth::secret;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Error;

/// The media type of an encrypted message (OpenID4VCI 1.0 §10).
pub const MEDIA_TYPE: &str = "application/jwt";
/// How a message's key is agreed on.
pub const ALG: &str = "ECDH-ES";
/// Maximum number of the other side's keys to consider.
const MAX_KEYS: usize = 16;

/// The content encryption algorithms that we use, the stronger first.
pub fn enc_values() -> Vec<String> {
    let names = ContentEncryption::GCM.map(ContentEncryption::as_str);
    names.map(str::to_owned).to_vec()
}

/// Why nothing can be encrypted to the other side.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NoEncryption {
    /// None of its keys is one that we can use.
    #[error("there is no key for ECDH-ES on P-256")]
    Key,
    /// It lists no content encryption that we have.
    #[error("there is neither A128GCM nor A256GCM among the content encryptions")]
    Content,
}

/// The key and the algorithm that messages to the other side are encrypted with.
#[derive(Clone, Debug)]
pub struct EncryptTo {
    recipient: Recipient,
    encryption: ContentEncryption,
    /// The SHA-256 thumbprint of the key (RFC 7638).
    pub thumbprint: [u8; 32],
}

impl EncryptTo {
    /// Chooses the first key of a JWK Set that we support, and the strongest content encryption that both sides have.
    /// `values` is the list of the other side.
    ///
    /// # Errors
    /// If no key or no content encryption is supported.
    pub fn choose(jwks: Option<&Value>, values: &[String]) -> Result<Self, NoEncryption> {
        let keys = jwks.and_then(|set| set.get("keys"));
        let keys = keys
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        let recipient = keys
            .iter()
            .take(MAX_KEYS)
            .find_map(|key| recipient(key).ok());
        let (recipient, thumbprint) = recipient.ok_or(NoEncryption::Key)?;
        Ok(Self {
            recipient,
            encryption: strongest(values).ok_or(NoEncryption::Content)?,
            thumbprint,
        })
    }

    /// The key and the algorithm that the other side names, as in `credential_response_encryption`.
    ///
    /// # Errors
    /// If one of them is not supported, or the key names no `alg` (OpenID4VCI 1.0 §10).
    pub fn named(jwk: &Value, enc: &str) -> Result<Self, NoEncryption> {
        if jwk.get("alg").and_then(Value::as_str) != Some(ALG) {
            return Err(NoEncryption::Key);
        }
        let mut known = ContentEncryption::GCM.into_iter();
        let encryption = known.find(|one| one.as_str() == enc);
        let (recipient, thumbprint) = recipient(jwk)?;
        Ok(Self {
            recipient,
            encryption: encryption.ok_or(NoEncryption::Content)?,
            thumbprint,
        })
    }

    /// The message as a compact JWE.
    ///
    /// # Errors
    /// An error of the cryptographic library.
    pub fn seal(&self, message: &[u8], ctx: &Ctx) -> Result<String, Error> {
        let sealed = self.recipient.encrypt(message, self.encryption, ctx);
        sealed.map_err(|error| Error::Setup(error.to_string()))
    }
}

/// The key, and its thumbprint.
fn recipient(jwk: &Value) -> Result<(Recipient, [u8; 32]), NoEncryption> {
    let jwk = Jwk::from_value(jwk).map_err(|_| NoEncryption::Key)?;
    let recipient = Recipient::of(&jwk).map_err(|_| NoEncryption::Key)?;
    Ok((recipient, jwk.thumbprint()))
}

/// A key of the other side and a content encryption, both named (`credential_response_encryption`, OpenID4VCI 1.0
/// §8.2).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct EncryptionParameters {
    /// The key, with its `alg`.
    pub jwk: Value,
    /// The content encryption.
    pub enc: String,
}

impl EncryptionParameters {
    /// Chooses the first key of a JWK Set that we support, and the strongest content encryption that both sides have.
    ///
    /// # Errors
    /// If no key or no content encryption is supported.
    pub fn choose(jwks: &Value, values: &[String]) -> Result<Self, NoEncryption> {
        let keys = jwks.get("keys").and_then(Value::as_array);
        let keys = keys.map_or(&[][..], Vec::as_slice);
        let enc = strongest(values).ok_or(NoEncryption::Content)?.as_str();
        let usable = |jwk: &&Value| EncryptTo::named(jwk, enc).is_ok();
        let jwk = keys.iter().take(MAX_KEYS).find(usable);
        Ok(Self {
            jwk: jwk.cloned().ok_or(NoEncryption::Key)?,
            enc: enc.to_owned(),
        })
    }

    /// What messages are encrypted with.
    ///
    /// # Errors
    /// If the key or the content encryption is not supported.
    pub fn to(&self) -> Result<EncryptTo, NoEncryption> {
        EncryptTo::named(&self.jwk, &self.enc)
    }
}

/// The strongest of these content encryptions that we have.
pub fn strongest(values: &[String]) -> Option<ContentEncryption> {
    let mut known = ContentEncryption::GCM.into_iter();
    known.find(|one| values.iter().any(|name| name == one.as_str()))
}

/// Why an encrypted message was not opened.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NotOpened {
    /// It is no compact JWE, or demands what we do not support, such as compression.
    #[error("the message is not a compact JWE that can be read here")]
    Form,
    /// It uses other algorithms than the key is for.
    #[error("the message is not encrypted by ECDH-ES with A128GCM or A256GCM")]
    Algorithm,
    /// It does not name the key that it is encrypted to.
    #[error("the message does not name the key that it is encrypted to")]
    Key,
    /// It is not encrypted to this key, or was changed.
    #[error("the message cannot be decrypted with the key that was given")]
    Decryption,
}

/// A key of our own that messages are encrypted to.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct EncryptionKey {
    /// The identifier that messages must name.
    kid: String,
    /// The private number in base64url. The record that holds it is sealed.
    #[serde(with = "secret")]
    private: SecretString,
}

impl EncryptionKey {
    /// A key on P-256 from the randomness of a step. Equal labels give equal keys.
    ///
    /// # Errors
    /// If the cryptographic library fails.
    pub fn new(ctx: &Ctx, label: &str) -> Result<Self, Error> {
        let failed = |error: &dyn std::fmt::Display| Error::Setup(error.to_string());
        let key = AgreementPrivate::derived(AgreementCurve::P256, ctx, label)
            .map_err(|error| failed(&error))?;
        let private = key.to_raw().map_err(|error| failed(&error))?;
        Ok(Self {
            kid: base64url_encode(&key.public().to_jwk().thumbprint()),
            private: base64url_encode(private.expose()).into(),
        })
    }

    /// The key that stands beside a sealing key for as long as that is kept.
    ///
    /// # Errors
    /// If the cryptographic library fails.
    pub fn beside(key: &SealingKey) -> Result<Self, Error> {
        let seed = key.derive_seed(b"openid4vc/encryption/1");
        Self::new(&Ctx::new(UnixTime(0), *seed), "encryption")
    }

    /// The SHA-256 thumbprint of the public key (RFC 7638).
    ///
    /// # Errors
    /// If the cryptographic library fails.
    pub fn thumbprint(&self) -> Result<[u8; 32], Error> {
        let key = self.private().ok_or_else(broken)?;
        Ok(key.public().to_jwk().thumbprint())
    }

    /// The public key, for `jwks` and `jwk`: it names its algorithm and its identifier (OpenID4VP 1.0 §5.1,
    /// OpenID4VCI 1.0 §10).
    ///
    /// # Errors
    /// If the cryptographic library fails.
    pub fn jwk(&self) -> Result<Value, Error> {
        let key = self.private().ok_or_else(broken)?;
        let mut jwk = key.public().to_jwk().to_value();
        if let Some(members) = jwk.as_object_mut() {
            for (name, value) in [("kid", &*self.kid), ("use", "enc"), ("alg", ALG)] {
                members.insert(name.to_owned(), Value::from(value));
            }
        }
        Ok(jwk)
    }

    /// The message in a compact JWE of at most this number of bytes.
    ///
    /// # Errors
    /// Why it was not opened; that it was changed and that it was for another key are one error.
    pub fn open(&self, message: &str, max_bytes: usize) -> Result<Secret, NotOpened> {
        // The JSON forms are not used here, and a compact one never begins with a brace.
        if message.trim_start().starts_with('{') {
            return Err(NotOpened::Form);
        }
        let jwe = Jwe::parse(message, max_bytes).map_err(|error| match error {
            JweError::Unsupported("alg" | "enc") => NotOpened::Algorithm,
            _ => NotOpened::Form,
        })?;
        let is_ours = jwe.header.alg == KeyManagement::EcdhEs
            && ContentEncryption::GCM.contains(&jwe.header.enc);
        if !is_ours {
            return Err(NotOpened::Algorithm);
        }
        let named = jwe.header.kid.as_deref().unwrap_or_default();
        if !ct_eq(named.as_bytes(), self.kid.as_bytes()) {
            return Err(NotOpened::Key);
        }
        let own = self.private().ok_or(NotOpened::Decryption)?;
        let opening = Opening {
            kid: None,
            own: &own,
            sender: None,
        };
        jwe.decrypt(&opening).map_err(|_| NotOpened::Decryption)
    }

    fn private(&self) -> Option<AgreementPrivate> {
        let number = Secret::new(base64url_decode(self.private.expose()).ok()?);
        AgreementPrivate::from_raw(AgreementCurve::P256, number.expose()).ok()
    }
}

fn broken() -> Error {
    Error::Setup("an encryption key that was kept cannot be read".to_owned())
}

#[cfg(test)]
mod tests;
