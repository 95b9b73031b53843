//! Tails files: kept in the store under their hash, served from there, and fetched from others with a bounded cache.
//!
//! They are public, belong to no tenant's secrets, and outlive an issuer here: holders need them to prove.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use selfsame_anoncreds::cl::revocation::{
    TAIL_LENGTH, TAILS_VERSION, TailsFile, TailsHash, tails_length,
};
use selfsame_core::Shared;
use selfsame_crypto::encoding::base58_encode;
use selfsame_crypto::hash::sha256;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_net::CallLimits;
use selfsame_store::{Batch, Put, Store, TenantId};
use serde::{Deserialize, Serialize};

use crate::error::refused;
use crate::issuer_files::fetched;
use crate::objects::KnownRegistry;

/// The kind of the records of files, by hash.
const TAILS: &str = "anoncreds_tails";
/// The kind of the records of their parts. The value is the bytes.
const PART: &str = "anoncreds_tails_part";
/// The kind of the records that lead from a registry to its file.
const OF_REGISTRY: &str = "anoncreds_tails_of";
/// Bytes of a part.
const PART_BYTES: usize = 256 * 1024;
/// Bytes of files held in memory.
const HELD_BYTES: usize = 24_000_000;
/// The longest file that is fetched or moved: that of 65,536 places.
pub(crate) const LONGEST: usize = 16_777_218;
/// How long a fetch may take.
const FETCH: Duration = Duration::from_secs(30);

/// What is known of a file.
#[derive(Deserialize, Serialize)]
struct TailsRecord {
    parts: u32,
}

