//! Keys: a data key for each tenant, wrapped by the master key, and a bounded cache of unwrapped keys.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use selfsame_crypto::frame;
use selfsame_crypto::seal::{SealError, SealingKey, random_seed};
use zeroize::Zeroizing;

use crate::backend::{KEY_KIND, Place, SealedRecord};
use crate::error::{Result, StoreError};
use crate::tenant::TenantId;

/// A mark after the instance's own key once the store's rows are summed. It is sealed with the key, so that only a
/// holder of the master key can remove it to present the file as one that never had a sum.
const SUMMED: u8 = 1;

/// The size of a generation of unwrapped keys. The cache holds at most two generations.
const GENERATION: usize = 2_048;

/// Holds the master key, and unwraps the tenants' keys with it.
pub struct Vault {
    wrap: SealingKey,
    stamps: Arc<Stamps>,
    cache: Mutex<Cache>,
    /// The tenants that this process has destroyed.
    destroyed: RwLock<HashSet<TenantId>>,
}

impl Vault {
    /// A vault under a master key.
    pub fn from_master(master: SealingKey) -> Self {
        let wrap = master.derive(b"selfsame/store/wrap");
        Self {
            wrap,
            stamps: Arc::new(Stamps::new()),
            cache: Mutex::default(),
            destroyed: RwLock::default(),
        }
    }

    /// The key of the sum over all rows.
    #[must_use]
    pub fn sum_key(&self) -> SealingKey {
        self.wrap.derive(b"selfsame/store/sum")
    }

    /// The value of a record as a back end keeps it; `None` for a tenant's key, and if the tenant is being destroyed.
    /// `key` looks up the row with the tenant's key.
    ///
    /// # Errors
    /// If it does not open in its place and version; those of `key`.
    pub fn open_record(
        &self,
        place: &Place,
        sealed: &SealedRecord,
        key: impl FnOnce() -> Result<Option<SealedRecord>>,
    ) -> Result<Option<Vec<u8>>> {
        let Place { tenant, kind, id } = place;
        if kind == KEY_KIND {
            self.unwrap(tenant, sealed.version, &sealed.value)?;
            return Ok(None);
        }
        let bound = bound(tenant, kind, id, sealed.version);
        let keys = self.keys_of(tenant, key)?;
        keys.map(|keys| keys.open(&bound, &sealed.value))
            .transpose()
    }

    /// `None` for a tenant that is being destroyed: the sum shows a key that was removed from outside.
    pub(crate) fn keys_of(
        &self,
        tenant: &TenantId,
        key: impl FnOnce() -> Result<Option<SealedRecord>>,
    ) -> Result<Option<Arc<TenantKeys>>> {
        if let Some(keys) = self.cached(tenant) {
            return Ok(Some(keys));
        }
        let key = key()?;
        key.map(|key| self.unwrap(tenant, key.version, &key.value))
            .transpose()
    }

