//! Keys as Aries messages write them: Ed25519 in base58, or as `did:key` (RFC 0360).

use std::fmt;

use selfsame_crypto::encoding::{base58_decode, base58_encode};
use selfsame_crypto::{KeyError, KeyHandle, KeyType, PublicKey};
use selfsame_did::{Did, key};
use serde::{Deserialize, Serialize};

/// An Ed25519 key that verifies an agent's messages and signatures. A record has it in base58.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct VerKey(PublicKey);

impl VerKey {
    /// Reads base58, `did:key:z6Mk…`, or `did:key:z6Mk…#z6Mk…`, as agents write keys. The text is decoded and must
    /// give 32 bytes, whatever its length: a key that begins with zero bytes has fewer characters.
    ///
    /// # Errors
    /// If the text is no such key.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let read = match text.starts_with("did:") {
            true => of_did(text)?,
            false => {
                let bytes = base58_decode(text).map_err(|_| KeyError::Malformed("base58 key"))?;
                PublicKey::from_raw(KeyType::Ed25519, &bytes)?
            }
        };
        Self::new(read)
    }

    /// This key, if it is one of Ed25519.
    ///
    /// # Errors
    /// If it is of another type.
    pub fn new(key: PublicKey) -> Result<Self, KeyError> {
        match key.key_type() {
            KeyType::Ed25519 => Ok(Self(key)),
            _ => Err(KeyError::Unsupported),
        }
    }

    /// The key itself.
    pub fn public_key(&self) -> &PublicKey {
        &self.0
    }

    /// The name of its private key in a key store.
    pub fn handle(&self) -> KeyHandle {
        KeyHandle::of(&self.0)
    }

    /// The key in base58.
    pub fn to_base58(&self) -> String {
        base58_encode(self.0.bytes())
    }

    /// The key as a DID.
    pub fn to_did(&self) -> Did {
        key::create(&self.0)
    }
}

/// The key that a DID consists of. A fragment names the same key again.
fn of_did(text: &str) -> Result<PublicKey, KeyError> {
    let did = text.split_once('#').map_or(text, |(did, _)| did);
    let did: Did = did
        .parse()
        .map_err(|_| KeyError::Malformed("DID of a key"))?;
    let key = PublicKey::from_multikey(did.method_id())?;
    match key::create(&key) == did {
        true => Ok(key),
        false => Err(KeyError::Malformed("DID of a key")),
    }
}

impl fmt::Display for VerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_base58())
    }
}

impl TryFrom<String> for VerKey {
    type Error = KeyError;

    fn try_from(text: String) -> Result<Self, KeyError> {
        Self::parse(&text)
    }
}

impl From<VerKey> for String {
    fn from(key: VerKey) -> Self {
        key.to_base58()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point of the curve whose encoding begins with a zero byte has fewer characters than most.
    fn short_key() -> VerKey {
        let mut candidates = (0_u32..).map(|n| {
            let mut bytes = [0; 32];
            bytes[1] = 1;
            bytes[28..].copy_from_slice(&n.to_be_bytes());
            bytes
        });
        let found = candidates.find_map(|bytes| {
            let key = PublicKey::from_raw(KeyType::Ed25519, &bytes).ok()?;
            key.is_point().then_some(key)
        });
        VerKey::new(found.unwrap()).unwrap()
    }

    #[test]
    fn a_key_of_42_characters_is_a_key() {
        let key = short_key();
        assert_eq!(key.to_base58().len(), 42);
        assert_eq!(VerKey::parse(&key.to_base58()), Ok(key));
    }

    #[test]
    fn base58_and_both_forms_of_the_did_are_the_same_key() {
        let key = short_key();
        let did = key.to_did();
        assert_eq!(VerKey::parse(did.as_str()), Ok(key.clone()));
        let reference = format!("{did}#{}", did.method_id());
        assert_eq!(VerKey::parse(&reference), Ok(key));
    }

    #[test]
    fn texts_of_other_lengths_and_other_dids_are_no_keys() {
        for text in ["", "1111", "did:web:example.com", "did:key:", "0OIl"] {
            assert!(VerKey::parse(text).is_err(), "{text}");
        }
        assert!(VerKey::parse(&base58_encode(&[9; 33])).is_err());
    }
}
