//! Presentations in both forms.

use std::collections::{BTreeMap, BTreeSet};

use selfsame_anoncreds::Error;
use selfsame_anoncreds::cl::{AggregatedProof, Proof, SubProof};
use selfsame_anoncreds::format::{
    AttributeValue, CredentialDefinitionId, CredentialIdentifiers, Message as _, Presentation,
    PresentationRequest, RequestedProof, RevealedAttribute, RevealedGroup, RevocationRegistryId,
    SchemaId, SubProofReferent, normalise_attribute,
};
use selfsame_crypto::time::UnixTime;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::document::{CredentialDocument, IntegrityProof, IssuedBy, PresentationDocument, Proofs};
use crate::proof_value::ProofContent;
use crate::subject::{CredentialSubject, SubjectValue};

const WHAT: &str = "the W3C presentation";
/// The most credentials of a presentation.
const CREDENTIALS_MAX: usize = 64;

/// The content of the proof value of a credential that is shown.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ShownValue {
    schema_id: SchemaId,
    cred_def_id: CredentialDefinitionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rev_reg_id: Option<RevocationRegistryId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timestamp: Option<u64>,
    sub_proof: SubProof,
}

/// The content of the proof value of a presentation.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct AggregatedValue {
    aggregated: AggregatedProof,
}

/// The parts of a proof.
#[derive(Deserialize, Serialize)]
struct ProofParts {
    proofs: Vec<SubProof>,
    aggregated_proof: AggregatedProof,
}

/// A presentation in AnonCreds' own form, to be written.
#[derive(Clone, Copy, Debug)]
pub struct ToWrite<'a> {
    /// The JSON of the request.
    pub request: &'a [u8],
    /// The JSON of the presentation.
    pub presentation: &'a [u8],
    /// The issuer of each credential definition.
    pub issuers: &'a BTreeMap<String, String>,
    /// The date of issuance that the form requires. A date of the credential itself would tell credentials apart.
    pub at: UnixTime,
}

/// A W3C presentation, to be read.
#[derive(Clone, Copy, Debug)]
pub struct ToRead<'a> {
    /// The JSON of the request.
    pub request: &'a [u8],
    /// The presentation.
    pub presentation: &'a Value,
    /// The place of the credential that answers each referent of the request.
    pub places: &'a BTreeMap<String, usize>,
}

/// A credential of a presentation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NamedCredential {
    /// The credential definition.
    pub cred_def_id: String,
    /// The revocation registry.
    pub rev_reg_id: Option<String>,
    /// Who issued it, as it says; the credential definition has the issuer that is true.
    pub issuer: String,
}

/// A presentation in AnonCreds' own form. It is not verified.
pub struct OwnPresentation {
    /// Its JSON.
    pub json: Vec<u8>,
    /// Its credentials.
    pub credentials: Vec<NamedCredential>,
}

/// The W3C form of a presentation.
///
/// # Errors
/// [`Error::Malformed`] if one of the two is not what it should be; [`Error::Mismatch`] for what the form can't say.
pub fn to_w3c(write: &ToWrite<'_>) -> Result<Value, Error> {
    let request = PresentationRequest::from_json(write.request)?;
    let presentation = Presentation::from_json(write.presentation)?;
    let subjects = subjects(&request, &presentation)?;
    let parts: ProofParts = parts(&presentation.proof)?;
    let (mut credentials, mut last) = (Vec::new(), String::new());
    let named = presentation.identifiers.into_iter();
    for ((one, sub_proof), subject) in named.zip(parts.proofs).zip(subjects) {
        last = one.cred_def_id.to_string();
        let issuer = write.issuers.get(&last);
        let issuer = issuer.ok_or(mismatch("the issuer of a credential is not known"))?;
        let value = ProofContent::Shown.write(&ShownValue {
            schema_id: one.schema_id,
            cred_def_id: one.cred_def_id,
            rev_reg_id: one.rev_reg_id,
            timestamp: one.timestamp,
            sub_proof,
        })?;
        let proof = Proofs::One(IntegrityProof::asserting(&last, value));
        let issued = IssuedBy {
            issuer,
            at: write.at,
        };
        credentials.push(CredentialDocument::new(issued, subject, proof));
    }
    let aggregated = parts.aggregated_proof;
    let value = ProofContent::Aggregated.write(&AggregatedValue { aggregated })?;
    let proof = IntegrityProof::authenticating(&last, value, request.nonce.as_str());
    let document = PresentationDocument::new(credentials, proof);
    serde_json::to_value(document).map_err(|_| malformed("it can't be written"))
}

