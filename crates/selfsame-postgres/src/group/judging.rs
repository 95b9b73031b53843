//! Judges the batches of a group one after the other.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use selfsame_crypto::frame;
use selfsame_crypto::time::UnixTime;
use selfsame_store::backend::{BatchOutcome, KEY_KIND, OutboxId, Place, SealedBatch, Write};
use selfsame_store::{Expect, Result, StoreError, TenantId};
use uuid::Uuid;

use super::changes::{CounterChange, NewEvent, NewRecord, RecordChange, RowChanges};
use super::outbox::TouchedLanes;
use super::touched::{CounterName, Doomed, FoundRows};
use crate::rows::{RecordRow, key, sql, tenant_key};
use crate::sequence::Sequence;

/// The answers to the batches, in their order, and the changes of those that succeeded.
#[derive(Debug)]
pub(crate) struct JudgedGroup<'a> {
    pub(crate) answers: Vec<Result<BatchOutcome>>,
    pub(crate) changes: RowChanges<'a>,
}

/// Judges the batches against the rows found.
pub(crate) fn judge<'a>(
    batches: &'a [SealedBatch],
    doomed: &'a Doomed,
    rows: FoundRows,
    sequence: &'a Sequence,
) -> JudgedGroup<'a> {
    let mut judging = Judging {
        records: HashMap::new(),
        found: rows.records,
        absent: BTreeMap::new(),
        lanes: TouchedLanes::new(rows.process, rows.entries, rows.headed),
        keys: rows.keys,
        counters: BTreeMap::new(),
        counted: rows.counters,
        events: Vec::new(),
        gone_events: Vec::new(),
        leap: 0,
        sequence,
    };
    let answers = batches
        .iter()
        .map(|batch| judging.batch(batch, doomed))
        .collect();
    JudgedGroup {
        answers,
        changes: judging.finish(),
    }
}

struct Judging<'a> {
    /// The records written so far.
    records: HashMap<Uuid, Written<'a>>,
    found: HashMap<Uuid, RecordRow>,
    absent: BTreeMap<Uuid, &'a Place>,
    lanes: TouchedLanes<'a>,
    keys: Option<HashSet<Uuid>>,
    counters: BTreeMap<CounterName, CounterChange>,
    counted: HashMap<CounterName, i64>,
    events: Vec<NewEvent<'a>>,
    gone_events: Vec<&'a crate::rows::EventRow>,
    leap: i64,
    sequence: &'a Sequence,
}

struct Written<'a> {
    place: &'a Place,
    now: Option<NewRecord<'a>>,
}

impl<'a> Judging<'a> {
    fn batch(&mut self, batch: &'a SealedBatch, doomed: &'a Doomed) -> Result<BatchOutcome> {
        for write in &batch.writes {
            self.condition(write, batch.now)?;
        }
        let mut outcome = BatchOutcome::default();
        for write in &batch.writes {
            self.write(write, batch.now, &mut outcome);
            if matches!(write, Write::Purge(_) | Write::Erase { .. }) {
                outcome.purged += self.sweep(doomed, batch.now);
            }
        }
        Ok(outcome)
    }

    /// The record as the batches before left it.
    fn row(&self, key: &Uuid) -> Option<&RecordRow> {
        match self.records.get(key) {
            Some(written) => written.now.as_ref().map(|record| &record.row),
            None => self.found.get(key),
        }
    }

    fn live(&self, key: &Uuid, now: UnixTime) -> Option<&RecordRow> {
        let lives = |row: &&RecordRow| row.expires.is_none_or(|at| at > sql(now.0));
        self.row(key).filter(lives)
    }

    fn condition(&mut self, write: &'a Write, now: UnixTime) -> Result<()> {
        match write {
            Write::Expect(place, expect) => {
                let key = key(place);
                let found = self.live(&key, now).map(|row| row.version);
                let holds = match expect {
                    Expect::Absent => found.is_none(),
                    Expect::Version(version) => found == Some(version.cast_signed()),
                };
                if !holds {
                    return Err(StoreError::conflict(&place.kind, &place.id));
                }
                if self.row(&key).is_none() {
                    self.absent.insert(key, place);
                }
                Ok(())
            }
            Write::Settle(id) | Write::Retry(id, _) | Write::Bury(id, _) => {
                self.lanes.judge(*id, false)
            }
            Write::Replay(id) => self.lanes.judge(*id, true),
            Write::Put { place, .. } | Write::Update { place, .. } if place.kind != KEY_KIND => {
                self.exists(&place.tenant)
            }
            Write::Enqueue(entry) => self.exists(&entry.tenant),
            _ => Ok(()),
        }
    }

    /// Whether the tenant still has its key. Another process may have destroyed it.
    fn exists(&self, tenant: &TenantId) -> Result<()> {
        let Some(found) = &self.keys else {
            return Ok(());
        };
        let key = tenant_key(tenant);
        match found.contains(&key) || self.row(&key).is_some() {
            true => Ok(()),
            false => Err(StoreError::conflict(KEY_KIND, tenant.as_str())),
        }
    }

