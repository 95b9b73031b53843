//! The front of the store: seals what is written, opens what is read, and hashes tags.

mod allocate;
mod calls;
mod copy;
mod erase;
mod events;
mod rider;
mod rotating;
mod sealing;

pub use copy::COPIED;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use selfsame_crypto::time::UnixTime;

use crate::backend::{
    Backend, BatchOutcome, KEY_KIND, LIST_KIND, Place, SealedBatch, SealedRecord, Weight, Write,
};
use crate::batch::{Batch, Committed};
use crate::error::{Result, StoreError};
use crate::meter::Meter;
use crate::outbox::{Fresh, Leases};
use crate::record::{Page, Record, Tag};
use crate::tenant::TenantId;
use crate::vault::{TenantKeys, Vault, bound};

/// The prefix of the store's own kinds, which callers cannot use.
const OWN_KINDS: &str = "selfsame.";

/// How often the list of master keys may change while a tenant's first key is written. A rotation changes it twice, and
/// each process that does not have the next key once for each new tenant.
const LIST_CHANGES: usize = 64;

/// Returns the current time, for the expiry of records.
pub type ClockFn = Arc<dyn Fn() -> UnixTime + Send + Sync>;

/// Encrypted records, their outbox and counters. Clones share one store.
#[derive(Clone)]
pub struct Store(Arc<StoreParts>);

struct StoreParts {
    backend: Arc<dyn Backend>,
    vault: Vault,
    clock: ClockFn,
    leases: Leases,
    fresh: Fresh,
    counters: allocate::Counters,
    /// Whether the last commit failed because the disk was full.
    full: AtomicBool,
}

impl fmt::Debug for Store {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Store")
    }
}

impl Store {
    /// Opens a store. [`StoreError::WrongKey`] if the data were written under another master key,
    /// [`StoreError::Tampered`] if rows were removed, restored, moved or changed from outside.
    pub async fn open(backend: Arc<dyn Backend>, vault: Vault) -> Result<Self> {
        Self::open_with_clock(backend, vault, Arc::new(system_now)).await
    }

    /// Opens a store as [`Store::open`] does, with a clock of the caller.
    pub async fn open_with_clock(
        backend: Arc<dyn Backend>,
        vault: Vault,
        clock: ClockFn,
    ) -> Result<Self> {
        let counters = allocate::Counters::default();
        let store = Self(Arc::new(StoreParts {
            backend,
            vault,
            clock,
            leases: Leases::default(),
            fresh: Fresh::default(),
            counters,
            full: AtomicBool::new(false),
        }));
        // A wrong master key would also fail the check of the sum, so it is reported first.
        let kept = store.begin_with_keys().await?;
        let sum_key = store.0.vault.sum_key();
        store.0.backend.guard(sum_key, kept).await?;
        store.keys_or_fresh(&TenantId::instance()).await?;
        store.keep_list().await?;
        Ok(store)
    }

    /// The number of durable commits, if they are counted. A store with fewer than before is an older one that was
    /// restored. Starting from a copy made by [`Store::copy`] leaps ahead of all commits that may have followed the
    /// copy.
    #[must_use]
    pub fn generation(&self) -> Option<u64> {
        self.0.backend.generation()
    }

