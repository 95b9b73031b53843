//! What credentials and presentations of W3C's data model have alike: contexts, types, dates, proofs.

use selfsame_anoncreds::Error;
use selfsame_crypto::time::UnixTime;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::subject::CredentialSubject;

/// The context of version 1.1 of the data model, and that of version 2.0.
const VERSION_1: &str = "https://www.w3.org/2018/credentials/v1";
const VERSION_2: &str = "https://www.w3.org/ns/credentials/v2";
/// The context of Data Integrity proofs, which version 2.0 contains.
const DATA_INTEGRITY: &str = "https://w3id.org/security/data-integrity/v2";
/// The vocabulary of the attributes.
const VOCABULARY: &str = "https://www.w3.org/ns/credentials/issuer-dependent#";
/// The name of the cryptosuite.
pub const CRYPTOSUITE: &str = "anoncreds-2023";
const PROOF_TYPE: &str = "DataIntegrityProof";
const CREDENTIAL: &str = "VerifiableCredential";
const PRESENTATION: &str = "VerifiablePresentation";
/// What the proof of a credential is for, and what that of a presentation is for.
const ASSERTION: &str = "assertionMethod";
const AUTHENTICATION: &str = "authentication";
/// The most contexts, and the most proofs.
const CONTEXTS_MAX: usize = 16;
const PROOFS_MAX: usize = 8;

/// Who issues, and when. AnonCreds signs neither, so the time says nothing.
#[derive(Clone, Copy, Debug)]
pub struct IssuedBy<'a> {
    /// The identifier of the issuer.
    pub issuer: &'a str,
    /// The time.
    pub at: UnixTime,
}

/// A credential. What is not known here could be a claim that nothing proves, so it is refused.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CredentialDocument {
    #[serde(rename = "@context")]
    pub context: Vec<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(rename = "type")]
    pub types: Vec<String>,
    pub issuer: String,
    pub credential_subject: CredentialSubject,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuance_date: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<String>,
    pub proof: Proofs,
}

/// A presentation.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PresentationDocument {
    #[serde(rename = "@context")]
    pub context: Vec<Value>,
    #[serde(rename = "type")]
    pub types: Vec<String>,
    pub verifiable_credential: Vec<CredentialDocument>,
    pub proof: IntegrityProof,
}

/// One proof or several, of which one is of the cryptosuite.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Proofs {
    One(IntegrityProof),
    Many(Vec<Value>),
}

/// A proof of the cryptosuite.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IntegrityProof {
    cryptosuite: String,
    #[serde(rename = "type")]
    kind: String,
    proof_purpose: String,
    /// The identifier of the credential definition.
    pub verification_method: String,
    pub proof_value: String,
    /// The nonce of the request, in a presentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub challenge: Option<String>,
}

impl CredentialDocument {
    /// A credential of version 1.1.
    pub fn new(issued: IssuedBy<'_>, subject: CredentialSubject, proof: Proofs) -> Self {
        Self {
            context: contexts(),
            id: None,
            types: vec![CREDENTIAL.to_owned()],
            issuer: issued.issuer.to_owned(),
            credential_subject: subject,
            issuance_date: Some(issued.at.rfc3339()),
            valid_from: None,
            proof,
        }
    }

    /// Checks the context and the type, and gives the proof of the cryptosuite.
    ///
    /// # Errors
    /// [`Error::Malformed`] if one is missing.
    pub fn proof(&self) -> Result<IntegrityProof, Error> {
        const WHAT: &str = "the W3C credential";
        check(&self.context, &self.types, CREDENTIAL, WHAT)?;
        let found = match &self.proof {
            Proofs::One(proof) => Some(proof.clone()),
            Proofs::Many(proofs) => {
                let mut proofs = proofs.iter().take(PROOFS_MAX);
                proofs.find_map(|proof| {
                    let proof = IntegrityProof::deserialize(proof).ok()?;
                    proof.is_of(ASSERTION).then_some(proof)
                })
            }
        };
        let found = found.filter(|proof| proof.is_of(ASSERTION));
        found.ok_or(Error::Malformed {
            what: WHAT,
            why: "it has no proof of the cryptosuite anoncreds-2023",
        })
    }
}

impl PresentationDocument {
    /// A presentation of version 1.1.
    pub fn new(credentials: Vec<CredentialDocument>, proof: IntegrityProof) -> Self {
        Self {
            context: contexts(),
            types: vec![PRESENTATION.to_owned()],
            verifiable_credential: credentials,
            proof,
        }
    }

    /// Checks the context and the type, and gives the proof.
    ///
    /// # Errors
    /// [`Error::Malformed`] if one is missing.
    pub fn proof(&self) -> Result<&IntegrityProof, Error> {
        const WHAT: &str = "the W3C presentation";
        check(&self.context, &self.types, PRESENTATION, WHAT)?;
        match self.proof.is_of(AUTHENTICATION) {
            true => Ok(&self.proof),
            false => Err(Error::Malformed {
                what: WHAT,
                why: "it has no proof of the cryptosuite anoncreds-2023",
            }),
        }
    }
}

impl IntegrityProof {
    /// The proof of a credential.
    pub fn asserting(definition: &str, value: String) -> Self {
        Self::new(ASSERTION, definition, value)
    }

    /// The proof of a presentation.
    pub fn authenticating(definition: &str, value: String, challenge: &str) -> Self {
        Self {
            challenge: Some(challenge.to_owned()),
            ..Self::new(AUTHENTICATION, definition, value)
        }
    }

    fn new(purpose: &str, definition: &str, proof_value: String) -> Self {
        Self {
            cryptosuite: CRYPTOSUITE.to_owned(),
            kind: PROOF_TYPE.to_owned(),
            proof_purpose: purpose.to_owned(),
            verification_method: definition.to_owned(),
            proof_value,
            challenge: None,
        }
    }

    fn is_of(&self, purpose: &str) -> bool {
        self.cryptosuite == CRYPTOSUITE && self.kind == PROOF_TYPE && self.proof_purpose == purpose
    }
}

/// The contexts of version 1.1.
pub fn contexts() -> Vec<Value> {
    vec![
        json!(VERSION_1),
        json!(DATA_INTEGRITY),
        json!({"@vocab": VOCABULARY}),
    ]
}

/// The types of a credential.
pub fn credential_types() -> Vec<String> {
    vec![CREDENTIAL.to_owned()]
}

/// W3C VCDM 1.1 §4.1, VCDM 2.0 §4.3: the first context is that of the version; §4.3, §4.5: one of the types says what it is.
fn check(context: &[Value], types: &[String], kind: &str, what: &'static str) -> Result<(), Error> {
    let malformed = |why| Err(Error::Malformed { what, why });
    let version = context.first().and_then(Value::as_str);
    if !matches!(version, Some(VERSION_1 | VERSION_2)) || context.len() > CONTEXTS_MAX {
        return malformed("its first context is of no known version");
    }
    match types.iter().any(|one| one == kind) {
        true => Ok(()),
        false => malformed("it has not the type that it should have"),
    }
}
