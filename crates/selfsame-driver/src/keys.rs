//! The key store: private keys sealed in records, used by handle, unsealed only in a bounded cache.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, KeyHandle, KeyType, PrivateKey, PublicKey, Secret};
use selfsame_store::{Batch, Expect, Put, Store, StoreError, TenantId};
use selfsame_traces::{SpanEnd, SpanKind};

use crate::clock::Clock;
use crate::error::{Error, ErrorKind, Result};
use crate::hsm::{Hsm, HsmKey};
use crate::record;

/// The kind of the records that hold keys.
pub const KIND: &str = "key";
/// The kind of the records that name keys in a hardware security module.
const HSM_KIND: &str = "hsm_key";
/// The kind of the error of a hardware security module that can't sign now.
const HSM_AWAY: ErrorKind = ErrorKind::Unavailable { retry_after: 5 };
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
    key: KeyPlacement,
    used: u64,
}

/// Where a key is that can sign.
#[derive(Clone)]
pub enum KeyPlacement {
    /// In memory.
    Unsealed(Arc<PrivateKey>),
    /// In the hardware security module.
    InHsm(Arc<HsmKey>),
}

impl KeyPlacement {
    fn public(&self) -> &PublicKey {
        match self {
            Self::Unsealed(key) => key.public(),
            Self::InHsm(key) => key.public(),
        }
    }
}

impl Unsealed {
    fn find(&mut self, at: &KeyPlace) -> Option<KeyPlacement> {
        self.tick += 1;
        let found = self.keys.get_mut(at)?;
        found.used = self.tick;
        Some(found.key.clone())
    }

