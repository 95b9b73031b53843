//! Presents an SD-JWT VC: the Key Binding JWT for the chosen disclosures (RFC 9901 §4.3).

use selfsame_crypto::{Algorithm, KeyHandle, time::UnixTime};
use serde_json::{Map, Value};

use crate::{
    evidence::{Evidence, Step},
    sd_jwt::{Presentation, SdJwt, key_binding::TYP},
    signer::{Signer, Unsigned},
};

/// The claims of a Key Binding JWT, besides `sd_hash`.
#[derive(Clone, Debug, Default)]
pub struct KeyBindingClaims {
    /// `aud`: the verifier.
    pub audience: String,
    /// `nonce`: the verifier's.
    pub nonce: String,
    /// `iat`.
    pub issued_at: UnixTime,
    /// Claims of a profile, such as `transaction_data_hashes`; they can't replace the ones above.
    pub further: Map<String, Value>,
}

/// An SD-JWT+KB without the holder's signature.
#[derive(Clone, Debug)]
pub struct KeyBindingDraft {
    sd_jwt: String,
    unsigned: Unsigned,
}

impl KeyBindingClaims {
    /// A presentation bound to the holder's key, for the holder to sign.
    pub fn bind(
        &self,
        presentation: Presentation,
        key: KeyHandle,
        algorithm: Algorithm,
    ) -> KeyBindingDraft {
        KeyBindingDraft::new(presentation, self, key, algorithm)
    }
}

impl KeyBindingDraft {
    fn new(
        presentation: Presentation,
        claims: &KeyBindingClaims,
        key: KeyHandle,
        algorithm: Algorithm,
    ) -> Self {
        let sd_hash = presentation.sd_hash();
        let mut payload = claims.further.clone();
        payload.insert("aud".to_owned(), Value::from(claims.audience.as_str()));
        payload.insert("nonce".to_owned(), Value::from(claims.nonce.as_str()));
        payload.insert("iat".to_owned(), Value::from(claims.issued_at.0));
        payload.insert("sd_hash".to_owned(), Value::from(sd_hash));
        let signer = Signer {
            key,
            algorithm,
            kid: None,
            x5c: Vec::new(),
        };
        Self {
            sd_jwt: presentation.unbound(),
            unsigned: Unsigned::new(&signer, TYP, &Value::Object(payload)),
        }
    }

    /// The bytes that the holder signs.
    pub fn signing_input(&self) -> &[u8] {
        self.unsigned.signing_input()
    }

    /// The SD-JWT+KB, with its signature.
    pub fn finish(self, signature: &[u8]) -> String {
        let jwt = self.unsigned.finish(signature);
        self.sd_jwt + &jwt
    }

    /// The SD-JWT+KB if its signature is in the evidence, otherwise the need for the signature.
    pub fn step(self, evidence: &Evidence) -> Step<String> {
        match self.unsigned.step(evidence) {
            Step::Done(jwt) => Step::Done(self.sd_jwt + &jwt),
            Step::Needs(needs) => Step::Needs(needs),
        }
    }
}

/// The SD-JWT in a presentation.
pub(super) fn bare(raw: &str) -> Option<String> {
    let sd_jwt = SdJwt::parse(raw).ok()?;
    Some(sd_jwt.without_key_binding().to_owned())
}
