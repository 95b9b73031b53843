//! A ledger in memory.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use selfsame_crypto::hash::sha256;

use super::{Block, Entry, Head, KEPT_HEIGHTS, LedgerStore, MAX_ENTRIES, Placed, TreeChanges};
use crate::error::{Result, StoreError};
use crate::meter::Meter;

/// Keeps the ledger in memory only.
#[derive(Debug, Default)]
pub struct MemoryLedger {
    state: Mutex<MemoryLedgerState>,
    meter: Meter,
}

#[derive(Debug, Default)]
struct MemoryLedgerState {
    values: BTreeMap<Vec<u8>, Vec<u8>>,
    places: HashMap<[u8; 32], Vec<u8>>,
    nodes: HashMap<Vec<u8>, Vec<u8>>,
    stale: BTreeMap<u64, Vec<Vec<u8>>>,
    blocks: Vec<Vec<u8>>,
    entries: Vec<(u64, Entry)>,
    hashes: HashMap<[u8; 32], u64>,
}

impl MemoryLedger {
    /// An empty ledger.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, MemoryLedgerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryLedgerState {
    fn head(&self) -> Option<Head> {
        let bytes = self.blocks.last()?.clone();
        Some(Head {
            height: self.blocks.len() as u64,
            size: self.entries.len() as u64,
            bytes,
        })
    }

    fn entry(&self, seq: u64) -> Option<Placed> {
        let (height, entry) = self
            .entries
            .get(usize::try_from(seq.checked_sub(1)?).ok()?)?;
        Some(Placed {
            seq,
            height: *height,
            entry: entry.clone(),
        })
    }

    fn change_tree(&mut self, height: u64, changes: TreeChanges) {
        self.nodes.extend(changes.nodes);
        self.stale.insert(height, changes.stale);
        let kept = self
            .stale
            .split_off(&(height + 1).saturating_sub(KEPT_HEIGHTS));
        for key in std::mem::replace(&mut self.stale, kept)
            .into_values()
            .flatten()
        {
            self.nodes.remove(&key);
        }
    }
}

#[async_trait]
impl LedgerStore for MemoryLedger {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(self.state().values.get(key).cloned())
    }

    fn key(&self, place: &[u8; 32]) -> Result<Option<Vec<u8>>> {
        Ok(self.state().places.get(place).cloned())
    }

    fn node(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(self.state().nodes.get(key).cloned())
    }

    fn head(&self) -> Result<Option<Head>> {
        Ok(self.state().head())
    }

    fn block(&self, height: u64) -> Result<Option<Vec<u8>>> {
        let index = height
            .checked_sub(1)
            .and_then(|index| usize::try_from(index).ok());
        Ok(index.and_then(|index| self.state().blocks.get(index).cloned()))
    }

    fn entry(&self, seq: u64) -> Result<Option<Placed>> {
        Ok(self.state().entry(seq))
    }

    fn entries(&self, seqs: Range<u64>) -> Result<Vec<Placed>> {
        let state = self.state();
        let end = seqs.end.min(seqs.start.saturating_add(MAX_ENTRIES));
        Ok((seqs.start.max(1)..end)
            .map_while(|seq| state.entry(seq))
            .collect())
    }

    fn by_hash(&self, hash: &[u8; 32]) -> Result<Option<u64>> {
        Ok(self.state().hashes.get(hash).copied())
    }

    async fn append(&self, block: Block) -> Result<Head> {
        let mut state = self.state();
        if block.height != state.blocks.len() as u64 + 1 {
            return Err(StoreError::conflict("ledger", "height"));
        }
        let mut fresh = HashSet::new();
        if block
            .entries
            .iter()
            .any(|entry| state.hashes.contains_key(&entry.hash) || !fresh.insert(entry.hash))
        {
            return Err(StoreError::conflict("ledger", "entry"));
        }
        for entry in block.entries {
            let seq = state.entries.len() as u64 + 1;
            state.hashes.insert(entry.hash, seq);
            state.entries.push((block.height, entry));
        }
        let keys = block.writes.keys();
        let places = keys.map(|key| (sha256(key), key.clone()));
        state.places.extend(places);
        state.values.extend(block.writes);
        state.change_tree(block.height, block.tree);
        state.blocks.push(block.head.clone());
        self.meter.record(Duration::ZERO);
        Ok(Head {
            height: block.height,
            size: state.entries.len() as u64,
            bytes: block.head,
        })
    }

    fn meter(&self) -> &Meter {
        &self.meter
    }
}
