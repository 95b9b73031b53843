//! Encryption to one or several recipients (RFC 7516 §5.1).

use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::content::Encrypted;
use super::form::{Jwe, JweRecipient};
use super::header::{JweHeader, KeyManagement};
use super::{ContentEncryption, JweError, kdf};
use crate::agreement::{AgreementKey, AgreementPrivate};
use crate::ctx::Ctx;
use crate::encoding::{base64url_encode, hex_encode};
use crate::hash::Sha256;
use crate::json;

/// What is encrypted how and to whom.
#[derive(Clone, Debug)]
pub struct JweDraft<'a> {
    /// How the content's key is agreed on.
    pub alg: KeyManagement,
    /// How the content is encrypted.
    pub enc: ContentEncryption,
    /// The recipients; their keys have one curve.
    pub to: Vec<Addressee<'a>>,
    /// The sender's private key, for `ECDH-1PU` alone.
    pub sender: Option<&'a AgreementPrivate>,
    /// Further members of the protected header: `typ`, `skid`, `apu`, `apv` and others.
    pub members: Map<String, Value>,
}

/// A recipient to encrypt to.
#[derive(Clone, Copy, Debug)]
pub struct Addressee<'a> {
    /// The identifier of the key. It stands in the recipient's own header, unless `members` has a `kid`.
    pub kid: Option<&'a str>,
    /// The key.
    pub key: &'a AgreementKey,
}

impl JweDraft<'_> {
    /// Encrypts. The ephemeral key, the content's key and the initialisation vector come from the randomness of the step
    /// and from all that is encrypted: another content, recipient or header gives others.
    ///
    /// # Errors
    /// `NoKey` if there is no recipient, or the sender's key is missing or not needed; `Key` if the curves differ.
    pub fn encrypt(&self, content: &[u8], ctx: &Ctx) -> Result<Jwe, JweError> {
        let first = self.to.first().ok_or(JweError::NoKey)?;
        if self.alg.is_authenticated() != self.sender.is_some() {
            return Err(JweError::NoKey);
        }
        let label = self.label(content);
        let ephemeral = AgreementPrivate::derived(first.key.curve(), ctx, &label)?;
        let text = self.header_text(&ephemeral);
        let header = JweHeader::parse(&text)?;
        let protected = base64url_encode(&text);
        let direct = match self.alg.wrapping_len() {
            Some(_) => None,
            None => Some(kdf::derived(&header, &self.secret(&ephemeral, first)?, &[])),
        };
        let key = direct.unwrap_or_else(|| drawn(ctx, &format!("{label}/cek"), self.enc.key_len()));
        let iv = drawn(ctx, &format!("{label}/iv"), self.enc.iv_len());
        let mut sealed = content.to_vec();
        let of = Encrypted {
            iv: &iv,
            aad: protected.as_bytes(),
            ciphertext: &[],
            tag: &[],
        };
        let tag = self.enc.encrypt(&key, &of, &mut sealed)?;
        let wrapped = |to: &Addressee<'_>| {
            let encrypted_key = match self.alg.wrapping_len() {
                None => Vec::new(),
                Some(_) => {
                    let secret = self.secret(&ephemeral, to)?;
                    kdf::wrap(&kdf::derived(&header, &secret, &tag), &key)?
                }
            };
            Ok(JweRecipient {
                kid: header.kid.clone().or_else(|| to.kid.map(str::to_owned)),
                encrypted_key,
            })
        };
        let recipients: Result<Vec<_>, JweError> = self.to.iter().map(wrapped).collect();
        Ok(Jwe {
            recipients: recipients?,
            header,
            protected,
            iv: iv.to_vec(),
            ciphertext: sealed,
            tag,
        })
    }

    /// The secret that is shared with a recipient.
    fn secret(
        &self,
        ephemeral: &AgreementPrivate,
        to: &Addressee<'_>,
    ) -> Result<Zeroizing<Vec<u8>>, JweError> {
        let between = self.sender.map(|sender| sender.agree(to.key)).transpose()?;
        Ok(kdf::shared(&ephemeral.agree(to.key)?, between))
    }

    fn header_text(&self, ephemeral: &AgreementPrivate) -> Vec<u8> {
        let mut members = self.members.clone();
        members.insert("alg".to_owned(), Value::from(self.alg.as_str()));
        members.insert("enc".to_owned(), Value::from(self.enc.as_str()));
        members.insert("epk".to_owned(), ephemeral.public().to_jwk().to_value());
        json::to_bytes(&Value::Object(members))
    }

    /// The label of the randomness: a hash of all that is encrypted.
    fn label(&self, content: &[u8]) -> String {
        let mut hash = Sha256::new();
        let header = json::to_bytes(&Value::Object(self.members.clone()));
        let names = [self.alg.as_str().as_bytes(), self.enc.as_str().as_bytes()];
        let sender = self
            .sender
            .map_or(&[][..], |sender| sender.public().bytes());
        let keys = self.to.iter().map(|to| to.key.bytes());
        for part in names
            .into_iter()
            .chain([header.as_slice(), sender])
            .chain(keys)
        {
            hash.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            hash.update(part);
        }
        hash.update(content);
        format!("jwe/{}", hex_encode(&hash.finish()))
    }
}

/// That many bytes of the step's randomness.
fn drawn(ctx: &Ctx, label: &str, len: usize) -> Zeroizing<Vec<u8>> {
    let bytes = Zeroizing::new(ctx.random::<64>(label));
    Zeroizing::new(bytes.iter().take(len).copied().collect())
}
