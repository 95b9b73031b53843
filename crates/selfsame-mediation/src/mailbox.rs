//! Whose envelopes wait together.

use selfsame_aries::key::VerKey;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash;
use selfsame_store::{Tag, TenantId};

/// Finds the slips of a mailbox.
const MAILBOX: &str = "aries_mailbox";

/// Whose envelopes wait together.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Mailbox {
    /// Those that an agent sends to the owner of this key, which has no address.
    OfKey(VerKey),
    /// Those that others send, through an agent that mediates, to the peer of this connection.
    OfConnection(String),
}

impl Mailbox {
    /// The tag of its slips.
    pub fn tag(&self) -> Tag {
        Tag::hashed(MAILBOX, self.name())
    }

    /// The name by which events tell of it. It is pairwise: its readers learn of no person.
    pub fn told(&self, tenant: &TenantId) -> String {
        let named = format!("{}\0{}", tenant.as_str(), self.name());
        let digest = hash::sha256(named.as_bytes());
        hex_encode(digest.get(..16).unwrap_or_default())
    }

    /// Whether this agent mediates for its owner.
    pub fn is_mediated(&self) -> bool {
        matches!(self, Self::OfConnection(_))
    }

    fn name(&self) -> String {
        match self {
            Self::OfKey(key) => format!("key {key}"),
            Self::OfConnection(id) => format!("connection {id}"),
        }
    }
}
