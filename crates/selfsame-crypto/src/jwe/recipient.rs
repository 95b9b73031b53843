//! The recipient of one compact message with `ECDH-ES` on P-256: a verifier's response in OpenID4VP.

use serde_json::{Map, Value};

use super::encrypt::{Addressee, JweDraft};
use super::{ContentEncryption, JweError, KeyManagement};
use crate::agreement::{AgreementCurve, AgreementKey};
use crate::ctx::Ctx;
use crate::error::KeyError;
use crate::jwk::Jwk;

/// The recipient of an encrypted message.
#[derive(Clone, Debug)]
pub struct Recipient {
    key: AgreementKey,
    kid: Option<String>,
}

impl Recipient {
    /// The recipient with this `ECDH-ES` key on P-256.
    ///
    /// # Errors
    /// `Unsupported` if the key has another curve, algorithm or use; other `KeyError`s if it is invalid.
    pub fn of(jwk: &Jwk) -> Result<Self, KeyError> {
        let is_meant = jwk.alg.as_deref().is_none_or(|alg| alg == "ECDH-ES");
        let key = AgreementKey::from_jwk(jwk)?;
        if !is_meant || key.curve() != AgreementCurve::P256 {
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
        let kid = self.kid.as_deref();
        let members = kid.map(|kid| ("kid".to_owned(), Value::from(kid)));
        let draft = JweDraft {
            alg: KeyManagement::EcdhEs,
            enc: encryption,
            to: vec![Addressee {
                kid,
                key: &self.key,
            }],
            sender: None,
            members: members.into_iter().collect::<Map<_, _>>(),
        };
        let jwe = draft.encrypt(content, ctx)?;
        jwe.to_compact().ok_or(JweError::Backend)
    }
}
