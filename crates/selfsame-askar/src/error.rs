//! Why a wallet, or a record in it, was not read.

use std::fmt;

/// Why a wallet was not read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum WalletError {
    /// The text is not the address of a wallet; the person who typed it must act.
    #[error("not the address of a wallet: {0}")]
    Address(&'static str),
    /// The file or the server is not there, or does not let us in; the operator must act.
    #[error("the wallet can't be opened: {0}")]
    Unreachable(String),
    /// What is there is not a wallet of Askar.
    #[error("not a wallet of Askar: {0}")]
    Foreign(&'static str),
    /// The wallet, or the connection to it, needs what this version does not have.
    #[error("not supported by this version: {0}")]
    Unsupported(String),
    /// The wallet is protected, and no key was given.
    #[error("the wallet is protected by {0}, and none was given")]
    KeyNeeded(&'static str),
    /// The wallet is protected by a raw key, and the given text is not a raw key.
    #[error("not a raw key: it is 32 bytes in base58")]
    KeyMalformed,
    /// The key does not open the wallet.
    #[error("the key does not open this wallet")]
    KeyWrong,
    /// The wallet has no profile with this name.
    #[error("the wallet has no such profile")]
    NoProfile,
    /// What is stored is damaged.
    #[error("the wallet is damaged: {0}")]
    Damaged(String),
    /// Another program wrote to the file while it was read.
    #[error("the wallet was changed while it was read")]
    Changed,
    /// The database failed.
    #[error("the database failed: {0}")]
    Database(String),
    /// This machine could not do the work: there is too little memory, or the process is about to end.
    #[error("this machine could not do it: {0}")]
    Machine(&'static str),
}

impl WalletError {
    /// What the person can do, if that is known.
    pub fn what_to_do(&self) -> Option<&'static str> {
        Some(match self {
            Self::Address(_) => {
                "name a file, or an address that begins with sqlite:// or postgres://, as the agent's configuration has it"
            }
            Self::Unreachable(_) => {
                "check the address, the permissions, and whether the server runs"
            }
            Self::Foreign(_) => {
                "name the wallet's own file or database, which has the tables config, profiles, items and items_tags"
            }
            Self::KeyNeeded(_) | Self::KeyMalformed | Self::KeyWrong => {
                "the agent's configuration has the key: its wallet key is the passphrase, or with the method `raw` the raw key"
            }
            Self::Changed => "stop the agent, or read a copy of its file",
            Self::Damaged(_) => "read another copy of the wallet",
            Self::Unsupported(_) | Self::NoProfile | Self::Database(_) | Self::Machine(_) => {
                return None;
            }
        })
    }
}

/// An item of a wallet that could not be read, while those after it can.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Unread {
    /// The item's number in the database.
    pub item: i64,
    /// The part that is not as it should be.
    pub part: ItemPart,
}

/// A part of an item.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ItemPart {
    /// The kind is neither that of a key nor that of an item.
    Kind,
    /// The category does not open, or is not text.
    Category,
    /// The name does not open, or is not text.
    Name,
    /// The value does not open.
    Value,
    /// A tag does not open, or is not text.
    Tag,
    /// The expiry is not a time.
    Expiry,
    /// The item is of the kind of keys, but its value is no key entry.
    Key,
    /// The item is larger than this version reads.
    Size,
}

impl fmt::Display for ItemPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kind => "its kind is unknown",
            Self::Category => "its category does not open",
            Self::Name => "its name does not open",
            Self::Value => "its value does not open",
            Self::Tag => "a tag does not open",
            Self::Expiry => "its expiry is not a time",
            Self::Key => "its value is not a key entry",
            Self::Size => "it is larger than 64 MiB",
        })
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "item {}: {}", self.item, self.part)
    }
}
