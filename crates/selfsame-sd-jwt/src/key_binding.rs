//! The Key Binding JWT (RFC 9901 §4.3): the holder's proof of a presentation now, to this verifier.

use selfsame_crypto::jws;
use serde_json::{Map, Value};

use crate::budget::Budget;
use crate::{SdJwtError, parse_jwt};

/// The type of a Key Binding JWT.
pub const TYP: &str = "kb+jwt";

/// A received Key Binding JWT, not yet verified.
#[derive(Clone, Debug)]
pub struct KeyBinding {
    jwt: jws::Compact,
    claims: Map<String, Value>,
}

impl KeyBinding {
    pub(crate) fn parse(text: &str, budget: &mut Budget) -> Result<Self, SdJwtError> {
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
