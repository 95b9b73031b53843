//! Enters what the organisation itself issues, and notes its revocations, as the types say: by notes that the issuer left
//! in its commits. What the agent receives is entered in the same way.

use selfsame_book::due::{DUE, DueNote, DueWork, ISSUED_ENTRY, IssuedEntry};
use selfsame_book_view::hooks::RefusedEntry;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_store::{Batch, Expect, Page, Put, Record, StoreError, TenantId};
use serde::{Deserialize, Serialize};

use crate::arriving;
use crate::books::{Book, Books};
use crate::loading::LoadedEntry;

/// The kind of the records of credentials that could not be entered.
const REFUSED: &str = "book_refused";
/// Seconds for which they are kept: 90 days.
const REFUSED_SECONDS: u64 = 90 * 86_400;
/// Notes that are read at once.
const NOTES_AT_ONCE: usize = 200;

/// A credential that could not be entered.
#[derive(Deserialize, Serialize)]
struct RefusedRecord {
    what: RefusedCredential,
    because: Reason,
}

/// Where such a credential comes from.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum RefusedCredential {
    /// The organisation has issued it.
    Issued(IssuedEntry),
    /// The organisation's agent has received it, and holds it.
    Received {
        /// Its identifier in the wallet of the agent.
        referent: String,
        type_id: String,
        received: UnixTime,
    },
}

/// A note of what an issuer left to its book.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LeftWork {
    /// The tenant of the book.
    pub tenant: TenantId,
    id: String,
    version: u64,
    note: DueNote,
}

impl LeftWork {
    fn read(record: &Record) -> Result<Self> {
        let note: DueNote = decode(&record.value)?;
        Ok(Self {
            tenant: TenantId::parse(&note.tenant)?,
            id: record.id.clone(),
            version: record.version,
            note,
        })
    }

    /// Its identifier among all notes.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl Books {
    /// The first notes of what issuers left to their books, after the one at `cursor`; with the cursor of the last one.
    /// Those that can't be read are left out.
    ///
    /// # Errors
    /// The store's.
    pub async fn left(&self, cursor: Option<&str>) -> Result<LeftNotes> {
        let mut page = Page::first(NOTES_AT_ONCE);
        if let Some(cursor) = cursor {
            page = page.after(cursor);
        }
        let store = &self.shared().store;
        let records = store.list(&TenantId::instance(), DUE, &page).await?;
        let last = records.last().filter(|_| records.len() == NOTES_AT_ONCE);
        Ok(LeftNotes {
            notes: self.unread().without(DUE, &records, LeftWork::read),
            next: last.map(|last| last.cursor()),
        })
    }

