//! The keys of those for whom an agent mediates. A key is found by the routing key that its messages are wrapped for: who
//! names the key of another in its own keylist gets none of the other's messages.

use selfsame_aries::coordinate_mediation::{KeyAction, KeyResult, KeyUpdate, KeyUpdated};
use selfsame_aries::key::VerKey;
use selfsame_core::Shared;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_driver::record::{decode, encode};
use selfsame_store::{Batch, Page, Put, Record, Tag, TenantId};
use serde::{Deserialize, Serialize};

/// The kind of their records.
const MEDIATED_KEY: &str = "aries_mediated_key";
/// Finds the keys of a connection.
const KEYLIST: &str = "aries_keylist";

/// A key whose messages an agent takes.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct MediatedKey {
    /// The connection with its owner.
    pub connection_id: String,
    /// The key.
    pub key: VerKey,
    /// When it was added.
    pub added: UnixTime,
}

/// A key with the identifier of its record.
pub struct KeptKey {
    pub id: String,
    pub key: MediatedKey,
}

/// The keylist of one connection.
pub struct Keylist<'a> {
    pub shared: &'a Shared,
    pub tenant: &'a TenantId,
    pub connection_id: &'a str,
    /// The key that its messages are wrapped for.
    pub routing_key: &'a VerKey,
}

/// What changes of a keylist give.
pub struct ChangedKeys {
    pub updated: Vec<KeyUpdated>,
    pub writes: Batch,
    /// How many keys there are then.
    pub count: u32,
}

/// The key that messages for it are wrapped for by this routing key; `None` if no client named it.
///
/// # Errors
/// The store's.
pub async fn find(
    shared: &Shared,
    tenant: &TenantId,
    routing_key: &VerKey,
    key: &VerKey,
) -> Result<Option<MediatedKey>> {
    let id = key_id(routing_key, key);
    let found = shared.store.read(tenant, MEDIATED_KEY, &id).await?;
    found.map(|found| decode(&found.value)).transpose()
}

/// The keys of a connection, in the order in which they were added.
///
/// # Errors
/// The store's.
pub async fn of_connection(
    shared: &Shared,
    tenant: &TenantId,
    connection_id: &str,
) -> Result<Vec<KeptKey>> {
    let tag = Tag::hashed(KEYLIST, connection_id);
    let page = Page::first(selfsame_store::MAX_PAGE);
    let found = shared.store.find(tenant, MEDIATED_KEY, &tag, &page).await?;
    found.into_iter().map(KeptKey::read).collect()
}

/// The first keys of all connections.
///
/// # Errors
/// The store's.
pub async fn first(shared: &Shared, tenant: &TenantId) -> Result<Vec<KeptKey>> {
    let page = Page::first(selfsame_store::MAX_PAGE);
    let found = shared.store.list(tenant, MEDIATED_KEY, &page).await?;
    found.into_iter().map(KeptKey::read).collect()
}

impl KeptKey {
    fn read(record: Record) -> Result<Self> {
        Ok(Self {
            key: decode(&record.value)?,
            id: record.id,
        })
    }
}

/// Adds the removal of these keys to a batch.
pub fn removed(batch: Batch, keys: &[KeptKey]) -> Batch {
    let remove = |batch: Batch, one: &KeptKey| batch.delete(MEDIATED_KEY, &one.id);
    keys.iter().fold(batch, remove)
}

impl Keylist<'_> {
    /// Carries out changes, of which there are `count` keys before, and `most` at most.
    ///
    /// # Errors
    /// The store's.
    pub async fn change(
        &self,
        updates: &[KeyUpdate],
        count: u32,
        most: u32,
    ) -> Result<ChangedKeys> {
        let mut changed = ChangedKeys {
            updated: Vec::new(),
            writes: Batch::new(self.tenant.clone()),
            count,
        };
        // What this message has done so far, by key: whether the key is there.
        let mut done: Vec<(&VerKey, bool)> = Vec::new();
        for update in updates {
            let id = key_id(self.routing_key, &update.key);
            let known = done.iter().rev().find(|(key, _)| **key == update.key);
            let is_there = match known {
                Some((_, is_there)) => *is_there,
                None => {
                    let store = &self.shared.store;
                    store
                        .version(self.tenant, MEDIATED_KEY, &id)
                        .await?
                        .is_some()
                }
            };
            let result = match (update.action, is_there) {
                (KeyAction::Add, true) | (KeyAction::Remove, false) => KeyResult::NoChange,
                (KeyAction::Add, false) if changed.count >= most || known.is_some() => {
                    KeyResult::ClientError
                }
                // In one commit a record is written once.
                (KeyAction::Remove, true) if known.is_some() => KeyResult::ClientError,
                (KeyAction::Add, false) => {
                    changed.count = changed.count.saturating_add(1);
                    changed.writes = changed.writes.put(self.put(&id, &update.key)?);
                    KeyResult::Success
                }
                (KeyAction::Remove, true) => {
                    changed.count = changed.count.saturating_sub(1);
                    changed.writes = changed.writes.delete(MEDIATED_KEY, &id);
                    KeyResult::Success
                }
            };
            if result == KeyResult::Success {
                done.push((&update.key, update.action == KeyAction::Add));
            }
            let update = update.clone();
            changed.updated.push(KeyUpdated { update, result });
        }
        Ok(changed)
    }

    fn put(&self, id: &str, key: &VerKey) -> Result<Put> {
        let kept = MediatedKey {
            connection_id: self.connection_id.to_owned(),
            key: key.clone(),
            added: self.shared.clock.now(),
        };
        let put = Put::new(MEDIATED_KEY, id, encode(&kept)?);
        Ok(put.tag(Tag::hashed(KEYLIST, self.connection_id)))
    }
}

fn key_id(routing_key: &VerKey, key: &VerKey) -> String {
    let digest = hash::sha256(format!("{routing_key}.{key}").as_bytes());
    hex_encode(digest.get(..16).unwrap_or_default())
}
