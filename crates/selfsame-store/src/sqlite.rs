//! The embedded back end: SQLite with a write-ahead log, one writer, and readers beside it.

mod apply;
pub(crate) mod checkpoint;
pub(crate) mod file;
pub(crate) mod offline;
mod page_cache;
pub(crate) mod readers;
mod schema;
mod sums;
mod writer;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;

use crate::backend::{
    Backend, Backlog, BatchOutcome, DEAD_LETTER_SECONDS, EVENT_SECONDS, OutboxId, Place,
    SealedBatch, SealedEntry, SealedLetter, SealedRecord, StoredEvent, Weight,
};
use crate::error::{Result, StoreError};
use crate::meter::Meter;
use crate::record::Window;
pub(crate) use crate::record::sql;
use crate::tenant::TenantId;

use readers::Readers;
use sums::Sums;
use writer::Writer;

/// Keeps everything in one file, which only one process may have open.
pub struct Sqlite {
    path: PathBuf,
    writer: Writer,
    readers: Readers,
    meter: Arc<Meter>,
    // Last field, so that the lock is released after all connections are closed.
    _lock: File,
}

impl Sqlite {
    /// Opens the file. Creates it if it does not exist.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (lock, connection) = file::open_writer(path, &schema::FORMAT)?;
        let meter = Arc::new(Meter::default());
        let readers = Readers::open(path)?;
        let writer = Writer::start(path, connection, meter.clone())?;
        Ok(Self {
            path: path.to_owned(),
            writer,
            readers,
            meter,
            _lock: lock,
        })
    }

    /// Closes the file, and leaves it complete on its own, without a log or a lock beside it.
    pub fn close(self) -> Result<()> {
        let path = self.path.clone();
        drop(self);
        Connection::open(&path)?.pragma_update(None, "journal_mode", "DELETE")?;
        Ok(std::fs::remove_file(file::beside(&path, ".lock"))?)
    }

    /// Checks a file that is not being written for damage. Refuses files of another kind or layout.
    pub fn check(path: impl AsRef<Path>) -> Result<()> {
        file::check(path.as_ref(), &schema::FORMAT)
    }
}

impl Sqlite {
    /// Reads on the calling thread: with the writer's own connection while it is idle, since that one need not check
    /// the log for writes of others since its last read; otherwise with a reader's connection.
    fn now<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        match self.writer.resting() {
            Some(resting) => read(resting.connection()),
            None => {
                self.writer.publish();
                self.readers.now(read)
            }
        }
    }

    /// Reads `rows` rows at most: on the calling thread if they are few, otherwise in the blocking pool.
    async fn rows<T, R>(&self, rows: usize, read: R) -> Result<T>
    where
        T: Send + 'static,
        R: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        if rows <= readers::SHORT {
            return self.now(read);
        }
        self.writer.publish();
        self.readers.long(read).await
    }
}

fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<UnixTime> {
    Ok(UnixTime(row.get::<_, i64>(column)?.cast_unsigned()))
}

fn tenant(row: &Row<'_>, column: usize) -> rusqlite::Result<TenantId> {
    let name: String = row.get(column)?;
    let kind = rusqlite::types::Type::Text;
    TenantId::try_from(name)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, kind, Box::new(error)))
}

/// The columns `tenant, kind, id`, from `first` on.
fn place(row: &Row<'_>, first: usize) -> rusqlite::Result<Place> {
    Ok(Place {
        tenant: tenant(row, first)?,
        kind: row.get(first + 1)?,
        id: row.get(first + 2)?,
    })
}

fn record(row: &Row<'_>) -> rusqlite::Result<SealedRecord> {
    let expires = row
        .get::<_, Option<i64>>(3)?
        .map(|at| UnixTime(at.cast_unsigned()));
    let (seq, version) = (
        row.get::<_, i64>(1)?.cast_unsigned(),
        row.get::<_, i64>(2)?.cast_unsigned(),
    );
    Ok(SealedRecord {
        id: row.get(0)?,
        seq,
        version,
        expires,
        value: row.get(4)?,
    })
}