    /// Whether other processes may use the records at the same time.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.0.backend.is_shared()
    }

    /// The record, unless absent or expired.
    pub async fn read(&self, tenant: &TenantId, kind: &str, id: &str) -> Result<Option<Record>> {
        let Some(keys) = self.keys(tenant).await? else {
            return Ok(None);
        };
        let place = place(tenant, kind, id);
        let read = self.0.backend.read(&place, self.now());
        let Some(sealed) = selfsame_traces::reading("store read", kind, read).await? else {
            return Ok(None);
        };
        open(&keys, tenant, kind, sealed).map(Some)
    }

    /// The version of the record, unless absent or expired. For callers that hold a copy and check whether it is
    /// current.
    pub async fn version(&self, tenant: &TenantId, kind: &str, id: &str) -> Result<Option<u64>> {
        let place = place(tenant, kind, id);
        self.0.backend.version(&place, self.now()).await
    }

    /// The records with the tag, in order of insertion.
    #[allow(
        clippy::too_many_arguments,
        reason = "whose, of what kind, with which tag, which page: each is asked for"
    )]
    pub async fn find(
        &self,
        tenant: &TenantId,
        kind: &str,
        tag: &Tag,
        page: &Page,
    ) -> Result<Vec<Record>> {
        let window = page.window()?;
        let Some(keys) = self.keys(tenant).await? else {
            return Ok(Vec::new());
        };
        let key = sealing::tag_key(&keys, tenant, kind, tag);
        let found = self.0.backend.find(&key, window, self.now());
        let found = selfsame_traces::reading("store find", kind, found).await?;
        let opened = found.into_iter();
        let opened = opened.map(|sealed| open(&keys, tenant, kind, sealed));
        opened.collect()
    }

    /// The records of a kind, in order of insertion.
    pub async fn list(&self, tenant: &TenantId, kind: &str, page: &Page) -> Result<Vec<Record>> {
        let window = page.window()?;
        let Some(keys) = self.keys(tenant).await? else {
            return Ok(Vec::new());
        };
        let now = self.now();
        let listed = self.0.backend.list(tenant, kind, window, now);
        let listed = selfsame_traces::reading("store list", kind, listed).await?;
        let opened = listed.into_iter();
        let opened = opened.map(|sealed| open(&keys, tenant, kind, sealed));
        opened.collect()
    }

    /// A batch whose commit waits for the disk.
    fn durable(&self, writes: Vec<Write>) -> SealedBatch {
        SealedBatch {
            now: self.now(),
            durable: true,
            writes,
        }
    }

    /// Lets the back end write, and notes whether the disk was full.
    async fn write(&self, batch: SealedBatch) -> Result<BatchOutcome> {
        let outcome = self.0.backend.commit(batch).await;
        match &outcome {
            Ok(_) => self.0.full.store(false, Ordering::Relaxed),
            Err(error) if error.is_full() => self.0.full.store(true, Ordering::Relaxed),
            Err(_) => {}
        }
        outcome
    }

    /// Whether the last commit failed because the disk was full. The next commit tries again.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.0.full.load(Ordering::Relaxed)
    }

    /// Whether reads and commits would be answered now. For callers that ask often: a database is asked once a second.
    pub async fn answers(&self) -> bool {
        self.0.backend.answers().await
    }

    /// The size of one kind of a tenant, counting at most the `most` oldest records.
    pub async fn weight(&self, tenant: &TenantId, kind: &str, most: u64) -> Result<Weight> {
        self.0.backend.weight(tenant, kind, most).await
    }

    /// The number of records of one kind of a tenant, up to `most`.
    pub async fn count(&self, tenant: &TenantId, kind: &str, most: u64) -> Result<u64> {
        self.0.backend.count(tenant, kind, most).await
    }

    /// Writes the batch, all or nothing, with the rider of this task ([`Store::accompanied`]). On return it is durable,
    /// unless it is deferred.
    pub async fn commit(&self, batch: Batch) -> Result<Committed> {
        if batch.is_empty() {
            return Ok(Committed::default());
        }
        let rider = rider::take();
        let batch = rider.iter().cloned().fold(batch, Batch::and);
        let written = self.commit_all(batch).await;
        if written.is_err() {
            rider::put_back(rider);
        }
        written
    }

    /// Writes rows that were sealed at another store, together with a batch, all or nothing. The caller has checked that
    /// they open ([`Vault::open_record`]). Errors as [`Store::commit`].
    pub async fn adopt(&self, rows: Vec<Write>, with: Batch) -> Result<()> {
        let (mut sealed, _) = self.seal(with).await?;
        sealed.writes.extend(rows);
        self.write(sealed).await.map(drop)
    }

    async fn commit_all(&self, batch: Batch) -> Result<Committed> {
        let (sealed, committed) = self.seal(batch).await?;
        self.0.fresh.keep(&sealed.writes);
        let outcome = selfsame_traces::committing(sealed.writes.len(), self.write(sealed)).await;
        let heads = outcome.as_ref().map_or(&[][..], |outcome| &outcome.heads);
        self.0.fresh.drop_but(heads, &committed.outbox);
        outcome.map(|_| committed)
    }

    /// Removes at most `limit` each of expired records, old dead letters and old events; returns their number.
    pub async fn purge_expired(&self, now: UnixTime, limit: usize) -> Result<u64> {
        // Often there is nothing to purge, and a commit costs more than this check.
        if !self.0.backend.has_expired(now).await? {
            return Ok(0);
        }
        let purge = SealedBatch {
            now,
            durable: false,
            writes: vec![Write::Purge(limit)],
        };
        Ok(self.write(purge).await?.purged)
    }

    /// Moves committed data from the log to the main file, so that this file is complete on its own. For idle times and
    /// the shutdown.
    ///
    /// # Errors
    /// `Busy` if others write all the time; otherwise the disk failed. Committed data are safe in either case.
    pub async fn fold(&self) -> Result<()> {
        self.0.backend.fold().await
    }

    /// Statistics of the durable commits.
    #[must_use]
    pub fn meter(&self) -> &Meter {
        self.0.backend.meter()
    }

    fn now(&self) -> UnixTime {
        (self.0.clock)()
    }

    async fn instance_keys(&self) -> Result<Arc<TenantKeys>> {
        self.keys(&TenantId::instance())
            .await?
            .ok_or(StoreError::Tampered("key"))
    }

    /// The tenant's keys; `None` for a tenant that has never written and so has nothing to read, and for one that was
    /// destroyed.
    async fn keys(&self, tenant: &TenantId) -> Result<Option<Arc<TenantKeys>>> {
        if self.0.vault.is_destroyed(tenant) {
            return Ok(None);
        }
        if let Some(keys) = self.0.vault.cached(tenant) {
            return Ok(Some(keys));
        }
        self.opened_key(tenant).await
    }

    async fn keys_or_fresh(&self, tenant: &TenantId) -> Result<Arc<TenantKeys>> {
        if let Some(keys) = self.keys(tenant).await? {
            return Ok(keys);
        }
        if self.0.vault.is_destroyed(tenant) {
            return Err(StoreError::conflict(KEY_KIND, tenant.as_str()));
        }
        for _ in 0..LIST_CHANGES {
            let batch = self.durable(self.fresh_key(tenant)?);
            match self.write(batch).await {
                Err(StoreError::Conflict { kind, .. }) if kind == LIST_KIND => {
                    self.look_at_keys().await?;
                }
                // Another task was faster; its key is just as good.
                Ok(_) | Err(StoreError::Conflict { .. }) => break,
                Err(error) => return Err(error),
            }
        }
        self.keys(tenant).await?.ok_or(StoreError::Tampered("key"))
    }
}

/// The place of the key of a tenant.
pub(crate) fn key_place(tenant: &TenantId) -> Place {
    place(tenant, KEY_KIND, "")
}

pub(crate) fn place(tenant: &TenantId, kind: &str, id: &str) -> Place {
    Place {
        tenant: tenant.clone(),
        kind: kind.to_owned(),
        id: id.to_owned(),
    }
}

fn open(keys: &TenantKeys, tenant: &TenantId, kind: &str, sealed: SealedRecord) -> Result<Record> {
    let value = keys.open(
        &bound(tenant, kind, &sealed.id, sealed.version),
        &sealed.value,
    )?;
    Ok(Record {
        id: sealed.id,
        value,
        version: sealed.version,
        expires: sealed.expires,
        seq: sealed.seq,
    })
}

#[allow(
    clippy::disallowed_methods,
    reason = "an expired record must read as absent for every caller; tests pass a clock"
)]
fn system_now() -> UnixTime {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    UnixTime(since.map_or(0, |since| since.as_secs()))
}
