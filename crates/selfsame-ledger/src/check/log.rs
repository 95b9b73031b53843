//! Checks the log: blocks and transactions, one after the other.

use selfsame_proof::log::{Frontier, leaf_hash};
use selfsame_registry::{Head, Transaction};
use selfsame_store::Result;
use selfsame_store::ledger::{Head as Row, MAX_ENTRIES, Placed};
use selfsame_store::offline::Looked;

use super::Subject;

/// Maximum number of blocks read at once.
pub(super) const BLOCKS_MAX: u64 = 256;

impl Subject<'_> {
    /// Checks that each block is what its transactions make of the one before.
    pub(super) fn log(&self, looked: &mut Looked) -> Result<()> {
        let mut before = Head::of_genesis(self.machine.genesis());
        loop {
            let rows = self.file.blocks(before.height, BLOCKS_MAX)?;
            if rows.is_empty() {
                break;
            }
            for row in rows {
                before = self.block(&before, &row, looked)?;
            }
        }
        let after = before.log.size().saturating_add(1);
        if !self
            .file
            .entries(after..after.saturating_add(1))?
            .is_empty()
        {
            looked.wrong("there are transactions after the last block");
        }
        Ok(())
    }

    /// Checks a block against the one before. Returns the head that the next block must follow.
    fn block(&self, before: &Head, row: &Row, looked: &mut Looked) -> Result<Head> {
        let height = row.height;
        if height != before.height.saturating_add(1) {
            looked.wrong(format!("a block before block {height} is missing"));
        }
        let head = Head::from_bytes(&row.bytes).ok();
        let size = head.as_ref().map_or(row.size, |head| head.log.size());
        let (log, sound) = self.transactions(&before.log, height, size, looked)?;
        let Some(head) = head else {
            looked.wrong(format!("block {height} can't be read"));
            return Ok(Head {
                height,
                log,
                ..before.clone()
            });
        };
        if head.height != height || row.size != size {
            looked.wrong(format!("block {height} is stored in another block's place"));
        }
        if head.time < before.time {
            looked.wrong(format!("block {height} is earlier than the one before"));
        }
        if sound && log != head.log {
            looked.wrong(format!(
                "the transactions up to block {height} do not lead to its log's root"
            ));
        }
        // The next block is compared with what this one states, so that each damage is reported once.
        Ok(Head { height, ..head })
    }

    /// The log after a block's transactions, and whether each of them is the one that was accepted.
    fn transactions(
        &self,
        before: &Frontier,
        height: u64,
        size: u64,
        looked: &mut Looked,
    ) -> Result<(Frontier, bool)> {
        let (mut log, mut sound) = (before.clone(), true);
        while log.size() < size {
            let first = log.size().saturating_add(1);
            let end = size
                .saturating_add(1)
                .min(first.saturating_add(MAX_ENTRIES));
            let placed = self.file.entries(first..end)?;
            if placed.is_empty() {
                looked.wrong(format!("transaction {first} is missing"));
                return Ok((log, false));
            }
            for (seq, placed) in (first..).zip(placed) {
                looked.one(self.tell);
                if let Some(wrong) = wrong(&placed, seq, height) {
                    looked.wrong(wrong);
                    sound = false;
                }
                log.append(leaf_hash(&placed.entry.bytes));
            }
        }
        Ok((log, sound))
    }
}

fn wrong(placed: &Placed, seq: u64, height: u64) -> Option<String> {
    if placed.seq != seq {
        return Some(format!("transaction {seq} is missing"));
    }
    if placed.height != height {
        return Some(format!("transaction {seq} is not in block {height}"));
    }
    let hash = Transaction::from_bytes(&placed.entry.bytes).map(|found| found.hash());
    let accepted = hash.is_ok_and(|hash| hash == placed.entry.hash);
    (!accepted).then(|| format!("transaction {seq} is not what was accepted"))
}
