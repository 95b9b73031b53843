//! JSON Web Signatures in compact form (RFC 7515): parsing, verification, and drafts that are signed elsewhere.

mod header;

use serde_json::Value;

use crate::encoding::{base64url_append, base64url_decode, base64url_encode};
use crate::error::SignatureError;
use crate::json::{self, JsonError};
use crate::public_key::PublicKey;

pub use header::Header;

/// The maximum length of a JWS that [`Compact::parse`] reads.
const MAX_BYTES: usize = 1024 * 1024;

/// Why a JWS was not read; the sender must act.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum JwsError {
    /// It is longer than the limit.
    #[error("the JWS is too long")]
    TooLong,
    /// It is not three base64url parts.
    #[error("the JWS is not in compact form")]
    Form,
    /// The header is not a JSON object, or a member has the wrong type.
    #[error("the JWS header is malformed")]
    Header,
    /// The algorithm is `none`, a shared-secret one or unknown.
    #[error("the JWS algorithm is not supported")]
    Algorithm,
    /// The header requires an extension (`crit`, `b64`) that is not supported.
    #[error("the JWS header demands an extension that is not supported")]
    Critical,
    /// The header carries a key that is malformed, private or not supported.
    #[error("the key in the JWS header cannot be used")]
    Key,
}

/// A received JWS: well formed, not yet verified.
#[derive(Clone, Debug)]
pub struct Compact {
    /// The protected header.
    pub header: Header,
    /// The decoded payload.
    pub payload: Vec<u8>,
    signing_input: String,
    signature: Vec<u8>,
}

impl Compact {
    /// The memory it takes, in bytes. The parsed header is estimated at four times its text.
    pub fn weight(&self) -> usize {
        let header = self.signing_input.len().saturating_mul(4);
        let read = self.payload.capacity().saturating_add(header);
        read.saturating_add(self.signature.capacity())
    }

    /// Reads a JWS of up to 1 MiB.
    pub fn parse(text: &str) -> Result<Self, JwsError> {
        Self::parse_within(text, MAX_BYTES)
    }

    /// Reads a JWS of up to `max_bytes`.
    pub fn parse_within(text: &str, max_bytes: usize) -> Result<Self, JwsError> {
        if text.len() > max_bytes {
            return Err(JwsError::TooLong);
        }
        let (signing_input, signature) = text.rsplit_once('.').ok_or(JwsError::Form)?;
        let (header, payload) = signing_input.split_once('.').ok_or(JwsError::Form)?;
        // A fourth part would leave a dot in the payload, which is not a base64url character.
        let header = base64url_decode(header).map_err(|_| JwsError::Form)?;
        Ok(Self {
            header: Header::parse(&header)?,
            payload: base64url_decode(payload).map_err(|_| JwsError::Form)?,
            signing_input: signing_input.to_owned(),
            signature: base64url_decode(signature).map_err(|_| JwsError::Form)?,
        })
    }

    /// Verifies the signature with this key and the algorithm in the header, which must fit the key.
    pub fn verify(&self, key: &PublicKey) -> Result<(), SignatureError> {
        key.verify(
            self.header.alg,
            self.signing_input.as_bytes(),
            &self.signature,
        )
    }

    /// The payload as strictly parsed JSON. The limit on its length is that of the JWS.
    pub fn claims(&self) -> Result<Value, JsonError> {
        json::parse(
            &self.payload,
            &json::Limits {
                max_bytes: self.payload.len(),
                ..json::Limits::default()
            },
        )
    }

    /// The signed bytes: header and payload as received.
    pub fn signing_input(&self) -> &[u8] {
        self.signing_input.as_bytes()
    }

    /// The decoded signature.
    pub fn signature(&self) -> &[u8] {
        &self.signature
    }
}

/// A JWS without its signature.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unsigned {
    signing_input: String,
}

impl Unsigned {
    /// Drafts a JWS of this header and JSON payload. `alg` in the header must be the algorithm of the key that will
    /// sign.
    pub fn new(header: &Value, payload: &Value) -> Self {
        Self::with_payload_bytes(header, &json::to_bytes(payload))
    }

    /// Drafts a JWS of this header and payload.
    pub fn with_payload_bytes(header: &Value, payload: &[u8]) -> Self {
        let mut signing_input = base64url_encode(&json::to_bytes(header));
        signing_input.push('.');
        base64url_append(payload, &mut signing_input);
        Self { signing_input }
    }

    /// The bytes to sign.
    pub fn signing_input(&self) -> &[u8] {
        self.signing_input.as_bytes()
    }

    /// The compact form with this signature.
    pub fn finish(self, signature: &[u8]) -> String {
        let mut compact = self.signing_input;
        compact.push('.');
        base64url_append(signature, &mut compact);
        compact
    }
}
