//! Executes the writes of a batch in SQL.

mod erase;
mod events;
mod outbox;

use rusqlite::{Connection, OptionalExtension, params};
use selfsame_crypto::frame;
use selfsame_crypto::time::UnixTime;

use super::{schema, sql};
use crate::backend::{
    BatchOutcome, DEAD_LETTER_SECONDS, KEY_KIND, LIST_KIND, Place, SealedBatch, Write,
};
use crate::error::{Result, StoreError};
use crate::record::Expect;
use crate::tenant::TenantId;

/// Writes batches in a transaction opened by the caller.
///
/// The caller undoes the whole batch if one of its statements fails. The statements on summed tables therefore say `OR
/// FAIL`: SQLite then keeps no copy of each changed page for undoing that statement alone.
pub(super) struct Apply<'a> {
    connection: &'a Connection,
    now: i64,
    last: &'a mut Last,
}

/// The last sequence numbers assigned. They are kept in memory, as there is only one writer.
#[derive(Debug)]
pub(super) struct Last {
    record: i64,
    outbox: i64,
}

impl Last {
    pub(super) fn read(connection: &Connection) -> Result<Self> {
        let last = |table| {
            connection.query_row(
                &format!("SELECT coalesce(max(seq), 0) FROM {table}"),
                [],
                |row| row.get(0),
            )
        };
        Ok(Self {
            record: last("records")?,
            outbox: last("outbox")?,
        })
    }
}

struct Existing {
    seq: i64,
    version: i64,
    expires: Option<i64>,
    tags: Vec<u8>,
}

impl<'a> Apply<'a> {
    pub(super) fn new(connection: &'a Connection, last: &'a mut Last, now: UnixTime) -> Self {
        Self {
            connection,
            now: sql(now.0),
            last,
        }
    }

