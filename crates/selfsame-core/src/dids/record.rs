//! The stored record of a DID of the instance, and what others see of the DID.

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::{KeyHandle, KeyType, PublicKey, hash};
use selfsame_did::Did;
use selfsame_driver::record::encode;
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Put};
use serde::{Deserialize, Serialize};

/// The kind of the records of the instance's DIDs.
pub(super) const DID: &str = "instance_did";
/// Maximum number of former keys in a document. Beyond it, the oldest key is removed.
const FORMER_MAX: usize = 15;

/// A DID of the instance.
#[derive(Clone, Deserialize, Serialize)]
pub struct DidRecord {
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

    /// The record while the change with this id is pending.
    pub(super) fn waiting(&self, id: &str) -> Self {
        let pending = Some(id.to_owned());
        Self {
            pending,
            ..self.clone()
        }
    }

    /// The record in the next version.
    pub(super) fn next(self) -> Self {
        let version = self.version.saturating_add(1);
        Self { version, ..self }
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

    /// Its keys with whether each is the current one, newest first.
    pub(super) fn keys_newest_first(&self) -> impl Iterator<Item = (&DidKey, bool)> {
        let newest_first = self.keys.iter().rev().enumerate();
        newest_first.map(|(index, key)| (key, index == 0))
    }
}

impl DidKey {
    pub(super) fn public(&self) -> Result<PublicKey> {
        PublicKey::from_multikey(&self.public).map_err(Error::internal)
    }
}

/// Puts a DID's record.
pub(super) fn put(batch: Batch, record: &DidRecord) -> Result<Batch> {
    Ok(batch.put(Put::new(DID, did_id(&record.did), encode(record)?)))
}

/// The id of a DID's record.
pub(super) fn did_id(did: &Did) -> String {
    base64url_encode(&hash::sha256(did.as_str().as_bytes()))
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::PrivateKey;
    use selfsame_did::Relationship;
    use selfsame_registry::content::Uses;

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
        let document = record.hosted().unwrap();
        assert_eq!(document.keys(Relationship::Authentication).count(), 1);
        assert_eq!(
            document.keys(Relationship::AssertionMethod).count(),
            FORMER_MAX + 1
        );
    }
}
