//! A record of a wallet, opened.

use selfsame_crypto::{Secret, SecretString};

use crate::expiry::Expiry;

/// A record, exactly as it is stored.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WalletRecord {
    /// Who wrote it: the key management, or the agent.
    pub kind: RecordKind,
    /// The category, in which the name is unique.
    pub category: String,
    /// The name.
    pub name: String,
    /// The value, which may have no bytes at all.
    pub value: Secret,
    /// The tags, in the order in which they were written. Several may have one name.
    pub tags: Vec<RecordTag>,
    /// When it expires. Askar hides what has expired; we do not.
    pub expiry: Option<Expiry>,
}

/// What kind of record.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum RecordKind {
    /// A key, written by the key management.
    Key = 1,
    /// What the agent wrote.
    Item = 2,
}

impl RecordKind {
    /// The kind of this number.
    pub(crate) fn of(number: i16) -> Option<Self> {
        match number {
            1 => Some(Self::Key),
            2 => Some(Self::Item),
            _ => None,
        }
    }
}

/// A tag: a name and a value by which records are found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RecordTag {
    /// The name, which is always stored encrypted.
    pub name: String,
    /// The value.
    pub value: SecretString,
    /// Whether the value is stored as it is, so that it can be compared by order.
    pub plaintext: bool,
}
