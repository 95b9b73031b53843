//! Waiting transactions that the last block may have made invalid, so that not all are judged again after each block.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use selfsame_registry::{Identifier, Transaction};

/// The maximum number of remembered transactions that were left out of a proposal.
const LEFT_OUT_MAX: usize = 8_192;

/// The transactions that must be judged again.
#[derive(Default)]
pub(super) struct Doubts(Mutex<DoubtState>);

#[derive(Default)]
struct DoubtState {
    /// The authors in the last block: their other waiting transactions may build on the state before it.
    authors: HashSet<Identifier>,
    /// Transactions that this node left out of a proposal because the machine would have refused them there.
    left_out: HashSet<[u8; 32]>,
    /// Whether this node makes no proposals, and so has no other way to find invalid transactions.
    follows: bool,
}

impl Doubts {
    /// Records the authors of a stored block, and whether this node only follows after it.
    pub(super) fn after<'a>(&self, logged: impl Iterator<Item = &'a Transaction>, follows: bool) {
        let authors = logged.map(|transaction| transaction.body().author);
        let mut state = self.state();
        (state.authors, state.follows) = (authors.collect(), follows);
    }

    /// Records a transaction that was left out of a proposal.
    pub(super) fn left_out(&self, transaction: &Transaction) {
        let mut state = self.state();
        if state.left_out.len() >= LEFT_OUT_MAX {
            state.left_out.clear();
        }
        state.left_out.insert(transaction.hash());
    }

    /// Whether a waiting transaction must be judged again.
    pub(super) fn about(&self, transaction: &Transaction) -> bool {
        let state = self.state();
        // An empty block invalidates nothing.
        let follows = state.follows && !state.authors.is_empty();
        follows
            || state.authors.contains(&transaction.body().author)
            || state.left_out.contains(&transaction.hash())
    }

    /// Records that a transaction was judged again and may keep waiting.
    pub(super) fn settle(&self, transaction: &Transaction) {
        self.state().left_out.remove(&transaction.hash());
    }

    fn state(&self) -> MutexGuard<'_, DoubtState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
