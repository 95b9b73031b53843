//! The in-memory back end: for tests, and as the reference for the others.

mod events;
mod outbox;
mod state;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use selfsame_crypto::time::UnixTime;

use crate::backend::{
    Backend, Backlog, BatchOutcome, OutboxId, Place, SealedBatch, SealedEntry, SealedLetter,
    SealedRecord, StoredEvent, Weight,
};
use crate::error::Result;
use crate::meter::{Meter, timed};
use crate::record::Window;
use crate::tenant::TenantId;

use state::State;

/// Keeps everything in memory only.
#[derive(Debug, Default)]
pub struct Memory {
    state: Mutex<State>,
    meter: Meter,
}

impl Memory {
    /// An empty back end.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Backend for Memory {
    async fn read(&self, place: &Place, now: UnixTime) -> Result<Option<SealedRecord>> {
        Ok(self.state().sealed(place, now))
    }

    async fn find(&self, tag: &[u8], window: Window, now: UnixTime) -> Result<Vec<SealedRecord>> {
        let state = self.state();
        let Some(places) = state.by_tag.get(tag) else {
            return Ok(Vec::new());
        };
        Ok(page(places, window)
            .into_iter()
            .filter_map(|place| state.sealed(place, now))
            .take(window.limit)
            .collect())
    }

    async fn list(
        &self,
        tenant: &TenantId,
        kind: &str,
        window: Window,
        now: UnixTime,
    ) -> Result<Vec<SealedRecord>> {
        let state = self.state();
        let Some(ids) = state.by_kind.get(&(tenant.clone(), kind.to_owned())) else {
            return Ok(Vec::new());
        };
        let place = |id: &String| Place {
            tenant: tenant.clone(),
            kind: kind.to_owned(),
            id: id.clone(),
        };
        Ok(page(ids, window)
            .into_iter()
            .filter_map(|id| state.sealed(&place(id), now))
            .take(window.limit)
            .collect())
    }

    async fn count(&self, tenant: &TenantId, kind: &str, most: u64) -> Result<u64> {
        Ok(self.state().count(tenant, kind, most))
    }

    async fn weight(&self, tenant: &TenantId, kind: &str, most: u64) -> Result<Weight> {
        Ok(self.state().weight(tenant, kind, most))
    }

    async fn keys(&self, after: &str, limit: usize) -> Result<Vec<(TenantId, SealedRecord)>> {
        Ok(self.state().keys(after, limit))
    }

    async fn commit(&self, batch: SealedBatch) -> Result<BatchOutcome> {
        let mut state = self.state();
        for write in &batch.writes {
            state.judge(write, batch.now)?;
        }
        let mut outcome = BatchOutcome::default();
        let ((), took) = timed(|| {
            batch
                .writes
                .into_iter()
                .for_each(|write| state.apply(write, batch.now, &mut outcome))
        });
        if batch.durable {
            self.meter.record(took);
        }
        Ok(outcome)
    }

    async fn due(&self, now: UnixTime, limit: usize) -> Result<Vec<OutboxId>> {
        Ok(self.state().outbox.due(now, limit))
    }

    async fn entry(&self, id: OutboxId, now: UnixTime) -> Result<Option<SealedEntry>> {
        Ok(self.state().outbox.entry(id, now))
    }

    async fn dead_letters(&self, window: Window) -> Result<Vec<SealedLetter>> {
        Ok(self.state().outbox.dead_letters(window))
    }

    async fn backlog(&self) -> Result<Backlog> {
        Ok(self.state().outbox.backlog())
    }

    async fn events(&self, window: Window) -> Result<Vec<StoredEvent>> {
        Ok(self.state().events.page(window))
    }

    fn meter(&self) -> &Meter {
        &self.meter
    }
}

/// The items of a page, in its order.
fn page<T>(all: &BTreeMap<u64, T>, window: Window) -> Vec<&T> {
    let admitted = |(seq, _): &(&u64, &T)| window.admits(**seq);
    if window.newest_first {
        all.iter()
            .rev()
            .filter(admitted)
            .map(|(_, item)| item)
            .collect()
    } else {
        all.iter().filter(admitted).map(|(_, item)| item).collect()
    }
}
