//! The key store: private keys sealed in records, used by handle, unsealed only in a bounded cache.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::{KeyHandle, KeyType, PrivateKey, Secret};
use selfsame_store::{Batch, Expect, Put, Store, StoreError, TenantId};

use crate::clock::Clock;
use crate::error::{Error, Result};

/// The kind of the records that hold keys.
pub const KIND: &str = "key";
/// Maximum number of unsealed keys in memory; others are unsealed again when needed.
const CACHED_MAX: usize = 2_048;

/// The unsealed keys, each with the tick of its last use.
#[derive(Default)]
struct Unsealed {
    keys: HashMap<KeyPlace, UnsealedKey>,
    tick: u64,
}

#[derive(Clone, Eq, Hash, PartialEq)]
struct KeyPlace {
    tenant: TenantId,
    handle: KeyHandle,
}

impl KeyPlace {
    fn of(tenant: &TenantId, handle: &KeyHandle) -> Self {
        let (tenant, handle) = (tenant.clone(), handle.clone());
        Self { tenant, handle }
    }
}

struct UnsealedKey {
    key: Arc<PrivateKey>,
    used: u64,
}

impl Unsealed {
    fn find(&mut self, at: &KeyPlace) -> Option<Arc<PrivateKey>> {
        self.tick += 1;
        let found = self.keys.get_mut(at)?;
        found.used = self.tick;
        Some(found.key.clone())
    }

    fn insert(&mut self, at: KeyPlace, key: Arc<PrivateKey>) {
        self.tick += 1;
        if self.keys.len() >= CACHED_MAX {
            self.drop_idle();
        }
        let used = self.tick;
        self.keys.insert(at, UnsealedKey { key, used });
    }

    /// Drops the keys that were not used for the longest time; they are unsealed again when needed.
    fn drop_idle(&mut self) {
        let mut uses: Vec<u64> = self.keys.values().map(|one| one.used).collect();
        uses.sort_unstable();
        let until = uses.get(CACHED_MAX / 16).copied().unwrap_or_default();
        self.keys.retain(|_, one| one.used > until);
    }
}

/// The key store; signs by handle.
#[derive(Clone)]
pub struct Keys {
    store: Store,
    cache: Arc<Mutex<Unsealed>>,
}