    fn insert(&mut self, at: KeyPlace, key: KeyPlacement) {
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
    hsm: Option<Arc<dyn Hsm>>,
}

impl Keys {
    /// The keys in this store.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self {
            store,
            cache: Arc::default(),
            hsm: None,
        }
    }

    /// The same keys, and those in this hardware security module.
    #[must_use]
    pub fn with_hsm(mut self, hsm: Option<Arc<dyn Hsm>>) -> Self {
        self.hsm = hsm;
        self
    }

    /// The hardware security module.
    ///
    /// # Errors
    /// `Unavailable` if the settings name none.
    pub fn hsm(&self) -> Result<&Arc<dyn Hsm>> {
        let unset = || Error::new(HSM_AWAY, "hsm-unset");
        self.hsm.as_ref().ok_or_else(unset)
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
        let (key, handle, put) = self.fresh(tenant, kind)?;
        Ok((key, handle, batch.for_tenant(tenant.clone()).put(put)))
    }

    /// As [`Self::create`], but the key is deleted at this time unless [`Self::keep`] was called.
    ///
    /// # Errors
    /// `Internal` if the system has no randomness.
    pub fn create_until(
        &self,
        tenant: &TenantId,
        kind: KeyType,
        expires: UnixTime,
    ) -> Result<(KeyHandle, Batch)> {
        let (_, handle, put) = self.fresh(tenant, kind)?;
        let batch = Batch::new(tenant.clone()).put(put.expires(expires));
        Ok((handle, batch))
    }

    /// Adds to the batch that a key is kept until it is deleted.
    ///
    /// # Errors
    /// `Internal` if there is no such key or the store fails.
    pub async fn keep(&self, tenant: &TenantId, handle: &KeyHandle, batch: Batch) -> Result<Batch> {
        let secret = self.stored(tenant, handle).await?;
        let put = Put::new(KIND, handle.as_str(), secret.expose().to_vec());
        Ok(batch.for_tenant(tenant.clone()).put(put))
    }

    fn fresh(&self, tenant: &TenantId, kind: KeyType) -> Result<(Arc<PrivateKey>, KeyHandle, Put)> {
        let key = Arc::new(PrivateKey::generate(kind).map_err(Error::internal)?);
        let handle = KeyHandle::of(key.public());
        let secret = key.to_pkcs8().map_err(Error::internal)?;
        let put = Put::new(KIND, handle.as_str(), secret.expose().to_vec());
        self.remember(tenant, &handle, KeyPlacement::Unsealed(key.clone()));
        Ok((key, handle, put))
    }

    /// Adds to the batch that the tenant signs with this key of the hardware security module.
    ///
    /// # Errors
    /// None that can happen.
    pub fn adopt_from_hsm(
        &self,
        tenant: &TenantId,
        key: &HsmKey,
        batch: Batch,
    ) -> Result<(KeyHandle, Batch)> {
        let handle = KeyHandle::of(key.public());
        let put = Put::new(HSM_KIND, handle.as_str(), record::encode(key)?);
        Ok((handle, batch.for_tenant(tenant.clone()).put(put)))
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
        self.remember(tenant, &handle, KeyPlacement::Unsealed(Arc::new(key)));
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

    /// Stores that the tenant signs with this key of the hardware security module.
    ///
    /// # Errors
    /// `Internal` if the store fails.
    pub async fn hold(&self, tenant: &TenantId, key: &HsmKey) -> Result<()> {
        let batch = Batch::new(tenant.clone());
        let (handle, batch) = self.adopt_from_hsm(tenant, key, batch)?;
        let kept = self.store.version(tenant, HSM_KIND, handle.as_str());
        if kept.await?.is_none() {
            self.store.commit(batch).await?;
        }
        Ok(())
    }

    /// Signs `bytes` with the key of this handle. Why a hardware security module did not sign is told to its operator, by
    /// the log.
    ///
    /// # Errors
    /// `Internal` if there is no such key or the store fails, `Unavailable` if the module can't sign now.
    pub async fn sign(
        &self,
        tenant: &TenantId,
        handle: &KeyHandle,
        bytes: &[u8],
    ) -> Result<Vec<u8>> {
        let span = selfsame_traces::span("sign", SpanKind::Internal);
        let signing = self.signature(tenant, handle, bytes);
        span.watch(signing, SpanEnd::of).await
    }

    async fn signature(
        &self,
        tenant: &TenantId,
        handle: &KeyHandle,
        bytes: &[u8],
    ) -> Result<Vec<u8>> {
        match self.place(tenant, handle).await? {
            KeyPlacement::Unsealed(key) => key.sign(bytes).map_err(Error::internal),
            KeyPlacement::InHsm(key) => {
                let algorithm = key.public().key_type().default_algorithm();
                self.sign_in_hsm(&key, algorithm, bytes).await
            }
        }
    }

    /// Signs with a key in the hardware security module. Why it did not sign is told to its operator, by the log.
    ///
    /// # Errors
    /// `Unavailable` if the module can't sign now.
    pub async fn sign_in_hsm(
        &self,
        key: &HsmKey,
        algorithm: Algorithm,
        bytes: &[u8],
    ) -> Result<Vec<u8>> {
        let signed = match self.hsm() {
            Ok(hsm) => hsm.sign_with(key, algorithm, bytes).await,
            Err(unset) => Err(unset),
        };
        signed.map_err(|error| {
            tracing::error!(reason = %error, key = key.label(), "an HSM did not sign");
            Error::new(HSM_AWAY, "signing-key-away")
        })
    }

    /// Where the key of this handle is.
    ///
    /// # Errors
    /// `Internal` if there is no such key or the store fails.
    pub async fn place(&self, tenant: &TenantId, handle: &KeyHandle) -> Result<KeyPlacement> {
        self.held(tenant, handle).await
    }

    /// The public half of the key of this handle.
    ///
    /// # Errors
    /// `Internal` if there is no such key or the store fails.
    pub async fn public(&self, tenant: &TenantId, handle: &KeyHandle) -> Result<PublicKey> {
        Ok(self.held(tenant, handle).await?.public().clone())
    }

    /// The key of this handle, if it is in a hardware security module.
    ///
    /// # Errors
    /// `Internal` if there is no such key or the store fails.
    pub async fn in_hsm(&self, tenant: &TenantId, handle: &KeyHandle) -> Result<Option<HsmKey>> {
        match self.held(tenant, handle).await? {
            KeyPlacement::Unsealed(_) => Ok(None),
            KeyPlacement::InHsm(key) => Ok(Some((*key).clone())),
        }
    }

    /// The key of this handle.
    ///
    /// # Errors
    /// `Internal` if there is no such key, it is in a hardware security module, or the store fails.
    pub async fn unsealed(&self, tenant: &TenantId, handle: &KeyHandle) -> Result<Arc<PrivateKey>> {
        match self.held(tenant, handle).await? {
            KeyPlacement::Unsealed(key) => Ok(key),
            KeyPlacement::InHsm(_) => Err(Error::internal("a key in an HSM can't be unsealed")),
        }
    }

    async fn held(&self, tenant: &TenantId, handle: &KeyHandle) -> Result<KeyPlacement> {
        let at = KeyPlace::of(tenant, handle);
        let found = self.cache.lock().ok();
        if let Some(key) = found.and_then(|mut cache| cache.find(&at)) {
            return Ok(key);
        }
        let key = match self.store.read(tenant, KIND, handle.as_str()).await? {
            Some(record) => {
                let key = PrivateKey::from_pkcs8(&record.value);
                let key = key.or_else(|_| PrivateKey::from_rsa_pkcs8(&record.value));
                let key = key.map_err(Error::internal)?;
                KeyPlacement::Unsealed(Arc::new(key))
            }
            None => {
                let named = self.store.read(tenant, HSM_KIND, handle.as_str()).await?;
                KeyPlacement::InHsm(Arc::new(record::decode(&named.ok_or_else(lost)?.value)?))
            }
        };
        self.remember(tenant, handle, key.clone());
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

    fn remember(&self, tenant: &TenantId, handle: &KeyHandle, key: KeyPlacement) {
        if let Ok(mut cache) = self.cache.lock() {
            cache.insert(KeyPlace::of(tenant, handle), key);
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
            unsealed.insert(at(number), KeyPlacement::Unsealed(key.clone()));
            assert!(unsealed.find(&at(0)).is_some());
            assert!(unsealed.keys.len() <= CACHED_MAX);
        }
        assert!(unsealed.find(&at(3 * CACHED_MAX - 1)).is_some());
        assert!(unsealed.find(&at(1)).is_none());
    }

    #[tokio::test]
    async fn a_key_with_an_end_is_lost_then_unless_it_is_kept() {
        let vault = selfsame_store::Vault::from_master(SealingKey::from_bytes([7; 32]));
        let backend = Arc::new(selfsame_store::Memory::new());
        let store = Store::open(backend, vault).await.unwrap();
        let (tenant, past) = (TenantId::instance(), UnixTime(1));
        let keys = Keys::new(store.clone());
        let (lost, batch) = keys.create_until(&tenant, KeyType::P256, past).unwrap();
        store.commit(batch).await.unwrap();
        assert!(keys.stored(&tenant, &lost).await.is_err());

        let end = UnixTime(u64::MAX / 2);
        let (kept, batch) = keys.create_until(&tenant, KeyType::P256, end).unwrap();
        store.commit(batch).await.unwrap();
        let batch = Batch::new(tenant.clone());
        let batch = keys.keep(&tenant, &kept, batch).await.unwrap();
        store.commit(batch).await.unwrap();
        let record = store.read(&tenant, KIND, kept.as_str()).await.unwrap();
        assert_eq!(record.unwrap().expires, None);
    }

    /// A module with one key, which can be away.
    struct OneKey {
        key: PrivateKey,
        is_away: std::sync::atomic::AtomicBool,
    }

    #[async_trait::async_trait]
    impl Hsm for OneKey {
        async fn find(&self, _: &str) -> Result<PublicKey> {
            Ok(self.key.public().clone())
        }

        async fn create(&self, _: &str, _: KeyType) -> Result<PublicKey> {
            Ok(self.key.public().clone())
        }

        async fn sign_with(&self, _: &HsmKey, _: Algorithm, bytes: &[u8]) -> Result<Vec<u8>> {
            match self.is_away.load(std::sync::atomic::Ordering::SeqCst) {
                true => Err(Error::new(HSM_AWAY, "hsm-busy")),
                false => self.key.sign(bytes).map_err(Error::internal),
            }
        }
    }

    #[tokio::test]
    async fn a_key_in_an_hsm_signs_by_its_handle_and_its_absence_is_no_error_of_the_caller() {
        let vault = selfsame_store::Vault::from_master(SealingKey::from_bytes([7; 32]));
        let backend = Arc::new(selfsame_store::Memory::new());
        let store = Store::open(backend, vault).await.unwrap();
        let hsm = Arc::new(OneKey {
            key: PrivateKey::generate(KeyType::P256).unwrap(),
            is_away: false.into(),
        });
        let (tenant, public) = (TenantId::instance(), hsm.key.public().clone());
        let keys = Keys::new(store.clone()).with_hsm(Some(hsm.clone()));
        let named = HsmKey::new("issuer", public.clone());
        let (handle, batch) = keys
            .adopt_from_hsm(&tenant, &named, Batch::new(tenant.clone()))
            .unwrap();
        store.commit(batch).await.unwrap();
        // As after a restart: nothing is in the cache.
        let keys = Keys::new(store.clone()).with_hsm(Some(hsm.clone()));
        assert_eq!(keys.public(&tenant, &handle).await.unwrap(), public);
        let signature = keys.sign(&tenant, &handle, b"bytes").await.unwrap();
        let algorithm = KeyType::P256.default_algorithm();
        assert!(public.verify(algorithm, b"bytes", &signature).is_ok());
        assert_eq!(keys.in_hsm(&tenant, &handle).await.unwrap(), Some(named));
        assert!(keys.unsealed(&tenant, &handle).await.is_err());

        hsm.is_away.store(true, std::sync::atomic::Ordering::SeqCst);
        let without = Keys::new(store);
        for keys in [keys, without] {
            let error = keys.sign(&tenant, &handle, b"bytes").await.unwrap_err();
            assert_eq!(error.kind, HSM_AWAY);
            assert_eq!(error.reason.id(), "signing-key-away");
        }
    }
}
