//! The changes of a group, and what they add to the sum.

use std::collections::{BTreeMap, BTreeSet};

use selfsame_crypto::hash::sum::Tally;
use selfsame_store::backend::{OutboxId, Place};
use uuid::Uuid;

use super::touched::CounterName;
use crate::rows::{EntryRow, EventRow, LaneKey, RecordRow};
use crate::sums::RowSums;

/// The changes of a group, each row once.
#[derive(Debug, Default)]
pub(crate) struct RowChanges<'a> {
    pub(crate) records: BTreeMap<Uuid, RecordChange<'a>>,
    /// Records whose absence is a condition. No other transaction may add them before the commit.
    pub(crate) absent: BTreeMap<Uuid, &'a Place>,
    pub(crate) entries: BTreeMap<OutboxId, EntryChange<'a>>,
    /// Lanes whose head may have changed, so that another entry becomes it.
    pub(crate) disturbed: BTreeSet<LaneKey>,
    pub(crate) counters: BTreeMap<CounterName, CounterChange>,
    pub(crate) events: Vec<NewEvent<'a>>,
    pub(crate) gone_events: Vec<&'a EventRow>,
    /// By how much the count of commits grows beyond the usual one.
    pub(crate) leap: i64,
}

/// A record before and after.
#[derive(Debug)]
pub(crate) struct RecordChange<'a> {
    pub(crate) place: &'a Place,
    pub(crate) before: Option<RecordRow>,
    pub(crate) after: Option<NewRecord<'a>>,
}

/// A record to be written.
#[derive(Clone, Debug)]
pub(crate) struct NewRecord<'a> {
    pub(crate) row: RecordRow,
    pub(crate) value: &'a [u8],
}

/// An entry of the outbox before and after.
#[derive(Debug)]
pub(crate) struct EntryChange<'a> {
    pub(crate) before: Option<EntryRow>,
    pub(crate) after: Option<EntryRow>,
    /// What a new entry has sealed.
    pub(crate) sealed: &'a [u8],
    /// Whether a new entry is the first of its lane.
    pub(crate) head: bool,
}

/// A counter before and after.
#[derive(Debug)]
pub(crate) struct CounterChange {
    pub(crate) before: Option<i64>,
    pub(crate) after: Option<i64>,
}

/// An event to be written. The commit gives its position.
#[derive(Debug)]
pub(crate) struct NewEvent<'a> {
    pub(crate) place: &'a Place,
    pub(crate) stamp: i64,
    pub(crate) at: i64,
}

impl RowChanges<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
            && self.absent.is_empty()
            && self.entries.is_empty()
            && self.counters.is_empty()
            && self.events.is_empty()
            && self.gone_events.is_empty()
            && self.leap == 0
    }

    /// What the changes add to the sum over all rows.
    pub(crate) fn tally(&self, sums: &RowSums) -> Tally {
        let mut tally = Tally::default();
        for change in self.records.values() {
            if let Some(before) = &change.before {
                tally.take(sums.record(change.place, before));
            }
            if let Some(after) = &change.after {
                tally.add(sums.record(change.place, &after.row));
            }
        }
        for (id, change) in &self.entries {
            if let Some(before) = &change.before {
                tally.take(sums.entry(*id, before));
            }
            if let Some(after) = &change.after {
                tally.add(sums.entry(*id, after));
            }
        }
        for (name, change) in &self.counters {
            if let Some(before) = change.before {
                tally.take(sums.counter(&name.tenant, &name.counter, before));
            }
            if let Some(after) = change.after {
                tally.add(sums.counter(&name.tenant, &name.counter, after));
            }
        }
        for event in &self.events {
            tally.add(sums.event(event.place, event.stamp, event.at));
        }
        for event in &self.gone_events {
            tally.take(sums.event(&event.place, event.stamp, event.at));
        }
        tally
    }
}
