//! What a judgement or a pure step needs from outside, and what was gathered for it.

use std::{collections::HashMap, sync::Arc};

use selfsame_crypto::{KeyHandle, time::UnixTime};
use selfsame_did::{Did, Resolution};

use crate::status;

/// Something a pure step wants fetched or done; it may be repeated without harm.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Need {
    /// The resolution of a DID.
    Did(Did),
    /// The JWT VC Issuer Metadata of an `iss` (SD-JWT VC §5).
    IssuerMetadata(String),
    /// The JWK Set at a `jwks_uri` (SD-JWT VC §4.2).
    JwkSet(String),
    /// The status list at a URI.
    StatusList(String),
    /// A signature by one of our own keys.
    Signature(SignatureRequest),
}

/// Bytes to be signed, and the key that shall sign them.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct SignatureRequest {
    /// The key's name in the key store.
    pub key: KeyHandle,
    /// The bytes to sign.
    pub bytes: Vec<u8>,
}

/// What came of a fetch, and when.
#[derive(Clone, Debug)]
pub struct Fetched<T> {
    /// The thing fetched, or why it could not be had.
    pub value: Result<T, Unavailable>,
    /// When it was fetched (for a cached thing: when it entered the cache).
    pub at: UnixTime,
}

/// Why something could not be fetched.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("unavailable: {reason}")]
pub struct Unavailable {
    /// For people; names no personal data.
    pub reason: String,
}

/// What a pure step answers. The driver gathers the needs and runs the step again with the same `Ctx`.
#[derive(Clone, Debug)]
pub enum Step<T> {
    /// These are missing.
    Needs(Vec<Need>),
    /// The step's result.
    Done(T),
}

/// All that was gathered so far.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    dids: HashMap<Did, Fetched<Resolution>>,
    issuer_metadata: HashMap<String, Fetched<Vec<u8>>>,
    jwk_sets: HashMap<String, Fetched<Vec<u8>>>,
    status_lists: HashMap<String, Fetched<Arc<status::List>>>,
    signatures: HashMap<SignatureRequest, Vec<u8>>,
}

impl Evidence {
    /// The resolution of `did`, if it was asked for.
    pub fn did(&self, did: &Did) -> Option<&Fetched<Resolution>> {
        self.dids.get(did)
    }

    /// The JWT VC Issuer Metadata document of `iss`, if it was asked for.
    pub fn issuer_metadata(&self, iss: &str) -> Option<&Fetched<Vec<u8>>> {
        self.issuer_metadata.get(iss)
    }

    /// The JWK Set at `uri`, if it was asked for.
    pub fn jwk_set(&self, uri: &str) -> Option<&Fetched<Vec<u8>>> {
        self.jwk_sets.get(uri)
    }

    /// The status list at `uri`, if it was asked for.
    pub fn status_list(&self, uri: &str) -> Option<&Fetched<Arc<status::List>>> {
        self.status_lists.get(uri)
    }

    /// The signature that answers `request`, if it was made.
    pub fn signature(&self, request: &SignatureRequest) -> Option<&[u8]> {
        self.signatures.get(request).map(Vec::as_slice)
    }

    /// Whether there is an answer, good or bad, to `need`.
    pub fn answers(&self, need: &Need) -> bool {
        match need {
            Need::Did(did) => self.dids.contains_key(did),
            Need::IssuerMetadata(iss) => self.issuer_metadata.contains_key(iss),
            Need::JwkSet(uri) => self.jwk_sets.contains_key(uri),
            Need::StatusList(uri) => self.status_lists.contains_key(uri),
            Need::Signature(request) => self.signatures.contains_key(request),
        }
    }

    /// Adds the resolution of a DID.
    pub fn insert_did(&mut self, did: Did, resolution: Fetched<Resolution>) {
        self.dids.insert(did, resolution);
    }

    /// Adds the JWT VC Issuer Metadata document of `iss`.
    pub fn insert_issuer_metadata(&mut self, iss: String, document: Fetched<Vec<u8>>) {
        self.issuer_metadata.insert(iss, document);
    }

    /// Adds the JWK Set fetched from `uri`.
    pub fn insert_jwk_set(&mut self, uri: String, set: Fetched<Vec<u8>>) {
        self.jwk_sets.insert(uri, set);
    }

    /// Adds the status list fetched from `uri`.
    pub fn insert_status_list(&mut self, uri: String, list: Fetched<Arc<status::List>>) {
        self.status_lists.insert(uri, list);
    }

    /// Adds a signature.
    pub fn insert_signature(&mut self, request: SignatureRequest, signature: Vec<u8>) {
        self.signatures.insert(request, signature);
    }
}
