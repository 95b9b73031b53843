//! A ledger in SQLite, in a file of its own.

mod nodes;
pub(crate) mod offline;
mod packed;
mod places;
mod state;
mod view;

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::{Block, Entry, Head, LedgerStore, LedgerView, MAX_ENTRIES, Placed};
use crate::error::{Result, StoreError};
use crate::meter::{Meter, timed};
use crate::sqlite::checkpoint::{self, Checkpoints, LogLimits};
use crate::sqlite::file::{self, Format};
use crate::sqlite::readers::Readers;
use crate::sqlite::sql;
use nodes::{NodeStatistics, Pace};
use places::Places;
use view::{HeldConnection, View};

static FORMAT: Format = Format {
    application: 0x5353_6c67,
    version: 5,
    former: &[],
    schema: &SCHEMA,
    shrinks: true,
};

/// 32 MiB and 96 MiB. A page that changes in many blocks is moved to the main file only once.
const LOG: LogLimits = LogLimits {
    every: 8_192,
    log: 24_576,
};
/// The size to which the log is truncated when it restarts, in bytes.
const LOG_KEPT: i64 = 4 * 1_024 * 1_024;

/// The page cache in KiB: holds the upper nodes of the tree and the blocks written last.
const CACHE_KIB: i64 = 24 * 1_024;
/// The page cache of views opened during an append, in KiB. They read each page anew after every block.
const VIEW_CACHE_KIB: i64 = 6 * 1_024;
/// The number of free pages returned to the file system at a time.
const GIVEN_BACK: u32 = 4_096;

/// Transactions are indexed by the first bytes of their hash; the remaining bytes are compared.
const SCHEMA: [&str; 4] = [
    "
CREATE TABLE blocks (
    height INTEGER PRIMARY KEY,
    size INTEGER NOT NULL,
    head BLOB NOT NULL
) STRICT;
CREATE TABLE entries (
    seq INTEGER PRIMARY KEY,
    height INTEGER NOT NULL,
    hash BLOB NOT NULL,
    bytes BLOB NOT NULL
) STRICT;
CREATE TABLE hashes (
    start INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (start, seq)
) STRICT, WITHOUT ROWID;
",
    state::SCHEMA,
    places::SCHEMA,
    nodes::SCHEMA,
];

const HEAD: &str = "SELECT height, size, head FROM blocks ORDER BY height DESC LIMIT 1";
const NODE: &str = "SELECT node FROM nodes WHERE key = ?1";
/// Written to copies only. The source may itself be a copy.
const MARK: &str = "DROP TABLE IF EXISTS copied;
    CREATE TABLE copied AS SELECT max(height) AS height FROM blocks;";
/// The generation of the store beside the ledger at the last block. Older ledgers lack this table.
const NOTED: &str = "CREATE TABLE IF NOT EXISTS noted (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    generation INTEGER NOT NULL
) STRICT";
const NOTE: &str = "INSERT INTO noted (one, generation) VALUES (1, ?1)
    ON CONFLICT DO UPDATE SET generation = ?1 WHERE generation < ?1";
const BY_HASH: &str = "SELECT hashes.seq FROM hashes JOIN entries ON entries.seq = hashes.seq
    WHERE hashes.start = ?1 AND entries.hash = ?2";

/// Keeps the ledger in one file, which only one process may have open.
pub struct SqliteLedger {
    path: PathBuf,
    readers: Readers,
    viewer: Mutex<Connection>,
    writer: Arc<Mutex<LedgerWriter>>,
    /// The number of appends in progress.
    appending: Arc<AtomicUsize>,
    /// The generation of the store beside the ledger.
    store: Arc<AtomicU64>,
    meter: Arc<Meter>,
    // Last field, so that the lock is released after all connections are closed.
    _lock: File,
}

/// The writing connection and its postponed work.
struct LedgerWriter {
    connection: Connection,
    checkpoints: Checkpoints,
    nodes: NodeStatistics,
    places: Places,
    /// Whether the last block had no entries.
    idle: bool,
    store: Arc<AtomicU64>,
}

