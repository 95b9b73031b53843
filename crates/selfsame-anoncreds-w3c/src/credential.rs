//! Credentials in both forms.

use selfsame_anoncreds::Error;
use selfsame_anoncreds::cl::revocation::{RevocationRegistry, Witness};
use selfsame_anoncreds::cl::{CredentialSignature, SignatureCorrectnessProof};
use selfsame_anoncreds::format::{
    Credential, CredentialDefinitionId, Message as _, RevocationRegistryId, SchemaId, Text as _,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::document::{CredentialDocument, IntegrityProof, IssuedBy, Proofs};
use crate::proof_value::ProofContent;
use crate::subject::CredentialSubject;

const WHAT: &str = "the W3C credential";

/// The content of a proof value.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct SignatureValue {
    schema_id: SchemaId,
    cred_def_id: CredentialDefinitionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rev_reg_id: Option<RevocationRegistryId>,
    signature: CredentialSignature,
    signature_correctness_proof: SignatureCorrectnessProof,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rev_reg: Option<RevocationRegistry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    witness: Option<Witness>,
}

/// A credential in AnonCreds' own form.
pub struct OwnCredential {
    /// Its JSON.
    pub json: Vec<u8>,
    /// The credential definition.
    pub cred_def_id: String,
    /// Who issued it, as it says; the credential definition has the issuer that is true.
    pub issuer: String,
}

/// The W3C form of a credential.
///
/// # Errors
/// [`Error::Malformed`] if it is no credential; [`Error::Mismatch`] if a value has an encoding of the issuer's own.
pub fn to_w3c(credential: &[u8], issued: IssuedBy<'_>) -> Result<Value, Error> {
    let credential = Credential::from_json(credential)?;
    let subject = CredentialSubject::of(&credential.values)?;
    let definition = credential.cred_def_id.to_string();
    let value = ProofContent::Signature.write(&SignatureValue {
        schema_id: credential.schema_id,
        cred_def_id: credential.cred_def_id,
        rev_reg_id: credential.rev_reg_id,
        signature: credential.signature,
        signature_correctness_proof: credential.signature_correctness_proof,
        rev_reg: credential.rev_reg,
        witness: credential.witness,
    })?;
    let proof = IntegrityProof::asserting(&definition, value);
    let proof = serde_json::to_value(proof).map_err(|_| unwritten())?;
    let document = CredentialDocument::new(issued, subject, Proofs::Many(vec![proof]));
    serde_json::to_value(document).map_err(|_| unwritten())
}

/// The own form of a W3C credential.
///
/// # Errors
/// [`Error::Malformed`] if it is none of the cryptosuite, or says more than AnonCreds signs; [`Error::TooLarge`].
pub fn from_w3c(credential: &Value) -> Result<OwnCredential, Error> {
    let document = CredentialDocument::deserialize(credential).map_err(|_| Error::Malformed {
        what: WHAT,
        why: "a member is missing, unknown or of the wrong kind",
    })?;
    let proof = document.proof()?;
    let signed: SignatureValue = ProofContent::Signature.read(&proof.proof_value)?;
    if proof.verification_method != signed.cred_def_id.as_str() {
        return Err(Error::Mismatch {
            what: WHAT,
            why: "its verification method is not the credential definition that it is of",
        });
    }
    let credential = Credential {
        schema_id: signed.schema_id,
        cred_def_id: signed.cred_def_id,
        rev_reg_id: signed.rev_reg_id,
        values: document.credential_subject.values()?,
        signature: signed.signature,
        signature_correctness_proof: signed.signature_correctness_proof,
        rev_reg: signed.rev_reg,
        witness: signed.witness,
    };
    credential.validate()?;
    Ok(OwnCredential {
        json: credential.to_json()?.as_json().as_bytes().to_vec(),
        cred_def_id: credential.cred_def_id.to_string(),
        issuer: document.issuer,
    })
}

fn unwritten() -> Error {
    Error::Malformed {
        what: WHAT,
        why: "it can't be written",
    }
}
