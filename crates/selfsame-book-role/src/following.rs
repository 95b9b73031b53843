//! Brings the index of a book up to its records. An index that was lost, damaged or cleared is built again by this way.

use std::sync::atomic::Ordering;

use selfsame_book::entry::BookChange;
use selfsame_book_index::{IndexChange, IndexedEntry};
use selfsame_driver::Result;
use selfsame_driver::record::decode;
use selfsame_store::Page;
use selfsame_types::TypeSet;

use crate::books::{BOOK, Book, failed};

/// Records that are indexed in one transaction.
const AT_ONCE: usize = 1_000;

impl Book {
    /// Indexes what the index does not have yet. Returns how many records those were.
    ///
    /// # Errors
    /// The store's and the index's.
    pub async fn follow(&self) -> Result<u64> {
        let follower = self.follower();
        let _turn = follower.turn.lock().await;
        let types = self.types().await?;
        let mut indexed = 0_u64;
        follower.read.store(0, Ordering::Relaxed);
        let mut cursor = self.index().cursor(&self.name).await.map_err(failed)?;
        loop {
            let mut page = Page::first(AT_ONCE);
            if let Some(cursor) = &cursor {
                page = page.after(cursor);
            }
            let records = self.store().list(self.tenant(), BOOK, &page).await?;
            let Some(last) = records.last() else {
                return Ok(indexed);
            };
            let next = last.cursor();
            let mut changes = Vec::with_capacity(records.len());
            for record in &records {
                changes.extend(change(decode(&record.value)?, &types));
            }
            let applied = self.index().apply(&self.name, changes, Some(&next)).await;
            applied.map_err(failed)?;
            indexed = indexed.saturating_add(records.len() as u64);
            follower.read.store(indexed, Ordering::Relaxed);
            cursor = Some(next);
        }
    }

    /// Indexes changes that were just committed.
    ///
    /// # Errors
    /// The store's and the index's.
    pub(crate) async fn indexed(&self, changes: Vec<BookChange>) -> Result<()> {
        if !self.store().is_shared() {
            return self.follow().await.map(drop);
        }
        // Another process's record can become visible out of order, so that a cursor would pass it by.
        let types = self.types().await?;
        let changes = changes.into_iter();
        let changes = changes.filter_map(|one| change(one, &types)).collect();
        self.apply(changes).await
    }
}

/// What a record changes in the index. An entry whose type is in no book now changes nothing.
pub(crate) fn change(record: BookChange, types: &TypeSet) -> Option<IndexChange> {
    Some(match record {
        BookChange::Entered(entry) => {
            let mapping = types.newest(&entry.type_id)?.book.as_ref()?;
            let facts = match mapping.facts(&entry.claims) {
                Ok(facts) => facts,
                Err(misfit) => {
                    tracing::warn!(
                        entry = entry.credential_id,
                        ?misfit,
                        "not shown in the book: its type reads it differently now"
                    );
                    return None;
                }
            };
            let entered = i64::try_from(entry.entered.0).unwrap_or(i64::MAX);
            IndexChange::Enter(Box::new(IndexedEntry {
                effective: facts.effective.or(entry.issued).unwrap_or(entered),
                credential_id: entry.credential_id,
                type_id: entry.type_id,
                issuer: entry.issuer,
                facts,
                entered,
            }))
        }
        BookChange::Revoked(revoked) => IndexChange::Revoke {
            credential_id: revoked.credential_id,
            at: i64::try_from(revoked.at.0).unwrap_or(i64::MAX),
        },
        BookChange::Erased(erased) => IndexChange::Remove {
            credential_id: erased.credential_id,
        },
    })
}