/// Which file is asked for.
#[derive(Clone, Copy, Debug)]
pub enum TailsName<'a> {
    /// That of a revocation registry.
    Registry(&'a str),
    /// The one with this hash.
    Hash(&'a str),
}

/// The tails files that one process knows.
pub(crate) struct Tails {
    shared: Arc<Shared>,
    held: Mutex<VecDeque<(String, Arc<Vec<u8>>)>>,
}

/// The writes that keep a file, and lead to it from its registry.
pub(crate) fn kept(registry: Option<&str>, hash: &str, bytes: &[u8]) -> Result<Batch> {
    let mut batch = Batch::new(TenantId::instance());
    let mut parts = 0_u32;
    for part in bytes.chunks(PART_BYTES) {
        batch = batch.put(Put::new(PART, part_id(hash, parts), part.to_vec()));
        parts = parts.saturating_add(1);
    }
    let record = encode(&TailsRecord { parts })?;
    let batch = batch.put(Put::new(TAILS, hash, record));
    Ok(match registry {
        Some(registry) => {
            let hash = hash.as_bytes().to_vec();
            batch.put(Put::new(OF_REGISTRY, registry_id(registry), hash))
        }
        None => batch,
    })
}

/// The bytes of a file that is kept in this store.
///
/// # Errors
/// `Damaged` if a part is missing; the store's.
pub(crate) async fn bytes(store: &Store, hash: &str) -> Result<Option<Vec<u8>>> {
    let tenant = TenantId::instance();
    let Some(stored) = store.read(&tenant, TAILS, hash).await? else {
        return Ok(None);
    };
    let record: TailsRecord = decode(&stored.value)?;
    let mut bytes = Vec::new();
    for number in 0..record.parts {
        let part = store.read(&tenant, PART, &part_id(hash, number)).await?;
        let part = part.ok_or_else(|| Error::damaged("a tails file lacks a part"))?;
        bytes.extend_from_slice(&part.value);
    }
    Ok(Some(bytes))
}

/// The hash of a file; `None` if it is no tails file.
pub(crate) fn hash_of(bytes: &[u8]) -> Option<String> {
    let points = bytes.strip_prefix(&TAILS_VERSION)?;
    let mut hasher = TailsHash::new();
    hasher.update(bytes);
    let is_one = points.len().is_multiple_of(TAIL_LENGTH);
    is_one.then(|| hasher.finish())
}

/// Whether a registry leads to a file in this store.
///
/// # Errors
/// The store's.
pub(crate) async fn has(store: &Store, registry: &str) -> Result<bool> {
    let (instance, id) = (TenantId::instance(), registry_id(registry));
    let version = store.version(&instance, OF_REGISTRY, &id).await?;
    Ok(version.is_some())
}

fn part_id(hash: &str, number: u32) -> String {
    format!("{hash}.{number}")
}

fn registry_id(registry: &str) -> String {
    base58_encode(&sha256(registry.as_bytes()))
}

impl Tails {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let held = Mutex::default();
        Self { shared, held }
    }

    /// A file that is kept here, with its hash.
    pub(crate) async fn stored(
        &self,
        name: TailsName<'_>,
    ) -> Result<Option<(String, Arc<Vec<u8>>)>> {
        let (store, tenant) = (&self.shared.store, TenantId::instance());
        let hash = match name {
            TailsName::Hash(hash) => hash.to_owned(),
            TailsName::Registry(registry) => {
                let id = registry_id(registry);
                let Some(named) = store.read(&tenant, OF_REGISTRY, &id).await? else {
                    return Ok(None);
                };
                String::from_utf8(named.value).map_err(Error::internal)?
            }
        };
        if let Some(held) = self.held(&hash) {
            return Ok(Some((hash, held)));
        }
        Ok(bytes(store, &hash).await?.map(|bytes| {
            let bytes = self.hold(hash.clone(), bytes);
            (hash, bytes)
        }))
    }

    /// The file of a registry: kept here, or fetched from where its issuer serves it. Its hash is that of the registry.
    ///
    /// # Errors
    /// `Upstream` if it can't be fetched, or is another one.
    pub(crate) async fn of(&self, registry: &KnownRegistry) -> Result<Arc<Vec<u8>>> {
        let value = &registry.definition.value;
        let hash = &value.tails_hash;
        if let Some((_, stored)) = self.stored(TailsName::Hash(hash)).await? {
            return Ok(stored);
        }
        let absent = |detail: &dyn std::fmt::Display| {
            Error::upstream("anoncreds-tails-absent")
                .with("registry", &registry.id)
                .with("detail", &detail.to_string())
        };
        let length = tails_length(value.max_cred_num).map_err(refused)?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > LONGEST {
            return Err(absent(&"it is too long"));
        }
        let limits = CallLimits {
            max_body: length,
            total_timeout: FETCH,
        };
        let bytes = fetched(&self.shared.net, &value.tails_location, limits, 3).await;
        let bytes = bytes.map_err(|error| absent(&error))?;
        TailsFile::checked(&bytes, value.max_cred_num, hash).map_err(|error| absent(&error))?;
        Ok(self.hold(hash.clone(), bytes))
    }

    /// Keeps a file that somebody uploads for a registry, whose definition it must fit. Returns its hash.
    ///
    /// # Errors
    /// `BadRequest` if it does not fit; the store's.
    pub(crate) async fn upload(&self, registry: &KnownRegistry, bytes: &[u8]) -> Result<String> {
        let value = &registry.definition.value;
        TailsFile::checked(bytes, value.max_cred_num, &value.tails_hash).map_err(refused)?;
        let batch = kept(Some(registry.id.as_str()), &value.tails_hash, bytes)?;
        self.shared.store.commit(batch).await?;
        Ok(value.tails_hash.clone())
    }

    /// Keeps a file under the hash that it has.
    ///
    /// # Errors
    /// `BadRequest` if it has another hash, or is no tails file; the store's.
    pub(crate) async fn upload_hashed(&self, hash: &str, bytes: &[u8]) -> Result<()> {
        if hash_of(bytes).is_none_or(|found| found != hash) {
            return Err(Error::bad_request("anoncreds-tails-other").with("hash", hash));
        }
        self.shared.store.commit(kept(None, hash, bytes)?).await?;
        Ok(())
    }

    fn held(&self, hash: &str) -> Option<Arc<Vec<u8>>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let place = held.iter().position(|(known, _)| known == hash)?;
        let found = held.remove(place)?;
        let bytes = found.1.clone();
        held.push_back(found);
        Some(bytes)
    }

    fn hold(&self, hash: String, bytes: Vec<u8>) -> Arc<Vec<u8>> {
        let bytes = Arc::new(bytes);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.push_back((hash, bytes.clone()));
        let size = |held: &VecDeque<(String, Arc<Vec<u8>>)>| {
            let each = held.iter().map(|(_, bytes)| bytes.len());
            each.fold(0, usize::saturating_add)
        };
        while size(&held) > HELD_BYTES && held.len() > 1 {
            held.pop_front();
        }
        bytes
    }
}
