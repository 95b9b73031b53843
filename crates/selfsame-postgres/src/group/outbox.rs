//! The outbox as the batches of a group leave it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use selfsame_crypto::time::UnixTime;
use selfsame_store::backend::{OutboxId, SealedEntry};
use selfsame_store::{Result, StoreError};
use uuid::Uuid;

use super::changes::EntryChange;
use crate::rows::{EntryRow, LaneKey, sql};

/// The entries that a group touches, and what is known of their lanes.
pub(super) struct TouchedLanes<'a> {
    /// This process, if there may be others.
    process: Option<Uuid>,
    found: HashMap<OutboxId, EntryRow>,
    changes: BTreeMap<OutboxId, EntryChange<'a>>,
    headed: HashSet<LaneKey>,
    /// Lanes from whose head this group may take an entry away.
    disturbed: BTreeSet<LaneKey>,
}

impl<'a> TouchedLanes<'a> {
    pub(super) fn new(
        process: Option<Uuid>,
        found: HashMap<OutboxId, EntryRow>,
        headed: HashSet<LaneKey>,
    ) -> Self {
        Self {
            process,
            found,
            changes: BTreeMap::new(),
            headed,
            disturbed: BTreeSet::new(),
        }
    }

    fn row(&self, id: OutboxId) -> Option<&EntryRow> {
        match self.changes.get(&id) {
            Some(change) => change.after.as_ref(),
            None => self.found.get(&id),
        }
    }

    /// Whether the entry is there, and no other process took it over from this one.
    pub(super) fn judge(&self, id: OutboxId, dead: bool) -> Result<()> {
        let other = |holder: Uuid| self.process.is_some_and(|process| process != holder);
        let found = self.row(id).filter(|row| !row.holder.is_some_and(other));
        match found.map(|row| row.buried.is_some()) == Some(dead) {
            true => Ok(()),
            false => Err(StoreError::conflict("outbox", &id.to_string())),
        }
    }

    /// Enqueues an entry. Returns whether it is surely the first in its lane.
    pub(super) fn enqueue(&mut self, entry: &'a SealedEntry, seq: i64) -> bool {
        // Behind one that this group removes, the commit finds out which entry is the first.
        let head = !self.disturbed.contains(&entry.lane) && self.headed.insert(entry.lane);
        let row = EntryRow {
            seq,
            tenant: entry.tenant.as_str().to_owned(),
            lane: entry.lane,
            not_before: sql(entry.not_before.0),
            attempts: i32::try_from(entry.attempts).unwrap_or(i32::MAX),
            created: sql(entry.created.0),
            buried: None,
            reason: None,
            holder: None,
        };
        let change = EntryChange {
            before: None,
            after: Some(row),
            sealed: &entry.sealed,
            head,
        };
        self.changes.insert(entry.id, change);
        head
    }

    pub(super) fn settle(&mut self, id: OutboxId) {
        self.remove(id);
    }

    /// Removes an entry or dead letter. Returns whether there was one.
    pub(super) fn remove(&mut self, id: OutboxId) -> bool {
        self.change(id, true, |_| None)
    }

    pub(super) fn retry(&mut self, id: OutboxId, not_before: UnixTime) {
        self.change(id, false, |row| {
            Some(EntryRow {
                attempts: row.attempts.saturating_add(1),
                not_before: sql(not_before.0),
                ..row
            })
        });
    }

    pub(super) fn bury(&mut self, id: OutboxId, reason: &str, now: UnixTime) {
        self.change(id, true, |row| {
            Some(EntryRow {
                buried: Some(sql(now.0)),
                reason: Some(reason.to_owned()),
                ..row
            })
        });
    }

    pub(super) fn replay(&mut self, id: OutboxId, now: UnixTime, seq: i64) {
        self.change(id, true, |row| {
            Some(EntryRow {
                seq,
                not_before: sql(now.0),
                attempts: 0,
                buried: None,
                reason: None,
                ..row
            })
        });
    }

    fn change(
        &mut self,
        id: OutboxId,
        disturbs: bool,
        to: impl FnOnce(EntryRow) -> Option<EntryRow>,
    ) -> bool {
        let Some(row) = self.row(id).cloned() else {
            return false;
        };
        if disturbs {
            self.disturbed.insert(row.lane);
        }
        let after = to(row).map(|row| EntryRow {
            holder: None,
            ..row
        });
        match self.changes.get_mut(&id) {
            Some(change) => {
                change.after = after;
                change.head = change.head && !disturbs;
            }
            None => {
                let change = EntryChange {
                    before: self.found.get(&id).cloned(),
                    after,
                    sealed: &[],
                    head: false,
                };
                self.changes.insert(id, change);
            }
        }
        true
    }

    pub(super) fn finish(mut self) -> (BTreeMap<OutboxId, EntryChange<'a>>, BTreeSet<LaneKey>) {
        self.changes
            .retain(|_, change| change.before.is_some() || change.after.is_some());
        (self.changes, self.disturbed)
    }
}
