//! The state: its keys, and how records are read and written.

use std::collections::BTreeMap;
use std::fmt;

use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256;

use crate::anoncreds::ObjectName;
use crate::identifier::Identifier;
use crate::resource::ResourceId;
use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};

/// Changes of the state, by key.
pub type Writes = BTreeMap<Vec<u8>, Vec<u8>>;

/// The source that the machine reads from.
pub trait StateRead {
    /// The value under a key.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StateError>;
}

/// The state cannot be read, or holds something that the machine did not write.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the registry's state cannot be read: {0}")]
pub struct StateError(pub String);

impl From<Malformed> for StateError {
    fn from(malformed: Malformed) -> Self {
        Self(format!("a record is corrupt ({malformed})"))
    }
}

impl StateRead for Writes {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        Ok(BTreeMap::get(self, key).cloned())
    }
}

/// A state with changes on top that are not in it yet.
pub(crate) struct Overlay<'a> {
    below: &'a dyn StateRead,
    pub(crate) writes: Writes,
}

impl<'a> Overlay<'a> {
    pub(crate) fn new(below: &'a dyn StateRead) -> Self {
        Self {
            below,
            writes: Writes::new(),
        }
    }

    pub(crate) fn has(&self, key: &StateKey<'_>) -> Result<bool, StateError> {
        Ok(self.get(key.to_string().as_bytes())?.is_some())
    }

    pub(crate) fn put(&mut self, key: &StateKey<'_>, item: &impl CborItem) {
        self.writes
            .insert(key.to_string().into_bytes(), item.to_cbor());
    }
}

impl StateRead for Overlay<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        match self.writes.get(key) {
            Some(value) => Ok(Some(value.clone())),
            None => self.below.get(key),
        }
    }
}

/// Divides changes into objects, which are authenticated, and marks, which follow from the log.
pub(crate) fn divide(writes: Writes) -> (Writes, Writes) {
    writes.into_iter().partition(|(key, _)| !is_mark(key))
}

pub(crate) fn is_mark(key: &[u8]) -> bool {
    key.starts_with(b"nonce/") || key.starts_with(b"quota/")
}

/// Whether the record under a key never changes once it is there: a version, a use, a schema, the definition of a
/// revocation registry, a resource.
pub(crate) fn never_changes(key: &[u8]) -> bool {
    let parts: Vec<&[u8]> = key.split(|byte| *byte == b'/').collect();
    match parts.as_slice() {
        [b"use", ..] | [b"resource", _, _] => true,
        [b"anoncreds", _, b"SCHEMA" | b"REV_REG_DEF", _, _] => true,
        [.., b"v", number] => !number.is_empty() && number.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// The keys of the state. Text from outside is in them as a digest, or is checked to have no slash.
#[derive(Clone, Copy)]
pub(crate) enum StateKey<'a> {
    Did(Identifier),
    List(Identifier, &'a str),
    Role(Identifier),
    Trustees,
    Object(&'a ObjectName),
    Entries(&'a ObjectName),
    Revoked(&'a ObjectName),
    Resource(Identifier, ResourceId),
    ResourceName(Identifier, &'a str, &'a str),
    Delegation(Identifier, &'a str),
    Use(Identifier, &'a [u8; 32]),
    Agreement,
    Validators,
    ValidatorChanges,
    OwnerOf(&'a str),
    ValidatorOf(Identifier),
    Rules,
    Nonce(Identifier, u64),
    AuthorQuota(Identifier),
    CreationQuota,
    /// A numbered version of the record under another key.
    Version(&'a StateKey<'a>, u64),
}

impl fmt::Display for StateKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Did(id) => write!(f, "did/{id}"),
            Self::List(id, list) => write!(f, "status/{id}/{}", digest(&[list])),
            Self::Role(id) => write!(f, "role/{id}"),
            Self::Trustees => write!(f, "trustees"),
            Self::Object(name) => write!(f, "anoncreds/{}", name.path()),
            Self::Entries(name) => write!(f, "anoncreds/{}/entries", name.path()),
            Self::Revoked(name) => write!(f, "anoncreds/{}/revoked", name.path()),
            Self::Resource(id, uuid) => write!(f, "resource/{id}/{uuid}"),
            Self::ResourceName(id, name, kind) => {
                write!(f, "resource/{id}/named/{}", digest(&[name, kind]))
            }
            Self::Delegation(id, name) => write!(f, "delegation/{id}/{name}"),
            Self::Use(id, handle) => write!(f, "use/{id}/{}", hex_encode(*handle)),
            Self::Agreement => write!(f, "agreement"),
            Self::Validators => write!(f, "validators"),
            Self::ValidatorChanges => write!(f, "validators/changes"),
            Self::OwnerOf(name) => write!(f, "validator/{name}"),
            Self::ValidatorOf(id) => write!(f, "validator-of/{id}"),
            Self::Rules => write!(f, "rules"),
            Self::Nonce(id, nonce) => write!(f, "nonce/{id}/{nonce}"),
            Self::AuthorQuota(id) => write!(f, "quota/{id}"),
            Self::CreationQuota => write!(f, "quota/new"),
            Self::Version(key, version) => write!(f, "{key}/v/{version}"),
        }
    }
}

/// SHA-256 of texts with a zero byte after each but the last, in lower-case hex.
fn digest(texts: &[&str]) -> String {
    hex_encode(&sha256(texts.join("\0").as_bytes()))
}

pub(crate) fn read<T: CborItem>(
    state: &dyn StateRead,
    key: &StateKey<'_>,
) -> Result<Option<T>, StateError> {
    match state.get(key.to_string().as_bytes())? {
        Some(bytes) => Ok(Some(T::from_cbor(&bytes)?)),
        None => Ok(None),
    }
}

/// How much of a quota is used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Used {
    pub(crate) window: u64,
    pub(crate) count: u64,
}

impl CborItem for Used {
    fn write(&self, to: &mut CborWriter) {
        to.array(2).uint(self.window).uint(self.count);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        Ok(Self {
            window: from.uint()?,
            count: from.uint()?,
        })
    }
}
