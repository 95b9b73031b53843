//! A received presentation as a JWT, parsed but not yet verified.

use selfsame_crypto::jws;
use serde_json::{Map, Value};

use super::{Model, VcJwt, VcJwtError, id_of, read, rules};
use crate::budget::Budget;

/// The beginning of an enveloped credential (VCDM 2.0 §4.13, VC-JOSE-COSE §3.1.2).
pub(crate) const ENVELOPE: &str = "data:application/vc+jwt,";

/// A presentation of one credential.
#[derive(Clone, Debug)]
pub struct VpJwt {
    jwt: jws::Compact,
    payload: Map<String, Value>,
    credential: VcJwt,
}

impl VpJwt {
    /// VC-JOSE-COSE §3.1.2: `typ`, if present, is `vp+jwt`; in VCDM 1.1 it is `JWT`.
    pub(crate) fn has_type(&self) -> bool {
        rules::has_type(&self.jwt.header, self.credential.model().presentation_typ())
    }

    /// Parses a presentation and the one credential in it. Nothing is verified yet.
    pub fn parse(text: &str, model: Model) -> Result<Self, VcJwtError> {
        Self::parse_within(text, model, &mut Budget::of(text))
    }

    /// As above, within the remaining budget for this text and others.
    pub(crate) fn parse_within(
        text: &str,
        model: Model,
        budget: &mut Budget,
    ) -> Result<Self, VcJwtError> {
        let (jwt, payload) = read(text, model, budget)?;
        let vp = match model {
            Model::V1 => payload
                .get("vp")
                .and_then(Value::as_object)
                .ok_or(VcJwtError::Payload)?,
            Model::V2 => &payload,
        };
        let credential = match vp.get("verifiableCredential") {
            Some(Value::Array(credentials)) => match credentials.as_slice() {
                [only] => only,
                _ => return Err(VcJwtError::Credential),
            },
            Some(only) => only,
            None => return Err(VcJwtError::Credential),
        };
        let credential = VcJwt::parse_within(unwrap(credential, model)?, model, budget)?;
        Ok(Self {
            jwt,
            payload,
            credential,
        })
    }

    /// The JWT.
    pub fn jwt(&self) -> &jws::Compact {
        &self.jwt
    }

    /// The claims of the JWT.
    pub fn payload(&self) -> &Map<String, Value> {
        &self.payload
    }

    /// The presented credential.
    pub fn credential(&self) -> &VcJwt {
        &self.credential
    }

    /// The data model.
    pub fn model(&self) -> Model {
        self.credential.model
    }

    /// The presentation in its data model.
    pub(crate) fn object(&self) -> &Map<String, Value> {
        match self.model() {
            Model::V1 => self
                .payload
                .get("vp")
                .and_then(Value::as_object)
                .unwrap_or(&self.payload),
            Model::V2 => &self.payload,
        }
    }

    /// All identifiers of the holder: `iss`, and `holder` of the presentation.
    pub(crate) fn holders(&self) -> impl Iterator<Item = &str> {
        let iss = self.payload.get("iss").and_then(Value::as_str);
        let holder = id_of(self.object().get("holder"));
        iss.into_iter().chain(holder)
    }
}

fn unwrap(credential: &Value, model: Model) -> Result<&str, VcJwtError> {
    let jwt = match (model, credential) {
        (Model::V1, Value::String(jwt)) => Some(jwt.as_str()),
        (Model::V2, Value::Object(envelope)) => {
            let typed = rules::is_typed(envelope, "EnvelopedVerifiableCredential");
            let id = envelope.get("id").and_then(Value::as_str);
            id.filter(|_| typed)
                .and_then(|id| id.strip_prefix(ENVELOPE))
        }
        _ => None,
    };
    jwt.ok_or(VcJwtError::Credential)
}
