//! Which waiting transactions the last block may have made invalid, so that not all are judged again after each.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use selfsame_registry::{Identifier, Transaction};

/// So many transactions that were left out of a proposal are remembered.
const LEFT_OUT_MAX: usize = 8_192;

/// Transactions that are to be judged again.
#[derive(Default)]
pub(super) struct Doubts(Mutex<State>);

#[derive(Default)]
struct State {
    /// Who wrote in the last block: what else waits of theirs may build on what was before.
    authors: HashSet<Identifier>,
    /// What this node left out of a proposal, since the machine would have refused it there.
    left_out: HashSet<[u8; 32]>,
    /// Whether this node makes no proposals, and so finds out in no other way.
    follows: bool,
}

impl Doubts {
    /// A block was stored with these transactions in it; after it this node follows, or validates.
    pub(super) fn after<'a>(&self, logged: impl Iterator<Item = &'a Transaction>, follows: bool) {
        let authors = logged.map(|transaction| transaction.body().author);
        let mut state = self.state();
        (state.authors, state.follows) = (authors.collect(), follows);
    }

    /// A proposal was made without this transaction.
    pub(super) fn left_out(&self, transaction: &Transaction) {
        let mut state = self.state();
        if state.left_out.len() >= LEFT_OUT_MAX {
            state.left_out.clear();
        }
        state.left_out.insert(transaction.hash());
    }

    /// Whether a waiting transaction is to be judged again.
    pub(super) fn about(&self, transaction: &Transaction) -> bool {
        let state = self.state();
        // An empty block makes nothing invalid.
        let follows = state.follows && !state.authors.is_empty();
        follows
            || state.authors.contains(&transaction.body().author)
            || state.left_out.contains(&transaction.hash())
    }

    /// A transaction was judged again and may go on waiting.
    pub(super) fn settle(&self, transaction: &Transaction) {
        self.state().left_out.remove(&transaction.hash());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
