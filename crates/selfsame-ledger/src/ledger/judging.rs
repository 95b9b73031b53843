//! Runs the machine over the ledger. All reads for one block or transaction are as of one moment, and reads for a block
//! are compared with the tree.

use std::collections::HashMap;

use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_proof::log::Hash;
use selfsame_proof::tree::{Memo, NodeRead, ReadError, Root, TreeError, digest};
use selfsame_registry::refusal::{ApplyError, CheckError};
use selfsame_registry::{
    Applied, Block, Head, Receipt, StateError, StateMachine, StateRead, Transaction,
};
use selfsame_store::StoreError;
use selfsame_store::ledger::LedgerView;

use super::Ledger;
use super::damage::Damage;

impl Ledger {
    /// Applies a block after `head`, which must be the ledger's.
    ///
    /// # Errors
    /// As [`selfsame_registry::StateMachine::apply`].
    pub fn apply(&self, head: &Head, block: &Block<'_>) -> Result<Applied, ApplyError> {
        let seen = self.seen(Some(head.tree), None)?;
        let applied = self.machine().apply(head, block, &seen, &seen);
        self.named(applied)
    }

    /// Applies a block after one that may not be stored yet.
    pub(crate) fn apply_after(
        &self,
        before: &Applied,
        block: &Block<'_>,
    ) -> Result<Applied, ApplyError> {
        let seen = self.seen(Some(before.head.tree), Some(before))?;
        let applied = self.machine().apply(&before.head, block, &seen, &seen);
        self.named(applied)
    }

    /// The transactions, by index, that a block after the ledger's head would accept.
    ///
    /// # Errors
    /// As [`Ledger::apply`].
    pub fn accepted(&self, head: &Head, block: &Block<'_>) -> Result<Vec<usize>, ApplyError> {
        let seen = self.seen(Some(head.tree), None)?;
        self.named(self.machine().accepted(head, block, &seen))
    }

    /// Whether a transaction would be accepted in the next block, alone and at this time. Values are not compared with
    /// the tree: a block may be stored meanwhile, and applying the next block compares them.
    ///
    /// # Errors
    /// As [`selfsame_registry::StateMachine::check`].
    pub fn check(
        &self,
        transaction: &Transaction,
        head: &Head,
        time: UnixTime,
    ) -> Result<Option<Receipt>, CheckError> {
        let seen = self.seen(None, None)?;
        self.machine().check(transaction, head, time, &seen)
    }

    /// Notes the damage if that is why an operation failed, and returns its result.
    fn named<T>(&self, done: Result<T, ApplyError>) -> Result<T, ApplyError> {
        if let Err(ApplyError::Damaged(damaged)) = &done {
            self.damage().found(damaged);
        }
        done
    }

    fn seen<'a>(
        &'a self,
        tree: Option<Root>,
        over: Option<&'a Applied>,
    ) -> Result<SeenLedger<'a>, StateError> {
        let view = self.store().view().map_err(state)?;
        let nodes = over.into_iter().flat_map(|applied| &applied.tree.nodes);
        Ok(SeenLedger {
            view,
            nodes: nodes.map(|(key, node)| (&**key, &**node)).collect(),
            over,
            tree,
            memo: Memo::default(),
            damage: self.damage(),
        })
    }
}

/// The ledger with a block on top. If the ledger has the block already, both hold the same values.
struct SeenLedger<'a> {
    view: Box<dyn LedgerView + 'a>,
    over: Option<&'a Applied>,
    nodes: HashMap<&'a [u8], &'a [u8]>,
    /// The tree that values are compared with; `None` if they are not compared.
    tree: Option<Root>,
    /// The machine reads the keys that it then writes, so both need the same nodes of the tree.
    memo: Memo,
    damage: &'a Damage,
}

impl SeenLedger<'_> {
    /// Compares the value under a key, or its absence, with the tree. Marks follow from the log alone and are in no
    /// tree.
    fn compare(&self, key: &[u8], value: Option<&[u8]>) -> Result<(), StateError> {
        let Some(tree) = self.tree.filter(|_| !StateMachine::is_mark(key)) else {
            return Ok(());
        };
        let wrong = match digest(self, tree, key) {
            Ok(digest) if digest == value.map(sha256) => return Ok(()),
            Ok(_) => "an object does not match its tree".to_owned(),
            Err(error @ (TreeError::Missing | TreeError::Damaged)) => error.to_string(),
            Err(other) => return Err(StateError(other.to_string())),
        };
        Err(StateError(self.damage.found(wrong).to_string()))
    }
}

impl StateRead for SeenLedger<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        let written = |applied: &'_ Applied| -> Option<Vec<u8>> {
            let found = applied.objects.get(key);
            found.or_else(|| applied.marks.get(key)).cloned()
        };
        match self.over.and_then(written) {
            Some(value) => Ok(Some(value)),
            None => {
                let value = self.view.get(key).map_err(state)?;
                self.compare(key, value.as_deref())?;
                Ok(value)
            }
        }
    }
}

impl NodeRead for SeenLedger<'_> {
    fn node(&self, key: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
        match self.nodes.get(key) {
            Some(node) => Ok(Some(node.to_vec())),
            None => self.view.node(key).map_err(read),
        }
    }

    /// Proofs are made from stored data alone, and nothing else calls this.
    fn key_at(&self, place: &Hash) -> Result<Option<Vec<u8>>, ReadError> {
        self.view.key(place).map_err(read)
    }

    fn memo(&self) -> Option<&Memo> {
        Some(&self.memo)
    }
}

fn state(error: StoreError) -> StateError {
    StateError(error.to_string())
}

fn read(error: StoreError) -> ReadError {
    ReadError(error.to_string())
}