impl Keys {
    /// The keys in this store.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self {
            store,
            cache: Arc::default(),
        }
    }

    /// Creates a key and adds it to the batch, so that it is stored only if the batch is committed.
    ///
    /// # Errors
    /// `Internal` if the system has no randomness.
    pub fn create(
        &self,
        tenant: &TenantId,
        kind: KeyType,
        batch: Batch,
    ) -> Result<(Arc<PrivateKey>, KeyHandle, Batch)> {
        let key = Arc::new(PrivateKey::generate(kind).map_err(Error::internal)?);
        let handle = KeyHandle::of(key.public());
        let secret = key.to_pkcs8().map_err(Error::internal)?;
        let batch = batch.for_tenant(tenant.clone()).put(Put {
            kind: KIND,
            id: handle.as_str().to_owned(),
            value: secret.expose().to_vec(),
            tags: Vec::new(),
            expires: None,
        });
        self.remember(tenant, &handle, &key);
        Ok((key, handle, batch))
    }

    /// Stores a key that was created elsewhere, under the handle of its public half.
    ///
    /// # Errors
    /// `Internal` if the store fails.
    pub async fn import(&self, tenant: &TenantId, key: PrivateKey) -> Result<()> {
        let handle = KeyHandle::of(key.public());
        if self
            .store
            .read(tenant, KIND, handle.as_str())
            .await?
            .is_none()
        {
            let secret = key.to_pkcs8().map_err(Error::internal)?;
            let put = Put::new(KIND, handle.as_str(), secret.expose().to_vec());
            let batch = Batch::new(tenant.clone())
                .expect(KIND, handle.as_str(), Expect::Absent)
                .put(put);
            match self.store.commit(batch).await {
                // A handle identifies exactly one key, so the record stored first holds this same key.
                Ok(_) | Err(StoreError::Conflict { .. }) => {}
                Err(other) => return Err(other.into()),
            }
        }
        self.remember(tenant, &handle, &Arc::new(key));
        Ok(())
    }

    /// Adds a key that was created elsewhere to the batch. Returns the batch.
    ///
    /// # Errors
    /// `Internal` if the key can't be encoded.
    pub fn adopt(&self, tenant: &TenantId, key: &PrivateKey, batch: Batch) -> Result<Batch> {
        let handle = KeyHandle::of(key.public());
        let secret = key.to_pkcs8().map_err(Error::internal)?;
        let put = Put::new(KIND, handle.as_str(), secret.expose().to_vec());
        Ok(batch.for_tenant(tenant.clone()).put(put))
    }

    /// The key of this handle as it is stored (PKCS #8), to be sealed for another place. It does not stay in memory.
    ///
    /// # Errors
    /// `Internal` if there is no such key or the store fails.
    pub async fn stored(&self, tenant: &TenantId, handle: &KeyHandle) -> Result<Secret> {
        let record = self.store.read(tenant, KIND, handle.as_str()).await?;
        Ok(Secret::new(record.ok_or_else(lost)?.value))
    }

    /// Signs `bytes` with the key of this handle.
    ///
    /// # Errors
    /// `Internal` if there is no such key or the store fails.
    pub async fn sign(
        &self,
        tenant: &TenantId,
        handle: &KeyHandle,
        bytes: &[u8],
    ) -> Result<Vec<u8>> {
        let key = self.unsealed(tenant, handle).await?;
        key.sign(bytes).map_err(Error::internal)
    }

    /// The key of this handle.
    ///
    /// # Errors
    /// `Internal` if there is no such key or the store fails.
    pub async fn unsealed(&self, tenant: &TenantId, handle: &KeyHandle) -> Result<Arc<PrivateKey>> {
        let at = KeyPlace::of(tenant, handle);
        let found = self.cache.lock().ok();
        if let Some(key) = found.and_then(|mut cache| cache.find(&at)) {
            return Ok(key);
        }
        let record = self
            .store
            .read(tenant, KIND, handle.as_str())
            .await?
            .ok_or_else(lost)?;
        let key = Arc::new(PrivateKey::from_pkcs8(&record.value).map_err(Error::internal)?);
        self.remember(tenant, handle, &key);
        Ok(key)
    }

    /// Drops a key from memory whose record was deleted.
    pub fn forget(&self, tenant: &TenantId, handle: &KeyHandle) {
        if let Ok(mut cache) = self.cache.lock() {
            cache.keys.remove(&KeyPlace::of(tenant, handle));
        }
    }

    /// Drops all keys of a tenant from memory.
    pub fn forget_tenant(&self, tenant: &TenantId) {
        if let Ok(mut cache) = self.cache.lock() {
            cache.keys.retain(|place, _| place.tenant != *tenant);
        }
    }

    fn remember(&self, tenant: &TenantId, handle: &KeyHandle, key: &Arc<PrivateKey>) {
        if let Ok(mut cache) = self.cache.lock() {
            cache.insert(KeyPlace::of(tenant, handle), key.clone());
        }
    }
}

fn lost() -> Error {
    Error::internal("a key that a record names is not in the store")
}

const INSTANCE_KEY: &str = "instance_key";

/// A symmetric key of the instance for one purpose, created at its first use.
///
/// # Errors
/// The store's.
pub async fn instance_key(
    store: &Store,
    clock: &Clock,
    purpose: &'static str,
) -> Result<SealingKey> {
    let instance = TenantId::instance();
    loop {
        if let Some(record) = store.read(&instance, INSTANCE_KEY, purpose).await? {
            let key = <[u8; 32]>::try_from(record.value.as_slice()).map_err(Error::internal)?;
            return Ok(SealingKey::from_bytes(key));
        }
        let key = clock.ctx().random::<32>(purpose);
        let batch = Batch::new(instance.clone())
            .expect(INSTANCE_KEY, purpose, Expect::Absent)
            .put(Put::new(INSTANCE_KEY, purpose, key.to_vec()));
        match store.commit(batch).await {
            // Read again: the key is the one in the store.
            Ok(_) | Err(StoreError::Conflict { .. }) => {}
            Err(other) => return Err(other.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_that_were_used_last_stay_unsealed() {
        let key = Arc::new(PrivateKey::generate(KeyType::Ed25519).unwrap());
        let handle = KeyHandle::of(key.public());
        let at = |number: usize| {
            let tenant = TenantId::parse(&format!("o-{number}")).unwrap();
            KeyPlace::of(&tenant, &handle)
        };
        let mut unsealed = Unsealed::default();
        for number in 0..3 * CACHED_MAX {
            unsealed.insert(at(number), key.clone());
            assert!(unsealed.find(&at(0)).is_some());
            assert!(unsealed.keys.len() <= CACHED_MAX);
        }
        assert!(unsealed.find(&at(3 * CACHED_MAX - 1)).is_some());
        assert!(unsealed.find(&at(1)).is_none());
    }
}