fn entry(row: &Row<'_>) -> rusqlite::Result<SealedEntry> {
    Ok(SealedEntry {
        id: OutboxId(row.get::<_, i64>(0)?.cast_unsigned()),
        tenant: tenant(row, 1)?,
        lane: row.get(2)?,
        not_before: time(row, 3)?,
        attempts: row.get(4)?,
        created: time(row, 5)?,
        sealed: row.get(6)?,
    })
}

fn letter(row: &Row<'_>) -> rusqlite::Result<SealedLetter> {
    let seq = row.get::<_, i64>(7)?.cast_unsigned();
    Ok(SealedLetter {
        entry: entry(row)?,
        seq,
        reason: row.get(8)?,
        buried: time(row, 9)?,
    })
}

fn event(row: &Row<'_>) -> rusqlite::Result<StoredEvent> {
    Ok(StoredEvent {
        place: place(row, 3)?,
        at: time(row, 2)?,
        seq: row.get::<_, i64>(0)?.cast_unsigned(),
        stamp: row.get::<_, i64>(1)?.cast_unsigned(),
    })
}

type Map<T> = fn(&Row<'_>) -> rusqlite::Result<T>;

fn all<T>(
    connection: &Connection,
    query: &str,
    values: impl Params,
    map: Map<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare_cached(query)?;
    let rows = statement.query_map(values, map)?;
    rows.collect::<rusqlite::Result<_>>()
        .map_err(StoreError::from)
}

#[async_trait]
impl Backend for Sqlite {
    async fn read(&self, place: &Place, now: UnixTime) -> Result<Option<SealedRecord>> {
        self.now(|connection| {
            let values = params![place.tenant.as_str(), place.kind, place.id, sql(now.0)];
            Ok(connection
                .prepare_cached(schema::READ)?
                .query_row(values, record)
                .optional()?)
        })
    }

    async fn version(&self, place: &Place, now: UnixTime) -> Result<Option<u64>> {
        self.now(|connection| {
            let values = params![place.tenant.as_str(), place.kind, place.id, sql(now.0)];
            let version = connection
                .prepare_cached(schema::VERSION)?
                .query_row(values, |row| row.get::<_, i64>(0))
                .optional()?;
            Ok(version.map(i64::cast_unsigned))
        })
    }

    async fn find(&self, tag: &[u8], window: Window, now: UnixTime) -> Result<Vec<SealedRecord>> {
        let ((query, from), tag) = (window.directed(schema::FIND), tag.to_vec());
        let read = move |connection: &Connection| {
            all(
                connection,
                query,
                params![tag, from, sql(now.0), sql(window.limit as u64)],
                record,
            )
        };
        self.rows(window.limit, read).await
    }

    async fn list(
        &self,
        tenant: &TenantId,
        kind: &str,
        window: Window,
        now: UnixTime,
    ) -> Result<Vec<SealedRecord>> {
        let ((query, from), tenant, kind) = (
            window.directed(schema::LIST),
            tenant.clone(),
            kind.to_owned(),
        );
        let read = move |connection: &Connection| {
            let values = params![
                tenant.as_str(),
                kind,
                from,
                sql(now.0),
                sql(window.limit as u64)
            ];
            all(connection, query, values, record)
        };
        self.rows(window.limit, read).await
    }

    async fn weight(&self, tenant: &TenantId, kind: &str, most: u64) -> Result<Weight> {
        let (tenant, kind) = (tenant.clone(), kind.to_owned());
        let read = move |connection: &Connection| {
            let mut query = connection.prepare_cached(schema::WEIGHT)?;
            let (records, bytes): (i64, i64) = query
                .query_row(params![tenant.as_str(), kind, sql(most)], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })?;
            Ok(Weight {
                records: u64::try_from(records).unwrap_or_default(),
                bytes: u64::try_from(bytes).unwrap_or_default(),
            })
        };
        // Reads no values, and at most a limited number of records.
        self.now(read)
    }

    async fn count(&self, tenant: &TenantId, kind: &str, most: u64) -> Result<u64> {
        let (tenant, kind) = (tenant.clone(), kind.to_owned());
        self.now(move |connection: &Connection| {
            let mut query = connection.prepare_cached(schema::COUNT)?;
            let values = params![tenant.as_str(), kind, sql(most)];
            let counted: i64 = query.query_row(values, |row| row.get(0))?;
            Ok(u64::try_from(counted).unwrap_or_default())
        })
    }

    async fn keys(&self, after: &str, limit: usize) -> Result<Vec<(TenantId, SealedRecord)>> {
        let (after, limit) = (after.to_owned(), sql(limit as u64));
        let key: Map<(TenantId, SealedRecord)> = |row| Ok((tenant(row, 5)?, record(row)?));
        self.rows(usize::MAX, move |connection| {
            all(connection, schema::KEYS, params![after, limit], key)
        })
        .await
    }

    async fn guard(&self, key: SealingKey, kept: bool) -> Result<()> {
        self.writer.guard(Sums::new(&key), kept).await
    }

    fn generation(&self) -> Option<u64> {
        self.writer.generation()
    }

    async fn commit(&self, batch: SealedBatch) -> Result<BatchOutcome> {
        self.writer.commit(batch).await
    }

    async fn due(&self, now: UnixTime, limit: usize) -> Result<Vec<OutboxId>> {
        let values = [sql(now.0), sql(limit as u64)];
        let id: Map<OutboxId> = |row| Ok(OutboxId(row.get::<_, i64>(0)?.cast_unsigned()));
        self.rows(limit, move |connection| {
            all(connection, schema::DUE, values, id)
        })
        .await
    }

    async fn entry(&self, id: OutboxId, now: UnixTime) -> Result<Option<SealedEntry>> {
        self.now(|connection| {
            let mut statement = connection.prepare_cached(schema::ENTRY)?;
            Ok(statement
                .query_row([id.0 as i64, sql(now.0)], entry)
                .optional()?)
        })
    }

    async fn dead_letters(&self, window: Window) -> Result<Vec<SealedLetter>> {
        let (query, from) = window.directed(schema::LETTERS);
        let values = [from, sql(window.limit as u64)];
        self.rows(window.limit, move |connection| {
            all(connection, query, values, letter)
        })
        .await
    }

    async fn backlog(&self) -> Result<Backlog> {
        let count = |connection: &Connection| {
            let mut statement = connection.prepare_cached(schema::BACKLOG)?;
            let found = statement.query_row([], |row| {
                let oldest: Option<i64> = row.get(2)?;
                Ok(Backlog {
                    pending: row.get::<_, i64>(0)?.cast_unsigned(),
                    dead: row.get::<_, i64>(1)?.cast_unsigned(),
                    oldest: oldest.map(|at| UnixTime(at.cast_unsigned())),
                })
            });
            Ok(found?)
        };
        self.rows(usize::MAX, count).await
    }

    async fn events(&self, window: Window) -> Result<Vec<StoredEvent>> {
        let (query, from) = window.directed(schema::EVENTS_AFTER);
        let values = [from, sql(window.limit as u64)];
        self.rows(window.limit, move |connection| {
            all(connection, query, values, event)
        })
        .await
    }

    async fn has_expired(&self, now: UnixTime) -> Result<bool> {
        let before = |age| sql(now.minus(age).0);
        let values = [
            sql(now.0),
            before(DEAD_LETTER_SECONDS),
            before(EVENT_SECONDS),
        ];
        self.now(|connection| {
            let mut statement = connection.prepare_cached(schema::HAS_EXPIRED)?;
            let expired: Option<bool> = statement.query_row(values, |row| row.get(0))?;
            Ok(expired.unwrap_or(false))
        })
    }

    async fn copy(&self, to: &Path, mark: SealedBatch) -> Result<()> {
        self.writer.publish();
        let (to, sums) = (to.to_owned(), self.writer.sums());
        file::copy(self.path.clone(), to, &schema::FORMAT, move |connection| {
            let mut last = apply::Last::read(connection)?;
            let sum = sums.map(|sums| sums.keep(connection)).transpose()?;
            let transaction = connection.transaction()?;
            apply::Apply::new(&transaction, &mut last, mark.now).write(mark.writes)?;
            if let Some(sum) = &sum {
                sum.seal(&transaction)?;
            }
            Ok(transaction.commit()?)
        })
        .await
    }

    async fn fold(&self) -> Result<()> {
        self.writer.publish();
        checkpoint::fold(self.path.clone()).await
    }

    fn meter(&self) -> &Meter {
        &self.meter
    }
}
