//! A new file with the rows of another back end.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, params};
use selfsame_crypto::seal::SealingKey;

use super::apply::{Apply, Last};
use super::sums::Sums;
use super::{file, schema, sql};
use crate::backend::{SealedBatch, SealedEntry};
use crate::error::{Result, StoreError};
use crate::frame;
use crate::transfer::{Burial, StoredRow};

/// The number of rows in a transaction.
const PORTION: u32 = 10_000;

/// A file that is being written. Until it is finished it has no sum of its rows, so that nobody can start from it.
pub struct NewFile {
    path: PathBuf,
    connection: Connection,
    sums: Sums,
    rows: u32,
    lock: File,
}

impl NewFile {
    /// Makes the file. `key` is that of the sum over all rows.
    ///
    /// # Errors
    /// If it exists or can't be written.
    pub fn create(path: &Path, key: Arc<SealingKey>) -> Result<Self> {
        if path.exists() {
            return Err(StoreError::Storage(format!("{} exists", path.display())));
        }
        let (lock, connection) = file::open_writer(path, &schema::FORMAT)?;
        connection.execute_batch("BEGIN")?;
        Ok(Self {
            path: path.to_owned(),
            connection,
            sums: Sums::sharing(key),
            rows: 0,
            lock,
        })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn add(&mut self, row: StoredRow) -> Result<()> {
        match row {
            StoredRow::Record { .. } => self.record(row)?,
            StoredRow::Counter {
                tenant,
                counter,
                next,
            } => {
                let insert = "INSERT INTO counters (tenant, counter, next) VALUES (?1, ?2, ?3)";
                self.run(insert, params![tenant.as_str(), counter, sql(next)])?;
            }
            StoredRow::Entry { entry, seq, buried } => self.entry(&entry, seq, buried.as_ref())?,
            StoredRow::Event(event) => {
                let insert = "INSERT INTO events (seq, stamp, at, tenant, kind, id) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
                let place = &event.place;
                self.run(
                    insert,
                    params![
                        sql(event.seq),
                        sql(event.stamp),
                        sql(event.at.0),
                        place.tenant.as_str(),
                        place.kind,
                        place.id
                    ],
                )?;
            }
        }
        self.rows += 1;
        if self.rows.is_multiple_of(PORTION) {
            self.connection.execute_batch("COMMIT; BEGIN")?;
        }
        Ok(())
    }

    /// Removes the file.
    ///
    /// # Errors
    /// If it can't be removed.
    pub fn abandon(self) -> Result<()> {
        let path = self.path;
        let lock = file::beside(&path, ".lock");
        drop((self.connection, self.lock));
        for path in [
            file::beside(&path, "-wal"),
            file::beside(&path, "-shm"),
            lock,
            path,
        ] {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(error.into());
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn run(&self, statement: &str, values: impl rusqlite::Params) -> Result<()> {
        self.connection.prepare_cached(statement)?.execute(values)?;
        Ok(())
    }

    fn record(&self, row: StoredRow) -> Result<()> {
        let StoredRow::Record {
            place,
            seq,
            version,
            expires,
            tags,
            value,
        } = row
        else {
            return Ok(());
        };
        let insert = "INSERT INTO records (seq, tenant, kind, id, version, expires, tags, value) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let expires = expires.map(|at| sql(at.0));
        self.run(
            insert,
            params![
                sql(seq),
                place.tenant.as_str(),
                place.kind,
                place.id,
                sql(version),
                expires,
                tags,
                value
            ],
        )?;
        for tag in frame::split(&tags).ok_or(StoreError::Tampered("list of tags"))? {
            self.run(
                "INSERT INTO tags (tag, seq) VALUES (?1, ?2)",
                params![tag, sql(seq)],
            )?;
        }
        Ok(())
    }

    fn entry(&self, entry: &SealedEntry, seq: u64, buried: Option<&Burial>) -> Result<()> {
        let insert = "INSERT INTO outbox (id, seq, tenant, lane, head, not_before, attempts, created, buried, reason, sealed)
            VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, ?7, ?8, ?9, ?10)";
        self.run(
            insert,
            params![
                sql(entry.id.0),
                sql(seq),
                entry.tenant.as_str(),
                entry.lane,
                sql(entry.not_before.0),
                entry.attempts,
                sql(entry.created.0),
                buried.map(|buried| sql(buried.at.0)),
                buried.map(|buried| &buried.reason),
                entry.sealed
            ],
        )
    }

    /// Sums the rows, counts as many commits as the other back end has, and applies `mark`.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn finish(mut self, generation: u64, mark: SealedBatch) -> Result<()> {
        let heads = "UPDATE outbox SET head = 1 WHERE id IN (SELECT id FROM outbox AS o WHERE buried IS NULL
            AND NOT EXISTS (SELECT 1 FROM outbox AS p WHERE p.lane = o.lane AND p.buried IS NULL AND p.seq < o.seq))";
        self.run(heads, [])?;
        self.connection.execute_batch("COMMIT")?;
        self.sums.begin_anew(&mut self.connection)?;
        self.sums.keep(&self.connection)?;
        let mut last = Last::read(&self.connection)?;
        let transaction = self.connection.transaction()?;
        transaction.execute("UPDATE totals SET generation = ?1", [sql(generation)])?;
        Apply::new(&transaction, &mut last, mark.now).write(mark.writes)?;
        Sums::seal(&transaction)?;
        transaction.commit()?;
        // A single file, without a log beside it.
        self.connection
            .pragma_update(None, "journal_mode", "DELETE")?;
        let lock = file::beside(&self.path, ".lock");
        drop((self.connection, self.lock));
        Ok(std::fs::remove_file(lock)?)
    }
}
