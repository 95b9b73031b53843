//! The stored record of a DID of the instance, and what others see of the DID.

use selfsame_crypto::{KeyHandle, KeyType, PublicKey};
use selfsame_did::cheqd::Draft;
use selfsame_did::{Did, Document, Relationship, VerificationMethod};
use selfsame_driver::{Error, Result};
use selfsame_registry::Content;
use selfsame_registry::content::{Key, Uses};
use serde::{Deserialize, Serialize};

/// Maximum number of former keys in a document. Beyond it, the oldest key is removed.
const FORMER_MAX: usize = 15;

/// A DID of the instance.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct DidRecord {
    pub(super) did: Did,
    /// Its keys. The last is the current one; the others verify earlier signatures.
    pub(super) keys: Vec<DidKey>,
    /// The number of keys it ever had. Their fragments are numbered and never reused.
    pub(super) made: u64,
    /// Its version in the registry; 0 before the first one, and for a method without a registry.
    pub(super) version: u64,
    pub(super) deactivated: bool,
    /// The id of the pending registration.
    pub(super) pending: Option<String>,
}

/// A key of a DID.
#[derive(Clone, Deserialize, Serialize)]
pub(super) struct DidKey {
    /// Its fragment, without `#`.
    pub(super) fragment: String,
    pub(super) handle: KeyHandle,
    public: String,
}

impl DidRecord {
    pub(super) fn new(did: Did, key: &PublicKey) -> Self {
        let record = Self {
            did,
            keys: Vec::new(),
            made: 0,
            version: 0,
            deactivated: false,
            pending: None,
        };
        record.rotated(key)
    }

    /// The record with a new current key.
    pub(super) fn rotated(&self, key: &PublicKey) -> Self {
        let mut next = self.clone();
        next.made = next.made.saturating_add(1);
        next.keys.push(DidKey {
            fragment: format!("key-{}", next.made),
            handle: KeyHandle::of(key),
            public: key.to_multikey(),
        });
        let surplus = next.keys.len().saturating_sub(FORMER_MAX.saturating_add(1));
        next.keys.drain(..surplus);
        next
    }

    pub(super) fn current(&self) -> Result<&DidKey> {
        self.keys
            .last()
            .ok_or_else(|| Error::internal("a DID of this instance has no key"))
    }

    pub(super) fn key_type(&self) -> Result<KeyType> {
        Ok(self.current()?.public()?.key_type())
    }

    pub(super) fn state(&self) -> &'static str {
        match (self.deactivated, self.version, &self.pending) {
            (true, _, _) => "deactivated",
            (false, 0, Some(_)) => "pending",
            _ => "active",
        }
    }

    /// Its content in the registry. Former keys still verify credentials, and nothing else.
    pub(super) fn content(&self) -> Result<Content> {
        let mut keys = Vec::new();
        for (key, is_current) in self.keys_newest_first() {
            let uses = if is_current {
                Uses::SIGNING
            } else {
                Uses::ASSERTION
            };
            keys.push(Key {
                id: key.fragment.clone(),
                public: key.public()?,
                uses,
            });
        }
        Ok(Content {
            keys,
            ..Content::default()
        })
    }

    /// The document that is written to the cheqd network.
    pub(super) fn draft(&self) -> Result<Draft> {
        let mut draft = Draft::new(self.did.clone());
        for (key, is_current) in self.keys_newest_first() {
            draft
                .add(&key.fragment, &key.public()?, is_current)
                .map_err(Error::internal)?;
        }
        Ok(draft)
    }

    /// The document that is hosted for a `did:web`.
    pub(super) fn document(&self) -> Result<Document> {
        let mut document = Document::new(self.did.clone());
        for (key, is_current) in self.keys_newest_first() {
            let id = self
                .did
                .with_fragment(&key.fragment)
                .map_err(Error::internal)?;
            let method = VerificationMethod::json_web_key(id, &key.public()?);
            let relationships: &[Relationship] = match is_current {
                true => &[Relationship::Authentication, Relationship::AssertionMethod],
                false => &[Relationship::AssertionMethod],
            };
            document.add(method, relationships);
        }
        Ok(document)
    }

    fn keys_newest_first(&self) -> impl Iterator<Item = (&DidKey, bool)> {
        self.keys
            .iter()
            .rev()
            .enumerate()
            .map(|(index, key)| (key, index == 0))
    }
}

impl DidKey {
    fn public(&self) -> Result<PublicKey> {
        PublicKey::from_multikey(&self.public).map_err(Error::internal)
    }
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::PrivateKey;

    use super::*;

    #[test]
    fn former_keys_only_verify_and_the_oldest_leaves_a_full_document() {
        let key = || {
            PrivateKey::generate(KeyType::Ed25519)
                .unwrap()
                .public()
                .clone()
        };
        let mut record = DidRecord::new(Did::parse("did:web:example.org").unwrap(), &key());
        for _ in 0..FORMER_MAX + 3 {
            record = record.rotated(&key());
        }
        let content = record.content().unwrap();
        assert_eq!(content.keys.len(), FORMER_MAX + 1);
        assert_eq!(
            (content.keys[0].id.as_str(), content.keys[0].uses),
            ("key-19", Uses::SIGNING)
        );
        assert!(
            content.keys[1..]
                .iter()
                .all(|key| key.uses == Uses::ASSERTION)
        );
        let document = record.document().unwrap();
        assert_eq!(document.keys(Relationship::Authentication).count(), 1);
        assert_eq!(
            document.keys(Relationship::AssertionMethod).count(),
            FORMER_MAX + 1
        );
    }
}