    /// Checks all conditions of the batch; writes nothing.
    pub(super) fn judge(&self, batch: &SealedBatch) -> Result<()> {
        for write in &batch.writes {
            match write {
                Write::Expect(place, expect) => self.expect(place, *expect)?,
                Write::Settle(id) | Write::Retry(id, _) | Write::Bury(id, _) => {
                    self.judge_entry(*id, false)?
                }
                Write::Replay(id) => self.judge_entry(*id, true)?,
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn write(&mut self, writes: Vec<Write>) -> Result<BatchOutcome> {
        let mut outcome = BatchOutcome::default();
        for write in writes {
            match write {
                Write::Expect(..) => {}
                Write::Put { .. } => self.put(write)?,
                Write::Update {
                    place,
                    version,
                    value,
                } if [KEY_KIND, LIST_KIND].contains(&place.kind.as_str()) => {
                    // What was wrapped under a former master key is overwritten.
                    self.overwriting(|apply| apply.update(&place, version, &value))?;
                }
                Write::Update {
                    place,
                    version,
                    value,
                } => self.update(&place, version, &value)?,
                Write::Delete(place) => {
                    if let Some(existing) = self.existing(&place)? {
                        self.remove(existing.seq, &existing.tags)?;
                    }
                }
                Write::Event(place, stamp) => self.tell(&place, stamp)?,
                Write::Enqueue(entry) => {
                    if self.enqueue(&entry)? {
                        outcome.heads.push(entry.id);
                    }
                }
                Write::Settle(id) => self.settle(id)?,
                Write::Retry(id, not_before) => self.retry(id, not_before)?,
                Write::Bury(id, reason) => self.bury(id, &reason)?,
                Write::Replay(id) => self.replay(id)?,
                Write::Reserve(tenant, counter, count) => outcome
                    .reserved
                    .push(self.reserve(&tenant, &counter, count)?),
                Write::Leap(by) => {
                    self.run("UPDATE OR FAIL counters SET next = next + ?1", [sql(by)])?;
                    self.run("UPDATE totals SET generation = generation + ?1", [sql(by)])?;
                }
                Write::Purge(limit) => outcome.purged += self.purge(limit)?,
                Write::Erase {
                    tenant,
                    keep,
                    limit,
                } => outcome.purged += self.erase(&tenant, keep.as_deref(), limit)?,
            }
        }
        Ok(outcome)
    }

    fn run(&self, statement: &str, values: impl rusqlite::Params) -> Result<usize> {
        Ok(self.connection.prepare_cached(statement)?.execute(values)?)
    }

    /// Does something with the bytes of what it removes overwritten.
    fn overwriting<T>(&self, remove: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        let overwrite = |is| self.connection.pragma_update(None, "secure_delete", is);
        overwrite(true)?;
        let removed = remove(self);
        overwrite(false)?;
        removed
    }

    fn existing(&self, place: &Place) -> Result<Option<Existing>> {
        let query = "SELECT seq, version, expires, tags FROM records WHERE tenant = ?1 AND kind = ?2 AND id = ?3";
        let values = params![place.tenant.as_str(), place.kind, place.id];
        let mut statement = self.connection.prepare_cached(query)?;
        let found = statement.query_row(values, |row| {
            Ok(Existing {
                seq: row.get(0)?,
                version: row.get(1)?,
                expires: row.get(2)?,
                tags: row.get(3)?,
            })
        });
        Ok(found.optional()?)
    }

    fn expired(&self, expires: Option<i64>) -> bool {
        expires.is_some_and(|at| at <= self.now)
    }

    fn expect(&self, place: &Place, expect: Expect) -> Result<()> {
        let live = self
            .existing(place)?
            .filter(|existing| !self.expired(existing.expires));
        let holds = match expect {
            Expect::Absent => live.is_none(),
            Expect::Version(version) => live.is_some_and(|live| live.version == version as i64),
        };
        if holds {
            Ok(())
        } else {
            Err(StoreError::conflict(&place.kind, &place.id))
        }
    }

    fn put(&mut self, write: Write) -> Result<()> {
        let Write::Put {
            place,
            version,
            value,
            tags,
            expires,
        } = write
        else {
            return Ok(());
        };
        let packed = frame::join(&tags.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let expires = expires.map(|at| sql(at.0));
        let mut existing = self.existing(&place)?;
        if let Some(gone) =
            existing.take_if(|existing| existing.expires.is_some_and(|at| at <= self.now))
        {
            self.remove(gone.seq, &gone.tags)?;
        }
        if let Some(old) = existing {
            let update =
                "UPDATE OR FAIL records SET version = ?2, tags = ?3, value = ?4 WHERE seq = ?1";
            self.run(update, params![old.seq, version as i64, packed, value])?;
            // SQLite writes the index of a column that is named, even where its value stays.
            if old.expires != expires {
                let update = "UPDATE OR FAIL records SET expires = ?2 WHERE seq = ?1";
                self.run(update, params![old.seq, expires])?;
            }
            if old.tags != packed {
                self.untag(old.seq, &old.tags)?;
                self.tag(old.seq, &tags)?;
            }
            return Ok(());
        }
        self.last.record += 1;
        let seq = self.last.record;
        let insert = "INSERT OR FAIL INTO records (seq, tenant, kind, id, version, expires, tags, value) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let Place { tenant, kind, id } = &place;
        let tenant = tenant.as_str();
        let values = params![
            seq,
            tenant,
            kind,
            id,
            version as i64,
            expires,
            packed,
            value
        ];
        self.run(insert, values)?;
        self.tag(seq, &tags)
    }

    fn update(&self, place: &Place, version: u64, value: &[u8]) -> Result<()> {
        let update = "UPDATE OR FAIL records SET version = ?4, value = ?5 WHERE tenant = ?1 AND kind = ?2 AND id = ?3";
        let Place { tenant, kind, id } = place;
        let values = params![tenant.as_str(), kind, id, version as i64, value];
        self.run(update, values).map(drop)
    }

    fn remove(&self, seq: i64, tags: &[u8]) -> Result<()> {
        self.untag(seq, tags)?;
        self.run("DELETE FROM records WHERE seq = ?1", [seq])
            .map(drop)
    }

    fn tag(&self, seq: i64, tags: &[Vec<u8>]) -> Result<()> {
        tags.iter().try_for_each(|tag| {
            self.run(
                "INSERT INTO tags (tag, seq) VALUES (?1, ?2)",
                params![tag, seq],
            )
            .map(drop)
        })
    }

    fn untag(&self, seq: i64, packed: &[u8]) -> Result<()> {
        for tag in frame::split(packed).ok_or(StoreError::Tampered("list of tags"))? {
            self.run(
                "DELETE FROM tags WHERE tag = ?1 AND seq = ?2",
                params![tag, seq],
            )?;
        }
        Ok(())
    }

    fn reserve(
        &self,
        tenant: &TenantId,
        counter: &str,
        count: u64,
    ) -> Result<std::ops::Range<u64>> {
        let raise = "INSERT OR FAIL INTO counters (tenant, counter, next) VALUES (?1, ?2, ?3)
            ON CONFLICT DO UPDATE SET next = next + ?3 RETURNING next";
        let values = params![tenant.as_str(), counter, sql(count)];
        let next: i64 = self
            .connection
            .prepare_cached(raise)?
            .query_row(values, |row| row.get(0))?;
        let next = next.cast_unsigned();
        Ok(next.saturating_sub(count)..next)
    }

    fn purge(&self, limit: usize) -> Result<u64> {
        let limit = sql(limit as u64);
        let mut statement = self.connection.prepare_cached(schema::EXPIRED)?;
        let expired =
            statement.query_map([self.now, limit], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let expired = expired.collect::<rusqlite::Result<Vec<(i64, Vec<u8>)>>>()?;
        for (seq, tags) in &expired {
            self.remove(*seq, tags)?;
        }
        let letters =
            "DELETE FROM outbox WHERE id IN (SELECT id FROM outbox WHERE buried < ?1 LIMIT ?2)";
        let buried_before = self.now.saturating_sub(sql(DEAD_LETTER_SECONDS));
        let letters = self.run(letters, [buried_before, limit])?;
        Ok((expired.len() + letters + self.purge_events(limit)?) as u64)
    }
}
