//! The decorator `connection~sig` (RFC 0234, `ed25519Sha512_single`): bytes that begin with a time, and a signature.

use selfsame_crypto::Algorithm;
use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::time::UnixTime;
use selfsame_didcomm::message::{MessageType, Semver};
use serde::{Deserialize, Serialize};

use crate::connection::DidWithDoc;
use crate::key::VerKey;
use crate::wire::Unreadable;

/// The scheme's protocol and name.
const PROTOCOL: &str = "signature";
const NAME: &str = "ed25519Sha512_single";
/// The length of the time before the signed member.
const TIME: usize = 8;

/// A signed member, not verified.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct FieldSignature {
    /// The scheme.
    #[serde(rename = "@type")]
    scheme: MessageType,
    /// The signature, in base64url.
    signature: String,
    /// The time and the member, in base64url. Agents write padding or leave it out.
    sig_data: String,
    /// The signing key.
    signer: VerKey,
}

impl FieldSignature {
    /// The bytes to sign for this member, at this time: the time in eight bytes, the highest first, and JSON.
    pub fn signed_bytes(party: &DidWithDoc, at: UnixTime) -> Vec<u8> {
        let mut bytes = at.0.to_be_bytes().to_vec();
        bytes.extend(serde_json::to_vec(party).unwrap_or_default());
        bytes
    }

    /// The decorator for these bytes. `beside` is a type of the message, whose prefix it gets.
    pub fn new(beside: &MessageType, signer: VerKey, bytes: &[u8], signature: &[u8]) -> Self {
        let scheme = MessageType::new(PROTOCOL, Semver::new(1, 0), NAME);
        Self {
            scheme: scheme.with_prefix(beside.prefix.clone()),
            signature: base64url_encode(signature),
            sig_data: base64url_encode(bytes),
            signer,
        }
    }

    /// What the key signed; `None` if another key signed it, or none did.
    ///
    /// # Errors
    /// If what was signed can't be read.
    pub fn signed_by(&self, key: &VerKey) -> Result<Option<DidWithDoc>, Unreadable> {
        if self.signer != *key || !self.scheme.is(PROTOCOL, NAME) {
            return Ok(None);
        }
        let Some((bytes, signature)) = decoded(&self.sig_data).zip(decoded(&self.signature)) else {
            return Err(Unreadable::Rule("the signature is not in base64url"));
        };
        let verified = key
            .public_key()
            .verify(Algorithm::EdDsa, &bytes, &signature);
        if verified.is_err() {
            return Ok(None);
        }
        let member = bytes.get(TIME..).unwrap_or_default();
        Ok(Some(json::parse_as(member, &Limits::default())?))
    }
}

/// Base64url, with or without padding.
fn decoded(text: &str) -> Option<Vec<u8>> {
    base64url_decode(text.trim_end_matches('=')).ok()
}
