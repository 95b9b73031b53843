//! Keys: a data key for each tenant, wrapped by the master key, and a bounded cache of unwrapped keys.

mod keyring;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use selfsame_crypto::frame;
use selfsame_crypto::seal::master::{
    self, KeyCheck, KeyList, ListError, MasterKey, RotationStage, Unwrapped,
};
use selfsame_crypto::seal::{SealError, SealingKey, random_seed};
use zeroize::Zeroizing;

use crate::backend::{KEY_KIND, LIST_KIND, Place, SealedRecord};
use crate::error::{Result, StoreError};
use crate::rotation::{KeyTrouble, MasterKeySource, RotationState};
use crate::tenant::TenantId;
use keyring::Keyring;

/// A mark after the instance's own key once the store's rows are summed. It is sealed with the key, so that only a
/// holder of the master key can remove it to present the file as one that never had a sum.
const SUMMED: u8 = 1;
/// A mark after the instance's own key once the store has a list of its master keys.
const LISTED: u8 = 2;

/// The size of a generation of unwrapped keys. The cache holds at most two generations.
const GENERATION: usize = 2_048;

/// Holds the master keys, and unwraps the tenants' keys with them.
pub struct Vault {
    keyring: RwLock<Keyring>,
    source: Option<Arc<dyn MasterKeySource>>,
    stamps: Arc<Stamps>,
    cache: Mutex<Cache>,
    /// The tenants that this process has destroyed.
    destroyed: RwLock<HashSet<TenantId>>,
}

impl Vault {
    /// A vault under a master key that can't be rotated while this process runs.
    pub fn from_master(master: SealingKey) -> Self {
        Self::of(&[master], None)
    }

    /// A vault under the master keys of a source, which is asked again when the store is to be under another key.
    #[must_use]
    pub fn from_source(source: Arc<dyn MasterKeySource>) -> Self {
        Self::of(&source.find().keys, Some(source))
    }

    fn of(keys: &[SealingKey], source: Option<Arc<dyn MasterKeySource>>) -> Self {
        let mut keyring = Keyring::default();
        keyring.hold(keys);
        Self {
            keyring: RwLock::new(keyring),
            source,
            stamps: Arc::new(Stamps::new()),
            cache: Mutex::default(),
            destroyed: RwLock::default(),
        }
    }

    fn keyring(&self) -> RwLockReadGuard<'_, Keyring> {
        self.keyring.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn keyring_mut(&self) -> RwLockWriteGuard<'_, Keyring> {
        self.keyring.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The key of the sum over all rows: the one that the list of master keys names, once it was read.
    #[must_use]
    pub fn sum_key(&self) -> SealingKey {
        SealingKey::from_bytes(*self.keyring().seed())
    }

    /// Finds out which of the keys at hand the store is under, from its list of master keys and the row with the
    /// instance's own key. Returns whether the rows were summed before.
    ///
    /// # Errors
    /// `WrongKey` if it is under none of them; `Tampered` if the list was removed or changed.
    pub fn begin(&self, list: Option<&SealedRecord>, own: Option<&SealedRecord>) -> Result<bool> {
        let instance = TenantId::instance();
        let Some(list) = list else {
            let Some(own) = own else { return Ok(true) };
            let opened = self.opened(&instance, own.version, &own.value)?;
            opened
                .under
                .iter()
                .for_each(|check| self.keyring_mut().prefer(*check));
            let keys = self.unwrap(&instance, own.version, &own.value)?;
            return match keys.is_listed() {
                true => Err(no_list()),
                false => Ok(keys.is_summed()),
            };
        };
        let opens =
            || own.is_none_or(|own| self.unwrap(&instance, own.version, &own.value).is_ok());
        match self.adopt(list) {
            // Another key, or other rows: the instance's own key tells which.
            Err(StoreError::Tampered(_)) if !opens() => {
                Err(StoreError::WrongKey(KeyTrouble::Other))
            }
            Err(StoreError::WrongKey(KeyTrouble::Other)) if own.is_some() && opens() => {
                Err(no_list())
            }
            adopted => adopted.map(|()| true),
        }
    }

