//! The state: what is read, under which keys, in which records.

use std::collections::BTreeMap;

use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use serde::{Deserialize, Serialize};

use crate::cbor::{Item, Malformed, Reader, Writer};
use crate::content::Content;
use crate::identifier::Identifier;

/// Changes of the state, by key.
pub type Writes = BTreeMap<Vec<u8>, Vec<u8>>;

/// Where the machine reads from.
pub trait StateRead {
    /// The value under a key.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StateError>;
}

/// The state cannot be read, or holds what the machine did not write.
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

    pub(crate) fn put(&mut self, key: Key, item: &impl Item) {
        self.writes.insert(key.to_bytes(), item.to_cbor());
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

/// The keys of the state.
#[derive(Clone, Copy)]
pub(crate) enum Key<'a> {
    Did(Identifier),
    DidVersion(Identifier, u64),
    List(Identifier, &'a str),
    ListVersion(Identifier, &'a str, u64),
    Nonce(Identifier, u64),
    AuthorQuota(Identifier),
    CreationQuota,
}

impl Key<'_> {
    fn to_bytes(self) -> Vec<u8> {
        match self {
            Self::Did(id) => format!("did/{id}"),
            Self::DidVersion(id, version) => format!("did/{id}/v/{version}"),
            Self::List(id, list) => format!("status/{id}/{}", uri_digest(list)),
            Self::ListVersion(id, list, version) => {
                format!("status/{id}/{}/v/{version}", uri_digest(list))
            }
            Self::Nonce(id, nonce) => format!("nonce/{id}/{nonce}"),
            Self::AuthorQuota(id) => format!("quota/{id}"),
            Self::CreationQuota => "quota".to_owned(),
        }
        .into_bytes()
    }
}

fn uri_digest(uri: &str) -> String {
    hex_encode(&sha256(uri.as_bytes()))
}

pub(crate) fn read<T: Item>(state: &dyn StateRead, key: Key) -> Result<Option<T>, StateError> {
    match state.get(&key.to_bytes())? {
        Some(bytes) => Ok(Some(T::from_cbor(&bytes)?)),
        None => Ok(None),
    }
}

/// Which version of a DID or a status list is the present one. The versions themselves never
/// change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Present {
    pub(crate) version: u64,
    pub(crate) deactivated: bool,
}

/// A version of a DID.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct DidVersion {
    /// None once deactivated.
    pub(crate) content: Option<Content>,
    pub(crate) receipt: Receipt,
}

/// A status list as its issuer anchored it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Anchor {
    /// The list's URI.
    pub list: String,
    /// SHA-256 of the list as served.
    pub digest: [u8; 32],
    /// When it was issued.
    pub issued: UnixTime,
    /// When and where it was anchored.
    pub receipt: Receipt,
}

/// That a transaction was accepted, and where it stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Receipt {
    /// Its number in the log, from 1.
    pub seq_no: u64,
    /// The height of its block.
    pub height: u64,
    /// The time of its block.
    pub time: UnixTime,
    /// Its identity; lower-case hex in JSON.
    #[serde(with = "hex")]
    pub tx_hash: [u8; 32],
}

/// How much of a quota is used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Used {
    pub(crate) window: u64,
    pub(crate) count: u64,
}

impl Item for Present {
    fn write(&self, to: &mut Writer) {
        to.array(2).uint(self.version).bool(self.deactivated);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        Ok(Self {
            version: from.uint()?,
            deactivated: from.bool()?,
        })
    }
}

impl Item for DidVersion {
    fn write(&self, to: &mut Writer) {
        to.array(2)
            .item(&self.receipt)
            .array(usize::from(self.content.is_some()));
        if let Some(content) = &self.content {
            to.item(content);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        let receipt = Receipt::read(from)?;
        let content = match from.array()? {
            0 => None,
            1 => Some(Content::read(from)?),
            _ => return Err(Malformed("a version has one content or none")),
        };
        Ok(Self { content, receipt })
    }
}

impl Item for Anchor {
    fn write(&self, to: &mut Writer) {
        to.array(4)
            .text(&self.list)
            .bytes(&self.digest)
            .uint(self.issued.0)
            .item(&self.receipt);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(4)?;
        Ok(Self {
            list: from.text()?.to_owned(),
            digest: from.array_of()?,
            issued: UnixTime(from.uint()?),
            receipt: Receipt::read(from)?,
        })
    }
}

impl Item for Receipt {
    fn write(&self, to: &mut Writer) {
        to.array(4)
            .uint(self.seq_no)
            .uint(self.height)
            .uint(self.time.0)
            .bytes(&self.tx_hash);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(4)?;
        Ok(Self {
            seq_no: from.uint()?,
            height: from.uint()?,
            time: UnixTime(from.uint()?),
            tx_hash: from.array_of()?,
        })
    }
}

impl Item for Used {
    fn write(&self, to: &mut Writer) {
        to.array(2).uint(self.window).uint(self.count);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        Ok(Self {
            window: from.uint()?,
            count: from.uint()?,
        })
    }
}

mod hex {
    use selfsame_crypto::encoding::{hex_decode, hex_encode};
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(hash: &[u8; 32], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&hex_encode(hash))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[u8; 32], D::Error> {
        let hash = hex_decode(&String::deserialize(from)?).ok();
        hash.and_then(|hash| hash.try_into().ok())
            .ok_or_else(|| D::Error::custom("not 32 bytes in hex"))
    }
}
