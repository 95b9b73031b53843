//! Reads credentials and presentations. Nothing is verified yet.

use selfsame_crypto::hash::sha256;
use selfsame_crypto::json;
use selfsame_data_integrity::vc::{VcModel, is_typed, model_of};
use selfsame_data_integrity::{
    Contexts, IntegrityError, LIMITS, ProofPurpose, Secured, check_dataset, expanded_types,
};
use serde_json::{Map, Value};

use super::proof::{OwnProof, OwnerOfProof};
use crate::budget::Budget;
use crate::status::{Reference, StatusError};
use crate::validity::{BadTime, Validity};
use crate::w3c::{id_of, strings, subject_of};

/// The text is not a credential or a presentation with Data Integrity proofs.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(super) enum NotLdp {
    #[error(transparent)]
    Document(#[from] IntegrityError),
    #[error("the first context is no data model's")]
    Model,
    #[error("no proof in a supported cryptosuite is by a verification method of the issuer's DID")]
    Proof,
    #[error("the presentation does not contain exactly one credential with its proof")]
    Credential,
    #[error("the parsed document exceeds the memory limit")]
    TooMuch,
}

/// A credential, read.
#[derive(Debug)]
pub(super) struct ReadLdp {
    /// What was signed, without proofs.
    pub credential: Value,
    /// Its proofs, in the member that they have.
    pub beside: Map<String, Value>,
    pub model: VcModel,
    pub own: OwnProof,
}

/// A presentation of one credential, read.
#[derive(Debug)]
pub(super) struct ReadLdpPresentation {
    pub credential: ReadLdp,
    /// What its holder signed, without proofs.
    pub members: Map<String, Value>,
    /// The proof by the subject of the credential; `None` if there is none.
    pub own: Option<OwnProof>,
}

impl ReadLdp {
    /// Reads a credential within the remaining budget for this text and others.
    pub fn parse(raw: &str, budget: &mut Budget) -> Result<Self, NotLdp> {
        Self::of(document(raw)?, budget)
    }

    fn of(document: Value, budget: &mut Budget) -> Result<Self, NotLdp> {
        // It is kept with its proofs and, for those who look for claims, without.
        let weight = json::weight(&document).saturating_mul(2);
        budget.take_bytes(weight).ok_or(NotLdp::TooMuch)?;
        let digest = sha256(&json::to_bytes(&document));
        let proof = document.get("proof").cloned();
        let secured = Secured::of(document)?;
        let members = secured.document().clone();
        let model = model_of(&members).ok_or(NotLdp::Model)?;
        let issuer = id_of(members.get("issuer"));
        let by = OwnerOfProof {
            did: issuer.ok_or(NotLdp::Proof)?,
            purpose: ProofPurpose::AssertionMethod,
        };
        let own = OwnProof::find(secured, digest, by).ok_or(NotLdp::Proof)?;
        Ok(Self {
            credential: Value::Object(members),
            beside: proof
                .map(|proof| ("proof".to_owned(), proof))
                .into_iter()
                .collect(),
            model,
            own,
        })
    }

    /// Its memory, in bytes.
    pub fn weight(&self) -> usize {
        let proofs = self.beside.values().map(json::weight);
        let all = proofs.fold(json::weight(&self.credential), usize::saturating_add);
        all.saturating_mul(2)
    }

    pub fn members(&self) -> Option<&Map<String, Value>> {
        self.credential.as_object()
    }

    pub fn issuer(&self) -> Option<&str> {
        id_of(self.credential.get("issuer"))
    }

    /// The identifier of the only subject.
    pub fn subject(&self) -> Option<&str> {
        subject_of(self.credential.get("credentialSubject"))
    }

    /// The types, as they are written.
    pub fn types(&self) -> Vec<&str> {
        strings(self.credential.get("type"))
    }

    pub fn statuses(&self) -> Result<Vec<Reference>, StatusError> {
        Reference::in_credential(&self.credential)
    }

    pub fn validity(&self) -> Result<Validity, BadTime> {
        let (from, until) = self.model.dates();
        let members = self.members().ok_or(BadTime)?;
        Validity::of_dates(members, from, until)
    }
}

impl ReadLdpPresentation {
    /// Reads a presentation within the remaining budget for this text and others.
    pub fn parse(raw: &str, budget: &mut Budget) -> Result<Self, NotLdp> {
        let document = document(raw)?;
        budget
            .take_bytes(json::weight(&document))
            .ok_or(NotLdp::TooMuch)?;
        let digest = sha256(&json::to_bytes(&document));
        let secured = Secured::of(document)?;
        let mut members = secured.document().clone();
        let credential = only_credential(&members).ok_or(NotLdp::Credential)?;
        let credential = ReadLdp::of(credential.clone(), budget)?;
        // It was read, and is not looked at again.
        members.remove("verifiableCredential");
        let own = credential.subject().and_then(|did| {
            let purpose = ProofPurpose::Authentication;
            OwnProof::find(secured, digest, OwnerOfProof { did, purpose })
        });
        Ok(Self {
            credential,
            members,
            own,
        })
    }

    /// The holder that it names.
    pub fn holder(&self) -> Option<&str> {
        id_of(self.members.get("holder"))
    }
}

/// The credential of a presentation that has exactly one.
pub(super) fn only_credential(members: &Map<String, Value>) -> Option<&Value> {
    let only = match members.get("verifiableCredential")? {
        Value::Array(several) => match several.as_slice() {
            [only] => only,
            _ => return None,
        },
        only => only,
    };
    only.is_object().then_some(only)
}

pub(super) fn document(raw: &str) -> Result<Value, NotLdp> {
    json::parse(raw.as_bytes(), &LIMITS)
        .map_err(IntegrityError::from)
        .map_err(NotLdp::from)
}

pub(super) fn is_like(raw: &str) -> bool {
    let document = document(raw).ok();
    let members = document.as_ref().and_then(Value::as_object);
    members.is_some_and(|members| {
        members.contains_key("proof") && is_typed(members, "VerifiableCredential")
    })
}

/// The types of a credential as queries name them: expanded (OpenID4VP 1.0 §B.1.1). None if its contexts leave one
/// without a meaning.
pub(super) fn asked_types(claims: &Value) -> Vec<String> {
    let members = claims.as_object();
    let expanded = members.and_then(|members| expanded_types(members, &Contexts::known()).ok());
    expanded.unwrap_or_default()
}

/// Checks that the contexts of a document, which must be at hand, give everything in it a meaning, so that it can be
/// signed.
///
/// # Errors
/// [`IntegrityError::DataLoss`] with what would not be signed, or why the contexts can't be used.
pub fn check(document: &Map<String, Value>) -> Result<(), IntegrityError> {
    check_dataset(document, &Contexts::known())
}

/// Types of a credential with these contexts, expanded.
///
/// # Errors
/// [`IntegrityError`] if a type has no meaning in the contexts, or they can't be used.
pub fn expand_types(contexts: &[Value], types: &[String]) -> Result<Vec<String>, IntegrityError> {
    let mut members = Map::new();
    members.insert("@context".to_owned(), contexts.into());
    members.insert("type".to_owned(), types.into());
    expanded_types(&members, &Contexts::known())
}