/// The place of the credential that answers each referent, in a presentation in AnonCreds' own form.
///
/// # Errors
/// [`Error::Malformed`] if it is no presentation.
pub fn places(presentation: &[u8]) -> Result<BTreeMap<String, usize>, Error> {
    let answers = Presentation::from_json(presentation)?.requested_proof;
    let alone = answers.revealed_attrs.into_iter();
    let alone = alone.map(|(referent, answer)| (referent, answer.sub_proof_index));
    let groups = answers.revealed_attr_groups.into_iter();
    let groups = groups.map(|(referent, answer)| (referent, answer.sub_proof_index));
    let predicates = answers.predicates.into_iter();
    let predicates = predicates.map(|(referent, answer)| (referent, answer.sub_proof_index));
    let all = alone.chain(groups).chain(predicates);
    Ok(all
        .filter_map(|(referent, index)| Some((referent, usize::try_from(index).ok()?)))
        .collect())
}

/// The credentials of a W3C presentation, as they name themselves.
///
/// # Errors
/// [`Error::Malformed`] if it is no presentation of the cryptosuite.
pub fn credentials(presentation: &Value) -> Result<Vec<NamedCredential>, Error> {
    let document = document(presentation)?;
    let named = document.verifiable_credential.iter().map(|credential| {
        let shown = shown(credential)?;
        Ok(NamedCredential {
            cred_def_id: shown.cred_def_id.to_string(),
            rev_reg_id: shown.rev_reg_id.map(|id| id.to_string()),
            issuer: credential.issuer.clone(),
        })
    });
    named.collect()
}

/// The own form of a W3C presentation. Each subject says what the request asks of its credential, and nothing else: that
/// would be a claim that nothing proves.
///
/// # Errors
/// [`Error::Malformed`] if it is no presentation of the cryptosuite; [`Error::Mismatch`] if it does not answer the request.
pub fn from_w3c(read: &ToRead<'_>) -> Result<OwnPresentation, Error> {
    let request = PresentationRequest::from_json(read.request)?;
    let document = document(read.presentation)?;
    let proof = document.proof()?;
    let challenge = proof.challenge.as_deref();
    if challenge.is_some_and(|challenge| challenge != request.nonce.as_str()) {
        return Err(mismatch("its challenge is not the nonce of the request"));
    }
    let AggregatedValue { aggregated } = ProofContent::Aggregated.read(&proof.proof_value)?;
    let mut answers = Answers::of(&document);
    let requested_proof = answers.requested_proof(&request, read.places)?;
    answers.check_spent()?;
    let (mut identifiers, mut proofs, mut named) = (Vec::new(), Vec::new(), Vec::new());
    for credential in &document.verifiable_credential {
        let shown = shown(credential)?;
        named.push(NamedCredential {
            cred_def_id: shown.cred_def_id.to_string(),
            rev_reg_id: shown.rev_reg_id.as_ref().map(ToString::to_string),
            issuer: credential.issuer.clone(),
        });
        identifiers.push(CredentialIdentifiers {
            schema_id: shown.schema_id,
            cred_def_id: shown.cred_def_id,
            rev_reg_id: shown.rev_reg_id,
            timestamp: shown.timestamp,
        });
        proofs.push(shown.sub_proof);
    }
    let presentation = Presentation {
        proof: whole(proofs, aggregated)?,
        requested_proof,
        identifiers,
    };
    presentation.validate()?;
    Ok(OwnPresentation {
        json: presentation.to_json()?.into_bytes(),
        credentials: named,
    })
}

fn document(presentation: &Value) -> Result<PresentationDocument, Error> {
    let other = "a member is missing, unknown or of the wrong kind";
    let read = PresentationDocument::deserialize(presentation);
    let document = read.map_err(|_| malformed(other))?;
    match document.verifiable_credential.len() {
        1..=CREDENTIALS_MAX => Ok(document),
        0 => Err(malformed("it has no credential")),
        _ => Err(Error::TooLarge {
            what: "the number of credentials",
            limit: CREDENTIALS_MAX,
        }),
    }
}

fn shown(credential: &CredentialDocument) -> Result<ShownValue, Error> {
    let proof = credential.proof()?;
    let shown: ShownValue = ProofContent::Shown.read(&proof.proof_value)?;
    match proof.verification_method == shown.cred_def_id.as_str() {
        true => Ok(shown),
        false => Err(mismatch(
            "a verification method is not the credential definition of the credential",
        )),
    }
}

/// What each credential of a presentation says.
fn subjects(
    request: &PresentationRequest,
    shown: &Presentation,
) -> Result<Vec<CredentialSubject>, Error> {
    let answers = &shown.requested_proof;
    if !answers.self_attested_attrs.is_empty() || !answers.unrevealed_attrs.is_empty() {
        return Err(mismatch(
            "W3C's form has no place for self-attested and for unrevealed attributes",
        ));
    }
    let mut subjects = vec![CredentialSubject::default(); shown.identifiers.len()];
    let mut say = |index: u32, name: &str, value: SubjectValue| {
        let subject = usize::try_from(index).ok();
        let subject = subject.and_then(|index| subjects.get_mut(index));
        let subject = subject.ok_or(mismatch("an answer is of no credential"))?;
        match subject.get(name) {
            Some(known) if *known != value => Err(mismatch(
                "W3C's form can't say both an attribute and a predicate about it",
            )),
            Some(_) => Ok(()),
            None => {
                subject.0.insert(name.to_owned(), value);
                Ok(())
            }
        }
    };
    for (referent, answer) in &answers.revealed_attrs {
        let asked = request.requested_attributes.get(referent);
        let name = asked.and_then(|asked| asked.name.as_deref());
        let name = name.ok_or(UNASKED)?;
        say(answer.sub_proof_index, name, SubjectValue::of(&answer.raw))?;
    }
    for answer in answers.revealed_attr_groups.values() {
        for (name, value) in &answer.values {
            say(answer.sub_proof_index, name, SubjectValue::of(&value.raw))?;
        }
    }
    for (referent, answer) in &answers.predicates {
        let asked = request.requested_predicates.get(referent);
        let asked = asked.ok_or(UNASKED)?;
        say(
            answer.sub_proof_index,
            &asked.name,
            SubjectValue::Proven(true),
        )?;
    }
    Ok(subjects)
}

