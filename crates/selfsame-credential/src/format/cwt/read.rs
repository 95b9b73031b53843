//! Reads a compact credential: base64url text, as the other binary formats of OpenID4VCI are sent.

use super::codec::{CoseMessage, CoseStatus, CoseVc};
use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::{json, jws};
use serde_json::{Map, Value};

use crate::format::view::HeldError;
use crate::status::{Reference, StatusError};
use crate::validity::Validity;

/// Maximum length of a text, in bytes: more than a handshake carries.
const MAX_TEXT: usize = 90_000;

/// The text of a credential.
pub fn to_text(bytes: &[u8]) -> String {
    base64url_encode(bytes)
}

/// The bytes of a credential, as a handshake carries them; `None` if this is not such a text.
pub fn to_bytes(raw: &str) -> Option<Vec<u8>> {
    let bytes = (raw.len() <= MAX_TEXT).then(|| base64url_decode(raw).ok());
    bytes.flatten()
}

pub(super) fn message(raw: &str) -> Result<CoseMessage, HeldError> {
    let bytes = to_bytes(raw).ok_or(HeldError::Compact)?;
    CoseMessage::parse(&bytes).map_err(|_| HeldError::Compact)
}

/// A compact credential as it was received, and its content as JSON.
#[derive(Debug)]
pub(super) struct ReceivedCompact {
    pub message: CoseMessage,
    pub claims: Value,
}

impl ReceivedCompact {
    pub fn new(message: CoseMessage) -> Self {
        Self {
            claims: message.content.to_json(),
            message,
        }
    }

    pub fn content(&self) -> &CoseVc {
        &self.message.content
    }

    /// Its memory, in bytes: the content is there twice.
    pub fn weight(&self) -> usize {
        let content = json::weight(&self.claims).saturating_mul(2);
        content.saturating_add(self.message.weight())
    }

    pub fn validity(&self) -> Validity {
        Validity {
            not_before: self.content().not_before,
            expires: Some(self.content().expires),
        }
    }

    /// A bare index counts in a list that only the policy of a handshake knows, so it is an error here.
    pub fn statuses(&self) -> Result<Vec<Reference>, StatusError> {
        if matches!(self.content().status, Some(CoseStatus::Index(_))) {
            return Err(StatusError::Unsupported);
        }
        let reference = Reference::in_jwt_claims(&self.claims)?;
        Ok(reference.into_iter().collect())
    }

    /// The header in the words of JOSE.
    pub fn header(&self) -> jws::Header {
        jws::Header {
            alg: self.message.algorithm,
            typ: None,
            kid: Some(base64url_encode(&self.message.key_id)),
            jwk: None,
            x5c: None,
            other: Map::new(),
        }
    }
}
