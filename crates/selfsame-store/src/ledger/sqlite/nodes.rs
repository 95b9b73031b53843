//! Nodes of the tree in the file: written one behind the other, forgotten once they are stale, and moved together where
//! few of their neighbours are left.

use std::collections::BTreeMap;

use rusqlite::{Connection, Row, Transaction, params};

use crate::error::Result;
use crate::ledger::{KEPT_HEIGHTS, TreeChanges};
use crate::sqlite::sql;

pub(super) const SCHEMA: &str = "
CREATE TABLE nodes (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    node BLOB NOT NULL
) STRICT;
CREATE TABLE stale (
    height INTEGER NOT NULL,
    key BLOB NOT NULL,
    PRIMARY KEY (height, key)
) STRICT, WITHOUT ROWID;
";

/// Nodes are forgotten when this part of all is to be, and so many at least: so each page they leave is written once and
/// not for each of them.
const FORGOTTEN_PART: u64 = 4;
const FORGOTTEN_AT_ONCE: u64 = 4_096;
/// So many numbers that follow each other are looked at together.
const CHUNK: u64 = 512;
/// While transactions come, what is less full than a half is moved, and only where the whole is; at rest, what is less
/// full than seven eighths.
const FULL: u64 = 8;
const BUSY: u64 = 4;
const RESTING: u64 = 7;
/// So many nodes are moved in a block at rest.
const MOVED_AT_REST: u64 = 16_384;

/// What is known of the nodes in the file.
pub(super) struct Nodes {
    /// The number of the next one.
    next: u64,
    /// How many are left of each chunk of numbers.
    chunks: BTreeMap<u64, u64>,
    /// How many became stale at a height and are there still.
    stale: BTreeMap<u64, u64>,
}

/// How much there is to do beside a block.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Pace {
    /// Transactions come.
    Busy,
    /// None is in this block.
    Idle,
    /// None has been in the block before either.
    Resting,
}

impl Nodes {
    /// Counts what is in the file.
    pub(super) fn count(connection: &Connection) -> Result<Self> {
        let counted = |query: &str| -> Result<BTreeMap<u64, u64>> {
            let mut query = connection.prepare(query)?;
            let pair = |row: &Row<'_>| Ok((number(row, 0)?, number(row, 1)?));
            let pairs = query.query_map([], pair)?;
            Ok(pairs.collect::<rusqlite::Result<_>>()?)
        };
        let last = connection.query_row("SELECT coalesce(max(id), 0) FROM nodes", [], |row| {
            number(row, 0)
        })?;
        Ok(Self {
            next: last.saturating_add(1),
            chunks: counted(&format!(
                "SELECT id / {CHUNK}, count(*) FROM nodes GROUP BY 1"
            ))?,
            stale: counted("SELECT height, count(*) FROM stale GROUP BY height")?,
        })
    }

    /// Takes in what a block changes, and tidies up as far as there is time. After an error the nodes are to be counted
    /// anew. Gives roughly how many pages were written.
    pub(super) fn change(
        &mut self,
        transaction: &Transaction<'_>,
        (height, pace): (u64, Pace),
        changes: &TreeChanges,
    ) -> Result<u64> {
        self.add(transaction, changes)?;
        self.mark(transaction, height, changes)?;
        let last = height.saturating_sub(KEPT_HEIGHTS);
        let over: u64 = self.stale.range(..=last).map(|(_, count)| count).sum();
        let enough = FORGOTTEN_AT_ONCE.max(self.len() / FORGOTTEN_PART);
        let bytes: usize = changes.nodes.iter().map(|(_, node)| node.len()).sum();
        let mut pages = bytes as u64 / 4_096;
        if over >= enough || pace != Pace::Busy && over > 0 {
            self.forget(transaction, last)?;
            pages += over / 2;
        }
        let moved = match pace {
            Pace::Resting => self.gather(transaction, RESTING, MOVED_AT_REST)?,
            _ if over >= enough && self.len() < self.room() / FULL * BUSY => {
                self.gather(transaction, BUSY, over)?
            }
            _ => 0,
        };
        Ok(pages + moved / 2)
    }

