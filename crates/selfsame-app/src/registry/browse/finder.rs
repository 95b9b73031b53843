//! Keeps an index of the log: made when it is first asked for, and brought up to date by whoever asks, a step at a time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use selfsame_crypto::hash::sha256;
use selfsame_store::StoreError;
use selfsame_store::ledger::index::{Hits, Index, Marked, Wanted};
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::operations::{self, labels, words};
use crate::error::{Error, Result};
use crate::registry::ledger::Ledger;

/// How long a question waits for the index to come up to the log; then it is answered with what there is.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// Entries read at once; each may have 256 kB.
const ENTRIES: u64 = 50;
/// Whoever finds somebody else at work on more than so many transactions does not wait for it.
const FAR: u64 = 4 * ENTRIES;
/// Operations after which a step is written down.
const OPERATIONS: usize = 1_000;

/// Before anything is in the index.
const NOTHING: u64 = u64::MAX;

/// Finds transactions by labels and words. Clones share the index.
#[derive(Clone, Default)]
pub(in crate::registry) struct Finder(Arc<Inner>);

struct Inner {
    index: OnceLock<Index>,
    /// The last transaction that is in it, so that looking waits for nobody who writes.
    reached: AtomicU64,
    /// Who has it makes the index, opens or extends it.
    turn: Arc<Mutex<()>>,
}

impl Default for Inner {
    fn default() -> Self {
        Self {
            index: OnceLock::new(),
            reached: AtomicU64::new(NOTHING),
            turn: Arc::default(),
        }
    }
}

impl Finder {
    /// What is looked for, and up to which transaction was searched.
    pub(super) async fn find(&self, ledger: &Ledger, wanted: Wanted) -> Result<(Hits, u64)> {
        let searched = self.up_to_date(ledger).await?;
        let hits = self.ask(move |index| index.find(&wanted)).await?;
        Ok((hits, searched))
    }

    /// How many have a label.
    pub(super) async fn count(&self, ledger: &Ledger, label: String) -> Result<u64> {
        self.up_to_date(ledger).await?;
        self.ask(move |index| index.count(&label)).await
    }

    /// Asks the index where waiting for the disk holds up nobody; without one there is nothing to be found yet.
    async fn ask<T: Default + Send + 'static>(
        &self,
        question: impl FnOnce(&Index) -> std::result::Result<T, StoreError> + Send + 'static,
    ) -> Result<T> {
        let inner = self.0.clone();
        let asking = tokio::task::spawn_blocking(move || match inner.index.get() {
            Some(index) => question(index),
            None => Ok(T::default()),
        });
        Ok(asking.await.map_err(Error::internal)??)
    }

    /// Brings the index up to the log while one may wait; the rest goes on behind, and who comes then does not wait.
    async fn up_to_date(&self, ledger: &Ledger) -> Result<u64> {
        let size = ledger.head()?.log.size();
        if let Some(reached) = self.reached()
            && reached >= size
        {
            return Ok(reached);
        }
        let free = self.0.turn.clone().try_lock_owned().ok();
        let reached = self.reached().unwrap_or(0);
        if free.is_none() && size.saturating_sub(reached) > FAR {
            return Ok(reached);
        }
        let waited = tokio::time::timeout(PATIENCE, async {
            let turn = match free {
                Some(turn) => turn,
                None => self.0.turn.clone().lock_owned().await,
            };
            let (finder, ledger) = (self.clone(), ledger.clone());
            let work = tokio::task::spawn_blocking(move || finder.extend(&ledger, turn));
            work.await.map_err(Error::internal)?
        });
        if let Ok(extended) = waited.await {
            extended?;
        }
        Ok(self.reached().unwrap_or(0))
    }

    fn reached(&self) -> Option<u64> {
        match self.0.reached.load(Ordering::Acquire) {
            NOTHING => None,
            reached => Some(reached),
        }
    }

    /// Takes in all that is missing.
    fn extend(&self, ledger: &Ledger, _turn: OwnedMutexGuard<()>) -> Result<()> {
        let index = self.index(ledger)?;
        let mut upto = match index.upto()? {
            Some((seq, _)) => seq,
            None => {
                let genesis = sha256(&ledger.genesis().to_bytes());
                index.extend((0, &genesis), &of_genesis(ledger))?;
                0
            }
        };
        while upto < ledger.head()?.log.size() {
            self.0.reached.store(upto, Ordering::Release);
            upto = step(ledger, index, upto)?;
        }
        self.0.reached.store(upto, Ordering::Release);
        Ok(())
    }

    /// The index; one that is not of this ledger is begun anew.
    fn index(&self, ledger: &Ledger) -> Result<&Index> {
        if let Some(index) = self.0.index.get() {
            return Ok(index);
        }
        let index = match ledger.store().index_file() {
            Some(file) => Index::open(&file)?,
            None => Index::in_memory()?,
        };
        if !is_of(&index, ledger)? {
            index.clear()?;
        }
        Ok(self.0.index.get_or_init(|| index))
    }
}

fn is_of(index: &Index, ledger: &Ledger) -> Result<bool> {
    Ok(match index.upto()? {
        None => true,
        Some((0, hash)) => hash == sha256(&ledger.genesis().to_bytes()),
        Some((seq, hash)) => {
            let placed = ledger.store().entry(seq)?;
            placed.is_some_and(|placed| placed.entry.hash[..] == *hash)
        }
    })
}

/// Takes in some of what follows `upto`, and says how far that reaches.
fn step(ledger: &Ledger, index: &Index, upto: u64) -> Result<u64> {
    let (mut reached, mut hash, mut marked) = (upto, Vec::new(), Vec::new());
    while marked.len() < OPERATIONS {
        let first = reached.saturating_add(1);
        let placed = ledger
            .store()
            .entries(first..first.saturating_add(ENTRIES))?;
        // A node that began with a snapshot lacks what was before it.
        let gap = placed.is_empty() && first < ledger.head()?.log.size();
        if placed.is_empty() && !gap {
            break;
        }
        if gap {
            reached = reached.saturating_add(ENTRIES);
            continue;
        }
        for one in placed {
            (reached, hash) = (one.seq, one.entry.hash.to_vec());
            for operation in operations::of(ledger, &one)? {
                marked.push(Marked {
                    seq: operation.seq_no,
                    place: operation.place.saturating_sub(1),
                    labels: labels(&operation),
                    words: words(&operation),
                });
            }
        }
    }
    index.extend((reached, &hash), &marked)?;
    Ok(reached)
}

fn of_genesis(ledger: &Ledger) -> Vec<Marked> {
    let marked = |operation: &_| Marked {
        labels: labels(operation),
        place: operation.place.saturating_sub(1),
        ..Marked::default()
    };
    operations::of_genesis(ledger).iter().map(marked).collect()
}