    /// Removes a note, because what it asks for is done, or its book is no more. One that was written anew meanwhile stays.
    ///
    /// # Errors
    /// The store's.
    pub async fn forget_left(&self, left: &LeftWork) -> Result<()> {
        let forgotten = Batch::new(TenantId::instance())
            .expect(DUE, &left.id, Expect::Version(left.version))
            .delete(DUE, &left.id);
        match self.shared().store.commit(forgotten.deferred()).await {
            Ok(_) | Err(StoreError::Conflict { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Some notes, and where the list goes on.
#[derive(Clone, Debug)]
pub struct LeftNotes {
    /// The notes, the oldest first.
    pub notes: Vec<LeftWork>,
    /// The cursor after which further ones are; `None` if these are the last.
    pub next: Option<String>,
}

impl Book {
    /// Does what an issuer left to its book. Done again, it changes nothing.
    ///
    /// # Errors
    /// Those that may be gone when it is tried again.
    pub async fn take_up(&self, left: &LeftWork) -> Result<()> {
        let entry = &left.note.entry;
        match left.note.what {
            DueWork::Enter => self.enter_left(entry).await,
            DueWork::Revoke => self.revoke_left(entry).await,
            DueWork::EnterReceived => self.enter_received(entry).await,
            DueWork::Arrived => arriving::look_after(self.store(), self.tenant()).await,
        }
    }

    async fn enter_left(&self, entry: &str) -> Result<()> {
        let record = self.store().read(self.tenant(), ISSUED_ENTRY, entry);
        let Some(record) = record.await? else {
            return Ok(());
        };
        let issued: IssuedEntry = decode(&record.value)?;
        let batch = Batch::new(self.tenant().clone()).delete(ISSUED_ENTRY, entry);
        let batch = match self.enter_issued(entry, issued.clone()).await {
            Ok(_) => {
                self.revoke_left(entry).await?;
                batch
            }
            Err(error) if error.kind == ErrorKind::Gone => batch,
            Err(error) if is_final(&error) => {
                let because = reason(error);
                tracing::warn!(entry, type_id = issued.type_id, reason = %because, "an issued credential is not entered into the credential book");
                let what = RefusedCredential::Issued(issued);
                batch.put(self.refusal(entry, RefusedRecord { what, because })?)
            }
            Err(error) => return Err(error),
        };
        self.store().commit(batch).await?;
        Ok(())
    }

    fn refusal(&self, entry: &str, refused: RefusedRecord) -> Result<Put> {
        let kept = self.shared().clock.now().plus(REFUSED_SECONDS);
        Ok(Put::new(REFUSED, entry, encode(&refused)?).expires(kept))
    }

    /// Enters a credential that the agent has received, unless it holds it no more.
    async fn enter_received(&self, referent: &str) -> Result<()> {
        let kept = match self.anoncreds().kept(self.tenant(), referent).await {
            Err(error) if error.kind == ErrorKind::NotFound => return Ok(()),
            kept => kept?,
        };
        match self.enter_kept(&kept).await {
            Ok(_) => Ok(()),
            Err(error) if error.kind == ErrorKind::Gone => Ok(()),
            Err(error) if is_final(&error) => {
                let because = reason(error);
                let named = self.named_entry(&kept).await?;
                let (entry, type_id) = (&named.credential_id, named.type_id);
                tracing::warn!(entry, type_id, reason = %because, "a received credential is not entered into the credential book");
                let what = RefusedCredential::Received {
                    referent: referent.to_owned(),
                    type_id,
                    received: self.shared().clock.now(),
                };
                let put = self.refusal(entry, RefusedRecord { what, because })?;
                let batch = Batch::new(self.tenant().clone()).put(put);
                self.store().commit(batch).await?;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Notes a revocation once all copies of the credential are revoked.
    async fn revoke_left(&self, entry: &str) -> Result<()> {
        if !self.roles.is_entry_revoked(entry).await? {
            return Ok(());
        }
        match self.revoke(entry).await {
            Err(error) if !matches!(error.kind, ErrorKind::Gone | ErrorKind::NotFound) => {
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// The credentials that could not be entered when they were issued, newest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn refused(&self, paging: &Paging) -> Result<Listing<RefusedEntry>> {
        let page = page(paging);
        let records = self.store().list(self.tenant(), REFUSED, &page).await?;
        listing(&records, paging, |record| {
            let refused: RefusedRecord = decode(&record.value)?;
            let (type_id, issued) = match refused.what {
                RefusedCredential::Issued(issued) => (issued.type_id, issued.issued),
                RefusedCredential::Received {
                    type_id, received, ..
                } => (type_id, received),
            };
            Ok(RefusedEntry {
                credential_id: record.id.clone(),
                type_id,
                issued: issued.rfc3339(),
                because: refused.because,
            })
        })
    }

    /// Tries once more to enter such a credential.
    ///
    /// # Errors
    /// `NotFound`; why it can't be entered.
    pub async fn enter_refused(&self, credential_id: &str) -> Result<LoadedEntry> {
        let record = self.store().read(self.tenant(), REFUSED, credential_id);
        let record = record.await?.ok_or_else(unknown)?;
        let refused: RefusedRecord = decode(&record.value)?;
        let (entered, is_own) = match refused.what {
            RefusedCredential::Issued(issued) => {
                (self.enter_issued(credential_id, issued).await, true)
            }
            RefusedCredential::Received { referent, .. } => {
                let kept = self.anoncreds().kept(self.tenant(), &referent).await?;
                (self.enter_kept(&kept).await, false)
            }
        };
        let entered = entered.map_err(|error| Error {
            reason: reason(error.clone()),
            ..error
        })?;
        if is_own {
            self.revoke_left(credential_id).await?;
        }
        self.forget_refused(credential_id).await?;
        entered.into_iter().next().ok_or_else(unknown)
    }

    /// Forgets such a credential.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn drop_refused(&self, credential_id: &str) -> Result<()> {
        let kept = self.store().version(self.tenant(), REFUSED, credential_id);
        match kept.await? {
            Some(_) => self.forget_refused(credential_id).await,
            None => Err(unknown()),
        }
    }

    async fn forget_refused(&self, credential_id: &str) -> Result<()> {
        let batch = Batch::new(self.tenant().clone()).delete(REFUSED, credential_id);
        self.store().commit(batch).await?;
        Ok(())
    }
}

/// Whether an error is about the credential, and not about this moment.
fn is_final(error: &Error) -> bool {
    match error.kind {
        ErrorKind::BadRequest => true,
        ErrorKind::Conflict => error.reason.id() != "changed-meanwhile",
        _ => false,
    }
}

/// The reason behind that of a row.
fn reason(error: Error) -> Reason {
    match error.reason.cause() {
        Some(cause) if error.reason.id() == "book-row" => cause.clone(),
        _ => error.reason,
    }
}

fn unknown() -> Error {
    Error::not_found("book-refused-absent")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unread::UnreadRecords;

    #[test]
    fn a_note_that_cant_be_read_does_not_hold_up_the_others() {
        let note = |tenant: &str, what: &str| {
            format!(r#"{{"tenant":"{tenant}","entry":"e","what":"{what}"}}"#)
        };
        let values = [
            note("o-1", "enter"),
            "{".to_owned(),
            note("o-1", "of_another_version"),
            note("", "enter"),
            note("o-2", "revoke"),
        ];
        let records = (0_u64..).zip(values).map(|(seq, value)| Record {
            id: seq.to_string(),
            value: value.into_bytes(),
            version: 1,
            expires: None,
            seq,
        });
        let records: Vec<Record> = records.collect();
        let left = UnreadRecords::default().without(DUE, &records, LeftWork::read);
        let ids: Vec<&str> = left.iter().map(LeftWork::id).collect();
        assert_eq!(ids, ["0", "4"]);
    }

    #[test]
    fn what_is_wrong_with_a_credential_is_final_and_what_is_wrong_now_is_tried_again() {
        for (error, expected) in [
            (Error::bad_request("book-source-id"), true),
            (Error::new(ErrorKind::Conflict, "book-number-taken"), true),
            (Error::new(ErrorKind::Conflict, "changed-meanwhile"), false),
            (
                Error::new(
                    ErrorKind::Unavailable { retry_after: 1 },
                    "overloaded-briefly",
                ),
                false,
            ),
        ] {
            assert_eq!(is_final(&error), expected, "{error:?}");
        }
        let cause = Reason::new("book-date");
        let row = Error::of(
            ErrorKind::BadRequest,
            Reason::new("book-row").because(cause.clone()),
        );
        assert_eq!(reason(row), cause);
    }
}
