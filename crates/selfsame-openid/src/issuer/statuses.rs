//! Changes the statuses of many credentials in one commit.

use std::collections::HashSet;

use selfsame_driver::{Error, Reason, Result};
use selfsame_store::{Batch, StoreError};

use super::Issuer;
use super::register::{IssuedRecord, changing};
use crate::view::issuer::{ChangedStatus, CredentialStatus, IssuedCredential, NewStatuses};
use selfsame_core::events::{Event, EventKind};

/// A change of many statuses that was judged and can be committed.
pub struct StatusChanges {
    status: CredentialStatus,
    /// In the order in which they were named.
    judged: Vec<JudgedStatus>,
}

/// A credential with its new status.
struct JudgedStatus {
    id: String,
    issued: IssuedRecord,
    /// The version that its record had, if its status changes.
    changes: Option<u64>,
}

impl StatusChanges {
    /// The credentials whose status changes. The others have the new status already.
    pub fn changed(&self) -> impl Iterator<Item = ChangedStatus> {
        self.changing().map(|one| ChangedStatus {
            type_id: one.issued.type_id.clone(),
            number: one.issued.place.index,
        })
    }

    fn changing(&self) -> impl Iterator<Item = &JudgedStatus> {
        self.judged.iter().filter(|one| one.changes.is_some())
    }
}

impl Issuer {
    /// Judges a change of many statuses. Nothing is written.
    ///
    /// # Errors
    /// As [`Self::set_status`], naming the place of the first id that is refused; `BadRequest` for no id, and for more
    /// than [`NewStatuses::IDS_MAX`].
    pub async fn status_changes(&self, new: &NewStatuses) -> Result<StatusChanges> {
        if !(1..=NewStatuses::IDS_MAX).contains(&new.ids.len()) {
            return Err(Error::bad_request("status-ids").with("maximum", &NewStatuses::IDS_MAX));
        }
        let mut judged = Vec::with_capacity(new.ids.len());
        let mut seen = HashSet::new();
        for (number, id) in (1_usize..).zip(&new.ids) {
            let refused = |error: Error| Error {
                reason: Reason::new("status-id-refused")
                    .with("row", &number)
                    .with_reason("why", error.reason.clone()),
                ..error
            };
            let mut one = self.judged(id, new.status).await.map_err(refused)?;
            // An id that is named again changes once.
            one.changes = one.changes.filter(|_| seen.insert(id.as_str()));
            judged.push(one);
        }
        let status = new.status;
        Ok(StatusChanges { status, judged })
    }

    async fn judged(&self, id: &str, status: CredentialStatus) -> Result<JudgedStatus> {
        let (version, mut issued) = self.issued_record(id).await?;
        let changes = self.turn(&mut issued, status).await?.then_some(version);
        Ok(JudgedStatus {
            id: id.to_owned(),
            issued,
            changes,
        })
    }

    /// Commits a change of many statuses: all of them, or none. Returns the credentials in the order in which they were
    /// named. The changed lists are published within a second.
    ///
    /// # Errors
    /// `Conflict` if one of them was changed since they were judged; the store's.
    pub async fn commit_statuses(&self, changes: StatusChanges) -> Result<Vec<IssuedCredential>> {
        let mut batch = Batch::new(self.tenant().clone());
        let mut events = Vec::new();
        for one in changes.changing() {
            let version = one.changes.unwrap_or_default();
            batch = one.issued.written_in(batch, &one.id, version)?;
            batch = self.told_to_book(batch, &one.id, &one.issued)?;
            events.push(Event::new(EventKind::StatusChanged, &one.id));
        }
        match self.shared.events.commit_all(batch, &events).await {
            Ok(_) => {}
            Err(StoreError::Conflict { .. }) => return Err(changing()),
            Err(other) => return Err(other.into()),
        }
        for one in changes.changing() {
            self.lists_show(&one.id, &one.issued).await;
        }
        tracing::info!(count = events.len(), status = ?changes.status, "statuses changed");
        let view = |one: &JudgedStatus| self.issued_view(&one.id, &one.issued);
        Ok(changes.judged.iter().map(view).collect())
    }
}
