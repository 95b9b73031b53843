//! The state of the search over a ledger: its index, and how far that reaches. `browse` fills it and asks it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use selfsame_store::ledger::index::Index;
use tokio::sync::Mutex;

/// The value before anything is in the index.
const NOTHING: u64 = u64::MAX;

/// The index of a ledger's transactions. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct TransactionSearch(Arc<SearchIndex>);

struct SearchIndex {
    index: OnceLock<Index>,
    /// The last transaction in the index. Reading it does not wait for a task that writes.
    reached: AtomicU64,
    turn: Arc<Mutex<()>>,
}

impl Default for SearchIndex {
    fn default() -> Self {
        Self {
            index: OnceLock::new(),
            reached: AtomicU64::new(NOTHING),
            turn: Arc::default(),
        }
    }
}

impl TransactionSearch {
    /// The index, once it is open.
    pub(crate) fn index(&self) -> Option<&Index> {
        self.0.index.get()
    }

    /// Keeps an opened index, and returns the one that was kept first.
    pub(crate) fn keep(&self, index: Index) -> &Index {
        self.0.index.get_or_init(|| index)
    }

    /// Held by the task that creates, opens or extends the index.
    pub(crate) fn turn(&self) -> Arc<Mutex<()>> {
        self.0.turn.clone()
    }

    /// The last transaction in the index, once it has any.
    pub(crate) fn reached(&self) -> Option<u64> {
        match self.0.reached.load(Ordering::Acquire) {
            NOTHING => None,
            reached => Some(reached),
        }
    }

    /// Notes the last transaction in the index.
    pub(crate) fn reaches(&self, seq_no: u64) {
        self.0.reached.store(seq_no, Ordering::Release);
    }
}
