//! The ledger's storage: blocks of entries and the state they lead to. Unsealed, since all of it is public.

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

/// The most entries given at once.
pub const MAX_ENTRIES: u64 = 1_000;

/// So many heights a node outlives the tree it was in: the checkpoint of a height is complete some blocks later, and
/// until then reads are proven under the one before.
pub const KEPT_HEIGHTS: u64 = 16;

/// The last block.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Head {
    /// Its height; the first block has height 1.
    pub height: u64,
    /// How many entries there are up to it.
    pub size: u64,
    /// What the sequencer keeps of it.
    pub bytes: Vec<u8>,
}

/// A transaction as accepted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// Its hash, which the ledger looks it up by.
    pub hash: [u8; 32],
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// An entry in its place.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Placed {
    /// Its number; the first entry has 1.
    pub seq: u64,
    /// The height of its block.
    pub height: u64,
    /// The entry.
    pub entry: Entry,
}

/// A block to be appended.
#[derive(Clone, Debug)]
pub struct Block {
    /// The height: one above the head's.
    pub height: u64,
    /// Its entries, none of which is in the ledger.
    pub entries: Vec<Entry>,
    /// What changes in the state.
    pub writes: BTreeMap<Vec<u8>, Vec<u8>>,
    /// What changes in the tree over the state.
    pub tree: TreeChanges,
    /// What the sequencer keeps of the block.
    pub head: Vec<u8>,
}

/// What a block changes in the tree over the state.
#[derive(Clone, Debug, Default)]
pub struct TreeChanges {
    /// New nodes by their keys; a node never changes.
    pub nodes: Vec<(Vec<u8>, Vec<u8>)>,
    /// Keys of nodes the newest tree no longer has. They stay readable for [`KEPT_HEIGHTS`] more heights.
    pub stale: Vec<Vec<u8>>,
}

/// The state and its tree as of one moment, for who reads much of them at once.
pub trait LedgerView {
    /// As [`LedgerStore::get`].
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>>;
    /// As [`LedgerStore::key`].
    fn key(&self, place: &[u8; 32]) -> Result<Option<Vec<u8>>>;
    /// As [`LedgerStore::node`].
    fn node(&self, key: &[u8]) -> Result<Option<Vec<u8>>>;
}

/// A ledger read one by one.
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

/// Keeps a ledger. Reads are point reads and answer at once; they see every append that was answered before.
#[async_trait]
pub trait LedgerStore: Send + Sync {
    /// A value of the state.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>>;
    /// The key of a value of the state by its place in the tree, SHA-256 of the key.
    fn key(&self, place: &[u8; 32]) -> Result<Option<Vec<u8>>>;
    /// A node of the tree over the state, of the newest tree or of one of the [`KEPT_HEIGHTS`] before it.
    fn node(&self, key: &[u8]) -> Result<Option<Vec<u8>>>;
    /// A view that sees every append that was answered before, and may see one that is under way. Appends may wait until
    /// it is dropped; a thread has one at a time.
    fn view(&self) -> Result<Box<dyn LedgerView + '_>> {
        Ok(Box::new(EachAlone(self)))
    }
    /// The last block.
    fn head(&self) -> Result<Option<Head>>;
    /// What the sequencer kept of the block of that height.
    fn block(&self, height: u64) -> Result<Option<Vec<u8>>>;
    /// The entry of that number.
    fn entry(&self, seq: u64) -> Result<Option<Placed>>;
    /// The entries of those numbers, [`MAX_ENTRIES`] at most.
    fn entries(&self, seqs: Range<u64>) -> Result<Vec<Placed>>;
    /// The number of the entry with that hash.
    fn by_hash(&self, hash: &[u8; 32]) -> Result<Option<u64>>;
    /// Appends a block in one durable transaction. A conflict if the height does not follow or an entry is there
    /// already; then nothing is written.
    async fn append(&self, block: Block) -> Result<Head>;
    /// Writes all of it, as of one moment, into a new file, which tells of itself that it is a copy.
    async fn copy(&self, _to: &Path) -> Result<()> {
        Err(StoreError::Malformed("copy: nothing is kept in a file"))
    }
    /// The height at which this ledger was copied, if it is a copy.
    fn copied_at(&self) -> Result<Option<u64>> {
        Ok(None)
    }
    /// Moves what has been committed to the one file that keeps it, if there is one, so that it is whole by itself.
    async fn fold(&self) -> Result<()> {
        Ok(())
    }
    /// What each append from now on keeps of the store beside this ledger: how far that had come
    /// ([`crate::Store::generation`]).
    fn note_store(&self, _generation: u64) {}
    /// How far the store beside this ledger had come, as the appends kept it.
    fn noted_store(&self) -> Result<Option<u64>> {
        Ok(None)
    }
    /// What appends have cost.
    fn meter(&self) -> &Meter;
    /// Where an [`index::Index`] of it may be kept; none where it is made in memory.
    fn index_file(&self) -> Option<PathBuf> {
        None
    }
}
