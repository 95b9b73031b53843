//! What several processes commit is noted until it is indexed, so that any of them indexes it if another one ends before.

use std::time::Duration;

use selfsame_book::entry::{BookChange, is_uuid, uuid};
use selfsame_book_index::IndexChange;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_driver::record::{decode, encode};
use selfsame_store::{Batch, Page, Put, Record, TenantId};
use serde::{Deserialize, Serialize};

use crate::books::{BOOK, Book, Books, failed};
use crate::following::change;

/// The kind of the notes of all books of an instance.
const UNINDEXED: &str = "book-unindexed";
/// Notes that are read at once.
const NOTES_AT_ONCE: usize = 100;
/// How long notes of indexed records wait for others to be removed with.
const FORGOTTEN_AFTER: Duration = Duration::from_millis(100);

#[derive(Deserialize, Serialize)]
struct UnindexedRecord {
    /// The tenant of the book.
    tenant: String,
    /// The identifiers of the records.
    records: Vec<String>,
    committed: UnixTime,
}

/// A note of committed records that may not be indexed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnindexedNote {
    /// The tenant of the book.
    pub tenant: TenantId,
    id: String,
    records: Vec<String>,
}

impl Books {
    /// The first notes that are older than this many seconds: those of requests under way are younger.
    ///
    /// # Errors
    /// The store's.
    pub async fn unindexed(&self, age: u64) -> Result<Vec<UnindexedNote>> {
        let shared = self.shared();
        let (instance, page) = (TenantId::instance(), Page::first(NOTES_AT_ONCE));
        let noted = shared.store.list(&instance, UNINDEXED, &page);
        let before = shared.clock.now().minus(age);
        let mut notes = Vec::new();
        for record in noted.await? {
            let noted: UnindexedRecord = decode(&record.value)?;
            if noted.committed <= before {
                notes.push(UnindexedNote {
                    tenant: TenantId::parse(&noted.tenant)?,
                    id: record.id,
                    records: noted.records,
                });
            }
        }
        Ok(notes)
    }

    /// Removes a note, because its records are indexed, or their book is no more.
    ///
    /// # Errors
    /// The store's.
    pub async fn forget_note(&self, note: &UnindexedNote) -> Result<()> {
        self.forget_notes(std::slice::from_ref(&note.id)).await
    }

    /// The removal may be lost with the power: the notes then come back, and their records are indexed once more.
    async fn forget_notes(&self, ids: &[String]) -> Result<()> {
        let forgotten = Batch::new(TenantId::instance());
        let forgotten = ids
            .iter()
            .fold(forgotten, |batch, id| batch.delete(UNINDEXED, id));
        self.shared().store.commit(forgotten.deferred()).await?;
        Ok(())
    }

    /// Removes a note together with those of the next moment. Nobody waits for that: a note that stays has its records
    /// indexed once more.
    fn forget_soon(&self, id: String) {
        let is_first = {
            let mut done = self.indexed_notes();
            done.push(id);
            done.len() == 1
        };
        if !is_first {
            return;
        }
        let books = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(FORGOTTEN_AFTER).await;
            let ids = std::mem::take(&mut *books.indexed_notes());
            if let Err(error) = books.forget_notes(&ids).await {
                tracing::warn!(%error, "notes of indexed records of a book could not be removed");
            }
        });
    }
}

impl Book {
    /// Commits records and indexes what they change.
    ///
    /// # Errors
    /// The store's and the index's.
    pub(crate) async fn commit_changes(
        &self,
        batch: Batch,
        changes: Vec<BookChange>,
    ) -> Result<()> {
        if !self.index().is_shared() || changes.is_empty() {
            self.store().commit(batch).await?;
            return self.indexed(changes).await;
        }
        let ctx = self.shared().clock.ctx();
        let id = uuid(ctx.random::<16>("book/unindexed"));
        let note = UnindexedRecord {
            tenant: self.tenant().as_str().to_owned(),
            records: changes.iter().map(BookChange::record_id).collect(),
            committed: ctx.now(),
        };
        let put = Put::new(UNINDEXED, &id, encode(&note)?);
        let noted = batch.for_tenant(TenantId::instance()).put(put);
        self.store().commit(noted).await?;
        self.indexed(changes).await?;
        self.books.forget_soon(id);
        Ok(())
    }

    /// Indexes records that another process committed before it ended.
    ///
    /// # Errors
    /// The store's and the index's.
    pub async fn index_noted(&self, note: &UnindexedNote) -> Result<()> {
        let types = self.types().await?;
        let mut changes = Vec::new();
        for id in &note.records {
            if let Some(record) = self.noted(id).await? {
                changes.extend(change(decode(&record.value)?, &types));
            }
        }
        self.apply(changes).await?;
        // An entry that was erased meanwhile must not come back.
        let mut erased = Vec::new();
        for id in note.records.iter().filter(|id| is_uuid(id)) {
            if self.noted(id).await?.is_none() {
                erased.push(IndexChange::Remove {
                    credential_id: id.clone(),
                });
            }
        }
        self.apply(erased).await?;
        let records = note.records.len();
        tracing::info!(
            records,
            "records of a book that a process left unindexed are indexed"
        );
        Ok(())
    }

    async fn noted(&self, id: &str) -> Result<Option<Record>> {
        Ok(self.store().read(self.tenant(), BOOK, id).await?)
    }

    /// Makes changes that were not read in the order of the records.
    pub(crate) async fn apply(&self, changes: Vec<IndexChange>) -> Result<()> {
        let applied = self.index().apply(&self.name, changes, None).await;
        applied.map_err(failed)
    }
}
