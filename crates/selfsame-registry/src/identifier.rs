//! The method-specific identifier: 16 bytes that belong to the key a DID began with.

use std::fmt;

use selfsame_crypto::PublicKey;
use selfsame_crypto::encoding::{base58_decode, base58_encode};
use selfsame_did::Did;
use selfsame_did::selfsame::{self, Network};

use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed, encode};

const CONSENT: &str = "selfsame/registration/1";

/// The last part of a `did:selfsame`, unique within a network.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Identifier([u8; 16]);

impl Identifier {
    /// The identifier of a DID that begins with this key: the first 16 bytes of the SHA-256 of the
    /// key in multicodec form.
    pub fn of_key(key: &PublicKey) -> Option<Self> {
        Self::decode(&selfsame::id_of(key))
    }

    /// Indy's older form, for DIDs registered by seed: the first 16 bytes of an Ed25519 key.
    pub fn of_seed_key(key: &PublicKey) -> Option<Self> {
        Self::decode(&selfsame::indy_id_of(key)?)
    }

    /// The identifier of a DID of this network.
    pub fn of_did(did: &Did, network: &Network) -> Option<Self> {
        selfsame::id_in(did, network).map(Self)
    }

    /// Whether a DID with this identifier may begin with this key.
    pub(crate) fn belongs_to(&self, key: &PublicKey) -> bool {
        Self::of_key(key) == Some(*self) || Self::of_seed_key(key) == Some(*self)
    }

    /// The bytes that a key's owner signs to let others register this identifier of Indy's form (docs/did-method.md
    /// §3.1). The identifier fixes only half of the key, and anyone can make a key with that half and another second
    /// half.
    pub fn consent_bytes(&self, network: &str) -> Vec<u8> {
        encode(|to| {
            to.array(3).text(CONSENT).text(network).item(self);
        })
    }

    fn decode(text: &str) -> Option<Self> {
        base58_decode(text).ok()?.try_into().ok().map(Self)
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&base58_encode(&self.0))
    }
}

impl CborItem for Identifier {
    fn write(&self, to: &mut CborWriter) {
        to.bytes(&self.0);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.array_of().map(Self)
    }
}
