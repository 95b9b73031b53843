//! did:peer: identifiers that peers give each other (Peer DID Method Specification). The number after `peer:` says how
//! the identifier is made: 0 has one key, as a did:key has, 1 is the hash of a document, 2 has keys and services, 4 has a document, or its hash alone.

mod document;
mod elements;
mod stored;

use selfsame_crypto::PublicKey;
use selfsame_crypto::encoding::multibase_base58_encode;
use selfsame_crypto::hash::sha256;

use crate::did::Did;
use crate::document::{Document, Relationship, Representation, VerificationMethod};
use crate::resolution::{Resolution, ResolutionError};

use super::{Method, Origin, done};

pub use document::{LongAndShort, create_with_document, resolve_short, short_of};
pub use elements::{PeerKey, create_with_keys};
pub use stored::{create_of_stored, resolve_stored};

/// did:peer in the table of methods. A DID whose document only the peers know is not found by resolving it: those who
/// got the document keep it, and read it with [`resolve_stored`] or [`resolve_short`].
pub const METHOD: Method = Method {
    name: "peer",
    origin: Origin::Peer,
    plan: |did, options| {
        options.unversioned()?;
        resolve(did, options.accept).map(done)
    },
    read: None,
    anchored: None,
    of_key: None,
    binary: None,
};

/// The prefix of a multihash of SHA-256.
const SHA2_256: [u8; 2] = [0x12, 0x20];

/// Why a did:peer was not made, or the document that was kept for it is not its own.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PeerError {
    /// The DID would be longer than 4,096 bytes.
    #[error("the did:peer would be longer than 4,096 bytes")]
    TooLong,
    /// The document, a key or a service is malformed, or names the DID that is only made of it.
    #[error("the {0} of the did:peer is malformed")]
    Malformed(&'static str),
    /// The DID is of another kind.
    #[error("the DID is a did:peer of another kind")]
    OtherKind,
    /// The document is not the one whose hash the DID has.
    #[error("the document is not that of the did:peer")]
    OtherDocument,
}

/// The document of a did:peer that contains it.
///
/// # Errors
/// `NotFound` for one that has only the hash of its document; `InvalidDid` for any other text.
pub fn resolve(did: &Did, representation: Representation) -> Result<Resolution, ResolutionError> {
    let id = did.method_id();
    let document = match (did.method() == METHOD.name, id.as_bytes().first()) {
        (true, Some(b'0')) => inception(did)?,
        (true, Some(b'2')) => elements::resolve(did)?,
        (true, Some(b'4')) if id.contains(':') => document::resolve(did)?,
        (true, Some(b'1' | b'3' | b'4')) if is_hash(id.get(1..).unwrap_or_default()) => {
            return Err(ResolutionError::NotFound);
        }
        _ => return Err(ResolutionError::InvalidDid),
    };
    Ok(Resolution::found(document, representation))
}

/// The did:peer of one key, the inception key (Peer DID Method Specification, "Generation Method", 0).
pub fn create_with_key(key: &PublicKey) -> Did {
    Did::made(METHOD.name, format_args!("0{}", key.to_multikey()))
}

/// The document of such a DID: that of the did:key of the same key, under its own name.
fn inception(did: &Did) -> Result<Document, ResolutionError> {
    let multikey = did.method_id().get(1..).unwrap_or_default();
    let key = PublicKey::from_multikey(multikey).map_err(super::key::error)?;
    if key.to_multikey() != multikey {
        return Err(ResolutionError::InvalidDid);
    }
    let id = did.with_fragment(multikey);
    let id = id.map_err(|_| ResolutionError::InvalidDid)?;
    let mut document = Document::new(did.clone());
    let method = VerificationMethod::suited(id, &key);
    document.add(method, &Relationship::SIGNING);
    Ok(document)
}

/// The multihash of SHA-256 in base58.
fn hash_of(bytes: &[u8]) -> String {
    multibase_base58_encode(&[&SHA2_256[..], &sha256(bytes)].concat())
}

fn is_hash(text: &str) -> bool {
    let bytes = selfsame_crypto::encoding::multibase_decode(text);
    let is_base58 = text.starts_with('z');
    is_base58 && bytes.is_ok_and(|bytes| bytes.len() == 34 && bytes.starts_with(&SHA2_256))
}

/// A DID of this method.
fn made(id: &str) -> Result<Did, PeerError> {
    Did::parse(&format!("{}:{id}", METHOD.scheme())).map_err(|_| PeerError::TooLong)
}

#[cfg(test)]
mod tests;