impl SqliteLedger {
    /// Opens the file. Creates it if it does not exist.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (lock, connection) = file::open_writer(path, &FORMAT)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        connection.pragma_update(None, "journal_size_limit", LOG_KEPT)?;
        connection.execute_batch(NOTED)?;
        let store = Arc::default();
        // Another thread moves pages from the log to the main file.
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        let writer = LedgerWriter {
            nodes: NodeStatistics::count(&connection)?,
            places: Places::count(&connection)?,
            idle: false,
            store: Arc::clone(&store),
            checkpoints: Checkpoints::start(path, LOG)?,
            connection,
        };
        let viewer = file::open_reader(path)?;
        viewer.pragma_update(None, "cache_size", -VIEW_CACHE_KIB)?;
        Ok(Self {
            path: path.to_owned(),
            readers: Readers::open(path)?,
            viewer: Mutex::new(viewer),
            appending: Arc::default(),
            store,
            writer: Arc::new(Mutex::new(writer)),
            meter: Arc::default(),
            _lock: lock,
        })
    }

    /// Opens a file that is built anew and is useless unless completed. Appends do not wait for the disk. At the end
    /// the caller must fold the file and sync it.
    pub fn begin(path: impl AsRef<Path>) -> Result<Self> {
        let ledger = Self::open(path)?;
        let writer = ledger.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer
            .connection
            .pragma_update(None, "synchronous", "OFF")?;
        drop(writer);
        Ok(ledger)
    }

    /// Marks the ledger as a copy at its present height.
    pub fn mark_as_copy(&self) -> Result<()> {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(writer.connection.execute_batch(MARK)?)
    }

    /// Checks a file that is not being written for damage. Refuses files of another kind or layout.
    pub fn check(path: impl AsRef<Path>) -> Result<()> {
        file::check(path.as_ref(), &FORMAT)
    }

    fn one<T>(
        &self,
        query: &str,
        key: impl rusqlite::Params,
        map: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        self.read(|connection| {
            Ok(connection
                .prepare_cached(query)?
                .query_row(key, map)
                .optional()?)
        })
    }

    fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        // While no append runs, the writer's connection has the latest pages in its cache. Other connections must drop
        // their cache when the file has changed.
        match self.writer.try_lock() {
            Ok(writer) if writer.connection.is_autocommit() => read(&writer.connection),
            _ => self.readers.now(read),
        }
    }
}

#[async_trait]
impl LedgerStore for SqliteLedger {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.read(|connection| state::value(connection, key))
    }

    fn key(&self, place: &[u8; 32]) -> Result<Option<Vec<u8>>> {
        self.read(|connection| state::key(connection, place))
    }

    fn node(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.one(NODE, [key], |row| row.get(0))
    }

    fn view(&self) -> Result<Box<dyn LedgerView + '_>> {
        // A view may last long; it must not block a concurrent append.
        let writer = match self.appending.load(Ordering::Relaxed) {
            0 => self.writer.try_lock().ok(),
            _ => None,
        };
        let held = match writer.filter(|writer| writer.connection.is_autocommit()) {
            Some(writer) => HeldConnection::Writer(writer),
            None => HeldConnection::Own(self.viewer.lock().unwrap_or_else(PoisonError::into_inner)),
        };
        Ok(Box::new(View::begin(held)?))
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
        self.one(BY_HASH, params![state::start(hash), hash], |row| {
            Ok(row.get::<_, i64>(0)?.cast_unsigned())
        })
    }

    async fn append(&self, block: Block) -> Result<Head> {
        let (writer, meter) = (self.writer.clone(), self.meter.clone());
        let begun = Begun::count(&self.appending);
        let appending = tokio::task::spawn_blocking(move || {
            let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
            let appended = append(&mut writer, &meter, block);
            drop(writer);
            drop(begun);
            appended
        });
        appending
            .await
            .map_err(|_| StoreError::Storage("an append was cut off".to_owned()))?
    }

    async fn copy(&self, to: &Path) -> Result<()> {
        let mark = |copy: &mut Connection| Ok(copy.execute_batch(MARK)?);
        file::copy(self.path.clone(), to.to_owned(), &FORMAT, mark).await
    }

    fn copied_at(&self) -> Result<Option<u64>> {
        self.read(copied_at)
    }

    fn note_store(&self, generation: u64) {
        self.store.store(generation, Ordering::Relaxed);
    }

    fn noted_store(&self) -> Result<Option<u64>> {
        self.one("SELECT generation FROM noted", [], |row| {
            Ok(row.get::<_, i64>(0)?.cast_unsigned())
        })
    }

    async fn fold(&self) -> Result<()> {
        checkpoint::fold(self.path.clone()).await
    }

    fn meter(&self) -> &Meter {
        &self.meter
    }

    fn index_file(&self) -> Option<PathBuf> {
        Some(file::beside(&self.path, "-index"))
    }
}

