//! A ledger in SQLite, on a file of its own.

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::{Block, Entry, Head, KEPT_HEIGHTS, LedgerStore, MAX_ENTRIES, Placed, TreeChanges};
use crate::error::{Result, StoreError};
use crate::meter::{Meter, timed};
use crate::sqlite::checkpoint::{Checkpoints, Limits};
use crate::sqlite::file::{self, Format};
use crate::sqlite::readers::Readers;
use crate::sqlite::sql;

static FORMAT: Format = Format {
    application: 0x5353_6c67,
    version: 3,
    schema: SCHEMA,
};

/// 32 MiB and 96 MiB: a page that changes in many blocks goes to the file once.
const LOG: Limits = Limits {
    every: 8_192,
    log: 24_576,
};
/// What is left of the log when it begins anew, in bytes.
const LOG_KEPT: i64 = 4 * 1_024 * 1_024;

/// Memory for pages of the file, in KiB: the upper nodes of the tree and the blocks written last stay at hand.
const CACHE_KIB: i64 = 24 * 1_024;
/// Nodes are forgotten when this part of all is to be, and so many at least: so each page they leave is written once and
/// not for each of them.
const FORGOTTEN_PART: u64 = 4;
const FORGOTTEN_AT_ONCE: u64 = 4_096;

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
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    node BLOB NOT NULL
) STRICT;
CREATE TABLE stale (
    height INTEGER NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (height, id)
) STRICT, WITHOUT ROWID;
";

const HEAD: &str = "SELECT height, size, head FROM blocks ORDER BY height DESC LIMIT 1";

/// Keeps the ledger in one file, which one process has open at a time.
pub struct SqliteLedger {
    path: PathBuf,
    readers: Readers,
    writer: Arc<Mutex<Writer>>,
    meter: Arc<Meter>,
    // Last, so that it is given up when all connections are closed.
    _lock: File,
}

/// The connection that writes, and what it has put off.
struct Writer {
    connection: Connection,
    checkpoints: Checkpoints,
    /// How many nodes there are.
    nodes: u64,
    /// How many of them became stale at a height.
    stale: BTreeMap<u64, u64>,
}

impl SqliteLedger {
    /// Opens the file, creating it if there is none.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (lock, connection) = file::open_writer(path, &FORMAT)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        connection.pragma_update(None, "journal_size_limit", LOG_KEPT)?;
        // Moving pages from the log to the file is left to another thread.
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        let writer = Writer {
            nodes: count_nodes(&connection)?,
            stale: count_stale(&connection)?,
            checkpoints: Checkpoints::start(path, LOG)?,
            connection,
        };
        Ok(Self {
            path: path.to_owned(),
            readers: Readers::open(path)?,
            writer: Arc::new(Mutex::new(writer)),
            meter: Arc::default(),
            _lock: lock,
        })
    }

    /// Looks through a file that nobody writes for damage; a file of another kind or layout is refused.
    pub fn check(path: impl AsRef<Path>) -> Result<()> {
        file::check(path.as_ref(), &FORMAT)
    }

    fn one<T>(
        &self,
        query: &str,
        key: impl rusqlite::Params,
        map: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let read = |connection: &Connection| {
            Ok(connection
                .prepare_cached(query)?
                .query_row(key, map)
                .optional()?)
        };
        // While nobody writes, the writer's connection has at hand what was written last; others first drop what they
        // know of a file that has changed.
        match self.writer.try_lock() {
            Ok(writer) if writer.connection.is_autocommit() => read(&writer.connection),
            _ => self.readers.now(read),
        }
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

    async fn copy(&self, to: &Path) -> Result<()> {
        file::copy(self.path.clone(), (to.to_owned(), &FORMAT), |_| Ok(())).await
    }

    fn meter(&self) -> &Meter {
        &self.meter
    }

    fn index_file(&self) -> Option<PathBuf> {
        Some(file::beside(&self.path, "-index"))
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

fn append(writer: &mut Writer, meter: &Meter, block: Block) -> Result<Head> {
    let connection = &mut writer.connection;
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
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
    let stale = change_tree(&transaction, block.height, &block.tree)?;
    let last = block.height.saturating_sub(KEPT_HEIGHTS);
    let over: u64 = writer.stale.range(..=last).map(|(_, count)| count).sum();
    // A block without entries comes while there is nothing else to do.
    let enough = FORGOTTEN_AT_ONCE.max(writer.nodes / FORGOTTEN_PART);
    let forgets = over >= enough || block.entries.is_empty() && over > 0;
    if forgets {
        forget(&transaction, last)?;
    }
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
    writer.stale.insert(block.height, stale);
    writer.nodes += block.tree.nodes.len() as u64;
    if forgets {
        writer.nodes = writer.nodes.saturating_sub(over);
        writer.stale = writer.stale.split_off(&last.saturating_add(1));
    }
    let pages = pages(&block, if forgets { over } else { 0 });
    writer.checkpoints.after_commit(&writer.connection, pages);
    if block.entries.is_empty() {
        writer.checkpoints.at_rest();
    }
    Ok(Head {
        height: block.height,
        size,
        bytes: block.head,
    })
}

/// Roughly how many pages a block writes.
fn pages(block: &Block, forgotten: u64) -> usize {
    let bytes: usize = block.tree.nodes.iter().map(|(_, node)| node.len()).sum();
    let forgotten = usize::try_from(forgotten).unwrap_or(usize::MAX);
    4 + block.entries.len() + block.writes.len() / 2 + bytes / 4_096 + forgotten / 2
}

/// Writes a block's nodes in the order of their keys: what stands beside each other in the tree, and is soon replaced
/// together, then stands beside each other in the file. Gives the number of those that became stale.
fn change_tree(transaction: &Transaction<'_>, height: u64, changes: &TreeChanges) -> Result<u64> {
    let mut nodes: Vec<&(Vec<u8>, Vec<u8>)> = changes.nodes.iter().collect();
    nodes.sort_unstable();
    let mut add = transaction.prepare_cached("INSERT INTO nodes (key, node) VALUES (?1, ?2)")?;
    for (key, node) in nodes {
        add.execute([key, node])?;
    }
    let mark = "INSERT INTO stale (height, id) SELECT ?1, id FROM nodes WHERE key = ?2";
    let mut mark = transaction.prepare_cached(mark)?;
    let mut stale = 0;
    for key in &changes.stale {
        stale += mark.execute(params![sql(height), key])? as u64;
    }
    Ok(stale)
}

/// Drops the nodes that became stale up to a height, in the order in which they stand in the file.
fn forget(transaction: &Transaction<'_>, last: u64) -> Result<()> {
    let drop = "DELETE FROM nodes WHERE id IN (SELECT id FROM stale WHERE height <= ?1)";
    transaction.prepare_cached(drop)?.execute([sql(last)])?;
    let drop = "DELETE FROM stale WHERE height <= ?1";
    transaction.prepare_cached(drop)?.execute([sql(last)])?;
    Ok(())
}

fn count_nodes(connection: &Connection) -> Result<u64> {
    let count = connection.query_row("SELECT count(*) FROM nodes", [], |row| row.get(0));
    Ok(i64::cast_unsigned(count?))
}

fn count_stale(connection: &Connection) -> Result<BTreeMap<u64, u64>> {
    let mut count = connection.prepare("SELECT height, count(*) FROM stale GROUP BY height")?;
    let number = |row: &Row<'_>, at| row.get::<_, i64>(at).map(i64::cast_unsigned);
    let counts = count.query_map([], |row| Ok((number(row, 0)?, number(row, 1)?)))?;
    Ok(counts.collect::<rusqlite::Result<_>>()?)
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
