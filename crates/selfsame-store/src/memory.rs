//! The back end in memory: for tests, and the measure of what the others do.

mod outbox;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use selfsame_crypto::time::UnixTime;

use crate::backend::{Backend, Backlog, Outcome, Place, SealedBatch, SealedEntry, SealedLetter, SealedRecord, Write};
use crate::batch::Expect;
use crate::error::{Result, StoreError};
use crate::meter::{Meter, timed};
use crate::outbox::OutboxId;
use crate::record::Window;
use crate::tenant::TenantId;

use outbox::Outbox;

/// Keeps everything in memory; gone with the process.
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

#[derive(Debug, Default)]
struct State {
    last_seq: u64,
    records: BTreeMap<Place, Kept>,
    by_kind: BTreeMap<(TenantId, String), BTreeMap<u64, String>>,
    by_tag: BTreeMap<Vec<u8>, BTreeMap<u64, Place>>,
    routes: HashMap<[u8; 32], (TenantId, Option<UnixTime>)>,
    counters: HashMap<(TenantId, String), u64>,
    outbox: Outbox,
}

#[derive(Debug)]
struct Kept {
    seq: u64,
    version: u64,
    expires: Option<UnixTime>,
    value: Vec<u8>,
    tags: Vec<Vec<u8>>,
}

fn expired(expires: Option<UnixTime>, now: UnixTime) -> bool {
    expires.is_some_and(|at| at <= now)
}

impl State {
    fn live(&self, place: &Place, now: UnixTime) -> Option<&Kept> {
        self.records.get(place).filter(|kept| !expired(kept.expires, now))
    }

    fn sealed(&self, place: &Place, now: UnixTime) -> Option<SealedRecord> {
        let kept = self.live(place, now)?;
        let (version, expires, value) = (kept.version, kept.expires, kept.value.clone());
        Some(SealedRecord { id: place.id.clone(), seq: kept.seq, version, expires, value })
    }