    /// Writes new nodes in the order of their keys: what stands beside each other in the tree, and is soon replaced
    /// together, then stands beside each other in the file.
    fn add(&mut self, transaction: &Transaction<'_>, changes: &TreeChanges) -> Result<()> {
        let mut nodes: Vec<&(Vec<u8>, Vec<u8>)> = changes.nodes.iter().collect();
        nodes.sort_unstable();
        let add = "INSERT INTO nodes (id, key, node) VALUES (?1, ?2, ?3)";
        let mut add = transaction.prepare_cached(add)?;
        for (key, node) in nodes {
            let id = self.number();
            add.execute(params![sql(id), key, node])?;
        }
        Ok(())
    }

    fn mark(
        &mut self,
        transaction: &Transaction<'_>,
        height: u64,
        changes: &TreeChanges,
    ) -> Result<()> {
        let mark = "INSERT INTO stale (height, key) VALUES (?1, ?2)";
        let mut mark = transaction.prepare_cached(mark)?;
        let mut keys: Vec<&Vec<u8>> = changes.stale.iter().collect();
        keys.sort_unstable();
        for key in keys {
            mark.execute(params![sql(height), key])?;
        }
        self.stale.insert(height, changes.stale.len() as u64);
        Ok(())
    }

    /// Drops the nodes that became stale up to a height, in the order in which they stand in the file.
    fn forget(&mut self, transaction: &Transaction<'_>, last: u64) -> Result<()> {
        let gone = "SELECT nodes.id FROM stale JOIN nodes ON nodes.key = stale.key
            WHERE stale.height <= ?1 ORDER BY nodes.id";
        let mut gone = transaction.prepare_cached(gone)?;
        let gone = gone.query_map([sql(last)], |row| number(row, 0))?;
        let gone: Vec<u64> = gone.collect::<rusqlite::Result<_>>()?;
        let mut drop = transaction.prepare_cached("DELETE FROM nodes WHERE id = ?1")?;
        for id in gone {
            drop.execute([sql(id)])?;
            self.leave(id);
        }
        let drop = "DELETE FROM stale WHERE height <= ?1";
        transaction.prepare_cached(drop)?.execute([sql(last)])?;
        self.stale = self.stale.split_off(&last.saturating_add(1));
        Ok(())
    }

    /// Moves what is left of the emptiest chunks behind all others, so many nodes at most: the pages they leave are free.
    fn gather(&mut self, transaction: &Transaction<'_>, eighths: u64, most: u64) -> Result<u64> {
        let first = "SELECT id FROM nodes WHERE id >= ?1 AND id < ?2 ORDER BY id";
        let mut first = transaction.prepare_cached(first)?;
        let mut to = transaction.prepare_cached("UPDATE nodes SET id = ?2 WHERE id = ?1")?;
        // The last one is not full yet.
        let full = ..self.next / CHUNK;
        let sparse = self.chunks.range(full).map(|(chunk, left)| (*left, *chunk));
        let mut sparse: Vec<(u64, u64)> = sparse
            .filter(|(left, _)| *left < CHUNK / FULL * eighths)
            .collect();
        sparse.sort_unstable();
        let mut moved = 0_u64;
        for (left, chunk) in sparse {
            if moved.saturating_add(left) > most {
                break;
            }
            let (from, until) = (chunk * CHUNK, (chunk + 1) * CHUNK);
            let ids = first.query_map([sql(from), sql(until)], |row| number(row, 0))?;
            let ids: Vec<u64> = ids.collect::<rusqlite::Result<_>>()?;
            for id in ids {
                let new = self.number();
                to.execute([sql(id), sql(new)])?;
                self.leave(id);
                moved += 1;
            }
        }
        Ok(moved)
    }

    /// A number for a node.
    fn number(&mut self) -> u64 {
        let id = self.next;
        self.next = id.saturating_add(1);
        let left = self.chunks.entry(id / CHUNK).or_default();
        *left = left.saturating_add(1);
        id
    }

    fn leave(&mut self, id: u64) {
        if let Some(left) = self.chunks.get_mut(&(id / CHUNK)) {
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.chunks.remove(&(id / CHUNK));
            }
        }
    }

    /// How many there are.
    fn len(&self) -> u64 {
        self.chunks.values().sum()
    }

    /// How many there would be room for.
    fn room(&self) -> u64 {
        CHUNK.saturating_mul(self.chunks.len() as u64)
    }
}

fn number(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(at).map(i64::cast_unsigned)
}
