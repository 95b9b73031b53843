//! The ledger's storage: blocks of entries and the resulting state. Unencrypted, since all of it is public.

pub mod index;
mod memory;
mod newest;
mod sqlite;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use async_trait::async_trait;

use crate::error::{Result, StoreError};
use crate::meter::Meter;

pub use memory::MemoryLedger;
pub use newest::Newest;
pub use sqlite::SqliteLedger;
pub use sqlite::offline::LedgerFile;

/// The file with the registry's ledger in a data directory, in a node's folder and in a backup.
pub const LEDGER_FILE: &str = "ledger.sqlite";

/// The maximum number of entries returned at once.
pub const MAX_ENTRIES: u64 = 1_000;

/// The number of heights for which a node outlives its tree. The checkpoint of a height is completed some blocks later;
/// until then, reads are proven under the previous checkpoint.
pub const KEPT_HEIGHTS: u64 = 16;

/// The last block.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Head {
    /// The height. The first block has height 1.
    pub height: u64,
    /// The number of entries up to this block.
    pub size: u64,
    /// Data of the sequencer about this block.
    pub bytes: Vec<u8>,
}

/// An accepted transaction.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// The hash, by which the entry can be looked up.
    pub hash: [u8; 32],
    /// The transaction's bytes.
    pub bytes: Vec<u8>,
}

/// An entry with its position.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Placed {
    /// The sequence number. The first entry has 1.
    pub seq: u64,
    /// The height of the entry's block.
    pub height: u64,
    /// The entry.
    pub entry: Entry,
}

/// A block to append.
#[derive(Clone, Debug)]
pub struct Block {
    /// The height: one above the head.
    pub height: u64,
    /// The entries. None of them may be in the ledger yet.
    pub entries: Vec<Entry>,
    /// Changes of the state.
    pub writes: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Changes of the tree over the state.
    pub tree: TreeChanges,
    /// Data of the sequencer about this block.
    pub head: Vec<u8>,
}

/// A block's changes of the tree over the state.
#[derive(Clone, Debug, Default)]
pub struct TreeChanges {
    /// New nodes with their keys. A node never changes.
    pub nodes: Vec<(Vec<u8>, Vec<u8>)>,
    /// Keys of nodes that are not in the newest tree. They stay readable for [`KEPT_HEIGHTS`] more heights.
    pub stale: Vec<Vec<u8>>,
}

/// A snapshot of the state and its tree, for many reads at once.
pub trait LedgerView {
    /// As [`LedgerStore::get`].
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>>;
    /// As [`LedgerStore::key`].
    fn key(&self, place: &[u8; 32]) -> Result<Option<Vec<u8>>>;
    /// As [`LedgerStore::node`].
    fn node(&self, key: &[u8]) -> Result<Option<Vec<u8>>>;
}

/// A view whose reads go to the ledger one by one.
struct EachAlone<'a, S: ?Sized>(&'a S);

impl<S: LedgerStore + ?Sized> LedgerView for EachAlone<'_, S> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.0.get(key)
    }

    fn key(&self, place: &[u8; 32]) -> Result<Option<Vec<u8>>> {
        self.0.key(place)
    }

    fn node(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.0.node(key)
    }
}

/// Stores a ledger. Reads are point reads and return at once. A read sees every append that was acknowledged before it.
#[async_trait]
pub trait LedgerStore: Send + Sync {
    /// A value of the state.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>>;
    /// The key of a state value, looked up by its place in the tree, the SHA-256 of the key.
    fn key(&self, place: &[u8; 32]) -> Result<Option<Vec<u8>>>;
    /// A node of the newest state tree or of one of the [`KEPT_HEIGHTS`] trees before it.
    fn node(&self, key: &[u8]) -> Result<Option<Vec<u8>>>;
    /// A view that sees every append that was acknowledged before, and possibly one in progress. Appends may wait until
    /// the view is dropped. A thread may hold one view at a time.
    fn view(&self) -> Result<Box<dyn LedgerView + '_>> {
        Ok(Box::new(EachAlone(self)))
    }
    /// The last block.
    fn head(&self) -> Result<Option<Head>>;
    /// The sequencer's data about the block at this height.
    fn block(&self, height: u64) -> Result<Option<Vec<u8>>>;
    /// The entry with this sequence number.
    fn entry(&self, seq: u64) -> Result<Option<Placed>>;
    /// The entries with these sequence numbers, at most [`MAX_ENTRIES`].
    fn entries(&self, seqs: Range<u64>) -> Result<Vec<Placed>>;
    /// The sequence number of the entry with this hash.
    fn by_hash(&self, hash: &[u8; 32]) -> Result<Option<u64>>;
    /// Appends a block in one durable transaction. If the height does not follow the head or an entry is already in the
    /// ledger, it returns a conflict and writes nothing.
    async fn append(&self, block: Block) -> Result<Head>;
    /// Writes a snapshot of the ledger to a new file, which is marked as a copy.
    async fn copy(&self, _to: &Path) -> Result<()> {
        Err(StoreError::Malformed("copy: nothing is kept in a file"))
    }
    /// The height at which this ledger was copied; `None` if it is not a copy.
    fn copied_at(&self) -> Result<Option<u64>> {
        Ok(None)
    }
    /// Moves committed data from the log to the main file, if there is one, so that this file is complete on its own.
    async fn fold(&self) -> Result<()> {
        Ok(())
    }
    /// Sets the generation of the store beside this ledger ([`crate::Store::generation`]). Each append from now on
    /// records it.
    fn note_store(&self, _generation: u64) {}
    /// The store's generation that the last append recorded.
    fn noted_store(&self) -> Result<Option<u64>> {
        Ok(None)
    }
    /// Statistics of the appends.
    fn meter(&self) -> &Meter;
    /// The path for an [`index::Index`] of this ledger; `None` if the index is kept in memory.
    fn index_file(&self) -> Option<PathBuf> {
        None
    }
}
