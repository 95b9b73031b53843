//! The outbox interface: due calls, each leased to one worker at a time.

use selfsame_crypto::time::UnixTime;

use super::Store;
use crate::backend::{Backlog, OutboxId};
use crate::error::Result;
use crate::outbox::{self, DeadLetter, Leased};
use crate::record::Page;

impl Store {
    /// Calls that are due, first in their lanes, and not leased here. [`Store::hold`] takes one before it is executed.
    pub async fn due(&self, now: UnixTime, limit: usize) -> Result<Vec<Leased>> {
        let looked_at = limit.saturating_add(self.0.leases.held());
        let ids = self.0.backend.due(now, looked_at).await?;
        let mut due = Vec::new();
        for id in ids {
            if due.len() >= limit {
                break;
            }
            due.extend(self.lease_at(id, now).await?);
        }
        Ok(due)
    }

    /// Leases a call for its own writer, even before its time; `None` if it is leased or not first in its lane. A time
    /// in the near future keeps other workers from taking it before the writer does.
    pub async fn lease_early(&self, id: OutboxId) -> Result<Option<Leased>> {
        let Some(leased) = self.lease_at(id, UnixTime(u64::MAX)).await? else {
            return Ok(None);
        };
        Ok(self.hold(&leased).await?.then_some(leased))
    }

    /// Whether no worker of another process executes the call; from now on none does, while this process lives. One
    /// that was taken for dead and comes back can settle nothing: its commit is a `Conflict`.
    pub async fn hold(&self, leased: &Leased) -> Result<bool> {
        Ok(leased.is_ours || self.0.backend.hold(leased.id).await?)
    }

    /// The dead letters.
    pub async fn dead_letters(&self, page: &Page) -> Result<Vec<DeadLetter>> {
        let mut letters = Vec::new();
        for letter in self.0.backend.dead_letters(page.window()?).await? {
            // A tenant that is being destroyed has no key, so its letters can't be opened.
            if let Some(keys) = self.keys(&letter.entry.tenant).await? {
                letters.push(outbox::open_letter(&keys, letter)?);
            }
        }
        Ok(letters)
    }

    /// What waits in the outbox.
    pub async fn backlog(&self) -> Result<Backlog> {
        self.0.backend.backlog().await
    }

    async fn lease_at(&self, id: OutboxId, now: UnixTime) -> Result<Option<Leased>> {
        // Claims first, then reads: an entry settled by its last holder is then seen to be gone.
        let Some(claim) = self.0.leases.claim(id) else {
            return Ok(None);
        };
        let fresh = self.0.fresh.take(id);
        // One that was written longer ago may be another process's by now.
        let is_new = |at: UnixTime| self.now().seconds_since(at) < 5;
        let fresh = fresh.filter(|entry| entry.not_before <= now && is_new(entry.created));
        let is_ours = fresh.is_some();
        let sealed = match fresh {
            Some(fresh) => fresh,
            None => match self.0.backend.entry(id, now).await? {
                Some(sealed) => sealed,
                None => return Ok(None),
            },
        };
        // Without a key the tenant is being destroyed, and its calls with it.
        let Some(keys) = self.keys(&sealed.tenant).await? else {
            return Ok(None);
        };
        Ok(Some(Leased {
            entry: outbox::open(&keys, &sealed)?,
            is_ours,
            _claim: claim,
        }))
    }
}
