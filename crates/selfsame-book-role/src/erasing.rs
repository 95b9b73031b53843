//! Removes an entry by law, and notes revocations.

use selfsame_book::entry::{BookChange, ErasedEntry, RevokedEntry, erased_id, is_uuid};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Expect, Put};

use crate::books::{BOOK, Book};

/// Maximum number of characters of the ground of an erasure.
const GROUND_MAX: usize = 500;

impl Book {
    /// Erases an entry: its claims, its credential and all that the index has of it. A tombstone with the ground stays.
    /// It returns when nothing of the entry can be found any more.
    ///
    /// # Errors
    /// `NotFound`; `Gone` if it is erased already; `BadRequest` without a ground.
    pub async fn erase(&self, credential_id: &str, ground: &str) -> Result<ErasedEntry> {
        let ground = ground.trim();
        if ground.is_empty()
            || ground.chars().count() > GROUND_MAX
            || ground.chars().any(char::is_control)
        {
            return Err(Error::bad_request("book-ground").with("maximum", &GROUND_MAX));
        }
        let (version, _) = self.entry(credential_id).await?;
        let erased = ErasedEntry {
            credential_id: credential_id.to_owned(),
            at: self.shared().clock.now(),
            ground: ground.to_owned(),
        };
        let tombstone = BookChange::Erased(erased.clone());
        let batch = Batch::new(self.tenant().clone())
            .expect(BOOK, credential_id, Expect::Version(version))
            .delete(BOOK, credential_id)
            .delete(BOOK, &revoked_id(credential_id))
            .put(Put::new(BOOK, tombstone.record_id(), encode(&tombstone)?));
        self.commit_changes(batch, vec![tombstone]).await?;
        tracing::info!(entry = credential_id, "an entry of a book was erased");
        Ok(erased)
    }

    /// Notes that an entry was revoked. What was noted before stays.
    ///
    /// # Errors
    /// `NotFound`; `Gone` if it is erased.
    pub async fn revoke(&self, credential_id: &str) -> Result<()> {
        let (version, _) = self.entry(credential_id).await?;
        let revoked = BookChange::Revoked(RevokedEntry {
            credential_id: credential_id.to_owned(),
            at: self.shared().clock.now(),
        });
        let id = revoked.record_id();
        if self
            .store()
            .version(self.tenant(), BOOK, &id)
            .await?
            .is_none()
        {
            let batch = Batch::new(self.tenant().clone())
                .expect(BOOK, credential_id, Expect::Version(version))
                .expect(BOOK, &id, Expect::Absent)
                .put(Put::new(BOOK, id, encode(&revoked)?));
            return self.commit_changes(batch, vec![revoked]).await;
        }
        self.indexed(vec![revoked]).await
    }

    /// An entry and the version of its record.
    ///
    /// # Errors
    /// `NotFound`; `Gone` if it is erased.
    pub(crate) async fn entry(
        &self,
        credential_id: &str,
    ) -> Result<(u64, selfsame_book::EntryRecord)> {
        let unknown = || Error::not_found("book-entry-unknown");
        if !is_uuid(credential_id) {
            return Err(unknown());
        }
        let read = self.store().read(self.tenant(), BOOK, credential_id);
        if let Some(record) = read.await?
            && let BookChange::Entered(entry) = decode(&record.value)?
        {
            return Ok((record.version, *entry));
        }
        let tombstone = erased_id(credential_id);
        let tombstone = self.store().version(self.tenant(), BOOK, &tombstone);
        match tombstone.await? {
            Some(_) => Err(Error::new(ErrorKind::Gone, "book-entry-erased")),
            None => Err(unknown()),
        }
    }
}

fn revoked_id(credential_id: &str) -> String {
    format!("revoked/{credential_id}")
}
