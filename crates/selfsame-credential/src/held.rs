//! A credential as a wallet keeps it: read once, ready to be shown, matched and presented.

use std::sync::Arc;

use selfsame_crypto::{PublicKey, jws, time::UnixTime};
use serde_json::{Map, Value};

pub use crate::format::HeldError;
use crate::{
    format::{Credential, Format, Kept, Subject},
    sd_jwt::SdJwt,
    status::{Reference, StatusError},
    validity::Validity,
};

/// A credential in a wallet. Its issuer's signature is judged by [`crate::verify::verify`], not here.
#[derive(Clone, Debug)]
pub struct Held {
    /// The format.
    pub format: Format,
    /// The credential as its issuer made it.
    pub raw: String,
    content: Arc<dyn Credential>,
    validity: Validity,
    statuses: Vec<Reference>,
}

impl Held {
    /// Reads a credential of this format.
    pub fn parse(raw: &str, format: Format) -> Result<Self, HeldError> {
        let Kept {
            credential,
            validity,
            statuses,
        } = (format.entry().hold)(raw)?;
        // A mechanism that is unknown here is for the verifier to judge.
        let statuses = match statuses {
            Ok(statuses) => statuses,
            Err(StatusError::Unsupported) => Vec::new(),
            Err(_) => return Err(HeldError::Status),
        };
        Ok(Self {
            format,
            raw: raw.to_owned(),
            content: credential,
            validity,
            statuses,
        })
    }

    /// The memory it takes, in bytes.
    pub fn weight(&self) -> usize {
        self.content.weight().saturating_add(self.raw.len())
    }

    /// All claims, disclosed: an SD-JWT VC's processed payload, or the W3C credential.
    pub fn claims(&self) -> &Value {
        self.content.claims()
    }

    /// What the JWT says beside [`Held::claims`]: claims of a VCDM 1.1 JWT that stand outside of `vc`.
    pub fn beside(&self) -> Option<&Map<String, Value>> {
        self.content.beside()
    }

    /// The SD-JWT, for presenting it.
    pub fn sd_jwt(&self) -> Option<&SdJwt> {
        self.content.sd_jwt()
    }

    /// The issuer's identifier; none where its certificate alone names it.
    pub fn issuer(&self) -> Option<&str> {
        self.content.issuer()
    }

    /// The types: `vct` and `aka_vcts`, or those of the W3C credential.
    pub fn types(&self) -> Vec<&str> {
        self.content.types()
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
        PublicKey::from_jwk(&self.content.confirmed_key()?).ok()
    }

    /// The DID the credential was issued to, where it is bound to one.
    pub fn holder_did(&self) -> Option<&str> {
        let subject = self.content.subject_id();
        subject.filter(|subject| subject.starts_with("did:"))
    }

    /// Whether the holder can prove that they hold it.
    pub fn is_holder_bound(&self) -> bool {
        let by_did = self.format.describe().binds_to_did && self.holder_did().is_some();
        by_did || self.holder_key().is_some()
    }

    /// What it says, for its examination: what was read once is not read again.
    pub(crate) fn subject(&self) -> Arc<dyn Subject> {
        self.content.subject()
    }

    /// The header of the issuer's JWT.
    pub fn header(&self) -> &jws::Header {
        self.content.header()
    }
}

#[cfg(test)]
mod tests;
