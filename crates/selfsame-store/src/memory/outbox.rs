//! The outbox in memory: lanes of pending entries, and dead letters.

use std::collections::{BTreeMap, HashMap};

use selfsame_crypto::time::UnixTime;

use super::page;
use crate::backend::{Backlog, DEAD_LETTER_SECONDS, OutboxId, SealedEntry, SealedLetter};
use crate::error::{Result, StoreError};
use crate::record::Window;
use crate::tenant::TenantId;

#[derive(Debug, Default)]
pub(super) struct Outbox {
    last_seq: u64,
    pending: HashMap<OutboxId, (u64, SealedEntry)>,
    lanes: HashMap<[u8; 16], BTreeMap<u64, OutboxId>>,
    dead: BTreeMap<u64, SealedLetter>,
}

impl Outbox {
    pub(super) fn judge(&self, id: OutboxId, dead: bool) -> Result<()> {
        let found = match dead {
            true => self.dead_seq(id).is_some(),
            false => self.pending.contains_key(&id),
        };
        let conflict = || StoreError::conflict("outbox", &id.to_string());
        found.then_some(()).ok_or_else(conflict)
    }

    /// Enqueues an entry. Returns its identifier if it is first in its lane.
    pub(super) fn enqueue(&mut self, entry: SealedEntry) -> Option<OutboxId> {
        self.last_seq += 1;
        let lane = self.lanes.entry(entry.lane).or_default();
        lane.insert(self.last_seq, entry.id);
        let first = (lane.len() == 1).then_some(entry.id);
        self.pending.insert(entry.id, (self.last_seq, entry));
        first
    }

    pub(super) fn settle(&mut self, id: OutboxId) {
        self.take(id);
    }

    pub(super) fn retry(&mut self, id: OutboxId, not_before: UnixTime) {
        if let Some((_, entry)) = self.pending.get_mut(&id) {
            entry.attempts = entry.attempts.saturating_add(1);
            entry.not_before = not_before;
        }
    }

    pub(super) fn bury(&mut self, id: OutboxId, reason: String, now: UnixTime) {
        if let Some((seq, entry)) = self.take(id) {
            self.dead.insert(
                seq,
                SealedLetter {
                    entry,
                    seq,
                    reason,
                    buried: now,
                },
            );
        }
    }

    pub(super) fn replay(&mut self, id: OutboxId, now: UnixTime) {
        let letter = self.dead_seq(id).and_then(|seq| self.dead.remove(&seq));
        if let Some(letter) = letter {
            self.enqueue(SealedEntry {
                not_before: now,
                attempts: 0,
                ..letter.entry
            });
        }
    }

    /// The entries that are first in their lanes.
    fn heads(&self) -> impl Iterator<Item = &(u64, SealedEntry)> {
        let heads = self.lanes.values().filter_map(|lane| lane.values().next());
        heads.filter_map(|id| self.pending.get(id))
    }

    pub(super) fn due(&self, now: UnixTime, limit: usize) -> Vec<OutboxId> {
        let mut due: Vec<(UnixTime, u64, OutboxId)> = self
            .heads()
            .filter(|(_, entry)| entry.not_before <= now)
            .map(|(seq, entry)| (entry.not_before, *seq, entry.id))
            .collect();
        due.sort_unstable();
        due.into_iter().map(|(_, _, id)| id).take(limit).collect()
    }

    pub(super) fn entry(&self, id: OutboxId, now: UnixTime) -> Option<SealedEntry> {
        let (_, entry) = self.pending.get(&id)?;
        let head = self.lanes.get(&entry.lane)?.values().next()?;
        (*head == id && entry.not_before <= now).then(|| entry.clone())
    }

    pub(super) fn dead_letters(&self, window: Window) -> Vec<SealedLetter> {
        page(&self.dead, window)
            .into_iter()
            .take(window.limit)
            .cloned()
            .collect()
    }

    pub(super) fn backlog(&self) -> Backlog {
        Backlog {
            pending: self.pending.len() as u64,
            dead: self.dead.len() as u64,
            oldest: self.heads().map(|(_, entry)| entry.created).min(),
        }
    }

    pub(super) fn purge(&mut self, now: UnixTime, limit: usize) -> usize {
        let before = now.minus(DEAD_LETTER_SECONDS);
        let old: Vec<u64> = self
            .dead
            .iter()
            .filter(|(_, letter)| letter.buried < before)
            .map(|(seq, _)| *seq)
            .take(limit)
            .collect();
        for seq in &old {
            self.dead.remove(seq);
        }
        old.len()
    }

    /// Removes entries and dead letters of a tenant, at most `limit` of each.
    pub(super) fn erase(&mut self, tenant: &TenantId, limit: usize) -> usize {
        let own = |entry: &SealedEntry| entry.tenant == *tenant;
        let pending = self.pending.values().filter(|(_, entry)| own(entry));
        let pending: Vec<_> = pending.map(|(_, entry)| entry.id).take(limit).collect();
        let dead = self.dead.values().filter(|letter| own(&letter.entry));
        let dead: Vec<_> = dead.map(|letter| letter.seq).take(limit).collect();
        let removed = pending.into_iter().filter_map(|id| self.take(id)).count();
        removed + dead.iter().filter_map(|seq| self.dead.remove(seq)).count()
    }

    fn take(&mut self, id: OutboxId) -> Option<(u64, SealedEntry)> {
        let (seq, entry) = self.pending.remove(&id)?;
        if let Some(lane) = self.lanes.get_mut(&entry.lane) {
            lane.remove(&seq);
            if lane.is_empty() {
                self.lanes.remove(&entry.lane);
            }
        }
        Some((seq, entry))
    }

    fn dead_seq(&self, id: OutboxId) -> Option<u64> {
        self.dead
            .values()
            .find(|letter| letter.entry.id == id)
            .map(|letter| letter.seq)
    }
}
