//! A compact credential, as its holder sees it: base64url text, as the other binary formats of OpenID4VCI are sent.

use std::sync::Arc;

use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::{Jwk, json, jws};
use selfsame_did::key;
use serde_json::{Map, Value, json};

use super::content::{CoseStatus, CoseSubject, CoseVc};
use super::describe::{BASE_TYPE, CLAIMS};
use super::sign1::CoseMessage;
use super::verify::ReceivedCompact;
use crate::format::view::{CredentialView, HeldError, ReadCredential, Subject};
use crate::status::{Reference, StatusError};
use crate::validity::Validity;

/// Maximum length of a text, in bytes: more than a handshake carries.
const MAX_TEXT: usize = 90_000;

/// The bytes of a credential, as a handshake carries them; `None` if this is not such a text.
#[must_use]
pub fn to_bytes(raw: &str) -> Option<Vec<u8>> {
    let bytes = (raw.len() <= MAX_TEXT).then(|| base64url_decode(raw).ok());
    bytes.flatten()
}

pub(super) fn read(raw: &str) -> Result<CoseMessage, HeldError> {
    let bytes = to_bytes(raw).ok_or(HeldError::Compact)?;
    CoseMessage::parse(&bytes).map_err(|_| HeldError::Compact)
}

pub(super) fn hold(raw: &str) -> Result<ReadCredential, HeldError> {
    let received = ReceivedCompact::new(read(raw)?);
    Ok(ReadCredential {
        validity: validity(&received.message.content),
        statuses: statuses(&received.message.content),
        credential: Arc::new(HeldCompact {
            header: header(&received.message),
            received: Arc::new(received),
        }),
    })
}

/// The header in the words of JOSE.
pub(super) fn header(message: &CoseMessage) -> jws::Header {
    jws::Header {
        alg: message.algorithm,
        typ: None,
        kid: Some(base64url_encode(&message.key_id)),
        jwk: None,
        x5c: None,
        other: Map::new(),
    }
}

pub(super) fn validity(content: &CoseVc) -> Validity {
    Validity {
        not_before: content.not_before,
        expires: Some(content.expires),
    }
}

/// A bare index counts in a list that only a handshake's policy knows.
pub(super) fn statuses(content: &CoseVc) -> Result<Vec<Reference>, StatusError> {
    match &content.status {
        None => Ok(Vec::new()),
        Some(CoseStatus::List { index, uri }) => {
            let written = Reference::token(uri, *index).to_value();
            Ok(vec![Reference::in_status(&written)?])
        }
        Some(CoseStatus::Index(_)) => Err(StatusError::Unsupported),
    }
}

/// The credential as JSON.
pub(super) fn claims(content: &CoseVc) -> Value {
    let mut claims = json!({
        "type": types(content),
        "sub": subject(content),
        "exp": content.expires.0,
        CLAIMS: content.claims,
    });
    let status = statuses(content).ok().and_then(|mut all| all.pop());
    let optional = [
        ("nbf", content.not_before.map(|time| Value::from(time.0))),
        ("status", status.map(|reference| reference.to_value())),
    ];
    if let Some(members) = claims.as_object_mut() {
        let there = optional.into_iter();
        members.extend(there.filter_map(|(name, value)| Some((name.to_owned(), value?))));
    }
    claims
}

pub(super) fn types(content: &CoseVc) -> Vec<&str> {
    let named = content.types.iter().map(String::as_str);
    std::iter::once(BASE_TYPE).chain(named).collect()
}

fn subject(content: &CoseVc) -> String {
    match &content.subject {
        CoseSubject::Did(did) => did.to_string(),
        CoseSubject::Key(key) => key::create(key).to_string(),
    }
}

#[derive(Debug)]
struct HeldCompact {
    received: Arc<ReceivedCompact>,
    header: jws::Header,
}

impl CredentialView for HeldCompact {
    fn weight(&self) -> usize {
        json::weight(&self.received.claims).saturating_mul(2)
    }

    fn claims(&self) -> &Value {
        &self.received.claims
    }

    fn header(&self) -> &jws::Header {
        &self.header
    }

    fn issuer(&self) -> Option<&str> {
        None
    }

    fn types(&self) -> Vec<&str> {
        types(&self.received.message.content)
    }

    fn confirmed_key(&self) -> Option<Jwk> {
        match &self.received.message.content.subject {
            CoseSubject::Key(key) => Some(key.to_jwk()),
            CoseSubject::Did(_) => None,
        }
    }

    fn subject_id(&self) -> Option<&str> {
        self.received.claims.get("sub").and_then(Value::as_str)
    }

    fn subject(&self) -> Arc<dyn Subject> {
        self.received.clone()
    }
}
