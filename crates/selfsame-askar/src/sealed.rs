//! Rows as they are stored, which a profile's key opens.

use crate::cursor::RecordCursor;
use crate::expiry::Expiry;

/// What an item needs, before it is loaded.
pub(crate) struct ItemHead {
    pub id: i64,
    /// The length of category and name.
    pub key_bytes: u64,
    pub value_bytes: u64,
    pub tags: u64,
    pub tag_bytes: u64,
}

/// An item without its tags.
pub(crate) struct SealedItem {
    pub id: i64,
    pub kind: i16,
    pub category: Vec<u8>,
    pub name: Vec<u8>,
    /// `None` if it is larger than was asked for.
    pub value: Option<Vec<u8>>,
    pub expiry: StoredExpiry,
}

impl SealedItem {
    /// The place of this item.
    pub(crate) fn cursor(&self) -> RecordCursor {
        RecordCursor {
            kind: self.kind,
            category: self.category.clone(),
            name: self.name.clone(),
        }
    }
}

/// A tag of an item.
pub(crate) struct SealedTag {
    pub item: i64,
    pub name: Vec<u8>,
    pub value: Vec<u8>,
    pub plaintext: bool,
}

/// When an item expires.
pub(crate) enum StoredExpiry {
    Never,
    At(Expiry),
    /// What is stored is not a time.
    Unclear,
}

/// A profile, with its key as it is stored.
pub(crate) struct SealedProfile {
    pub id: i64,
    pub name: String,
    pub key: Option<Vec<u8>>,
}

/// The three entries of a wallet's configuration.
pub(crate) struct StoreConfig {
    pub version: Option<String>,
    pub key: Option<String>,
    pub default_profile: Option<String>,
}

/// How many rows there are in all, whatever they belong to.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Totals {
    pub items: u64,
    pub tags: u64,
}
