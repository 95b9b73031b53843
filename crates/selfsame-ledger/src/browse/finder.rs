//! An index of the log. The first search creates it, and each search brings it up to date, a step at a time.

use std::time::Duration;

use selfsame_crypto::hash::sha256;
use selfsame_driver::{Error, Result};
use selfsame_store::StoreError;
use selfsame_store::ledger::index::{Hits, Index, Marked, Wanted};
use tokio::sync::OwnedMutexGuard;

use super::operations::{self, labels, words};
use crate::ledger::Ledger;

/// How long a search waits for the index to reach the end of the log. Then it uses what is indexed.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// Entries read at once; each may be 256 kB long.
const ENTRIES: u64 = 50;
/// If another task is indexing and is further behind than this number of transactions, a search does not wait for it.
const FAR: u64 = 4 * ENTRIES;
/// Operations after which a step is written to the index.
const OPERATIONS: usize = 1_000;

/// Finds transactions of a ledger by labels and words.
#[derive(Clone)]
pub(super) struct Finder {
    ledger: Ledger,
}

impl Finder {
    pub(super) fn new(ledger: &Ledger) -> Self {
        Self {
            ledger: ledger.clone(),
        }
    }

    /// The results, and the number of the last transaction searched.
    pub(super) async fn find(&self, wanted: Wanted) -> Result<(Hits, u64)> {
        let searched = self.up_to_date().await?;
        let hits = self.ask(move |index| index.find(&wanted)).await?;
        Ok((hits, searched))
    }

    /// The number of operations with a label.
    pub(super) async fn count(&self, label: String) -> Result<u64> {
        self.up_to_date().await?;
        self.ask(move |index| index.count(&label)).await
    }

    /// Queries the index on a thread where waiting for the disk delays nothing. Without an index the result is empty.
    async fn ask<T: Default + Send + 'static>(
        &self,
        question: impl FnOnce(&Index) -> std::result::Result<T, StoreError> + Send + 'static,
    ) -> Result<T> {
        let search = self.ledger.search().clone();
        let asking = tokio::task::spawn_blocking(move || match search.index() {
            Some(index) => question(index),
            None => Ok(T::default()),
        });
        Ok(asking.await.map_err(Error::internal)??)
    }

    /// Extends the index while the search may wait. It continues in the background, and others do not wait for it.
    async fn up_to_date(&self) -> Result<u64> {
        let search = self.ledger.search();
        let size = self.ledger.head()?.log.size();
        if let Some(reached) = search.reached()
            && reached >= size
        {
            return Ok(reached);
        }
        let free = search.turn().try_lock_owned().ok();
        let reached = search.reached().unwrap_or(0);
        if free.is_none() && size.saturating_sub(reached) > FAR {
            return Ok(reached);
        }
        let waited = tokio::time::timeout(PATIENCE, async {
            let turn = match free {
                Some(turn) => turn,
                None => search.turn().lock_owned().await,
            };
            let finder = self.clone();
            let work = tokio::task::spawn_blocking(move || finder.extend(turn));
            work.await.map_err(Error::internal)?
        });
        if let Ok(extended) = waited.await {
            extended?;
        }
        Ok(search.reached().unwrap_or(0))
    }

    /// Indexes all missing transactions.
    fn extend(&self, _turn: OwnedMutexGuard<()>) -> Result<()> {
        let (ledger, index) = (&self.ledger, self.index()?);
        let mut upto = match index.upto()? {
            Some((seq, _)) => seq,
            None => {
                let genesis = sha256(&ledger.genesis().to_bytes());
                index.extend(0, &genesis, &of_genesis(ledger))?;
                0
            }
        };
        while upto < ledger.head()?.log.size() {
            ledger.search().reaches(upto);
            upto = step(ledger, index, upto)?;
        }
        ledger.search().reaches(upto);
        Ok(())
    }

    /// The index. If it belongs to another ledger, it is emptied.
    fn index(&self) -> Result<&Index> {
        let ledger = &self.ledger;
        if let Some(index) = ledger.search().index() {
            return Ok(index);
        }
        let index = match ledger.store().index_file() {
            Some(file) => Index::open(&file)?,
            None => Index::in_memory()?,
        };
        if !is_of(&index, ledger)? {
            index.clear()?;
        }
        Ok(ledger.search().keep(index))
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

/// Indexes some of the transactions after `upto` and returns the number of the last one.
fn step(ledger: &Ledger, index: &Index, upto: u64) -> Result<u64> {
    let (mut reached, mut hash, mut marked) = (upto, Vec::new(), Vec::new());
    while marked.len() < OPERATIONS {
        let first = reached.saturating_add(1);
        let placed = ledger
            .store()
            .entries(first..first.saturating_add(ENTRIES))?;
        // A node that began with a snapshot lacks the transactions before it.
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
    index.extend(reached, &hash, &marked)?;
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
