//! A credential in a wallet: read once, for display, matching and presentation.

use std::sync::Arc;

use selfsame_crypto::{PublicKey, jws, time::UnixTime};
use serde_json::{Map, Value};

pub use crate::format::HeldError;
use crate::{
    format::{CredentialView, Format, ReadCredential, Subject, ldp_vc::CRYPTOSUITE},
    path::ClaimPath,
    sd_jwt::SdJwt,
    status::{Reference, StatusError},
    validity::Validity,
};

/// A credential in a wallet. Its issuer's signature is verified by [`crate::verify::verify`], not here.
#[derive(Clone, Debug)]
pub struct Held {
    /// The format.
    pub format: Format,
    /// The credential, as its issuer signed it.
    pub raw: String,
    content: Arc<dyn CredentialView>,
    validity: Validity,
    statuses: Vec<Reference>,
}

impl Held {
    /// Reads a credential of this format.
    pub fn parse(raw: &str, format: Format) -> Result<Self, HeldError> {
        let ReadCredential {
            credential,
            validity,
            statuses,
        } = (format.entry().hold)(raw)?;
        // The verifier decides on a status mechanism that is unsupported here.
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

    /// The memory that it takes, in bytes.
    pub fn weight(&self) -> usize {
        self.content.weight().saturating_add(self.raw.len())
    }

    /// All claims, with every disclosure applied: an SD-JWT VC's processed payload, or the W3C credential.
    pub fn claims(&self) -> &Value {
        self.content.claims()
    }

    /// The claims besides [`Held::claims`]: those of a VCDM 1.1 JWT outside of `vc`, or the proofs of a document.
    pub fn beside(&self) -> Option<&Map<String, Value>> {
        self.content.beside()
    }

    /// The SD-JWT, to present it.
    pub fn sd_jwt(&self) -> Option<&SdJwt> {
        self.content.sd_jwt()
    }

    /// The credential with these claims alone and what is always disclosed, as it would be presented; `None` if its format
    /// can't withhold claims.
    pub fn disclosing(&self, reveal: &[ClaimPath]) -> Option<Result<Self, HeldError>> {
        let disclosed = self.content.disclosing(reveal)?;
        Some(Self::parse(&disclosed, self.format))
    }

    /// The issuer's identifier; `None` if only its certificate names it.
    pub fn issuer(&self) -> Option<&str> {
        self.content.issuer()
    }

    /// The types: `vct` and `aka_vcts`, or those of the W3C credential.
    pub fn types(&self) -> Vec<&str> {
        self.content.types()
    }

    /// The types as queries name them: those of a credential with Data Integrity proofs are expanded (OpenID4VP 1.0
    /// §B.1.1).
    pub fn asked_types(&self) -> Vec<String> {
        match self.format.entry().asked_types {
            Some(asked_types) => asked_types(self.claims()),
            None => self.types().into_iter().map(str::to_owned).collect(),
        }
    }

    /// The cryptosuite of the issuer's proof, if it is one of Data Integrity.
    pub fn cryptosuite(&self) -> Option<&str> {
        self.header().other.get(CRYPTOSUITE)?.as_str()
    }

    /// Its validity period.
    pub fn validity(&self) -> Validity {
        self.validity
    }

    /// When it expires.
    pub fn expires(&self) -> Option<UnixTime> {
        self.validity.expires
    }

    /// Its references to status lists.
    pub fn statuses(&self) -> &[Reference] {
        &self.statuses
    }

    /// The key that the issuer confirmed as the holder's (`cnf.jwk`).
    pub fn holder_key(&self) -> Option<PublicKey> {
        PublicKey::from_jwk(&self.content.confirmed_key()?).ok()
    }

    /// The DID that the credential was issued to, if it is bound to one.
    pub fn holder_did(&self) -> Option<&str> {
        let subject = self.content.subject_id();
        subject.filter(|subject| subject.starts_with("did:"))
    }

    /// Whether the holder can prove possession of it.
    pub fn is_holder_bound(&self) -> bool {
        let by_did = self.format.describe().binds_to_did && self.holder_did().is_some();
        by_did || self.holder_key().is_some()
    }

    /// Its reading, for verification: it is not parsed again.
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
