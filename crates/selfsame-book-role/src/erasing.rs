//! Removes an entry by law, and notes revocations.

use selfsame_book::entry::{
    AnonCredsEntry, BookChange, ErasedEntry, RevokedEntry, erased_id, is_uuid,
};
use selfsame_book::news::NEWS;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Expect, Put};

use crate::anoncreds::entry_id;
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
        let (version, entry) = self.entry(credential_id).await?;
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
            .delete(NEWS, credential_id)
            .put(Put::new(BOOK, tombstone.record_id(), encode(&tombstone)?));
        // The wallet of the agent has all that the credential says.
        let is_held = match &entry.held {
            Some(held) => self.is_held(credential_id, held).await?,
            None => false,
        };
        let batch = match &entry.held {
            Some(held) if is_held => {
                batch.and(self.anoncreds().removal(self.tenant(), &held.referent))
            }
            _ => batch,
        };
        self.commit_changes(batch, vec![tombstone]).await?;
        tracing::info!(entry = credential_id, "an entry of a book was erased");
        Ok(erased)
    }

    /// Whether the agent holds the credential of an entry. Another one can have come to its identifier.
    async fn is_held(&self, credential_id: &str, held: &AnonCredsEntry) -> Result<bool> {
        let found = self.anoncreds().credential(self.tenant(), &held.referent);
        match found.await {
            Ok(info) => Ok(entry_id(&info) == credential_id),
            Err(error) if error.kind == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
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

    /// Whether it was noted that an entry was revoked.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn is_revoked(&self, credential_id: &str) -> Result<bool> {
        let noted = revoked_id(credential_id);
        let noted = self.store().version(self.tenant(), BOOK, &noted);
        Ok(noted.await?.is_some())
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