/// Counts an append as in progress until it is dropped.
struct Begun(Arc<AtomicUsize>);

impl Begun {
    fn count(begun: &Arc<AtomicUsize>) -> Self {
        begun.fetch_add(1, Ordering::Relaxed);
        Self(begun.clone())
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The height at which a file was copied; `None` if it is not a copy.
fn copied_at(connection: &Connection) -> Result<Option<u64>> {
    if !connection.table_exists(None, "copied")? {
        return Ok(None);
    }
    let height = "SELECT height FROM copied";
    let height = connection.query_row(height, [], |row| row.get::<_, Option<i64>>(0))?;
    Ok(height.map(i64::cast_unsigned))
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

fn append(writer: &mut LedgerWriter, meter: &Meter, block: Block) -> Result<Head> {
    let pace = match (block.entries.is_empty(), writer.idle) {
        (false, _) => Pace::Busy,
        (true, false) => Pace::Idle,
        (true, true) => Pace::Resting,
    };
    let written = write(writer, meter, pace, block);
    match &written {
        Ok(_) => writer.idle = pace != Pace::Busy,
        // The counts include a block that was not written, so they are wrong now.
        Err(_) => {
            writer.nodes = NodeStatistics::count(&writer.connection)?;
            writer.places = Places::count(&writer.connection)?;
        }
    }
    match pace {
        Pace::Busy => {}
        Pace::Idle => writer.checkpoints.at_rest(),
        Pace::Resting => {
            give_back(&writer.connection)?;
            writer.checkpoints.for_long();
        }
    }
    written
}

fn write(writer: &mut LedgerWriter, meter: &Meter, pace: Pace, block: Block) -> Result<Head> {
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
    let numbers = state::numbers(size, &block.entries);
    let new = state::put(&transaction, &block.writes, &numbers)?;
    writer.places.add(&transaction, new, pace)?;
    let of_the_tree = writer
        .nodes
        .change(&transaction, block.height, pace, &block.tree)?;
    let store = writer.store.load(Ordering::Relaxed);
    if store > 0 {
        transaction.prepare_cached(NOTE)?.execute([sql(store)])?;
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
    let of_the_tree = usize::try_from(of_the_tree).unwrap_or(usize::MAX);
    let pages = 4 + block.entries.len() + block.writes.len() / 2;
    let pages = pages.saturating_add(of_the_tree);
    writer.checkpoints.after_commit(&writer.connection, pages);
    Ok(Head {
        height: block.height,
        size,
        bytes: block.head,
    })
}

/// Shrinks the file by its free pages.
fn give_back(connection: &Connection) -> Result<()> {
    let free = format!("PRAGMA incremental_vacuum({GIVEN_BACK})");
    let mut free = connection.prepare(&free)?;
    let mut pages = free.query([])?;
    // Each step frees one page.
    while pages.next()?.is_some() {}
    Ok(())
}

fn insert(transaction: &Transaction<'_>, seq: u64, height: u64, entry: &Entry) -> Result<()> {
    let start = state::start(&entry.hash);
    let mut find = transaction.prepare_cached(BY_HASH)?;
    if find.exists(params![start, entry.hash])? {
        return Err(StoreError::conflict("ledger", "entry"));
    }
    let insert = "INSERT INTO entries (seq, height, hash, bytes) VALUES (?1, ?2, ?3, ?4)";
    let values = params![sql(seq), sql(height), entry.hash, entry.bytes];
    transaction.prepare_cached(insert)?.execute(values)?;
    let find = "INSERT INTO hashes (start, seq) VALUES (?1, ?2)";
    transaction
        .prepare_cached(find)?
        .execute([start, sql(seq)])?;
    Ok(())
}
