//! A credential as a wallet keeps it: read once, ready to be shown, matched and presented.

use std::sync::Arc;

use selfsame_crypto::{Jwk, PublicKey, jws, time::UnixTime};
use serde_json::{Map, Value};

use crate::{
    format::Format,
    sd_jwt::{Processed, SdJwt, SdJwtError},
    status::{Reference, StatusError},
    subject::Subject,
    validity::Validity,
    vc_jwt::{Model, VcJwt, VcJwtError},
};

/// A credential in a wallet. Its issuer's signature is judged by [`crate::verify::verify`], not here.
#[derive(Clone, Debug)]
pub struct Held {
    /// The format.
    pub format: Format,
    /// The credential as its issuer made it.
    pub raw: String,
    content: Content,
    validity: Validity,
    statuses: Vec<Reference>,
}

#[derive(Clone, Debug)]
enum Content {
    /// With its claims, disclosed.
    SdJwt(Arc<SdJwt>, Arc<Processed>),
    VcJwt(Arc<VcJwt>),
}

/// Why a text cannot be held as a credential.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum HeldError {
    /// It is no SD-JWT.
    #[error(transparent)]
    SdJwt(#[from] SdJwtError),
    /// It is no W3C credential as a JWT.
    #[error(transparent)]
    VcJwt(#[from] VcJwtError),
    /// Its disclosures do not fit its payload.
    #[error(transparent)]
    Disclosures(#[from] crate::sd_jwt::ProcessError),
    /// It is bound to a key already, as only presentations are (RFC 9901 §7.2).
    #[error("an issuer gave a presentation in place of a credential")]
    KeyBinding,
    /// A time in it is not written as specified.
    #[error("a time in the credential is not written as specified")]
    Time,
    /// Its status entry is not as specified.
    #[error("the status entry of the credential is not as specified")]
    Status,
}

impl Held {
    /// Reads a credential of this format.
    pub fn parse(raw: &str, format: Format) -> Result<Self, HeldError> {
        let (content, validity) = match Model::of(format) {
            None => sd_jwt(raw)?,
            Some(model) => vc_jwt(raw, model)?,
        };
        let statuses = match &content {
            Content::SdJwt(_, processed) => Reference::in_jwt_claims(&processed.claims)
                .map(|reference| reference.into_iter().collect()),
            Content::VcJwt(credential) => credential.statuses(),
        };
        // A mechanism that is unknown here is for the verifier to judge.
        let statuses = match statuses {
            Ok(statuses) => statuses,
            Err(StatusError::Unsupported) => Vec::new(),
            Err(_) => return Err(HeldError::Status),
        };
        Ok(Self {
            format,
            raw: raw.to_owned(),
            content,
            validity,
            statuses,
        })
    }

    /// The memory it takes, in bytes.
    pub fn weight(&self) -> usize {
        let read = match &self.content {
            Content::SdJwt(sd_jwt, _) => sd_jwt.weight(),
            Content::VcJwt(credential) => credential.weight(),
        };
        read.saturating_add(self.raw.len())
    }

    /// All claims, disclosed: an SD-JWT VC's processed payload, or the W3C credential.
    pub fn claims(&self) -> &Value {
        match &self.content {
            Content::SdJwt(_, processed) => &processed.claims,
            Content::VcJwt(credential) => credential.credential(),
        }
    }

    /// What the JWT says beside [`Held::claims`]: claims of a VCDM 1.1 JWT that stand outside of `vc`.
    pub fn beside(&self) -> Option<&Map<String, Value>> {
        match &self.content {
            Content::SdJwt(..) => None,
            Content::VcJwt(credential) => Some(credential.beside()),
        }
    }

    /// The SD-JWT, for presenting it.
    pub fn sd_jwt(&self) -> Option<&SdJwt> {
        match &self.content {
            Content::SdJwt(sd_jwt, _) => Some(sd_jwt),
            Content::VcJwt(_) => None,
        }
    }

    /// The issuer's identifier; none where its certificate alone names it.
    pub fn issuer(&self) -> Option<&str> {
        match &self.content {
            Content::SdJwt(sd_jwt, _) => sd_jwt.payload().get("iss").and_then(Value::as_str),
            Content::VcJwt(credential) => credential.issuer(),
        }
    }

    /// The types: `vct` and `aka_vcts`, or those of the W3C credential.
    pub fn types(&self) -> Vec<&str> {
        match &self.content {
            Content::SdJwt(sd_jwt, _) => {
                let others = sd_jwt.payload().get("aka_vcts").and_then(Value::as_array);
                let types = sd_jwt.payload().get("vct").into_iter();
                types
                    .chain(others.into_iter().flatten())
                    .filter_map(Value::as_str)
                    .collect()
            }
            Content::VcJwt(credential) => credential.types(),
        }
    }

    /// From when until when it may be accepted.
    pub fn validity(&self) -> Validity {
        self.validity
    }

    /// When it expires.
    pub fn expires(&self) -> Option<UnixTime> {
        self.validity.expires
    }

    /// Where its status is to be read.
    pub fn statuses(&self) -> &[Reference] {
        &self.statuses
    }

    /// The key the issuer confirmed as the holder's (`cnf.jwk`).
    pub fn holder_key(&self) -> Option<PublicKey> {
        let jwk = match &self.content {
            Content::SdJwt(sd_jwt, _) => {
                let cnf = sd_jwt.payload().get("cnf")?;
                Jwk::from_value(cnf.get("jwk")?).ok()?
            }
            Content::VcJwt(credential) => credential.confirmed_key()?.ok()?,
        };
        PublicKey::from_jwk(&jwk).ok()
    }

    /// The DID the credential was issued to, where it is bound to one.
    pub fn holder_did(&self) -> Option<&str> {
        let subject = match &self.content {
            Content::SdJwt(_, processed) => processed.claims.get("sub").and_then(Value::as_str),
            Content::VcJwt(credential) => credential.subject(),
        };
        subject.filter(|subject| subject.starts_with("did:"))
    }

    /// Whether the holder can prove that it is his.
    pub fn is_holder_bound(&self) -> bool {
        let by_did = matches!(self.content, Content::VcJwt(_)) && self.holder_did().is_some();
        by_did || self.holder_key().is_some()
    }

    /// What it says, for its examination: what was read once is not read again.
    pub(crate) fn subject(&self) -> Subject {
        match &self.content {
            Content::SdJwt(sd_jwt, processed) => Subject::SdJwt {
                sd_jwt: sd_jwt.clone(),
                processed: Ok(processed.clone()),
            },
            Content::VcJwt(credential) => Subject::Credential(credential.clone()),
        }
    }

    /// The header of the issuer's JWT.
    pub fn header(&self) -> &jws::Header {
        match &self.content {
            Content::SdJwt(sd_jwt, _) => &sd_jwt.jwt().header,
            Content::VcJwt(credential) => &credential.jwt().header,
        }
    }
}

type Read = (Content, Validity);

fn sd_jwt(raw: &str) -> Result<Read, HeldError> {
    let sd_jwt = SdJwt::parse(raw)?;
    if sd_jwt.key_binding().is_some() {
        return Err(HeldError::KeyBinding);
    }
    let processed = sd_jwt.process()?;
    let validity = processed
        .claims
        .as_object()
        .map(Validity::of_jwt)
        .transpose();
    let validity = validity.map_err(|_| HeldError::Time)?.unwrap_or_default();
    let content = Content::SdJwt(Arc::new(sd_jwt), Arc::new(processed));
    Ok((content, validity))
}

fn vc_jwt(raw: &str, model: Model) -> Result<Read, HeldError> {
    let credential = VcJwt::parse(raw, model)?;
    let validity = credential.validity().map_err(|_| HeldError::Time)?;
    Ok((Content::VcJwt(Arc::new(credential)), validity))
}

#[cfg(test)]
mod tests;
