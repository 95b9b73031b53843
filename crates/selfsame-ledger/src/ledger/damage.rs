//! Damage in a ledger's stored data: once any is found, nothing is built on it, and the instance is not ready.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use selfsame_driver::{Error, Result};
use selfsame_proof::log::{inclusion, leaf_hash, verify_inclusion};
use selfsame_proof::tree;
use selfsame_proof::validators::STATE_KEY;
use selfsame_registry::Transaction;
use selfsame_store::ledger::Placed;

use super::Ledger;

/// Whether damage was found. Clones share the flag.
#[derive(Clone, Debug, Default)]
pub struct Damage(Arc<AtomicBool>);

impl Damage {
    /// Whether damage was found since the start.
    #[must_use]
    pub fn is_found(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Notes damage and returns the error for the caller.
    pub fn found(&self, detail: impl fmt::Display) -> Error {
        self.0.store(true, Ordering::Relaxed);
        Error::damaged(format!(
            "the registry's ledger: {detail}; stop this process and find the damage with `selfsame check --data` (docs/check.md)"
        ))
    }

    /// Refuses a write if damage was found.
    pub(crate) fn refuses_writes(&self) -> Result<()> {
        match self.is_found() {
            true => Err(self.found("it is damaged, so nothing more is written")),
            false => Ok(()),
        }
    }

    /// Returns the entry if its bytes are the transaction it is stored as; otherwise notes damage.
    pub(crate) fn refuses(&self, placed: Placed) -> Result<Placed> {
        let hash = Transaction::from_bytes(&placed.entry.bytes).map(|found| found.hash());
        match hash.is_ok_and(|hash| hash == placed.entry.hash) {
            true => Ok(placed),
            false => Err(self.found(format!(
                "transaction {} is not what was accepted",
                placed.seq
            ))),
        }
    }
}

impl Ledger {
    /// Compares the roots in the head with the data stored below them, before anything is signed or built on them.
    ///
    /// # Errors
    /// `Damaged` if they differ, and the store's errors.
    pub fn has_the_roots_of_its_head(&self) -> Result<()> {
        let head = self.head()?;
        let damaged = |error| self.damage().found(error);
        tree::prove(self, head.tree, STATE_KEY).map_err(damaged)?;
        let size = head.log.size();
        let Some(last) = size.checked_sub(1) else {
            return Ok(());
        };
        let path = inclusion(last, size, self).map_err(damaged)?;
        let placed = self.store().entry(size)?;
        let leaf = placed.map(|placed| leaf_hash(&placed.entry.bytes));
        let head = head.log.tree_head();
        let proven = leaf.is_some_and(|leaf| verify_inclusion(&leaf, last, head, &path).is_ok());
        match proven {
            true => Ok(()),
            false => Err(self
                .damage()
                .found("the log does not lead to the head's root")),
        }
    }
}
