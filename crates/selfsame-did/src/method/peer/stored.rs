//! did:peer:1: the DID is the hash of a document that the peers keep, and that does not name its DID.

use selfsame_crypto::json::{self, Limits};
use serde_json::{Map, Value, json};

use crate::did::Did;
use crate::document::{Document, Relationship};

use super::{PeerError, hash_of, made};

/// Limits on a stored document.
const LIMITS: Limits = Limits {
    max_bytes: 64 * 1024,
    max_depth: 16,
    max_members: 1_000,
};

/// The DID of a document in its stored form, byte for byte.
///
/// # Errors
/// If it is not a document without its DID.
pub fn create_of_stored(stored: &[u8]) -> Result<Did, PeerError> {
    let did = made(&format!("1{}", hash_of(stored)))?;
    resolve_stored(&did, stored)?;
    Ok(did)
}

/// The document of a did:peer:1 from the bytes that were stored for it.
///
/// # Errors
/// `OtherDocument` if the DID is not the hash of these bytes; `Malformed` if they are no document without its DID.
pub fn resolve_stored(did: &Did, stored: &[u8]) -> Result<Document, PeerError> {
    let hash = did.method_id().strip_prefix('1');
    if did.method() != super::METHOD.name {
        return Err(PeerError::OtherKind);
    }
    if hash.ok_or(PeerError::OtherKind)? != hash_of(stored) {
        return Err(PeerError::OtherDocument);
    }
    document_of(did, parse(stored)?)
}

/// The base context of drafts of DID Core, which agents still write into documents of peers.
const DRAFTED: &str = "https://w3id.org/did/v1";
/// The one of DID Core 1.0.
const BASE: &str = "https://www.w3.org/ns/did/v1";

/// The members of a document that has no DID yet.
pub(super) fn parse(bytes: &[u8]) -> Result<Map<String, Value>, PeerError> {
    match json::parse(bytes, &LIMITS) {
        Ok(Value::Object(members)) => Ok(members),
        _ => Err(PeerError::Malformed("document")),
    }
}

/// The document with its DID in the places that were left open: the root, and the controllers of its keys.
pub(super) fn document_of(
    did: &Did,
    mut members: Map<String, Value>,
) -> Result<Document, PeerError> {
    let malformed = PeerError::Malformed("document");
    if members.contains_key("id") {
        return Err(malformed);
    }
    for name in Relationship::ALL
        .map(Relationship::as_str)
        .into_iter()
        .chain(["verificationMethod"])
    {
        let methods = members.get_mut(name).and_then(Value::as_array_mut);
        for method in methods.into_iter().flatten() {
            complete(method, did)?;
        }
    }
    let services = members.get("service").and_then(Value::as_array);
    if !services.into_iter().flatten().all(is_relative) {
        return Err(malformed);
    }
    if let Some(context) = members.get_mut("@context") {
        let first = match context {
            Value::Array(all) => all.first_mut(),
            other => Some(other),
        };
        if let Some(first) = first.filter(|first| *first == DRAFTED) {
            *first = json!(BASE);
        }
    }
    members.insert("id".to_owned(), json!(did));
    Document::from_value(Value::Object(members)).map_err(|_| malformed)
}

/// Sets the controller of an embedded or listed key, if it is left open. References stay as they are.
fn complete(method: &mut Value, did: &Did) -> Result<(), PeerError> {
    if method.is_string() {
        return Ok(());
    }
    if !is_relative(method) {
        return Err(PeerError::Malformed("document"));
    }
    let Value::Object(method) = method else {
        return Err(PeerError::Malformed("document"));
    };
    // The text of did:peer:1 has "#id" for the DID itself.
    let controller = method.get("controller").and_then(Value::as_str);
    if !method.contains_key("controller") || controller == Some("#id") {
        method.insert("controller".to_owned(), json!(did));
    }
    Ok(())
}

/// Whether the object's identifier is relative to the DID.
fn is_relative(value: &Value) -> bool {
    let id = value.get("id").and_then(Value::as_str);
    id.is_some_and(|id| id.starts_with('#'))
}
