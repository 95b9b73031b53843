//! Storage of tree nodes: written one after the other and deleted once stale. Where few neighbours are left, nodes are
//! moved together.

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

/// Stale nodes are deleted in bulk: once they are this fraction of all nodes, and at least this number. So each page is
/// rewritten once, not once for each node.
const FORGOTTEN_PART: u64 = 4;
const FORGOTTEN_AT_ONCE: u64 = 4_096;
/// The number of consecutive node numbers that form a chunk.
const CHUNK: u64 = 512;
/// Thresholds for moving nodes, in eighths. Under load, chunks less than half full are moved, and only if the file as a
/// whole is. At rest, chunks less than seven eighths full are moved.
const FULL: u64 = 8;
const BUSY: u64 = 4;
const RESTING: u64 = 7;
/// The maximum number of nodes moved in a block at rest.
const MOVED_AT_REST: u64 = 16_384;

/// Statistics of the nodes in the file.
pub(super) struct NodeStatistics {
    /// The number of the next node.
    next: u64,
    /// The number of nodes left in each chunk.
    chunks: BTreeMap<u64, u64>,
    /// For each height, the number of nodes that became stale there and are still stored.
    stale: BTreeMap<u64, u64>,
}

/// How busy the ledger is.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Pace {
    /// This block has transactions.
    Busy,
    /// This block has no transactions.
    Idle,
    /// Neither this block nor the one before it has transactions.
    Resting,
}

impl NodeStatistics {
    /// Counts the nodes in the file.
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

    /// Writes a block's changes, and cleans up as far as the pace permits. After an error the nodes must be counted
    /// anew. Returns roughly how many pages were written.
    pub(super) fn change(
        &mut self,
        transaction: &Transaction<'_>,
        height: u64,
        pace: Pace,
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

    /// Writes new nodes in key order: neighbours in the tree, which tend to be replaced together, then are neighbours
    /// in the file.
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

    /// Deletes the nodes that became stale up to a height, in file order.
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

    /// Moves the nodes of the emptiest chunks to the end, at most `most` of them. This frees the pages of those chunks.
    fn gather(&mut self, transaction: &Transaction<'_>, eighths: u64, most: u64) -> Result<u64> {
        let first = "SELECT id FROM nodes WHERE id >= ?1 AND id < ?2 ORDER BY id";
        let mut first = transaction.prepare_cached(first)?;
        let mut to = transaction.prepare_cached("UPDATE nodes SET id = ?2 WHERE id = ?1")?;
        // The last chunk is still being filled.
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

    /// Takes the next node number.
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

    /// The number of nodes.
    fn len(&self) -> u64 {
        self.chunks.values().sum()
    }

    /// The number of nodes that the existing chunks could hold.
    fn room(&self) -> u64 {
        CHUNK.saturating_mul(self.chunks.len() as u64)
    }
}

fn number(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(at).map(i64::cast_unsigned)
}
