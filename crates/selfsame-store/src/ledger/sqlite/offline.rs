//! Access to a ledger's file while no process has it open: its content, and a check of its indices.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension, params};

use super::{BY_HASH, FORMAT, HEAD, NODE, copied_at, head, placed, state};
use crate::error::{Result, StoreError};
use crate::ledger::{Head, LedgerView, Placed};
use crate::looked::{Looked, Tell};
use crate::sqlite::{file, sql};

const BLOCKS: &str =
    "SELECT height, size, head FROM blocks WHERE height > ?1 ORDER BY height LIMIT ?2";
const ENTRIES: &str =
    "SELECT seq, height, hash, bytes FROM entries WHERE seq >= ?1 AND seq < ?2 ORDER BY seq";
const VALUES: &str = "SELECT state.id, state.key, state.value, state.at, entries.hash
    FROM state LEFT JOIN entries ON entries.seq = state.seq ORDER BY state.id";

/// A ledger's file.
pub struct LedgerFile {
    path: PathBuf,
    connection: Connection,
    // Last field, so that the lock is released after the connection is closed.
    _lock: File,
}

impl LedgerFile {
    /// Opens a file and locks it against other processes.
    ///
    /// # Errors
    /// `InUse` if another process has it open, `Foreign` and `OtherLayout` for other files.
    pub fn open(path: &Path) -> Result<Self> {
        let (lock, connection) = file::open_offline(path, &FORMAT)?;
        Ok(Self {
            path: path.to_owned(),
            connection,
            _lock: lock,
        })
    }

    /// Checks its pages, and whether its indices lead to all of its content.
    pub fn look(&self, tell: Tell<'_>) -> Vec<Looked> {
        let through = |what, look: &dyn Fn(&mut Looked) -> Result<()>| {
            tell(what, 0);
            Looked::through(what, look)
        };
        vec![
            through("pages", &|looked| {
                let unsound = file::unsound(&self.connection)?;
                unsound.into_iter().for_each(|line| looked.wrong(line));
                Ok(())
            }),
            through("indices", &|looked| {
                self.finds_values(looked, tell)?;
                self.finds_entries(looked, tell)
            }),
        ]
    }

