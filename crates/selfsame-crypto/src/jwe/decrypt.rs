//! Decryption of a JWE (RFC 7516 §5.2).

use super::content::Encrypted;
use super::form::Jwe;
use super::{JweError, kdf};
use crate::agreement::{AgreementKey, AgreementPrivate};
use crate::secret::Secret;

/// The keys that a recipient decrypts with.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// The identifier of the recipient's key; `None` for the only recipient.
    pub kid: Option<&'a str>,
    /// The recipient's private key.
    pub own: &'a AgreementPrivate,
    /// The sender's public key, which `ECDH-1PU` needs.
    pub sender: Option<&'a AgreementKey>,
}

impl Jwe {
    /// Decrypts with these keys. With `ECDH-1PU` only the holder of the sender's key, or a recipient, can have made it.
    ///
    /// # Errors
    /// `NoKey` if there is no such recipient, or the sender's key is needed; `Key` if the curves differ; `Decryption` if
    /// it was not made with these keys.
    pub fn decrypt(&self, with: &Opening<'_>) -> Result<Secret, JweError> {
        let recipient = match (with.kid, &self.recipients[..]) {
            (None, [only]) => Some(only),
            (None, _) => None,
            (Some(kid), all) => all.iter().find(|one| one.kid.as_deref() == Some(kid)),
        };
        let recipient = recipient.ok_or(JweError::NoKey)?;
        let secret = kdf::received(&self.header, with.own, with.sender)?;
        let derived = kdf::derived(&self.header, &secret, &self.tag);
        let key = match self.header.alg.wrapping_len() {
            None if recipient.encrypted_key.is_empty() => derived,
            None => return Err(JweError::Decryption),
            Some(_) => {
                let len = self.header.enc.key_len();
                kdf::unwrap(&derived, &recipient.encrypted_key, len)?
            }
        };
        let encrypted = Encrypted {
            iv: &self.iv,
            aad: self.protected.as_bytes(),
            ciphertext: &self.ciphertext,
            tag: &self.tag,
        };
        self.header.enc.decrypt(&key, &encrypted)
    }
}
