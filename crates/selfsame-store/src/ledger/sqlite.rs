//! A ledger in SQLite, on a file of its own.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::{Block, Entry, Head, KEPT_HEIGHTS, LedgerStore, MAX_ENTRIES, Placed, TreeChanges};
use crate::error::{Result, StoreError};
use crate::meter::{Meter, timed};
use crate::sqlite::file::{self, Format};
use crate::sqlite::readers::Readers;
use crate::sqlite::sql;

const FORMAT: Format = Format {
    application: 0x5353_6c67,
    version: 2,
    schema: SCHEMA,
};

const SCHEMA: &str = "
CREATE TABLE blocks (
    height INTEGER PRIMARY KEY,
    size INTEGER NOT NULL,
    head BLOB NOT NULL
) STRICT;
CREATE TABLE entries (
    seq INTEGER PRIMARY KEY,
    height INTEGER NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    bytes BLOB NOT NULL
) STRICT;
CREATE TABLE state (
    key BLOB PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE nodes (
    key BLOB PRIMARY KEY,
    node BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE stale (
    height INTEGER NOT NULL,
    key BLOB NOT NULL,
    PRIMARY KEY (height, key)
) STRICT, WITHOUT ROWID;
";

const HEAD: &str = "SELECT height, size, head FROM blocks ORDER BY height DESC LIMIT 1";

/// Keeps the ledger in one file, which one process has open at a time.
pub struct SqliteLedger {
    path: PathBuf,
    readers: Readers,
    writer: Arc<Mutex<Connection>>,
    meter: Arc<Meter>,
    // Last, so that it is given up when all connections are closed.
    _lock: File,
}

impl SqliteLedger {
    /// Opens the file, creating it if there is none.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (lock, writer) = file::open_writer(path, &FORMAT)?;
        let (readers, writer) = (Readers::open(path)?, Arc::new(Mutex::new(writer)));
        Ok(Self {
            path: path.to_owned(),
            readers,
            writer,
            meter: Arc::default(),
            _lock: lock,
        })
    }

    fn one<T>(
        &self,
        query: &str,
        key: impl rusqlite::Params,
        map: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        self.readers.now(|connection| {
            Ok(connection
                .prepare_cached(query)?
                .query_row(key, map)
                .optional()?)
        })
    }
}

#[async_trait]
impl LedgerStore for SqliteLedger {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.one("SELECT value FROM state WHERE key = ?1", [key], |row| {
            row.get(0)
        })
    }

    fn node(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.one("SELECT node FROM nodes WHERE key = ?1", [key], |row| {
            row.get(0)
        })
    }

    fn head(&self) -> Result<Option<Head>> {
        self.one(HEAD, [], head)
    }

    fn block(&self, height: u64) -> Result<Option<Vec<u8>>> {
        self.one(
            "SELECT head FROM blocks WHERE height = ?1",
            [sql(height)],
            |row| row.get(0),
        )
    }

    fn entry(&self, seq: u64) -> Result<Option<Placed>> {
        self.one(
            "SELECT seq, height, hash, bytes FROM entries WHERE seq = ?1",
            [sql(seq)],
            placed,
        )
    }

    fn entries(&self, seqs: Range<u64>) -> Result<Vec<Placed>> {
        let end = seqs.end.min(seqs.start.saturating_add(MAX_ENTRIES));
        self.readers.now(|connection| {
            let query = "SELECT seq, height, hash, bytes FROM entries WHERE seq >= ?1 AND seq < ?2 ORDER BY seq";
            let mut statement = connection.prepare_cached(query)?;
            let rows = statement.query_map([sql(seqs.start), sql(end)], placed)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    fn by_hash(&self, hash: &[u8; 32]) -> Result<Option<u64>> {
        self.one("SELECT seq FROM entries WHERE hash = ?1", [hash], |row| {
            Ok(row.get::<_, i64>(0)?.cast_unsigned())
        })
    }

    async fn append(&self, block: Block) -> Result<Head> {
        let (writer, meter) = (self.writer.clone(), self.meter.clone());
        let appending = tokio::task::spawn_blocking(move || {
            let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
            append(&mut writer, &meter, block)
        });
        appending
            .await
            .map_err(|_| StoreError::Storage("an append was cut off".to_owned()))?
    }

    fn meter(&self) -> &Meter {
        &self.meter
    }

    fn index_file(&self) -> Option<PathBuf> {
        let mut name = self.path.clone().into_os_string();
        name.push("-index");
        Some(name.into())
    }
}

fn head(row: &Row<'_>) -> rusqlite::Result<Head> {
    let (height, size) = (
        row.get::<_, i64>(0)?.cast_unsigned(),
        row.get::<_, i64>(1)?.cast_unsigned(),
    );
    Ok(Head {
        height,
        size,
        bytes: row.get(2)?,
    })
}

fn placed(row: &Row<'_>) -> rusqlite::Result<Placed> {
    let (seq, height) = (
        row.get::<_, i64>(0)?.cast_unsigned(),
        row.get::<_, i64>(1)?.cast_unsigned(),
    );
    Ok(Placed {
        seq,
        height,
        entry: Entry {
            hash: row.get(2)?,
            bytes: row.get(3)?,
        },
    })
}

fn append(writer: &mut Connection, meter: &Meter, block: Block) -> Result<Head> {
    let transaction = writer.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let (height, size) = match transaction
        .prepare_cached(HEAD)?
        .query_row([], head)
        .optional()?
    {
        Some(head) => (head.height, head.size),
        None => (0, 0),
    };
    if block.height != height + 1 {
        return Err(StoreError::conflict("ledger", "height"));
    }
    for (seq, entry) in (size + 1..).zip(&block.entries) {
        insert(&transaction, seq, block.height, entry)?;
    }
    let upsert =
        "INSERT INTO state (key, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2";
    for (key, value) in &block.writes {
        transaction.prepare_cached(upsert)?.execute([key, value])?;
    }
    change_tree(&transaction, block.height, &block.tree)?;
    let size = size + block.entries.len() as u64;
    let insert = "INSERT INTO blocks (height, size, head) VALUES (?1, ?2, ?3)";
    transaction.prepare_cached(insert)?.execute(params![
        sql(block.height),
        sql(size),
        block.head
    ])?;
    let (committed, took) = timed(|| transaction.commit());
    committed?;
    meter.record(took);
    Ok(Head {
        height: block.height,
        size,
        bytes: block.head,
    })
}

fn change_tree(transaction: &Transaction<'_>, height: u64, changes: &TreeChanges) -> Result<()> {
    let mut add = transaction.prepare_cached("INSERT INTO nodes (key, node) VALUES (?1, ?2)")?;
    for (key, node) in &changes.nodes {
        add.execute([key, node])?;
    }
    let mut mark = transaction.prepare_cached("INSERT INTO stale (height, key) VALUES (?1, ?2)")?;
    for key in &changes.stale {
        mark.execute(params![sql(height), key])?;
    }
    let last = sql(height.saturating_sub(KEPT_HEIGHTS));
    let drop = "DELETE FROM nodes WHERE key IN (SELECT key FROM stale WHERE height <= ?1)";
    transaction.prepare_cached(drop)?.execute([last])?;
    transaction
        .prepare_cached("DELETE FROM stale WHERE height <= ?1")?
        .execute([last])?;
    Ok(())
}

fn insert(transaction: &Transaction<'_>, seq: u64, height: u64, entry: &Entry) -> Result<()> {
    let insert = "INSERT INTO entries (seq, height, hash, bytes) VALUES (?1, ?2, ?3, ?4)";
    let values = params![sql(seq), sql(height), entry.hash, entry.bytes];
    match transaction.prepare_cached(insert)?.execute(values) {
        Ok(_) => Ok(()),
        Err(error)
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) =>
        {
            Err(StoreError::conflict("ledger", "entry"))
        }
        Err(error) => Err(error.into()),
    }
}