    fn write(&mut self, write: &'a Write, now: UnixTime, outcome: &mut BatchOutcome) {
        match write {
            Write::Put { .. } => self.put(write, now),
            Write::Update {
                place,
                version,
                value,
            } => self.update(place, *version, value),
            Write::Delete(place) => self.delete(place),
            Write::Event(place, stamp) => self.events.push(NewEvent {
                place,
                stamp: sql(*stamp),
                at: sql(now.0),
            }),
            Write::Enqueue(entry) => {
                if self.lanes.enqueue(entry, self.sequence.next()) {
                    outcome.heads.push(entry.id);
                }
            }
            Write::Settle(id) => self.lanes.settle(*id),
            Write::Retry(id, not_before) => self.lanes.retry(*id, *not_before),
            Write::Bury(id, reason) => self.lanes.bury(*id, reason, now),
            Write::Replay(id) => self.lanes.replay(*id, now, self.sequence.next()),
            Write::Reserve(tenant, counter, count) => {
                let name = CounterName {
                    tenant: tenant.as_str().to_owned(),
                    counter: counter.clone(),
                };
                let next = self.raise(name, sql(*count)).cast_unsigned();
                outcome.reserved.push(next.saturating_sub(*count)..next);
            }
            Write::Leap(by) => {
                self.leap = self.leap.saturating_add(sql(*by));
                let names: Vec<_> = self.counted.keys().cloned().collect();
                for name in names {
                    self.raise(name, sql(*by));
                }
            }
            Write::Expect(..) | Write::Purge(_) | Write::Erase { .. } => {}
        }
    }

    fn put(&mut self, write: &'a Write, now: UnixTime) {
        let Write::Put {
            place,
            version,
            value,
            tags,
            expires,
        } = write
        else {
            return;
        };
        let key = key(place);
        // An expired record is gone: a new one takes its place at the end.
        let seq = self.live(&key, now).map(|row| row.seq);
        let row = RecordRow {
            seq: seq.unwrap_or_else(|| self.sequence.next()),
            version: version.cast_signed(),
            expires: expires.map(|at| sql(at.0)),
            tags: frame::join(&tags.iter().map(Vec::as_slice).collect::<Vec<_>>()),
        };
        let now = Some(NewRecord { row, value });
        self.records.insert(key, Written { place, now });
    }

    fn update(&mut self, place: &'a Place, version: u64, value: &'a [u8]) {
        let key = key(place);
        let Some(row) = self.row(&key) else { return };
        let row = RecordRow {
            version: version.cast_signed(),
            ..row.clone()
        };
        let now = Some(NewRecord { row, value });
        self.records.insert(key, Written { place, now });
    }

    fn delete(&mut self, place: &'a Place) {
        let key = key(place);
        if self.row(&key).is_some() {
            self.records.insert(key, Written { place, now: None });
        }
    }

    fn raise(&mut self, name: CounterName, by: i64) -> i64 {
        let before = self.counted.get(&name).copied();
        let change = self.counters.entry(name).or_insert(CounterChange {
            before,
            after: before,
        });
        let next = change.after.unwrap_or(0).saturating_add(by);
        change.after = Some(next);
        next
    }

    /// Removes what the sweep found, if it is still to be removed. Returns the number of rows.
    fn sweep(&mut self, doomed: &'a Doomed, now: UnixTime) -> u64 {
        let mut removed = 0;
        for place in &doomed.records {
            let key = key(place);
            let stays = match doomed.only_expired {
                true => self.live(&key, now).is_some(),
                false => false,
            };
            if !stays && self.row(&key).is_some() {
                self.delete(place);
                removed += 1;
            }
        }
        for id in &doomed.entries {
            removed += u64::from(self.lanes.remove(*id));
        }
        for name in &doomed.counters {
            if let Some(before) = self.counted.get(name).copied() {
                let change = CounterChange {
                    before: Some(before),
                    after: None,
                };
                self.counters.insert(name.clone(), change);
            }
        }
        self.gone_events.extend(&doomed.events);
        removed + doomed.events.len() as u64
    }

    fn finish(mut self) -> RowChanges<'a> {
        let mut records = BTreeMap::new();
        for (key, written) in self.records {
            let before = self.found.remove(&key);
            let change = RecordChange {
                place: written.place,
                before,
                after: written.now,
            };
            if change.before.is_some() || change.after.is_some() {
                self.absent.remove(&key);
                records.insert(key, change);
            }
        }
        let (entries, disturbed): (BTreeMap<OutboxId, _>, BTreeSet<_>) = self.lanes.finish();
        RowChanges {
            records,
            absent: self.absent,
            entries,
            disturbed,
            counters: self.counters,
            events: self.events,
            gone_events: self.gone_events,
            leap: self.leap,
        }
    }
}
