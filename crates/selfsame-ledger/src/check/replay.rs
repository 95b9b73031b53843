//! Replays the log from the genesis into a new file. All else that a ledger holds follows from its log.

use std::path::Path;
use std::sync::Arc;

use selfsame_driver::{Error, Reason, Result};
use selfsame_proof::cbor::CborItem as _;
use selfsame_proof::read::Handover;
use selfsame_registry::Head;
use selfsame_store::ledger::{LedgerStore as _, LedgerView as _, MAX_ENTRIES, SqliteLedger};
use selfsame_store::offline::{LedgerFile, Looked};

use super::Subject;
use super::log::BLOCKS_MAX;
use crate::archive;
use crate::ledger::{Ledger, handover_key};

impl Subject<'_> {
    /// Rebuilds the ledger in a new file and compares the two. Returns also whether the new one has the same head, so
    /// that it could replace this one.
    pub(super) async fn replay(&self, head: &Head, anew: &Path) -> (Looked, bool) {
        (self.tell)("replay", 0);
        let mut looked = Looked::at("replay");
        let stands_there = match self.judged(&mut looked, anew).await {
            Ok(end) if end == *head => true,
            Ok(_) => {
                looked.wrong("the log does not lead to the last block");
                false
            }
            Err(error) => {
                let why = Reason::new("replay-failed").because(error.reason);
                looked.wrong(why.stored());
                false
            }
        };
        if stands_there && let Err(error) = self.compare(&mut looked, anew) {
            let why = Reason::new("comparison-failed").because(error.reason);
            looked.wrong(why.stored());
        }
        (looked, stands_there && self.nothing_follows(head))
    }

    /// Validates block after block and returns the resulting head.
    async fn judged(&self, looked: &mut Looked, anew: &Path) -> Result<Head> {
        let store = Arc::new(SqliteLedger::begin(anew)?);
        if let Some(noted) = self.file.noted_store().ok().flatten() {
            store.note_store(noted);
        }
        let mut ledger = Ledger::open(store.clone(), self.machine.clone())?;
        if self.of_network {
            ledger = ledger.lagging();
        }
        let mut before = ledger.head()?;
        loop {
            let rows = self.file.blocks(before.height, BLOCKS_MAX)?;
            if rows.is_empty() {
                break;
            }
            for row in rows {
                let block = Head::from_bytes(&row.bytes)
                    .map_err(|_| Error::bad_request("block-damaged").with("height", &row.height))?;
                let size = block.log.size();
                let transactions = self.transactions_up_to(before.log.size(), size)?;
                let handover = self.handover(row.height)?;
                archive::append(&ledger, row.height, block.time, transactions, handover).await?;
                before = ledger.head()?;
                looked.one(self.tell);
                if before != block {
                    looked.wrong(format!(
                        "block {} does not match the result of its transactions",
                        row.height
                    ));
                }
            }
        }
        if self.file.copied_at().ok().flatten() == Some(before.height) {
            store.mark_as_copy()?;
        }
        store.fold().await?;
        Ok(before)
    }

    fn transactions_up_to(&self, from: u64, to: u64) -> Result<Vec<Vec<u8>>> {
        let mut all = Vec::new();
        let mut next = from.saturating_add(1);
        while next <= to {
            let end = to.saturating_add(1).min(next.saturating_add(MAX_ENTRIES));
            let placed = self.file.entries(next..end)?;
            if placed.is_empty() {
                return Err(Error::bad_request("transaction-missing").with("number", &next));
            }
            all.extend(placed.into_iter().map(|placed| placed.entry.bytes));
            next = end;
        }
        Ok(all)
    }

    /// The handover stored with a block; it is not part of the log.
    fn handover(&self, height: u64) -> Result<Option<Box<Handover>>> {
        let kept = self.file.get(&handover_key(height.saturating_sub(1)))?;
        let handover = kept.map(|bytes| Handover::from_cbor(&bytes)).transpose();
        let handover = handover
            .map_err(|_| Error::bad_request("validators-change-damaged").with("height", &height))?;
        Ok(handover.map(Box::new))
    }

    /// Compares all values in both directions.
    fn compare(&self, looked: &mut Looked, anew: &Path) -> Result<()> {
        let anew = LedgerFile::open(anew)?;
        anew.for_each_value(|value| {
            let (key, value) = value?;
            match self.file.get(&key) {
                Ok(Some(kept)) if kept == value => {}
                Ok(Some(_)) => {
                    looked.wrong(format!("{} does not match the log", key.escape_ascii()))
                }
                Ok(None) => looked.wrong(format!("{} is missing", key.escape_ascii())),
                Err(error) => {
                    looked.wrong(format!("{} can't be read: {error}", key.escape_ascii()));
                }
            }
            Ok(())
        })?;
        let compared = self.file.for_each_value(|value| {
            match value {
                Ok((key, _)) if anew.get(&key)?.is_some() => {}
                Ok((key, _)) => {
                    looked.wrong(format!("{} is not from the log", key.escape_ascii()));
                }
                Err(error) => looked.wrong(format!("a value can't be read: {error}")),
            }
            Ok(())
        });
        Ok(compared?)
    }

    /// Whether no transaction follows a head. Otherwise a block is lost, and the new file lacks it too.
    fn nothing_follows(&self, head: &Head) -> bool {
        let after = head.log.size().saturating_add(1);
        let more = self.file.entries(after..after.saturating_add(1));
        more.is_ok_and(|more| more.is_empty())
    }
}
