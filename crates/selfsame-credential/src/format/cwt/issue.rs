//! Issues a compact credential.

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyHandle, PublicKey};
use serde_json::{Map, Value};

use super::content::{CoseStatus, CoseSubject, CoseVc};
use super::describe::BASE_TYPE;
use super::sign1::{CoseDraft, NotCompact};
use crate::evidence::{Evidence, Need, SignatureRequest, Step};
use crate::status::{Reference, StatusError};

/// The content of a compact credential to issue.
#[derive(Clone, Debug)]
pub struct Issue {
    /// The subject.
    pub subject: CoseSubject,
    /// Its types; `VerifiableCredential` goes without saying.
    pub types: Vec<String>,
    /// The claims about the subject.
    pub claims: Map<String, Value>,
    /// The end of its validity.
    pub expires: UnixTime,
    /// The claim `status` (Token Status List §6.3), written as in JSON.
    pub status: Option<Value>,
    /// The name of the issuer's key in the key store.
    pub key: KeyHandle,
    /// The issuer's public key, from which verifiers find the issuer.
    pub issuer: PublicKey,
}

/// Why a credential can't be issued.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum IssueError {
    /// A part has no compact form.
    #[error(transparent)]
    Form(#[from] NotCompact),
    /// The status is not one of a Token Status List.
    #[error(transparent)]
    Status(#[from] StatusError),
}

/// A compact credential without its issuer's signature.
#[derive(Clone, Debug)]
pub struct Draft {
    draft: CoseDraft,
    key: KeyHandle,
}

impl Issue {
    /// The credential, without its signature.
    pub fn draft(self) -> Result<Draft, IssueError> {
        let status = self.status.as_ref().map(Reference::in_status).transpose()?;
        let types = self.types.into_iter().filter(|name| name != BASE_TYPE);
        let content = CoseVc {
            subject: self.subject,
            not_before: None,
            expires: self.expires,
            types: types.collect(),
            claims: self.claims,
            status: status.map(|Reference { index, uri, .. }| CoseStatus::List { index, uri }),
        };
        Ok(Draft {
            draft: content.draft(&self.issuer)?,
            key: self.key,
        })
    }
}

impl Draft {
    /// The credential as text if its signature is in the evidence, otherwise the need for the signature.
    pub fn step(self, evidence: &Evidence) -> Step<String> {
        let request = SignatureRequest {
            key: self.key,
            bytes: self.draft.signing_bytes(),
        };
        match evidence.signature(&request) {
            Some(signature) => Step::Done(base64url_encode(&self.draft.finish(signature))),
            None => Step::Needs(vec![Need::Signature(request)]),
        }
    }
}
