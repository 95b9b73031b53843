//! The in-memory state: checking conditions, and writing.

use std::collections::{BTreeMap, HashMap};

use selfsame_crypto::time::UnixTime;

use super::events::Events;
use super::outbox::Outbox;
use crate::backend::{BatchOutcome, KEY_KIND, Place, SealedRecord, Weight, Write, stays};
use crate::error::{Result, StoreError};
use crate::record::Expect;
use crate::store::key_place;
use crate::tenant::TenantId;

#[derive(Debug, Default)]
pub(super) struct State {
    last_seq: u64,
    records: BTreeMap<Place, MemoryRecord>,
    pub(super) by_kind: BTreeMap<(TenantId, String), BTreeMap<u64, String>>,
    pub(super) by_tag: BTreeMap<Vec<u8>, BTreeMap<u64, Place>>,
    counters: HashMap<(TenantId, String), u64>,
    pub(super) outbox: Outbox,
    pub(super) events: Events,
}

#[derive(Debug)]
struct MemoryRecord {
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
    pub(super) fn count(&self, tenant: &TenantId, kind: &str, most: u64) -> u64 {
        let of_kind = self.by_kind.get(&(tenant.clone(), kind.to_owned()));
        most.min(of_kind.map_or(0, |ids| ids.len() as u64))
    }

    pub(super) fn weight(&self, tenant: &TenantId, kind: &str, most: u64) -> Weight {
        let of_kind = (tenant.clone(), kind.to_owned());
        let ids = self.by_kind.get(&of_kind).into_iter().flatten();
        let places = ids.map(|(_, id)| Place {
            tenant: tenant.clone(),
            kind: kind.to_owned(),
            id: id.clone(),
        });
        let kept = places.filter_map(|place| self.records.get(&place));
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        kept.take(most)
            .fold(Weight::default(), |weight, kept| Weight {
                records: weight.records.saturating_add(1),
                bytes: weight.bytes.saturating_add(kept.value.len() as u64),
            })
    }

    fn live(&self, place: &Place, now: UnixTime) -> Option<&MemoryRecord> {
        self.records
            .get(place)
            .filter(|kept| !expired(kept.expires, now))
    }

    pub(super) fn sealed(&self, place: &Place, now: UnixTime) -> Option<SealedRecord> {
        let kept = self.live(place, now)?;
        let (version, expires, value) = (kept.version, kept.expires, kept.value.clone());
        Some(SealedRecord {
            id: place.id.clone(),
            seq: kept.seq,
            version,
            expires,
            value,
        })
    }

    pub(super) fn keys(&self, after: &str, limit: usize) -> Vec<(TenantId, SealedRecord)> {
        let places = self.records.keys();
        let keys = places.filter(|place| place.kind == KEY_KIND && place.tenant.as_str() > after);
        let rows = keys.filter_map(|place| {
            let row = self.sealed(place, UnixTime(0))?;
            Some((place.tenant.clone(), row))
        });
        rows.take(limit).collect()
    }

    pub(super) fn judge(&self, write: &Write, now: UnixTime) -> Result<()> {
        match write {
            Write::Expect(place, expect) => {
                let found = self.live(place, now).map(|kept| kept.version);
                let holds = match expect {
                    Expect::Absent => found.is_none(),
                    Expect::Version(version) => found == Some(*version),
                };
                let conflict = || StoreError::conflict(&place.kind, &place.id);
                holds.then_some(()).ok_or_else(conflict)
            }
            Write::Settle(id) | Write::Retry(id, _) | Write::Bury(id, _) => {
                self.outbox.judge(*id, false)
            }
            Write::Replay(id) => self.outbox.judge(*id, true),
            _ => Ok(()),
        }
    }

    pub(super) fn apply(&mut self, write: Write, now: UnixTime, outcome: &mut BatchOutcome) {
        match write {
            Write::Expect(..) => {}
            Write::Put {
                place,
                version,
                value,
                tags,
                expires,
            } => {
                let seq = self.live(&place, now).map(|kept| kept.seq);
                self.remove(&place);
                let seq = seq.unwrap_or_else(|| self.next_seq());
                self.by_kind
                    .entry((place.tenant.clone(), place.kind.clone()))
                    .or_default()
                    .insert(seq, place.id.clone());
                for tag in &tags {
                    self.by_tag
                        .entry(tag.clone())
                        .or_default()
                        .insert(seq, place.clone());
                }
                self.records.insert(
                    place,
                    MemoryRecord {
                        seq,
                        version,
                        expires,
                        value,
                        tags,
                    },
                );
            }
            Write::Update {
                place,
                version,
                value,
            } => {
                if let Some(kept) = self.records.get_mut(&place) {
                    (kept.version, kept.value) = (version, value);
                }
            }
            Write::Delete(place) => self.remove(&place),
            Write::Event(place, stamp) => self.events.tell(place, stamp, now),
            Write::Enqueue(entry) => outcome.heads.extend(self.outbox.enqueue(entry)),
            Write::Settle(id) => self.outbox.settle(id),
            Write::Retry(id, not_before) => self.outbox.retry(id, not_before),
            Write::Bury(id, reason) => self.outbox.bury(id, reason, now),
            Write::Replay(id) => self.outbox.replay(id, now),
            Write::Reserve(tenant, counter, count) => {
                let next = self.counters.entry((tenant, counter)).or_default();
                outcome.reserved.push(*next..*next + count);
                *next += count;
            }
            Write::Leap(by) => self.counters.values_mut().for_each(|next| *next += by),
            Write::Purge(limit) => outcome.purged += self.purge(now, limit),
            Write::Erase {
                tenant,
                keep,
                limit,
            } => outcome.purged += self.erase(&tenant, keep.as_deref(), limit),
        }
    }

    fn erase(&mut self, tenant: &TenantId, keep: Option<&[String]>, limit: usize) -> u64 {
        let mut removed = 0;
        if keep.is_none() {
            self.remove(&key_place(tenant));
            self.counters.retain(|(owner, _), _| owner != tenant);
            removed = self.outbox.erase(tenant, limit);
        }
        let own = self.records.keys().filter(|place| place.tenant == *tenant);
        let gone = own.filter(|place| !stays(&place.kind, keep)).take(limit);
        let gone: Vec<Place> = gone.cloned().collect();
        gone.iter().for_each(|place| self.remove(place));
        (removed + gone.len()) as u64
    }

    fn next_seq(&mut self) -> u64 {
        self.last_seq += 1;
        self.last_seq
    }

    fn remove(&mut self, place: &Place) {
        let Some(kept) = self.records.remove(place) else {
            return;
        };
        if let Some(ids) = self
            .by_kind
            .get_mut(&(place.tenant.clone(), place.kind.clone()))
        {
            ids.remove(&kept.seq);
        }
        for tag in &kept.tags {
            if let Some(places) = self.by_tag.get_mut(tag) {
                places.remove(&kept.seq);
            }
        }
    }

    fn purge(&mut self, now: UnixTime, limit: usize) -> u64 {
        let places: Vec<Place> = self
            .records
            .iter()
            .filter(|(_, kept)| expired(kept.expires, now))
            .map(|(place, _)| place.clone())
            .take(limit)
            .collect();
        places.iter().for_each(|place| self.remove(place));
        let letters = self.outbox.purge(now, limit);
        (places.len() + letters + self.events.purge(now, limit)) as u64
    }
}
