//! What the userinfo endpoint answers (OpenID Connect Core §5.3.2).

use selfsame_crypto::agreement::AgreementKey;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::jwe::{Addressee, ContentEncryption, JweDraft, JweError, KeyManagement};
use selfsame_crypto::{Algorithm, Jwk};
use selfsame_oauth::Error;
use selfsame_oauth::jwt::VerificationKeys;
use serde_json::{Map, Value};

use crate::member::{invalid, optional};
use crate::registration::ClientRegistration;
use crate::rules::ProviderRules;

/// How the keys of encrypted userinfo can be managed.
pub const KEY_MANAGEMENT: [KeyManagement; 3] = [
    KeyManagement::EcdhEs,
    KeyManagement::EcdhEsA128Kw,
    KeyManagement::EcdhEsA256Kw,
];
/// How userinfo can be encrypted.
pub const ENCRYPTIONS: [ContentEncryption; 3] = [
    ContentEncryption::A256Gcm,
    ContentEncryption::A128Gcm,
    ContentEncryption::A256CbcHs512,
];

/// The form of a client's userinfo.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UserinfoForm {
    /// The algorithm of its signature; JSON without one.
    pub signed: Option<Algorithm>,
    /// How it is encrypted.
    pub encrypted: Option<UserinfoEncryption>,
}

/// How userinfo is encrypted to a client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UserinfoEncryption {
    /// How the content's key is managed.
    pub alg: KeyManagement,
    /// How the content is encrypted.
    pub enc: ContentEncryption,
}

impl UserinfoForm {
    pub(crate) fn of(from: &ClientRegistration, rules: &ProviderRules) -> Result<Self, Error> {
        let signed = optional(&from.userinfo_signed_response_alg, rules)?;
        let alg = from.userinfo_encrypted_response_alg.as_deref();
        let encrypted = match alg {
            None => None,
            Some(alg) => {
                let mut known = KEY_MANAGEMENT.into_iter();
                let alg = known.find(|known| known.as_str() == alg);
                let alg = alg.ok_or(invalid("userinfo_encrypted_response_alg is not supported"))?;
                // The default of the specification, A128CBC-HS256, is not supported, so the member is needed.
                let enc = from.userinfo_encrypted_response_enc.as_deref();
                let mut known = ENCRYPTIONS.into_iter();
                let enc = known.find(|known| Some(known.as_str()) == enc);
                let enc = enc.ok_or(invalid("userinfo_encrypted_response_enc is not supported"))?;
                Some(UserinfoEncryption { alg, enc })
            }
        };
        Ok(Self { signed, encrypted })
    }
}

impl UserinfoEncryption {
    /// Encrypts userinfo to the first of the client's keys that fits. `is_jwt` says that the content is a signed JWT
    /// (RFC 7519 §5.2).
    ///
    /// # Errors
    /// `NoKey` if no key fits.
    pub fn encrypt(
        &self,
        content: &[u8],
        is_jwt: bool,
        keys: &VerificationKeys,
        ctx: &Ctx,
    ) -> Result<String, JweError> {
        let fits = |key: &&Jwk| {
            let purpose = key.use_.as_deref();
            let alg = key.alg.as_deref();
            purpose == Some("enc") && alg.is_none_or(|alg| alg == self.alg.as_str())
        };
        let mut fitting = keys.keys().iter().filter(fits);
        let found = fitting.find_map(|jwk| Some((jwk, AgreementKey::from_jwk(jwk).ok()?)));
        let (jwk, key) = found.ok_or(JweError::NoKey)?;
        let kid = jwk.kid.as_deref();
        let mut members = Map::new();
        if let Some(kid) = kid {
            members.insert("kid".to_owned(), Value::from(kid));
        }
        if is_jwt {
            members.insert("cty".to_owned(), Value::from("JWT"));
        }
        let draft = JweDraft {
            alg: self.alg,
            enc: self.enc,
            to: vec![Addressee { kid, key: &key }],
            sender: None,
            members,
        };
        let jwe = draft.encrypt(content, ctx)?;
        jwe.to_compact().ok_or(JweError::Backend)
    }
}