    pub(crate) fn cached(&self, tenant: &TenantId) -> Option<Arc<TenantKeys>> {
        self.cache().get(tenant)
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on gives out no keys of this tenant.
    pub(crate) fn destroy(&self, tenant: &TenantId) {
        let destroyed = self.destroyed.write();
        let mut destroyed = destroyed.unwrap_or_else(PoisonError::into_inner);
        destroyed.insert(tenant.clone());
        let mut cache = self.cache();
        cache.young.remove(tenant);
        cache.old.remove(tenant);
    }

    /// Whether this process has destroyed the tenant.
    pub(crate) fn is_destroyed(&self, tenant: &TenantId) -> bool {
        let destroyed = self.destroyed.read();
        let destroyed = destroyed.unwrap_or_else(PoisonError::into_inner);
        destroyed.contains(tenant)
    }

    /// Makes a data key. Returns its wrapped form, to be stored, and the version it is bound to.
    pub(crate) fn fresh(&self, tenant: &TenantId) -> Result<(u64, Vec<u8>)> {
        let mut plain = Zeroizing::new(random_seed().to_vec());
        if tenant == &TenantId::instance() {
            plain.push(SUMMED);
        }
        self.wrapped(tenant, &plain)
    }

    /// Wraps the instance's own key again, with the mark that the store's rows are summed.
    pub(crate) fn marked(&self, version: u64, wrapped: &[u8]) -> Result<(u64, Vec<u8>)> {
        let instance = TenantId::instance();
        let opened = self.wrap.open(&wrapping(&instance, version), wrapped);
        let mut plain = Zeroizing::new(opened.map_err(|_| StoreError::WrongKey)?);
        plain.push(SUMMED);
        self.wrapped(&instance, &plain)
    }

    /// Wraps a tenant's key, which another vault has wrapped in this row, for a tenant that moves. Returns the version and
    /// the value of its row here.
    ///
    /// # Errors
    /// `Tampered` if the row does not open.
    pub fn rewrapped(
        &self,
        tenant: &TenantId,
        row: &SealedRecord,
        from: &Self,
    ) -> Result<(u64, Vec<u8>)> {
        let opened = from.wrap.open(&wrapping(tenant, row.version), &row.value);
        let plain = Zeroizing::new(opened.map_err(|_| StoreError::Tampered("key"))?);
        self.wrapped(tenant, &plain)
    }

    fn wrapped(&self, tenant: &TenantId, plain: &[u8]) -> Result<(u64, Vec<u8>)> {
        let version = self.stamps.next();
        let (nonce, bound) = (self.stamps.nonce(version), wrapping(tenant, version));
        let wrapped = self.wrap.seal(nonce, &bound, plain);
        Ok((version, wrapped.map_err(unsealable)?))
    }

    pub(crate) fn unwrap(
        &self,
        tenant: &TenantId,
        version: u64,
        wrapped: &[u8],
    ) -> Result<Arc<TenantKeys>> {
        // The instance's key is opened first: if that succeeds, the master key is right.
        let refused = || match tenant == &TenantId::instance() {
            true => StoreError::WrongKey,
            false => StoreError::Tampered("key"),
        };
        let opened = self.wrap.open(&wrapping(tenant, version), wrapped);
        let plain = Zeroizing::new(opened.map_err(|_| refused())?);
        let (bytes, mark) = plain.split_first_chunk::<32>().ok_or_else(refused)?;
        let data = SealingKey::from_bytes(*bytes);
        let keys = Arc::new(TenantKeys {
            value: data.derive(b"selfsame/store/value"),
            index: data.derive(b"selfsame/store/index"),
            stamps: self.stamps.clone(),
            is_summed: mark == [SUMMED],
        });
        self.cache().insert(tenant.clone(), keys.clone());
        Ok(keys)
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Vault")
    }
}

fn unsealable(error: SealError) -> StoreError {
    StoreError::Storage(error.to_string())
}

fn wrapping(tenant: &TenantId, version: u64) -> Vec<u8> {
    frame::join(&[
        b"selfsame/store/key",
        tenant.as_str().as_bytes(),
        &version.to_be_bytes(),
    ])
}

/// The keys that seal and index a tenant's data.
pub(crate) struct TenantKeys {
    value: SealingKey,
    index: SealingKey,
    stamps: Arc<Stamps>,
    is_summed: bool,
}

impl TenantKeys {
    pub(crate) fn stamp(&self) -> u64 {
        self.stamps.next()
    }

    /// Whether the store's rows were summed when this key was wrapped. Only the instance's own key says so.
    pub(crate) fn is_summed(&self) -> bool {
        self.is_summed
    }

    pub(crate) fn seal(&self, stamp: u64, bound: &[u8], plain: &[u8]) -> Result<Vec<u8>> {
        self.value
            .seal(self.stamps.nonce(stamp), bound, plain)
            .map_err(unsealable)
    }

    pub(crate) fn open(&self, bound: &[u8], sealed: &[u8]) -> Result<Vec<u8>> {
        self.value
            .open(bound, sealed)
            .map_err(|_| StoreError::Tampered("value"))
    }

    pub(crate) fn tag(&self, kind: &str, name: &str, value: &str) -> [u8; 16] {
        self.short(&[b"tag", kind.as_bytes(), name.as_bytes(), value.as_bytes()])
    }

    pub(crate) fn lane(&self, destination: &str, subject: &str) -> [u8; 16] {
        self.short(&[b"lane", destination.as_bytes(), subject.as_bytes()])
    }

