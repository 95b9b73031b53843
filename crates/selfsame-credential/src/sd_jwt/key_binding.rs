//! The Key Binding JWT (RFC 9901 §4.3): the holder's proof that this presentation is his, now, for this verifier.

use selfsame_crypto::{Algorithm, KeyHandle, jws, time::UnixTime};
use serde_json::{Map, Value};

use super::{Presentation, SdJwtError, parse::parse_jwt};
use crate::{
    budget::Budget,
    evidence::{Evidence, Step},
    signer::{Signer, Unsigned},
};

/// The type of a Key Binding JWT.
pub const TYP: &str = "kb+jwt";

/// A received Key Binding JWT, not yet verified.
#[derive(Clone, Debug)]
pub struct KeyBinding {
    jwt: jws::Compact,
    claims: Map<String, Value>,
}

impl KeyBinding {
    pub(super) fn parse(text: &str, budget: &mut Budget) -> Result<Self, SdJwtError> {
        let jwt = parse_jwt(text, SdJwtError::KeyBinding)?;
        let claims = jwt.claims().map_err(|_| SdJwtError::KeyBinding)?;
        budget.take(&claims).ok_or(SdJwtError::TooMuch)?;
        match claims {
            Value::Object(claims) => Ok(Self { jwt, claims }),
            _ => Err(SdJwtError::KeyBinding),
        }
    }

    /// The JWT.
    pub fn jwt(&self) -> &jws::Compact {
        &self.jwt
    }

    /// Its claims.
    pub fn claims(&self) -> &Map<String, Value> {
        &self.claims
    }
}

/// What a Key Binding JWT says, besides `sd_hash`.
#[derive(Clone, Debug, Default)]
pub struct KeyBindingClaims {
    /// `aud`: the verifier.
    pub audience: String,
    /// `nonce`: the verifier's.
    pub nonce: String,
    /// `iat`.
    pub issued_at: UnixTime,
    /// Claims of a profile, such as `transaction_data_hashes`; they cannot replace the ones above.
    pub further: Map<String, Value>,
}

/// An SD-JWT+KB that lacks nothing but the holder's signature.
#[derive(Clone, Debug)]
pub struct KeyBindingDraft {
    sd_jwt: String,
    unsigned: Unsigned,
}

impl KeyBindingDraft {
    pub(super) fn new(
        presentation: Presentation,
        claims: &KeyBindingClaims,
        key: KeyHandle,
        algorithm: Algorithm,
    ) -> Self {
        let sd_hash = presentation.algorithm.digest(presentation.text.as_bytes());
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
            sd_jwt: presentation.text,
            unsigned: Unsigned::new(&signer, TYP, &Value::Object(payload)),
        }
    }

    /// The bytes the holder signs.
    pub fn signing_input(&self) -> &[u8] {
        self.unsigned.signing_input()
    }

    /// The SD-JWT+KB, with its signature.
    pub fn finish(self, signature: &[u8]) -> String {
        let jwt = self.unsigned.finish(signature);
        self.sd_jwt + &jwt
    }

    /// The SD-JWT+KB if its signature is in the evidence, else the need for it.
    pub fn step(self, evidence: &Evidence) -> Step<String> {
        match self.unsigned.step(evidence) {
            Step::Done(jwt) => Step::Done(self.sd_jwt + &jwt),
            Step::Needs(needs) => Step::Needs(needs),
        }
    }
}
