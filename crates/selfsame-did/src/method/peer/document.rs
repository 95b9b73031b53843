//! did:peer:4: the long form has the document, the short form its hash.

use selfsame_crypto::encoding::{multibase_base58_encode, multibase_decode};
use selfsame_crypto::json;
use serde_json::{Map, Value};

use crate::did::Did;
use crate::document::Document;
use crate::resolution::ResolutionError;

use super::stored::{document_of, parse};
use super::{PeerError, hash_of, made};

/// The multicodec of JSON, as a varint.
const JSON: [u8; 2] = [0x80, 0x04];

/// A did:peer:4 in both forms.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LongAndShort {
    /// The form for the first messages.
    pub long: Did,
    /// The form for those who know the long one.
    pub short: Did,
}

/// Makes the DID of a document without `id`, whose identifiers are all relative.
///
/// # Errors
/// If it is no such document, or the DID is too long.
pub fn create_with_document(input: &Map<String, Value>) -> Result<LongAndShort, PeerError> {
    let text = json::to_bytes(&Value::Object(input.clone()));
    let encoded = multibase_base58_encode(&[&JSON[..], &text].concat());
    let short = made(&format!("4{}", hash_of(encoded.as_bytes())))?;
    let long = made(&format!("{}:{encoded}", short.method_id()))?;
    document_of(&long, input.clone())?;
    Ok(LongAndShort { long, short })
}

/// The short form of a long form, whose hash is verified.
///
/// # Errors
/// If it is no long form, or the hash is another.
pub fn short_of(long: &Did) -> Result<Did, PeerError> {
    let (hash, encoded) = parts(long)?;
    match hash_of(encoded.as_bytes()) == hash {
        true => made(&format!("4{hash}")),
        false => Err(PeerError::OtherDocument),
    }
}

/// The document under the short form. It names the long form as well.
///
/// # Errors
/// As [`short_of`], or if the document is malformed.
pub fn resolve_short(long: &Did) -> Result<Document, PeerError> {
    let short = short_of(long)?;
    let mut document = document_of(&short, decoded(long)?)?;
    document.also_known_as.push(long.to_string());
    Ok(document)
}

/// The document under the long form. It names the short form as well.
pub(super) fn resolve(long: &Did) -> Result<Document, ResolutionError> {
    let short = short_of(long).map_err(|_| ResolutionError::InvalidDid)?;
    let members = decoded(long).map_err(|_| ResolutionError::InvalidDid)?;
    let document = document_of(long, members);
    let mut document = document.map_err(|_| ResolutionError::InvalidDidDocument)?;
    document.also_known_as.push(short.to_string());
    Ok(document)
}

fn decoded(long: &Did) -> Result<Map<String, Value>, PeerError> {
    let malformed = PeerError::Malformed("document");
    let (_, encoded) = parts(long)?;
    if !encoded.starts_with('z') {
        return Err(malformed);
    }
    let bytes = multibase_decode(encoded).map_err(|_| malformed)?;
    parse(bytes.strip_prefix(&JSON).ok_or(malformed)?)
}

/// The hash and the encoded document.
fn parts(long: &Did) -> Result<(&str, &str), PeerError> {
    let parts = long
        .method_id()
        .strip_prefix('4')
        .and_then(|rest| rest.split_once(':'));
    match parts {
        Some(parts) if long.method() == super::METHOD.name => Ok(parts),
        _ => Err(PeerError::OtherKind),
    }
}