    /// What is wrong with the list of master keys, after [`Vault::begin`], for the operator.
    #[must_use]
    pub fn list_damage(&self) -> Option<&'static str> {
        let own = self.cached(&TenantId::instance());
        let is_listed = own.is_some_and(|own| own.is_listed());
        (is_listed && self.list_version().is_none())
            .then_some("the list of the master keys was removed or changed")
    }

    /// Takes over a version of the list of master keys.
    ///
    /// # Errors
    /// `WrongKey` if the store is under none of the keys at hand; `Tampered` if the list was changed.
    pub(crate) fn adopt(&self, row: &SealedRecord) -> Result<()> {
        let mut keyring = self.keyring_mut();
        match KeyList::open(&row.value, row.version, &keyring.held) {
            Ok(opened) => keyring.know(row.version, opened),
            Err(ListError::Damaged) => Err(no_list()),
            Err(ListError::NotHeld(list)) => {
                let former = list.former.and_then(|check| keyring.find(check));
                Err(StoreError::WrongKey(match former {
                    Some(_) => KeyTrouble::Former,
                    None => KeyTrouble::Other,
                }))
            }
        }
    }

    /// Adds master keys to those at hand.
    pub(crate) fn hold(&self, keys: &[SealingKey]) {
        self.keyring_mut().hold(keys);
    }

    pub(crate) fn source(&self) -> Option<Arc<dyn MasterKeySource>> {
        self.source.clone()
    }

    /// The version of the list of master keys that was read last.
    pub(crate) fn list_version(&self) -> Option<u64> {
        self.keyring().known.as_ref().map(|known| known.version)
    }

    pub(crate) fn rotation(&self) -> RotationState {
        self.keyring().rotation()
    }

    /// The check value of the last key on the list that is at hand.
    pub(crate) fn newest(&self) -> Option<KeyCheck> {
        self.keyring().newest()
    }

    /// The check values of the keys at hand that are not on the list.
    pub(crate) fn unlisted(&self) -> Vec<KeyCheck> {
        self.keyring().unlisted()
    }

    /// The first list of a store.
    pub(crate) fn first_list(&self) -> Result<WrappedKey> {
        let keyring = self.keyring();
        let keys = keyring.wrapping()?.keys;
        self.list_of(&keyring, |nonce| {
            KeyList::new(RotationStage::Settled, &keys, nonce, &keyring.seed())
        })
    }

    /// The list as it is, in another version.
    pub(crate) fn same_list(&self) -> Result<WrappedKey> {
        let keyring = self.keyring();
        let known = keyring.known()?;
        self.list_of(&keyring, |_| Ok(known.list.clone()))
    }

    /// The list once a rotation to this key has begun.
    pub(crate) fn begun_list(&self, next: KeyCheck) -> Result<WrappedKey> {
        let keyring = self.keyring();
        let keys = keyring.to_begin(next)?;
        let former = keyring.known()?.list.former;
        self.list_of(&keyring, |nonce| {
            let begun = KeyList::new(RotationStage::Begun, &keys, nonce, &keyring.seed());
            begun.map(|begun| begun.after(former))
        })
    }

    /// The list of the stage after the present one.
    pub(crate) fn advanced_list(&self) -> Result<WrappedKey> {
        let keyring = self.keyring();
        let after = keyring.after()?;
        self.list_of(&keyring, |nonce| {
            let keys = std::slice::from_ref(&after.key);
            let list = KeyList::new(after.stage, keys, nonce, &keyring.seed())?;
            Ok(list.after(after.former))
        })
    }

    fn list_of(
        &self,
        keyring: &Keyring,
        list: impl FnOnce([u8; 12]) -> std::result::Result<KeyList, SealError>,
    ) -> Result<WrappedKey> {
        let version = self.stamps.next();
        let list = list(self.stamps.nonce(version)).map_err(unsealable)?;
        Ok(WrappedKey {
            version,
            value: list.to_bytes(version, &keyring.seed()),
            list: keyring.known.as_ref().map(|known| known.version),
            is_behind: false,
        })
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
        if kind == LIST_KIND {
            let opened = KeyList::open(&sealed.value, sealed.version, &self.keyring().held);
            return opened.map(|_| None).map_err(|_| no_list());
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

    /// Makes a data key.
    pub(crate) fn fresh(&self, tenant: &TenantId) -> Result<WrappedKey> {
        let mut plain = Zeroizing::new(random_seed().to_vec());
        if tenant == &TenantId::instance() {
            plain.push(SUMMED);
        }
        self.wrapped(tenant, &plain)
    }

    /// Wraps the instance's own key again, with the marks that the store's rows are summed and that there is a list of
    /// master keys.
    pub(crate) fn marked(&self, own: &SealedRecord) -> Result<WrappedKey> {
        let instance = TenantId::instance();
        let mut plain = self.opened(&instance, own.version, &own.value)?.secret;
        plain.truncate(32);
        plain.extend([SUMMED, LISTED]);
        self.wrapped(&instance, &plain)
    }

    /// Wraps a tenant's key again; `None` if it is wrapped under the right keys already.
    pub(crate) fn wrapped_again(
        &self,
        tenant: &TenantId,
        key: &SealedRecord,
    ) -> Result<Option<WrappedKey>> {
        let opened = self.opened(tenant, key.version, &key.value)?;
        let wrapping = self.keyring().wrapping()?;
        let wanted = wrapping.keys.iter().map(MasterKey::check);
        match wanted.eq(opened.under.iter().copied()) {
            true => Ok(None),
            false => self.wrapped(tenant, &opened.secret).map(Some),
        }
    }

    /// Wraps a tenant's key, which another vault has wrapped in this row, for a tenant that moves. Returns the version and
    /// the value of its row in the file that it moves by.
    ///
    /// # Errors
    /// `Tampered` if the row does not open.
    pub fn rewrapped(
        &self,
        tenant: &TenantId,
        row: &SealedRecord,
        from: &Self,
    ) -> Result<(u64, Vec<u8>)> {
        let wrapped = self.moved(tenant, row, from)?;
        Ok((wrapped.version, wrapped.value))
    }

    /// Wraps a tenant's key, which another vault has wrapped in this row, to be stored here.
    pub(crate) fn moved(
        &self,
        tenant: &TenantId,
        row: &SealedRecord,
        from: &Self,
    ) -> Result<WrappedKey> {
        let opened = from.opened(tenant, row.version, &row.value)?;
        self.wrapped(tenant, &opened.secret)
    }

    fn wrapped(&self, tenant: &TenantId, plain: &[u8]) -> Result<WrappedKey> {
        let wrapping = self.keyring().wrapping()?;
        let version = self.stamps.next();
        let (nonce, bound) = (self.stamps.nonce(version), wrapping_place(tenant, version));
        let value = master::wrap(&wrapping.keys, nonce, &bound, plain).map_err(unsealable)?;
        Ok(WrappedKey {
            version,
            value,
            list: wrapping.version,
            is_behind: wrapping.is_behind,
        })
    }

    fn opened(&self, tenant: &TenantId, version: u64, wrapped: &[u8]) -> Result<Unwrapped> {
        let opened = master::unwrap(
            &self.keyring().held,
            &wrapping_place(tenant, version),
            wrapped,
        );
        // The instance's key is opened first: if that succeeds, the master key is right.
        opened.map_err(|_| match tenant == &TenantId::instance() {
            true => StoreError::WrongKey(KeyTrouble::Other),
            false => StoreError::Tampered("key"),
        })
    }

    pub(crate) fn unwrap(
        &self,
        tenant: &TenantId,
        version: u64,
        wrapped: &[u8],
    ) -> Result<Arc<TenantKeys>> {
        let plain = self.opened(tenant, version, wrapped)?.secret;
        let (bytes, marks) = plain
            .split_first_chunk::<32>()
            .ok_or(StoreError::Tampered("key"))?;
        let data = SealingKey::from_bytes(*bytes);
        let keys = Arc::new(TenantKeys {
            value: data.derive(b"selfsame/store/value"),
            index: data.derive(b"selfsame/store/index"),
            stamps: self.stamps.clone(),
            is_summed: marks.contains(&SUMMED),
            is_listed: marks.contains(&LISTED),
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

fn no_list() -> StoreError {
    StoreError::Tampered("list of the master keys")
}

fn wrapping_place(tenant: &TenantId, version: u64) -> Vec<u8> {
    frame::join(&[
        b"selfsame/store/key",
        tenant.as_str().as_bytes(),
        &version.to_be_bytes(),
    ])
}

/// A tenant's key, wrapped to be stored, or the list of master keys.
pub(crate) struct WrappedKey {
    /// The version that it is bound to.
    pub(crate) version: u64,
    pub(crate) value: Vec<u8>,
    /// The version of the list of master keys that says under which keys it is wrapped.
    pub(crate) list: Option<u64>,
    /// Whether the key that the store is to be under next is missing here.
    pub(crate) is_behind: bool,
}

/// The keys that seal and index a tenant's data.
pub(crate) struct TenantKeys {
    value: SealingKey,
    index: SealingKey,
    stamps: Arc<Stamps>,
    is_summed: bool,
    is_listed: bool,
}

impl TenantKeys {
    pub(crate) fn stamp(&self) -> u64 {
        self.stamps.next()
    }

    /// Whether the store's rows were summed when this key was wrapped. Only the instance's own key says so.
    pub(crate) fn is_summed(&self) -> bool {
        self.is_summed
    }

    /// Whether the store had a list of its master keys when this key was wrapped. Only the instance's own key says so.
    pub(crate) fn is_listed(&self) -> bool {
        self.is_listed
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
        let WrappedKey {
            version,
            value: wrapped,
            ..
        } = vault.fresh(&tenant).unwrap();
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
        let key = vault.fresh(&used).unwrap();
        vault.unwrap(&used, key.version, &key.value).unwrap();
        for number in 0..3 * GENERATION {
            let tenant = TenantId::parse(&format!("t{number}")).unwrap();
            let key = vault.fresh(&tenant).unwrap();
            vault.unwrap(&tenant, key.version, &key.value).unwrap();
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
