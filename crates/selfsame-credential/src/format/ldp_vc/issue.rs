//! Issues a W3C credential with a Data Integrity proof.

use selfsame_crypto::{Algorithm, KeyType};
use selfsame_data_integrity::{
    Contexts, Cryptosuite, IntegrityError, ProofOptions, ProofPurpose, UnsignedProof, prepare,
};
use serde_json::Value;

use crate::evidence::{Evidence, Need, SignatureRequest, Step};
use crate::format::w3c::{Issue, IssueError};
use crate::signer::Signer;
use crate::w3c::Model;

/// The contexts of a credential of VCDM 1.1 besides its own: of the proof, and of the status.
const BESIDE_V1: [&str; 2] = [
    "https://w3id.org/security/data-integrity/v2",
    "https://www.w3.org/ns/credentials/status/v1",
];

/// A credential to issue.
#[derive(Clone, Debug)]
pub struct LdpIssue {
    /// The content. A credential of this format has no claims of a JWT, so `cnf` and `token_status` must be `None`; its
    /// signer's `kid` is the verification method of the proof.
    pub content: Issue,
    /// The version of the data model.
    pub model: Model,
    /// The suite, which must be one of the signer's key.
    pub suite: Cryptosuite,
}

/// Why a credential can't be issued or presented.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum LdpError {
    /// The content is not that of a credential of this format.
    #[error(transparent)]
    Content(#[from] IssueError),
    /// The content has claims that only JWTs have.
    #[error("a credential with a Data Integrity proof has no claims of a JWT")]
    JwtClaims,
    /// The signer's key has no verification method, or no suite.
    #[error("the key has no verification method, or no cryptosuite")]
    Key,
    /// The credential to present can't be read.
    #[error("the credential can't be read")]
    Unreadable,
    /// The document can't be signed as it is.
    #[error(transparent)]
    Integrity(#[from] IntegrityError),
}

impl LdpIssue {
    /// The credential if its signature is in the evidence, otherwise the need for the signature.
    ///
    /// # Errors
    /// [`LdpError::Integrity`] with [`IntegrityError::DataLoss`] if a claim has no meaning in the contexts, so that nothing
    /// would sign it; the other members of [`LdpError`].
    pub fn step(mut self, evidence: &Evidence) -> Result<Step<String>, LdpError> {
        if self.content.cnf.is_some() || self.content.token_status.is_some() {
            return Err(LdpError::JwtClaims);
        }
        if self.model == Model::V1 {
            let beside = BESIDE_V1.map(Value::from);
            drop(self.content.contexts.splice(0..0, beside));
        }
        let document = self.content.credential(self.model)?;
        let signer = &self.content.signer;
        let method = signer.kid.as_deref().ok_or(LdpError::Key)?;
        let options = ProofOptions {
            created: Some(self.content.valid_from),
            ..ProofOptions::new(self.suite, method, ProofPurpose::AssertionMethod)
        };
        let unsigned = prepare(
            document,
            &options,
            key_type(signer.algorithm)?,
            &Contexts::known(),
        )?;
        signed(unsigned, signer, evidence)
    }
}

/// The document with its proof if the signature is in the evidence, otherwise the need for the signature.
pub(super) fn signed(
    unsigned: UnsignedProof,
    signer: &Signer,
    evidence: &Evidence,
) -> Result<Step<String>, LdpError> {
    let request = SignatureRequest {
        key: signer.key.clone(),
        bytes: unsigned.bytes().to_vec(),
    };
    Ok(match evidence.signature(&request) {
        Some(signature) => {
            let document = unsigned.signed(signature)?;
            Step::Done(Value::Object(document).to_string())
        }
        None => Step::Needs(vec![Need::Signature(request)]),
    })
}

/// The type of keys with this algorithm.
pub(super) fn key_type(algorithm: Algorithm) -> Result<KeyType, LdpError> {
    match algorithm {
        Algorithm::EdDsa => Ok(KeyType::Ed25519),
        Algorithm::Es256 => Ok(KeyType::P256),
        Algorithm::Es384 => Ok(KeyType::P384),
        _ => Err(LdpError::Key),
    }
}
