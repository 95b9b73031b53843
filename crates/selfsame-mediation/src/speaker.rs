//! Who a message is from: a key in DIDComm v1, a DID in v2.

pub mod former;

use std::fmt;

use selfsame_aries::key::VerKey;
use selfsame_crypto::KeyError;
use selfsame_did::Did;
use selfsame_did::method::peer::short_of;
use serde::{Deserialize, Serialize};

/// Who a message is from, authenticated by its envelope.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum Speaker {
    /// The owner of this key.
    Key(VerKey),
    /// The subject of this DID. A `did:peer:4` is in its short form, since those who know it write either.
    Did(Did),
}

impl Speaker {
    /// The subject of a DID.
    pub fn of(did: &Did) -> Self {
        Self::Did(short_of(did).unwrap_or_else(|_| did.clone()))
    }

    /// The key, in v1.
    pub fn key(&self) -> Option<&VerKey> {
        match self {
            Self::Key(key) => Some(key),
            Self::Did(_) => None,
        }
    }
}

impl fmt::Display for Speaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => key.fmt(f),
            Self::Did(did) => did.fmt(f),
        }
    }
}

impl TryFrom<String> for Speaker {
    type Error = KeyError;

    fn try_from(text: String) -> Result<Self, KeyError> {
        match text.starts_with("did:") {
            true => text
                .parse()
                .map(Self::Did)
                .map_err(|_| KeyError::Malformed("DID of a sender")),
            false => VerKey::parse(&text).map(Self::Key),
        }
    }
}

impl From<Speaker> for String {
    fn from(speaker: Speaker) -> Self {
        speaker.to_string()
    }
}
