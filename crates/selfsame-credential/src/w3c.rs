//! Parses W3C credentials as JWTs: VCDM 1.1 (`jwt_vc_json`) and VCDM 2.0 with VC-JOSE-COSE (`vc+jwt`).

mod mapping;
mod presentation;
pub(crate) mod rules;

use selfsame_crypto::{Jwk, json, jws};
use serde_json::{Map, Value};

pub(crate) use self::presentation::ENVELOPE;
pub use self::presentation::VpJwt;
use crate::{
    budget::Budget,
    status::{Reference, StatusError},
    validity::{BadTime, Validity},
};

/// The version of the W3C data model of a JWT.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Model {
    /// VCDM 1.1, in the `vc` or `vp` claim.
    V1,
    /// VCDM 2.0, as the payload itself.
    V2,
}

impl Model {
    /// The context that comes first (VCDM 1.1 §4.1, VCDM 2.0 §4.3).
    pub const fn base_context(self) -> &'static str {
        match self {
            Self::V1 => "https://www.w3.org/2018/credentials/v1",
            Self::V2 => "https://www.w3.org/ns/credentials/v2",
        }
    }

    /// The `typ` of a credential as a JWT (VCDM 1.1 §6.3.1, VC-JOSE-COSE §3.1.1).
    pub(crate) const fn credential_typ(self) -> &'static str {
        match self {
            Self::V1 => "JWT",
            Self::V2 => "vc+jwt",
        }
    }

    /// The `typ` of a presentation as a JWT (VCDM 1.1 §6.3.1, VC-JOSE-COSE §3.1.2).
    pub(crate) const fn presentation_typ(self) -> &'static str {
        match self {
            Self::V1 => "JWT",
            Self::V2 => "vp+jwt",
        }
    }

    /// The members with the beginning and the end of a credential's validity.
    pub(crate) const fn dates(self) -> (&'static str, &'static str) {
        match self {
            Self::V1 => ("issuanceDate", "expirationDate"),
            Self::V2 => ("validFrom", "validUntil"),
        }
    }
}

/// A credential as a JWT, parsed but not yet verified.
#[derive(Clone, Debug)]
pub struct VcJwt {
    model: Model,
    jwt: jws::Compact,
    /// The claims besides `credential`: none in VCDM 2.0, where they are the credential.
    payload: Map<String, Value>,
    credential: Value,
    contradiction: Option<&'static str>,
}

/// Why a text is not a credential or presentation as a JWT.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum VcJwtError {
    /// It is not a JWT, or can't be parsed.
    #[error("the JWT can't be read")]
    Jwt,
    /// It is signed with an algorithm that is not accepted.
    #[error("the signature algorithm is not accepted")]
    Algorithm,
    /// The payload is not a JSON object, or `vc` or `vp` is not where the data model has it.
    #[error("the payload does not follow the data model")]
    Payload,
    /// A presentation does not contain exactly one credential of the expected format.
    #[error("the presentation does not contain exactly one credential of the expected format")]
    Credential,
    /// The payload takes too much memory, by itself or together with other presented texts.
    #[error("the payload and the texts presented with it have too many members together")]
    TooMuch,
}

impl VcJwt {
    /// The memory that it takes, in bytes.
    pub(crate) fn weight(&self) -> usize {
        let read = self.payload.values().chain([&self.credential]);
        read.map(json::weight)
            .fold(self.jwt.weight(), usize::saturating_add)
    }

    /// The claims besides the credential.
    pub(crate) fn beside(&self) -> &Map<String, Value> {
        &self.payload
    }

    /// Parses a credential. Nothing is verified yet.
    pub fn parse(text: &str, model: Model) -> Result<Self, VcJwtError> {
        Self::parse_within(text, model, &mut Budget::of(text))
    }

    /// As above, within the remaining budget for this text and others.
    pub(crate) fn parse_within(
        text: &str,
        model: Model,
        budget: &mut Budget,
    ) -> Result<Self, VcJwtError> {
        let (jwt, mut payload) = read(text, model, budget)?;
        let (credential, contradiction) = match model {
            Model::V1 => mapping::credential_of_v1(&mut payload)?,
            Model::V2 => {
                let credential = Value::Object(std::mem::take(&mut payload));
                let contradiction = rules::contradiction_of_v2(&credential);
                (credential, contradiction)
            }
        };
        Ok(Self {
            model,
            jwt,
            payload,
            credential,
            contradiction,
        })
    }

