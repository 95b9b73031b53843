//! The machine over the ledger: what it reads for a block or a transaction, it reads as of one moment.

use std::collections::HashMap;

use selfsame_crypto::time::UnixTime;
use selfsame_proof::log::Hash;
use selfsame_proof::tree::{NodeRead, ReadError};
use selfsame_registry::refusal::{ApplyError, CheckError};
use selfsame_registry::{Applied, Block, Head, Receipt, StateError, StateRead, Transaction};
use selfsame_store::StoreError;
use selfsame_store::ledger::LedgerView;

use super::ledger::Ledger;

impl Ledger {
    /// Applies the block after a head that is the ledger's.
    ///
    /// # Errors
    /// As [`selfsame_registry::Machine::apply`].
    pub fn apply(&self, head: &Head, block: &Block<'_>) -> Result<Applied, ApplyError> {
        let seen = self.seen(None)?;
        self.machine().apply(head, block, (&seen, &seen))
    }

    /// Applies the block after one that may be about to be stored.
    pub(super) fn apply_after(
        &self,
        before: &Applied,
        block: &Block<'_>,
    ) -> Result<Applied, ApplyError> {
        let seen = self.seen(Some(before))?;
        self.machine().apply(&before.head, block, (&seen, &seen))
    }

    /// Which transactions of a block after the ledger's head would be accepted, by index.
    ///
    /// # Errors
    /// As [`Ledger::apply`].
    pub fn accepted(&self, head: &Head, block: &Block<'_>) -> Result<Vec<usize>, ApplyError> {
        let seen = self.seen(None)?;
        self.machine().accepted(head, block, &seen)
    }

    /// Whether a transaction would be accepted in the next block, alone and at this time.
    ///
    /// # Errors
    /// As [`selfsame_registry::Machine::check`].
    pub fn check(
        &self,
        transaction: &Transaction,
        at: (&Head, UnixTime),
    ) -> Result<Option<Receipt>, CheckError> {
        let seen = self.seen(None)?;
        self.machine().check(transaction, at, &seen)
    }

    fn seen<'a>(&'a self, over: Option<&'a Applied>) -> Result<Seen<'a>, StateError> {
        let view = self.store().view().map_err(state)?;
        let nodes = over.into_iter().flat_map(|applied| &applied.tree.nodes);
        Ok(Seen {
            view,
            nodes: nodes.map(|(key, node)| (&**key, &**node)).collect(),
            over,
        })
    }
}

/// The ledger with a block on top, whether it is in there already or not: all it has is what the block wrote too.
struct Seen<'a> {
    view: Box<dyn LedgerView + 'a>,
    over: Option<&'a Applied>,
    nodes: HashMap<&'a [u8], &'a [u8]>,
}

impl StateRead for Seen<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        let written = |applied: &'_ Applied| -> Option<Vec<u8>> {
            let found = applied.objects.get(key);
            found.or_else(|| applied.marks.get(key)).cloned()
        };
        match self.over.and_then(written) {
            Some(value) => Ok(Some(value)),
            None => self.view.get(key).map_err(state),
        }
    }
}

impl NodeRead for Seen<'_> {
    fn node(&self, key: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
        match self.nodes.get(key) {
            Some(node) => Ok(Some(node.to_vec())),
            None => self.view.node(key).map_err(read),
        }
    }

    /// Proofs are made of what is stored alone, and nothing else asks for this.
    fn key_at(&self, place: &Hash) -> Result<Option<Vec<u8>>, ReadError> {
        self.view.key(place).map_err(read)
    }
}

fn state(error: StoreError) -> StateError {
    StateError(error.to_string())
}

fn read(error: StoreError) -> ReadError {
    ReadError(error.to_string())
}