    fn judge(&self, write: &Write, now: UnixTime) -> Result<()> {
        match write {
            Write::Expect(place, expect) => {
                let found = self.live(place, now).map(|kept| kept.version);
                let holds = match expect {
                    Expect::Absent => found.is_none(),
                    Expect::Version(version) => found == Some(*version),
                };
                if holds { Ok(()) } else { Err(StoreError::conflict(&place.kind, &place.id)) }
            }
            Write::Settle(id) | Write::Retry(id, _) | Write::Bury(id, _) => self.outbox.judge(*id, false),
            Write::Replay(id) => self.outbox.judge(*id, true),
            Write::Route(key, tenant, _) => match self.routes.get(key) {
                Some((other, expires)) if other != tenant && !expired(*expires, now) => Err(StoreError::conflict("route", "")),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn apply(&mut self, write: Write, now: UnixTime, outcome: &mut Outcome) {
        match write {
            Write::Expect(..) => {}
            Write::Put { place, version, value, tags, expires } => {
                let seq = self.live(&place, now).map(|kept| kept.seq);
                self.remove(&place);
                let seq = seq.unwrap_or_else(|| self.next_seq());
                self.by_kind.entry((place.tenant.clone(), place.kind.clone())).or_default().insert(seq, place.id.clone());
                for tag in &tags {
                    self.by_tag.entry(tag.clone()).or_default().insert(seq, place.clone());
                }
                self.records.insert(place, Kept { seq, version, expires, value, tags });
            }
            Write::Update { place, version, value } => {
                if let Some(kept) = self.records.get_mut(&place) {
                    (kept.version, kept.value) = (version, value);
                }
            }
            Write::Delete(place) => self.remove(&place),
            Write::Enqueue(entry) => self.outbox.enqueue(entry),
            Write::Settle(id) => self.outbox.settle(id),
            Write::Retry(id, not_before) => self.outbox.retry(id, not_before),
            Write::Bury(id, reason) => self.outbox.bury(id, reason, now),
            Write::Replay(id) => self.outbox.replay(id, now),
            Write::Route(key, tenant, expires) => {
                self.routes.insert(key, (tenant, expires));
            }
            Write::Unroute(key, tenant) => {
                if self.routes.get(&key).is_some_and(|(holder, _)| *holder == tenant) {
                    self.routes.remove(&key);
                }
            }
            Write::Reserve(tenant, counter, count) => {
                let next = self.counters.entry((tenant, counter)).or_default();
                outcome.reserved.push(*next..*next + count);
                *next += count;
            }
            Write::Purge(before, limit) => outcome.purged += self.purge(now, before, limit),
        }
    }

    fn next_seq(&mut self) -> u64 {
        self.last_seq += 1;
        self.last_seq
    }

    fn remove(&mut self, place: &Place) {
        let Some(kept) = self.records.remove(place) else { return };
        if let Some(ids) = self.by_kind.get_mut(&(place.tenant.clone(), place.kind.clone())) {
            ids.remove(&kept.seq);
        }
        for tag in &kept.tags {
            if let Some(places) = self.by_tag.get_mut(tag) {
                places.remove(&kept.seq);
            }
        }
    }

    fn purge(&mut self, now: UnixTime, before: UnixTime, limit: usize) -> u64 {
        let places: Vec<Place> =
            self.records.iter().filter(|(_, kept)| expired(kept.expires, now)).map(|(place, _)| place.clone()).take(limit).collect();
        let routes: Vec<[u8; 32]> =
            self.routes.iter().filter(|(_, (_, expires))| expired(*expires, now)).map(|(key, _)| *key).take(limit).collect();
        places.iter().for_each(|place| self.remove(place));
        routes.iter().for_each(|key| {
            self.routes.remove(key);
        });
        (places.len() + routes.len() + self.outbox.purge(before, limit)) as u64
    }
}

/// The sequence numbers of a page, in its order.
fn page<T>(all: &BTreeMap<u64, T>, window: Window) -> Vec<&T> {
    let admitted = |(seq, _): &(&u64, &T)| window.admits(**seq);
    if window.newest_first {
        all.iter().rev().filter(admitted).map(|(_, item)| item).collect()
    } else {
        all.iter().filter(admitted).map(|(_, item)| item).collect()
    }
}

#[async_trait]
impl Backend for Memory {
    async fn read(&self, place: &Place, now: UnixTime) -> Result<Option<SealedRecord>> {
        Ok(self.state().sealed(place, now))
    }

    async fn find(&self, tag: &[u8], window: Window, now: UnixTime) -> Result<Vec<SealedRecord>> {
        let state = self.state();
        let Some(places) = state.by_tag.get(tag) else { return Ok(Vec::new()) };
        Ok(page(places, window).into_iter().filter_map(|place| state.sealed(place, now)).take(window.limit).collect())
    }

    async fn list(&self, tenant: &TenantId, kind: &str, window: Window, now: UnixTime) -> Result<Vec<SealedRecord>> {
        let state = self.state();
        let Some(ids) = state.by_kind.get(&(tenant.clone(), kind.to_owned())) else { return Ok(Vec::new()) };
        let place = |id: &String| Place { tenant: tenant.clone(), kind: kind.to_owned(), id: id.clone() };
        Ok(page(ids, window).into_iter().filter_map(|id| state.sealed(&place(id), now)).take(window.limit).collect())
    }

    async fn commit(&self, batch: SealedBatch) -> Result<Outcome> {
        let mut state = self.state();
        for write in &batch.writes {
            state.judge(write, batch.now)?;
        }
        let mut outcome = Outcome::default();
        let ((), took) = timed(|| batch.writes.into_iter().for_each(|write| state.apply(write, batch.now, &mut outcome)));
        if batch.durable {
            self.meter.record(took);
        }
        Ok(outcome)
    }

    async fn route(&self, key: &[u8; 32], now: UnixTime) -> Result<Option<TenantId>> {
        let state = self.state();
        let live = state.routes.get(key).filter(|(_, expires)| !expired(*expires, now));
        Ok(live.map(|(tenant, _)| tenant.clone()))
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

    fn meter(&self) -> &Meter {
        &self.meter
    }
}
