//! Chains: each link hashes some entries and the link before it.

use std::fmt;

use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::hash::sha256_parts;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::entry::EntryHash;

/// A SHA-256 hash, written in base64url.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String)]
pub struct LinkHash(pub [u8; 32]);

impl LinkHash {
    /// What the first link of a chain follows.
    pub const BEGINNING: Self = Self([0; 32]);
}

impl fmt::Display for LinkHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&base64url_encode(&self.0))
    }
}

impl From<LinkHash> for String {
    fn from(hash: LinkHash) -> Self {
        hash.to_string()
    }
}

impl TryFrom<String> for LinkHash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let bytes = base64url_decode(&text).map_err(|_| "not base64url")?;
        let hash = <[u8; 32]>::try_from(bytes.as_slice());
        hash.map(Self).map_err(|_| "not 32 bytes")
    }
}

/// A link of an organisation's chain.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ChainLink {
    /// The organisation.
    pub organisation: String,
    /// Its number, from 1.
    pub number: u64,
    /// The hash of the link before it.
    pub previous: LinkHash,
    /// When it was made, RFC 3339.
    pub at: String,
    /// The hashes of its entries, in their order.
    pub entries: Vec<LinkHash>,
}

impl ChainLink {
    /// The link of these entries after `head`.
    #[must_use]
    pub fn after(head: &ChainHead, at: String, entries: &[EntryHash]) -> Self {
        Self {
            organisation: head.organisation.clone(),
            number: head.number.saturating_add(1),
            previous: head.hash,
            at,
            entries: entries.iter().copied().map(LinkHash).collect(),
        }
    }

    /// Its hash, over all its fields with their lengths.
    #[must_use]
    pub fn hash(&self) -> LinkHash {
        let count = (self.entries.len() as u64).to_be_bytes();
        let length = |text: &str| (text.len() as u64).to_be_bytes();
        let (name, at) = (length(&self.organisation), length(&self.at));
        let number = self.number.to_be_bytes();
        let mut parts: Vec<&[u8]> = vec![
            b"selfsame audit link\0",
            &name,
            self.organisation.as_bytes(),
            &number,
            &self.previous.0,
            &at,
            self.at.as_bytes(),
            &count,
        ];
        parts.extend(self.entries.iter().map(|entry| entry.0.as_slice()));
        LinkHash(sha256_parts(&parts))
    }

    /// The head of the chain that ends with this link, which follows `head`.
    #[must_use]
    pub fn head(&self, head: &ChainHead) -> ChainHead {
        ChainHead {
            organisation: self.organisation.clone(),
            number: self.number,
            hash: self.hash(),
            entries: head.entries.saturating_add(self.entries.len() as u64),
        }
    }
}

/// The end of an organisation's chain. Who knows it notices that anything before it was changed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChainHead {
    /// The organisation.
    pub organisation: String,
    /// The number of its newest link; 0 for a chain without links.
    pub number: u64,
    /// The hash of that link.
    pub hash: LinkHash,
    /// The number of entries in the chain.
    pub entries: u64,
}

impl ChainHead {
    /// The head of a chain without links.
    #[must_use]
    pub fn beginning(organisation: &str) -> Self {
        Self {
            organisation: organisation.to_owned(),
            number: 0,
            hash: LinkHash::BEGINNING,
            entries: 0,
        }
    }
}