/// The subjects of a presentation, of which each part is used.
struct Answers<'a> {
    subjects: Vec<&'a CredentialSubject>,
    /// The attributes that were asked for, by their normalised names.
    used: Vec<BTreeSet<String>>,
}

impl<'a> Answers<'a> {
    fn of(document: &'a PresentationDocument) -> Self {
        let credentials = document.verifiable_credential.iter();
        let subjects: Vec<&CredentialSubject> =
            credentials.map(|one| &one.credential_subject).collect();
        Self {
            used: vec![BTreeSet::new(); subjects.len()],
            subjects,
        }
    }

    fn value(&mut self, place: usize, name: &str) -> Result<&'a SubjectValue, Error> {
        let value = self.subjects.get(place);
        let value = value.and_then(|subject| subject.get(name));
        let missing = "a credential does not say what was asked of it";
        let value = value.ok_or(mismatch(missing))?;
        if let Some(used) = self.used.get_mut(place) {
            used.insert(normalise_attribute(name));
        }
        Ok(value)
    }

    fn raw(&mut self, place: usize, name: &str) -> Result<AttributeValue, Error> {
        let raw = self.value(place, name)?.raw();
        let other = "a predicate is proven where an attribute was asked for";
        raw.map(AttributeValue::of).ok_or(mismatch(other))
    }

    fn requested_proof(
        &mut self,
        request: &PresentationRequest,
        places: &BTreeMap<String, usize>,
    ) -> Result<RequestedProof, Error> {
        let mut proof = RequestedProof::default();
        let place = |referent: &str| places.get(referent).copied().ok_or(UNASKED);
        for (referent, asked) in &request.requested_attributes {
            let place = place(referent)?;
            let sub_proof_index = u32::try_from(place).map_err(|_| UNASKED)?;
            if let Some(name) = &asked.name {
                let AttributeValue { raw, encoded } = self.raw(place, name)?;
                let revealed = RevealedAttribute {
                    sub_proof_index,
                    raw,
                    encoded,
                };
                proof.revealed_attrs.insert(referent.clone(), revealed);
                continue;
            }
            let mut values = BTreeMap::new();
            for name in asked.names() {
                values.insert(name.to_owned(), self.raw(place, name)?);
            }
            let group = RevealedGroup {
                sub_proof_index,
                values,
            };
            proof.revealed_attr_groups.insert(referent.clone(), group);
        }
        for (referent, asked) in &request.requested_predicates {
            let place = place(referent)?;
            let sub_proof_index = u32::try_from(place).map_err(|_| UNASKED)?;
            if *self.value(place, &asked.name)? != SubjectValue::Proven(true) {
                return Err(mismatch("a predicate that was asked for is not proven"));
            }
            let referent = referent.clone();
            let answer = SubProofReferent { sub_proof_index };
            proof.predicates.insert(referent, answer);
        }
        Ok(proof)
    }

    /// Checks that no subject says more than was asked for.
    fn check_spent(&self) -> Result<(), Error> {
        for (subject, used) in self.subjects.iter().zip(&self.used) {
            let mut names = subject.0.keys();
            if subject.0.len() != used.len()
                || !names.all(|name| used.contains(&normalise_attribute(name)))
            {
                return Err(mismatch("a credential says more than was asked of it"));
            }
        }
        Ok(())
    }
}

fn parts(proof: &Proof) -> Result<ProofParts, Error> {
    let parts = serde_json::to_value(proof).and_then(serde_json::from_value);
    parts.map_err(|_| malformed("its proof can't be taken apart"))
}

fn whole(proofs: Vec<SubProof>, aggregated_proof: AggregatedProof) -> Result<Proof, Error> {
    let parts = ProofParts {
        proofs,
        aggregated_proof,
    };
    let proof = serde_json::from_value(json!(parts));
    proof.map_err(|_| malformed("its proof can't be put together"))
}

const UNASKED: Error = mismatch("an answer is to nothing that was asked");

const fn mismatch(why: &'static str) -> Error {
    Error::Mismatch { what: WHAT, why }
}

const fn malformed(why: &'static str) -> Error {
    Error::Malformed { what: WHAT, why }
}
