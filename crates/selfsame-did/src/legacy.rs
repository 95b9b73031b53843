//! DIDs and documents of agents from before DID Core: identifiers without `did:`, and documents with `publicKey` as the
//! protocols `connections/1.0` and `didexchange/1.0` send them (Aries RFC 0067, 0160, 0793).

mod read;
mod write;

use std::fmt;

use selfsame_crypto::encoding::{base58_decode, base58_encode};
use selfsame_crypto::{KeyError, KeyType, PublicKey};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::document::DocumentError;

/// The prefix that some agents put before such identifiers. It names no ledger.
const PREFIX: &str = "did:sov:";
/// The length of the number in base58.
const BYTES: usize = 16;

/// An identifier of a party, without a method: 16 bytes in base58. Usually they begin the party's first key.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct UnqualifiedDid(String);

/// The document of such a party.
#[derive(Clone, Debug, PartialEq)]
pub struct LegacyDocument {
    /// The party.
    pub did: UnqualifiedDid,
    /// The keys, each with its identifier in the document.
    pub keys: Vec<LegacyKey>,
    /// How the party is reached, the preferred way first.
    pub services: Vec<LegacyService>,
}

/// A key of a legacy document.
#[derive(Clone, Debug, PartialEq)]
pub struct LegacyKey {
    /// The identifier, as it was read.
    pub id: String,
    /// The Ed25519 key.
    pub key: PublicKey,
}

/// How a party of v1 is reached (RFC 0067).
#[derive(Clone, Debug, PartialEq)]
pub struct LegacyService {
    /// The identifier, as it was read.
    pub id: String,
    /// `IndyAgent` or `did-communication`.
    pub type_: String,
    /// The lower, the sooner it is used.
    pub priority: u64,
    /// The keys that messages are encrypted to, at least one.
    pub recipient_keys: Vec<PublicKey>,
    /// The keys of mediators, the recipient's own first.
    pub routing_keys: Vec<PublicKey>,
    /// The address.
    pub endpoint: String,
}

impl UnqualifiedDid {
    /// Reads an identifier, with or without `did:sov:`.
    ///
    /// # Errors
    /// If it is not base58 of 16 bytes. How many characters that makes depends on the bytes.
    pub fn parse(text: &str) -> Result<Self, DocumentError> {
        let id = text.strip_prefix(PREFIX).unwrap_or(text);
        match base58_decode(id) {
            Ok(bytes) if bytes.len() == BYTES => Ok(Self(id.to_owned())),
            _ => Err(DocumentError::Malformed("DID without method")),
        }
    }

    /// The identifier of a party whose first key is this.
    pub fn of_key(key: &PublicKey) -> Self {
        let bytes = key.bytes().get(..BYTES).unwrap_or_default();
        Self(base58_encode(bytes))
    }

    /// The identifier.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The identifier with `did:sov:`, as documents have it.
    pub fn qualified(&self) -> String {
        format!("{PREFIX}{}", self.0)
    }
}

impl fmt::Display for UnqualifiedDid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for UnqualifiedDid {
    type Error = DocumentError;

    fn try_from(text: String) -> Result<Self, DocumentError> {
        Self::parse(&text)
    }
}

impl From<UnqualifiedDid> for String {
    fn from(did: UnqualifiedDid) -> Self {
        did.0
    }
}

impl LegacyDocument {
    /// Reads a document from strictly parsed JSON.
    ///
    /// # Errors
    /// If a member is malformed, a key is not Ed25519, or a reference leads nowhere.
    pub fn from_value(value: Value) -> Result<Self, DocumentError> {
        read::document(value)
    }

    /// The document as agents of v1 read it.
    pub fn to_value(&self) -> Value {
        write::document(self)
    }

    /// The service to use: the one of the lowest priority.
    pub fn service(&self) -> Option<&LegacyService> {
        self.services.first()
    }
}

/// An Ed25519 key of its base58 text. What counts is that it decodes to 32 bytes: the text of a key that begins with
/// zeros is shorter than others.
///
/// # Errors
/// If it is not base58 of a key.
pub fn key_of_base58(text: &str) -> Result<PublicKey, KeyError> {
    let bytes = base58_decode(text).map_err(|_| KeyError::Malformed("key in base58"))?;
    PublicKey::from_raw(KeyType::Ed25519, &bytes)
}

/// The base58 text of an Ed25519 key.
pub fn base58_of_key(key: &PublicKey) -> String {
    base58_encode(key.bytes())
}

/// An Ed25519 key as protocols of v1 write it: base58, or a did:key with or without fragment (Aries RFC 0360).
///
/// # Errors
/// If it is neither.
pub fn key_of_text(text: &str) -> Result<PublicKey, KeyError> {
    let did = text.split('#').next().unwrap_or_default();
    match did.strip_prefix(&format!("{}:", crate::key::METHOD.scheme())) {
        None => key_of_base58(text),
        Some(multikey) => match PublicKey::from_multikey(multikey)? {
            key if key.key_type() == KeyType::Ed25519 => Ok(key),
            _ => Err(KeyError::Unsupported),
        },
    }
}

#[cfg(test)]
mod tests;
