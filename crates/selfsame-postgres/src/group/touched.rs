//! What a group touches, and the rows found there.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use selfsame_store::TenantId;
use selfsame_store::backend::{OutboxId, Place, SealedBatch, Write};
use uuid::Uuid;

use crate::rows::{EntryRow, EventRow, LaneKey, RecordRow, key};

/// Rows that a sweep has found. The batch that asks for the sweep removes them.
#[derive(Debug, Default)]
pub(crate) struct Doomed {
    pub(crate) records: Vec<Place>,
    pub(crate) entries: Vec<OutboxId>,
    pub(crate) events: Vec<EventRow>,
    pub(crate) counters: Vec<CounterName>,
    /// Counters that the batch raises.
    pub(crate) raised: Vec<CounterName>,
    /// Whether records stay that have not expired.
    pub(crate) only_expired: bool,
}

/// Identifies a counter.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct CounterName {
    pub(crate) tenant: String,
    pub(crate) counter: String,
}

/// The keys of the rows that a group touches.
#[derive(Debug, Default)]
pub(crate) struct Touched<'a> {
    pub(crate) records: BTreeMap<Uuid, &'a Place>,
    pub(crate) entries: BTreeSet<OutboxId>,
    pub(crate) lanes: BTreeSet<LaneKey>,
    pub(crate) counters: BTreeSet<CounterName>,
    /// The tenants that get records or calls, whose keys must be there.
    pub(crate) tenants: BTreeSet<&'a TenantId>,
}

/// The rows that were found and locked.
#[derive(Debug, Default)]
pub(crate) struct FoundRows {
    /// This process, if there may be others.
    pub(crate) process: Option<Uuid>,
    /// The keys of tenants, if other processes may destroy one.
    pub(crate) keys: Option<HashSet<Uuid>>,
    pub(crate) records: HashMap<Uuid, RecordRow>,
    pub(crate) entries: HashMap<OutboxId, EntryRow>,
    /// The lanes that have a head.
    pub(crate) headed: HashSet<LaneKey>,
    pub(crate) counters: HashMap<CounterName, i64>,
}

impl<'a> Touched<'a> {
    pub(crate) fn of(batches: &'a [SealedBatch], doomed: &'a Doomed) -> Self {
        let mut touched = Self::default();
        let writes = batches.iter().flat_map(|batch| &batch.writes);
        writes.for_each(|write| touched.add(write));
        for place in &doomed.records {
            touched.records.insert(key(place), place);
        }
        touched.entries.extend(&doomed.entries);
        let counters = doomed.counters.iter().chain(&doomed.raised);
        touched.counters.extend(counters.cloned());
        touched
    }

    fn add(&mut self, write: &'a Write) {
        match write {
            Write::Expect(place, _) | Write::Delete(place) => {
                self.records.insert(key(place), place);
            }
            Write::Put { place, .. } | Write::Update { place, .. } => {
                self.records.insert(key(place), place);
                self.tenants.insert(&place.tenant);
            }
            Write::Enqueue(entry) => {
                self.lanes.insert(entry.lane);
                self.tenants.insert(&entry.tenant);
            }
            Write::Settle(id) | Write::Retry(id, _) | Write::Bury(id, _) | Write::Replay(id) => {
                self.entries.insert(*id);
            }
            Write::Reserve(tenant, counter, _) => {
                self.counters.insert(CounterName {
                    tenant: tenant.as_str().to_owned(),
                    counter: counter.clone(),
                });
            }
            Write::Event(..) | Write::Leap(_) | Write::Purge(_) | Write::Erase { .. } => {}
        }
    }
}
