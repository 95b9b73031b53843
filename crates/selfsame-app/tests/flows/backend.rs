//! In-memory records with delays, so that concurrent operations really interleave.

use std::time::Duration;

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use selfsame_crypto::time::UnixTime;
use selfsame_store::backend::{
    Backend, Backlog, BatchOutcome, Meter, Place, SealedBatch, SealedEntry, SealedLetter,
    SealedRecord, StoredEvent, Weight, Window,
};
use selfsame_store::{Memory, OutboxId, Result, StoreError, TenantId};

/// Reads take longer than commits, so that a record may have changed by the time it is read.
const READ: Duration = Duration::from_millis(4);
const COMMIT: Duration = Duration::from_millis(1);

/// An in-memory store with the speed of a disk.
#[derive(Default)]
pub struct Slow(Memory, AtomicBool);

impl Slow {
    /// Sets whether the store is full.
    pub fn fill(&self, full: bool) {
        self.1.store(full, Ordering::SeqCst);
    }
}

#[async_trait]
impl Backend for Slow {
    async fn read(&self, place: &Place, now: UnixTime) -> Result<Option<SealedRecord>> {
        let read = self.0.read(place, now).await;
        tokio::time::sleep(READ).await;
        read
    }

    async fn find(&self, tag: &[u8], window: Window, now: UnixTime) -> Result<Vec<SealedRecord>> {
        let found = self.0.find(tag, window, now).await;
        tokio::time::sleep(READ).await;
        found
    }

    async fn list(
        &self,
        tenant: &TenantId,
        kind: &str,
        window: Window,
        now: UnixTime,
    ) -> Result<Vec<SealedRecord>> {
        self.0.list(tenant, kind, window, now).await
    }

    async fn keys(&self, after: &str, limit: usize) -> Result<Vec<(TenantId, SealedRecord)>> {
        self.0.keys(after, limit).await
    }

    async fn weight(&self, tenant: &TenantId, kind: &str, most: u64) -> Result<Weight> {
        self.0.weight(tenant, kind, most).await
    }

    async fn count(&self, tenant: &TenantId, kind: &str, most: u64) -> Result<u64> {
        self.0.count(tenant, kind, most).await
    }

    async fn commit(&self, batch: SealedBatch) -> Result<BatchOutcome> {
        tokio::time::sleep(COMMIT).await;
        if self.1.load(Ordering::SeqCst) {
            return Err(StoreError::Full("no room".to_owned()));
        }
        self.0.commit(batch).await
    }

    async fn due(&self, now: UnixTime, limit: usize) -> Result<Vec<OutboxId>> {
        self.0.due(now, limit).await
    }

    async fn entry(&self, id: OutboxId, now: UnixTime) -> Result<Option<SealedEntry>> {
        self.0.entry(id, now).await
    }

    async fn dead_letters(&self, window: Window) -> Result<Vec<SealedLetter>> {
        self.0.dead_letters(window).await
    }

    async fn backlog(&self) -> Result<Backlog> {
        self.0.backlog().await
    }

    async fn events(&self, window: Window) -> Result<Vec<StoredEvent>> {
        self.0.events(window).await
    }

    fn meter(&self) -> &Meter {
        self.0.meter()
    }
}
