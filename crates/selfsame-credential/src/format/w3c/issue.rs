//! Issues a W3C credential as a JWT.

use selfsame_crypto::{Jwk, time::UnixTime};
use serde_json::{Map, Value, json};

use crate::{
    format::Format,
    signer::{Signer, Unsigned},
    w3c::Model,
};

/// The content of a W3C credential to issue.
#[derive(Clone, Debug)]
pub struct Issue {
    /// The format.
    pub format: Format,
    /// The issuer's identifier: a DID or an https URL.
    pub issuer: String,
    /// The subject's identifier, usually the holder's DID.
    pub subject: Option<String>,
    /// The types besides `VerifiableCredential`.
    pub types: Vec<String>,
    /// The contexts besides the data model's own: URLs, or objects with terms.
    pub contexts: Vec<Value>,
    /// The claims about the subject.
    pub claims: Map<String, Value>,
    /// The credential's identifier.
    pub id: Option<String>,
    /// The beginning of its validity.
    pub valid_from: UnixTime,
    /// The end of its validity.
    pub valid_until: Option<UnixTime>,
    /// `credentialStatus`.
    pub status: Option<Value>,
    /// The claim `status`, which any JWT may carry (Token Status List §6.1).
    pub token_status: Option<Value>,
    /// The holder's key, if the subject's DID does not lead to it.
    pub cnf: Option<Jwk>,
    /// Further members of the credential; they can't replace those above.
    pub further: Map<String, Value>,
    /// The issuer's key.
    pub signer: Signer,
}

/// Why a credential can't be issued.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum IssueError {
    /// The format is not one of W3C's.
    #[error("the format is not that of a W3C credential")]
    Format,
    /// The claims name an `id` other than the subject's.
    #[error("the claims name another subject")]
    Subject,
}

impl Issue {
    /// The credential, without its signature.
    pub fn draft(mut self) -> Result<Unsigned, IssueError> {
        let variant = self.format.entry().w3c.as_ref();
        let variant = variant.ok_or(IssueError::Format)?;
        let credential = self.credential(variant.model)?;
        let mut payload = (variant.credential)(&self, credential);
        if let Some(key) = &self.cnf {
            payload.insert("cnf".to_owned(), json!({ "jwk": key.to_value() }));
        }
        if let Some(status) = self.token_status.take() {
            payload.insert("status".to_owned(), status);
        }
        let typ = variant.model.credential_typ();
        Ok(Unsigned::new(&self.signer, typ, &Value::Object(payload)))
    }

    /// The members of the credential.
    pub(in crate::format) fn credential(
        &mut self,
        model: Model,
    ) -> Result<Map<String, Value>, IssueError> {
        let mut subject = std::mem::take(&mut self.claims);
        if let Some(id) = &self.subject {
            let named = subject.insert("id".to_owned(), Value::from(id.as_str()));
            if named.is_some_and(|named| named.as_str() != Some(id)) {
                return Err(IssueError::Subject);
            }
        }
        let contexts = std::iter::once(Value::from(model.base_context()));
        let contexts = contexts.chain(self.contexts.iter().cloned());
        let types =
            std::iter::once("VerifiableCredential").chain(self.types.iter().map(String::as_str));
        let (from, until) = model.dates();
        let mut credential = std::mem::take(&mut self.further);
        let mut set = |name: &str, value: Value| credential.insert(name.to_owned(), value);
        set("@context", contexts.collect());
        set("type", types.collect());
        set("issuer", Value::from(self.issuer.as_str()));
        set("credentialSubject", Value::Object(subject));
        set(from, Value::from(self.valid_from.rfc3339()));
        if let Some(time) = self.valid_until {
            set(until, Value::from(time.rfc3339()));
        }
        if let Some(id) = &self.id {
            set("id", Value::from(id.as_str()));
        }
        if let Some(status) = self.status.take() {
            set("credentialStatus", status);
        }
        Ok(credential)
    }
}