    fn short(&self, parts: &[&[u8]]) -> [u8; 16] {
        let mut short = [0; 16];
        short.copy_from_slice(&self.index.mac(&frame::join(parts))[..16]);
        short
    }
}

/// The associated data of a sealed value: in any other place, the value does not open.
pub(crate) fn bound(tenant: &TenantId, kind: &str, id: &str, version: u64) -> Vec<u8> {
    let parts = [
        b"selfsame/store/record",
        tenant.as_str().as_bytes(),
        kind.as_bytes(),
        id.as_bytes(),
        &version.to_be_bytes(),
    ];
    frame::join(&parts)
}

/// Versions and nonces: unique in this process, and very unlikely to occur in another.
struct Stamps {
    process: [u8; 4],
    next: AtomicU64,
}

impl Stamps {
    fn new() -> Self {
        let [a, b, c, d, rest @ ..] = random_seed();
        let [e, f, g, h, i, j, k, l, ..] = rest;
        Self {
            process: [a, b, c, d],
            next: AtomicU64::new(u64::from_be_bytes([e, f, g, h, i, j, k, l])),
        }
    }

    /// 63 bits, to fit SQL's signed integers.
    fn next(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed) & (u64::MAX >> 1)
    }

    fn nonce(&self, stamp: u64) -> [u8; 12] {
        let mut nonce = [0; 12];
        nonce[..4].copy_from_slice(&self.process);
        nonce[4..].copy_from_slice(&stamp.to_be_bytes());
        nonce
    }
}

/// A cache of two generations: when the younger is full, the older is dropped (the keys zeroise themselves).
#[derive(Default)]
struct Cache {
    young: HashMap<TenantId, Arc<TenantKeys>>,
    old: HashMap<TenantId, Arc<TenantKeys>>,
}

impl Cache {
    fn get(&mut self, tenant: &TenantId) -> Option<Arc<TenantKeys>> {
        if let Some(keys) = self.young.get(tenant) {
            return Some(keys.clone());
        }
        let keys = self.old.remove(tenant)?;
        self.insert(tenant.clone(), keys.clone());
        Some(keys)
    }

    fn insert(&mut self, tenant: TenantId, keys: Arc<TenantKeys>) {
        if self.young.len() >= GENERATION {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(tenant, keys);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vault() -> Vault {
        Vault::from_master(SealingKey::from_bytes([7; 32]))
    }

    #[test]
    fn a_wrapped_key_opens_only_for_its_tenant() {
        let vault = vault();
        let tenant = TenantId::parse("a").unwrap();
        let (version, wrapped) = vault.fresh(&tenant).unwrap();
        assert!(vault.unwrap(&tenant, version, &wrapped).is_ok());
        assert!(matches!(
            vault.unwrap(&TenantId::parse("b").unwrap(), version, &wrapped),
            Err(StoreError::Tampered("key"))
        ));
        assert!(matches!(
            vault.unwrap(&tenant, version + 1, &wrapped),
            Err(StoreError::Tampered("key"))
        ));
    }

    #[test]
    fn the_cache_is_bounded_and_keeps_what_is_used() {
        let vault = vault();
        let used = TenantId::parse("used").unwrap();
        let (version, wrapped) = vault.fresh(&used).unwrap();
        vault.unwrap(&used, version, &wrapped).unwrap();
        for number in 0..3 * GENERATION {
            let tenant = TenantId::parse(&format!("t{number}")).unwrap();
            let (version, wrapped) = vault.fresh(&tenant).unwrap();
            vault.unwrap(&tenant, version, &wrapped).unwrap();
            assert!(vault.cached(&used).is_some());
        }
        let cache = vault.cache.lock().unwrap();
        assert!(cache.young.len() <= GENERATION && cache.old.len() <= GENERATION);
        assert!(
            !cache.old.contains_key(&TenantId::parse("t0").unwrap())
                && !cache.young.contains_key(&TenantId::parse("t0").unwrap())
        );
    }

    #[test]
    fn stamps_do_not_repeat() {
        let stamps = Stamps::new();
        let given: HashSet<u64> = (0..10_000).map(|_| stamps.next()).collect();
        assert_eq!(given.len(), 10_000);
        assert!(given.iter().all(|stamp| i64::try_from(*stamp).is_ok()));
    }
}
