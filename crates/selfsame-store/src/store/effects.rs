//! The outbox as the front shows it: what is due, leased to one at a time.

use selfsame_crypto::time::UnixTime;

use super::Store;
use crate::backend::Backlog;
use crate::backend::OutboxId;
use crate::error::{Result, StoreError};
use crate::outbox::{self, DeadLetter, Leased};
use crate::record::Page;

impl Store {
    /// Effects to be carried out: due, first of their lane, and not leased to somebody else in this process.
    pub async fn due(&self, now: UnixTime, limit: usize) -> Result<Vec<Leased>> {
        let ids = self
            .0
            .backend
            .due(now, limit.saturating_add(self.0.leases.held()))
            .await?;
        let mut due = Vec::new();
        for id in ids {
            if due.len() >= limit {
                break;
            }
            due.extend(self.lease_at(id, now).await?);
        }
        Ok(due)
    }

    /// The effect, to be carried out at once; nothing if another has it, or it is not due or not first of its lane.
    pub async fn lease(&self, id: OutboxId) -> Result<Option<Leased>> {
        self.lease_at(id, self.now()).await
    }

    /// The same for an effect that its writer carries out himself, whose time need not have come: a time in the
    /// near future keeps everybody else from taking it in between.
    pub async fn lease_early(&self, id: OutboxId) -> Result<Option<Leased>> {
        self.lease_at(id, UnixTime(u64::MAX)).await
    }

    /// Effects that were given up.
    pub async fn dead_letters(&self, page: &Page) -> Result<Vec<DeadLetter>> {
        let mut letters = Vec::new();
        for letter in self.0.backend.dead_letters(page.window()?).await? {
            let keys = self
                .keys(&letter.entry.tenant)
                .await?
                .ok_or(StoreError::Tampered("key"))?;
            letters.push(outbox::open_letter(&keys, letter)?);
        }
        Ok(letters)
    }

    /// How much waits in the outbox.
    pub async fn backlog(&self) -> Result<Backlog> {
        self.0.backend.backlog().await
    }

    async fn lease_at(&self, id: OutboxId, now: UnixTime) -> Result<Option<Leased>> {
        // Claimed first, read second: an entry settled by its last holder is then seen to be gone.
        let Some(claim) = self.0.leases.claim(id) else {
            return Ok(None);
        };
        let sealed = match self
            .0
            .fresh
            .take(id)
            .filter(|entry| entry.not_before <= now)
        {
            Some(fresh) => fresh,
            None => match self.0.backend.entry(id, now).await? {
                Some(sealed) => sealed,
                None => return Ok(None),
            },
        };
        let keys = self
            .keys(&sealed.tenant)
            .await?
            .ok_or(StoreError::Tampered("key"))?;
        Ok(Some(Leased::new(outbox::open(&keys, &sealed)?, claim)))
    }
}