    /// The data model.
    pub fn model(&self) -> Model {
        self.model
    }

    /// The JWT.
    pub fn jwt(&self) -> &jws::Compact {
        &self.jwt
    }

    /// The claims of the JWT, except `vc`, which is the credential.
    pub fn payload(&self) -> &Map<String, Value> {
        match self.model {
            Model::V1 => &self.payload,
            Model::V2 => self.credential.as_object().unwrap_or(&self.payload),
        }
    }

    /// The first claim of the JWT that contradicts a member of the credential, if any (VCDM 1.1 §6.3.1,
    /// VC-JOSE-COSE §3.1.3).
    pub(crate) fn contradiction(&self) -> Option<&'static str> {
        self.contradiction
    }

    /// The credential in its data model, JWT claims mapped back (VCDM 1.1 §6.3.1).
    pub fn credential(&self) -> &Value {
        &self.credential
    }

    /// The issuer's identifier.
    pub fn issuer(&self) -> Option<&str> {
        id_of(self.credential.get("issuer"))
    }

    /// The subject's identifier, if there is exactly one subject and it has one.
    pub fn subject(&self) -> Option<&str> {
        subject_of(self.credential.get("credentialSubject"))
    }

    /// The types, including `VerifiableCredential`.
    pub fn types(&self) -> Vec<&str> {
        strings(self.credential.get("type"))
    }

    /// The holder's key, if the issuer confirms one (RFC 7800 §3.2); `None` if it can't be read.
    pub fn confirmed_key(&self) -> Option<Result<Jwk, VcJwtError>> {
        let cnf = self.payload().get("cnf")?;
        let jwk = cnf.get("jwk").cloned().unwrap_or_default();
        Some(Jwk::from_value(&jwk).map_err(|_| VcJwtError::Payload))
    }

    /// The references to status lists: in `credentialStatus`, and in the claim `status`, which any JWT may have (Token
    /// Status List §6.1). Either may say that the credential is revoked.
    pub fn statuses(&self) -> Result<Vec<Reference>, StatusError> {
        let mut references = Reference::in_credential(&self.credential)?;
        let claim = self.payload().get("status").map(Reference::in_status);
        references.extend(claim.transpose()?);
        Ok(references)
    }

    /// The validity period of the credential, by its JWT claims and its own dates.
    pub fn validity(&self) -> Result<Validity, BadTime> {
        let jwt = Validity::of_jwt(self.payload())?;
        let empty = Map::new();
        let credential = self.credential.as_object().unwrap_or(&empty);
        let (from, until) = self.model.dates();
        Ok(jwt.and(Validity::of_dates(credential, from, until)?))
    }
}

/// Parses the JWT of a credential or presentation, and its claims.
fn read(
    text: &str,
    model: Model,
    budget: &mut Budget,
) -> Result<(jws::Compact, Map<String, Value>), VcJwtError> {
    let jwt = jws::Compact::parse(text).map_err(|error| match error {
        jws::JwsError::Algorithm => VcJwtError::Algorithm,
        _ => VcJwtError::Jwt,
    })?;
    let claims = jwt.claims().map_err(|_| VcJwtError::Payload)?;
    budget.take(&claims).ok_or(VcJwtError::TooMuch)?;
    let Value::Object(payload) = claims else {
        return Err(VcJwtError::Payload);
    };
    // VC-JOSE-COSE §3.1.3: these claim names must not be present.
    let is_wrapped = payload.contains_key("vc") || payload.contains_key("vp");
    match model {
        Model::V2 if is_wrapped => Err(VcJwtError::Payload),
        Model::V1 | Model::V2 => Ok((jwt, payload)),
    }
}

/// The identifier in a value that is a string or an object with an `id`.
pub(crate) fn id_of(value: Option<&Value>) -> Option<&str> {
    match value? {
        Value::String(id) => Some(id),
        Value::Object(members) => members.get("id")?.as_str(),
        _ => None,
    }
}

/// The identifier of the only subject.
pub(crate) fn subject_of(value: Option<&Value>) -> Option<&str> {
    let subject = match value? {
        Value::Array(subjects) => match subjects.as_slice() {
            [only] => only,
            _ => return None,
        },
        only => only,
    };
    subject.as_object()?.get("id")?.as_str()
}

/// The strings of a value that is a string or an array of strings.
pub(crate) fn strings(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
