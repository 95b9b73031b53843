//! The outbox in SQL. `head` marks the first pending entry of a lane, so that one index finds the due entries.
//!
//! An entry's fields are read before it is changed: for RETURNING, SQLite makes a temporary table for each statement,
//! which costs several times a look-up.

use rusqlite::{OptionalExtension, params};
use selfsame_crypto::time::UnixTime;

use super::{Apply, sql};
use crate::backend::{OutboxId, SealedEntry};
use crate::error::{Result, StoreError};

impl Apply<'_> {
    pub(super) fn judge_entry(&self, id: OutboxId, dead: bool) -> Result<()> {
        let query = "SELECT buried IS NOT NULL FROM outbox WHERE id = ?1";
        let mut statement = self.connection.prepare_cached(query)?;
        let found: Option<bool> = statement
            .query_row([id.0 as i64], |row| row.get(0))
            .optional()?;
        if found == Some(dead) {
            Ok(())
        } else {
            Err(StoreError::conflict("outbox", &id.to_string()))
        }
    }

    /// Enqueues an entry. Returns whether it is first in its lane.
    pub(super) fn enqueue(&mut self, entry: &SealedEntry) -> Result<bool> {
        self.last.outbox += 1;
        let first = "SELECT NOT EXISTS (SELECT 1 FROM outbox WHERE lane = ?1 AND buried IS NULL)";
        let head: bool = self
            .connection
            .prepare_cached(first)?
            .query_row([&entry.lane], |row| row.get(0))?;
        let insert = "INSERT OR FAIL INTO outbox (seq, id, tenant, lane, head, not_before, attempts, created, sealed)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let (not_before, created) = (sql(entry.not_before.0), sql(entry.created.0));
        let id = entry.id.0 as i64;
        let values = params![
            self.last.outbox,
            id,
            entry.tenant.as_str(),
            entry.lane,
            head,
            not_before,
            entry.attempts,
            created,
            entry.sealed
        ];
        self.run(insert, values)?;
        Ok(head)
    }

    pub(super) fn settle(&self, id: OutboxId) -> Result<()> {
        let lane = self.lane(id)?;
        self.run("DELETE FROM outbox WHERE id = ?1", [id.0 as i64])?;
        self.promote(&lane)
    }

    pub(super) fn retry(&self, id: OutboxId, not_before: UnixTime) -> Result<()> {
        let update =
            "UPDATE OR FAIL outbox SET attempts = attempts + 1, not_before = ?2 WHERE id = ?1";
        self.run(update, [id.0 as i64, sql(not_before.0)]).map(drop)
    }

    pub(super) fn bury(&self, id: OutboxId, reason: &str) -> Result<()> {
        let lane = self.lane(id)?;
        let update = "UPDATE OR FAIL outbox SET head = 0, buried = ?2, reason = ?3 WHERE id = ?1";
        self.run(update, params![id.0 as i64, self.now, reason])?;
        self.promote(&lane)
    }

    pub(super) fn replay(&mut self, id: OutboxId) -> Result<()> {
        self.last.outbox += 1;
        let lane = self.lane(id)?;
        let update = "UPDATE OR FAIL outbox SET seq = ?2, not_before = ?3, attempts = 0, buried = NULL, reason = NULL
            WHERE id = ?1";
        self.run(update, params![id.0 as i64, self.last.outbox, self.now])?;
        self.promote(&lane)
    }

    fn lane(&self, id: OutboxId) -> Result<Vec<u8>> {
        let query = "SELECT lane FROM outbox WHERE id = ?1";
        let mut statement = self.connection.prepare_cached(query)?;
        Ok(statement.query_row([id.0 as i64], |row| row.get(0))?)
    }

    fn promote(&self, lane: &[u8]) -> Result<()> {
        let update = "UPDATE OR FAIL outbox SET head = 1
            WHERE id = (SELECT id FROM outbox WHERE lane = ?1 AND buried IS NULL ORDER BY seq LIMIT 1) AND head = 0";
        self.run(update, [lane]).map(drop)
    }
}
