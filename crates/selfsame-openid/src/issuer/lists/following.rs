//! Keeps the lists of this process as other processes on the same store have changed them: by the events that tell
//! changes of status. What an event tells is read from its record, so the order in which events are followed is free.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use selfsame_core::Shared;
use selfsame_core::events::EventKind;
use selfsame_driver::Result;
use selfsame_driver::record::decode;
use selfsame_store::backend::StoredEvent;
use selfsame_store::{MAX_PAGE, Page, Store, Tag, TenantId};

use super::{Lists, locked};
use crate::issuer::erasure::{WithdrawnPlace, newest_stripped, stripped};
use crate::issuer::register::{ISSUED, IssuedRecord};
use crate::view::issuer::CredentialStatus;

/// The statuses of the credentials of one list that are not valid, by their places.
pub(super) type Statuses = HashMap<u64, CredentialStatus>;

/// Reads the credentials that are not valid, by list.
pub(super) async fn withdrawn(
    shared: &Shared,
    tenant: &TenantId,
) -> Result<HashMap<u64, Statuses>> {
    let mut withdrawn: HashMap<u64, Statuses> = HashMap::new();
    let tag = Tag::hashed("withdrawn", "yes");
    let mut page = Page::first(MAX_PAGE);
    loop {
        let records = shared.store.find(tenant, ISSUED, &tag, &page).await?;
        for record in &records {
            let issued: IssuedRecord = decode(&record.value)?;
            let list = withdrawn.entry(issued.place.list).or_default();
            list.insert(issued.place.index, issued.status);
        }
        match records.last() {
            Some(last) => page = page.after(last.cursor()),
            None => break,
        }
    }
    for WithdrawnPlace { place, status } in stripped(&shared.store, tenant).await? {
        let list = withdrawn.entry(place.list).or_default();
        list.insert(place.index, status);
    }
    Ok(withdrawn)
}

/// Reads the highest number of a list that a credential refers to. Places are allotted in order, and credentials issued
/// nearly in order: requests may overtake each other.
pub(super) async fn newest(shared: &Shared, tenant: &TenantId) -> Result<u64> {
    let newest = Page::newest(MAX_PAGE);
    let issued = shared.store.list(tenant, ISSUED, &newest).await?;
    let lists = issued
        .iter()
        .map(|record| Ok(decode::<IssuedRecord>(&record.value)?.place.list));
    let lists: Vec<u64> = lists.collect::<Result<_>>()?;
    let newest = lists.into_iter().max().unwrap_or_default();
    Ok(newest.max(newest_stripped(&shared.store, tenant).await?))
}

impl Lists {
    /// Makes the lists show the status that a credential has now. It is read again if another process may have changed
    /// it too: the last change that is followed shows what all of them came to.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn show(&self, id: &str) -> Result<()> {
        let _one_at_a_time = self.following.lock().await;
        let tenant = &self.context.organisation.issuer;
        let Some(record) = self.shared.store.read(tenant, ISSUED, id).await? else {
            return Ok(());
        };
        let issued: IssuedRecord = decode(&record.value)?;
        let withdrawn = locked(&self.withdrawn);
        let list = withdrawn.get(&issued.place.list);
        let is_shown = list.and_then(|list| list.statuses.get(&issued.place.index).copied());
        drop(withdrawn);
        if is_shown.unwrap_or(CredentialStatus::Valid) != issued.status {
            self.set(&issued.place, issued.status);
        }
        Ok(())
    }

    /// Follows what other processes have changed since the lists were read. Does nothing once it was done, and with a
    /// store that no other process uses.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn catch_up(&self) -> Result<()> {
        if !self.is_behind.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut read_at = self.read_at.lock().await;
        let tenant = &self.context.organisation.issuer;
        while let Some(new) = changes(&self.shared.store, read_at.as_deref()).await? {
            match new.changed {
                None => self.read_again().await?,
                Some(events) => {
                    for event in events.iter().filter(|event| event.place.tenant == *tenant) {
                        self.show(&event.place.id).await?;
                    }
                }
            }
            *read_at = new.cursor;
        }
        self.is_behind.store(false, Ordering::Release);
        Ok(())
    }

    /// Reads all lists again: events were removed before they were followed.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn read_again(&self) -> Result<()> {
        let tenant = &self.context.organisation.issuer;
        let mut now = withdrawn(&self.shared, tenant).await?;
        let mut held = locked(&self.withdrawn);
        let known: Vec<u64> = held.keys().copied().collect();
        for list in known {
            now.entry(list).or_default();
        }
        for (list, statuses) in now {
            let list = held.entry(list).or_default();
            list.statuses = statuses;
            list.changes = list.changes.saturating_add(1);
        }
        Ok(())
    }

    /// Whether a credential refers to this list, as far as is known here, or else as the store says.
    pub(super) async fn is_used(&self, list: u64) -> Result<bool> {
        if list <= self.newest.load(Ordering::Relaxed) {
            return Ok(true);
        }
        if !self.shared.store.is_shared() {
            return Ok(false);
        }
        let newest = newest(&self.shared, &self.context.organisation.issuer).await?;
        self.newest.fetch_max(newest, Ordering::Relaxed);
        Ok(list <= newest)
    }
}

/// What was told after a cursor.
pub(crate) struct NewChanges {
    /// The changes of status; `None` if events were removed before they were followed: all is to be read again.
    pub changed: Option<Vec<StoredEvent>>,
    /// The cursor once this was followed.
    pub cursor: Option<String>,
}

/// What was told after this cursor; `None` if that is nothing.
pub(crate) async fn changes(store: &Store, after: Option<&str>) -> Result<Option<NewChanges>> {
    let Some(mut events) = store.events_after(after, MAX_PAGE).await? else {
        let (changed, cursor) = (None, store.newest_event().await?);
        return Ok(Some(NewChanges { changed, cursor }));
    };
    let Some(cursor) = events.last().map(StoredEvent::cursor) else {
        return Ok(None);
    };
    events.retain(|event| EventKind::named(&event.place.kind) == Some(EventKind::StatusChanged));
    let (changed, cursor) = (Some(events), Some(cursor));
    Ok(Some(NewChanges { changed, cursor }))
}