    /// The last block.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn head(&self) -> Result<Option<Head>> {
        Ok(self.connection.query_row(HEAD, [], head).optional()?)
    }

    /// The blocks above this height, at most `count`.
    ///
    /// # Errors
    /// If they can't be read.
    pub fn blocks(&self, after: u64, count: u64) -> Result<Vec<Head>> {
        let mut blocks = self.connection.prepare_cached(BLOCKS)?;
        let blocks = blocks.query_map([sql(after), sql(count)], head)?;
        Ok(blocks.collect::<rusqlite::Result<_>>()?)
    }

    /// The entries with these sequence numbers.
    ///
    /// # Errors
    /// If they can't be read.
    pub fn entries(&self, seqs: Range<u64>) -> Result<Vec<Placed>> {
        let mut entries = self.connection.prepare_cached(ENTRIES)?;
        let entries = entries.query_map([sql(seqs.start), sql(seqs.end)], placed)?;
        Ok(entries.collect::<rusqlite::Result<_>>()?)
    }

    /// Calls a function with all keys and values of the state, in the order in which they were first written.
    ///
    /// # Errors
    /// If they can't be read; errors of the function.
    pub fn for_each_value(
        &self,
        mut each: impl FnMut(Result<(Vec<u8>, Vec<u8>)>) -> Result<()>,
    ) -> Result<()> {
        let mut values = self.connection.prepare(VALUES)?;
        let mut values = values.query([])?;
        while let Some(row) = values.next()? {
            let key: Vec<u8> = row.get(1)?;
            let key = super::packed::unpack(&key).ok_or(StoreError::Malformed("key"));
            let value = state::whole(row.get(2)?, row.get(3)?, row.get(4)?);
            each(key.and_then(|key| Ok((key, value?))))?;
        }
        Ok(())
    }

    /// The store's generation that the last append recorded.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn noted_store(&self) -> Result<Option<u64>> {
        if !self.connection.table_exists(None, "noted")? {
            return Ok(None);
        }
        let noted = "SELECT generation FROM noted";
        let noted = self
            .connection
            .query_row(noted, [], |row| row.get::<_, i64>(0));
        Ok(noted.optional()?.map(i64::cast_unsigned))
    }

    /// The height at which it was copied; `None` if it is not a copy.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn copied_at(&self) -> Result<Option<u64>> {
        copied_at(&self.connection)
    }

    /// Replaces this file by another ledger's file, which must be complete on its own, and keeps this one under another
    /// name. At every moment one of the two is in place.
    ///
    /// # Errors
    /// If the disk fails; this file then is still in place.
    pub fn give_way(self, new: &Path, kept: &Path) -> Result<()> {
        let Self {
            path,
            connection,
            _lock,
        } = self;
        drop(connection);
        // The log belongs to this file, but SQLite would apply it to the new one.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let writer = Connection::open_with_flags(&path, flags)?;
        file::set_up(&writer)?;
        let fold = "PRAGMA wal_checkpoint(TRUNCATE)";
        let busy: bool = writer.query_row(fold, [], |row| row.get(0))?;
        if busy {
            return Err(StoreError::Busy);
        }
        writer.close().map_err(|(_, error)| error)?;
        for suffix in ["-wal", "-shm"] {
            let beside = file::beside(&path, suffix);
            if beside.exists() {
                std::fs::remove_file(beside)?;
            }
        }
        File::open(new)?.sync_all()?;
        if std::fs::hard_link(&path, kept).is_err() {
            std::fs::copy(&path, kept)?;
            File::open(kept)?.sync_all()?;
        }
        std::fs::rename(new, &path)?;
        if let Some(folder) = path.parent() {
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    }

    fn finds_values(&self, looked: &mut Looked, tell: Tell<'_>) -> Result<()> {
        let mut values = 0_i64;
        self.for_each_value(|value| {
            values = values.saturating_add(1);
            looked.one(tell);
            // Unreadable values are reported by the check of the state.
            let Ok((key, value)) = value else {
                return Ok(());
            };
            let found = self.get(&key).ok().flatten();
            if found.as_ref() != Some(&value) {
                looked.wrong(format!("{} is not found by its key", shown(&key)));
            }
            Ok(())
        })?;
        let places = "SELECT (SELECT count(*) FROM places) + (SELECT count(*) FROM recent)";
        let places: i64 = self.connection.query_row(places, [], |row| row.get(0))?;
        if places > values {
            looked.wrong(format!(
                "{} places of the state lead nowhere",
                places.saturating_sub(values)
            ));
        }
        Ok(())
    }

    fn finds_entries(&self, looked: &mut Looked, tell: Tell<'_>) -> Result<()> {
        let mut all = self
            .connection
            .prepare("SELECT seq, hash FROM entries ORDER BY seq")?;
        let mut all = all.query([])?;
        let mut find = self.connection.prepare_cached(BY_HASH)?;
        while let Some(row) = all.next()? {
            looked.one(tell);
            let (seq, hash): (i64, Vec<u8>) = (row.get(0)?, row.get(1)?);
            let found = <[u8; 32]>::try_from(hash.as_slice()).ok().map(|hash| {
                let found = find.query_row(params![state::start(&hash), hash], |row| row.get(0));
                found.optional()
            });
            let found: Option<i64> = found.transpose()?.flatten();
            if found != Some(seq) {
                looked.wrong(format!("transaction {seq} is not found by its hash"));
            }
        }
        Ok(())
    }
}

impl LedgerView for LedgerFile {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        state::value(&self.connection, key)
    }

    fn key(&self, place: &[u8; 32]) -> Result<Option<Vec<u8>>> {
        state::key(&self.connection, place)
    }

    fn node(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut node = self.connection.prepare_cached(NODE)?;
        Ok(node.query_row([key], |row| row.get(0)).optional()?)
    }
}

/// A state key, printable.
fn shown(key: &[u8]) -> String {
    key.escape_ascii().to_string()
}
