//! Books whose organisations came from another instance: what the instance keeps of a book is not among the records that
//! come along, and follows from them.

use std::collections::BTreeSet;

use selfsame_book::due::{DUE, DueNote, DueWork, ISSUED_ENTRY};
use selfsame_book::entry::BookChange;
use selfsame_driver::Result;
use selfsame_driver::record::{decode, encode};
use selfsame_store::{Batch, MAX_PAGE, Page, Put, Record, Store, TenantId};

use crate::anoncreds::followed;
use crate::books::BOOK;

/// The writes by which the instance looks after the book of a tenant whose records came from another instance; none if it
/// has no book. What there is to do is found when the note is taken up, because one commit may not hold it.
///
/// # Errors
/// The store's.
pub async fn arrival(store: &Store, tenant: &TenantId) -> Result<Batch> {
    let batch = Batch::new(TenantId::instance());
    for kind in [BOOK, ISSUED_ENTRY] {
        if !store.list(tenant, kind, &Page::first(1)).await?.is_empty() {
            return Ok(batch.put(note(tenant, String::new(), DueWork::Arrived)?));
        }
    }
    Ok(batch)
}

/// Has the instance follow the revocation registries of the entries of a book, and enter the issued credentials that are
/// still to be entered.
///
/// # Errors
/// The store's.
pub(crate) async fn look_after(store: &Store, tenant: &TenantId) -> Result<()> {
    let mut registries = BTreeSet::new();
    for_pages(store, tenant, BOOK, |batch, record| {
        let registry = registry(record).filter(|registry| registries.insert(registry.clone()));
        Ok(match registry {
            Some(registry) => batch.and(followed(tenant, &registry)?),
            None => batch,
        })
    })
    .await?;
    for_pages(store, tenant, ISSUED_ENTRY, |batch, record| {
        Ok(batch.put(note(tenant, record.id.clone(), DueWork::Enter)?))
    })
    .await
}

/// Commits what follows from the records of a kind, page by page.
async fn for_pages(
    store: &Store,
    tenant: &TenantId,
    kind: &str,
    mut adding: impl FnMut(Batch, &Record) -> Result<Batch>,
) -> Result<()> {
    let mut page = Page::first(MAX_PAGE);
    loop {
        let found = store.list(tenant, kind, &page).await?;
        let mut batch = Batch::new(TenantId::instance());
        for record in &found {
            batch = adding(batch, record)?;
        }
        store.commit(batch).await?;
        match found.last().filter(|_| found.len() == MAX_PAGE) {
            Some(last) => page = page.after(last.cursor()),
            None => return Ok(()),
        }
    }
}

/// The revocation registry of an entry that can be revoked there.
fn registry(record: &Record) -> Option<String> {
    match decode(&record.value) {
        Ok(BookChange::Entered(entry)) => entry.held?.rev_reg_id,
        Ok(BookChange::Revoked(_) | BookChange::Erased(_)) => None,
        Err(error) => {
            tracing::error!(record = record.id, %error, "a record of a credential book can't be read");
            None
        }
    }
}

/// A note of what is due.
fn note(tenant: &TenantId, entry: String, what: DueWork) -> Result<Put> {
    let id = match what {
        DueWork::Arrived => what.note_id(tenant.as_str()),
        _ => what.note_id(&entry),
    };
    let tenant = tenant.as_str().to_owned();
    let note = DueNote {
        tenant,
        entry,
        what,
    };
    Ok(Put::new(DUE, id, encode(&note)?))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use selfsame_book::entry::{AnonCredsEntry, EntryRecord};
    use selfsame_crypto::seal::SealingKey;
    use selfsame_crypto::time::UnixTime;
    use selfsame_store::{Memory, Vault};
    use serde_json::Map;

    use super::*;

    async fn opened() -> Store {
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        Store::open(Arc::new(Memory::default()), vault)
            .await
            .unwrap()
    }

    fn entry(id: &str, held: Option<Option<&str>>) -> Put {
        let entry = EntryRecord {
            credential_id: id.to_owned(),
            type_id: "permit".to_owned(),
            issuer: "did:example:issuer".to_owned(),
            claims: Map::new(),
            credential: None,
            held: held.map(|registry| AnonCredsEntry {
                referent: id.to_owned(),
                schema_id: "schema".to_owned(),
                cred_def_id: "definition".to_owned(),
                rev_reg_id: registry.map(str::to_owned),
                cred_rev_id: None,
            }),
            issued: None,
            entered: UnixTime(0),
        };
        let change = BookChange::Entered(Box::new(entry));
        Put::new(BOOK, id, encode(&change).unwrap())
    }

    async fn due(store: &Store) -> Vec<DueNote> {
        let page = Page::first(9);
        let notes = store.list(&TenantId::instance(), DUE, &page).await.unwrap();
        let notes = notes.iter().map(|note| decode(&note.value).unwrap());
        notes.collect()
    }

    #[tokio::test]
    async fn the_registries_and_what_waits_of_a_book_that_arrives_are_looked_after() {
        let (store, tenant) = (opened().await, TenantId::parse("o-1").unwrap());
        let batch = Batch::new(tenant.clone())
            .put(entry("a", Some(Some("registry 1"))))
            .put(entry("b", Some(Some("registry 1"))))
            .put(entry("c", Some(Some("registry 2"))))
            .put(entry("d", Some(None)))
            .put(entry("e", None))
            .put(Put::new(BOOK, "f", b"{".to_vec()))
            .put(Put::new(ISSUED_ENTRY, "g", b"{}".to_vec()));
        store.commit(batch).await.unwrap();
        let arriving = arrival(&store, &tenant).await.unwrap();
        store.commit(arriving).await.unwrap();
        let note = |entry: &str, what| DueNote {
            tenant: "o-1".to_owned(),
            entry: entry.to_owned(),
            what,
        };
        assert_eq!(due(&store).await, [note("", DueWork::Arrived)]);
        // It may be cut off, and is done again then.
        for _ in 0..2 {
            look_after(&store, &tenant).await.unwrap();
            let page = Page::first(9);
            let instance = TenantId::instance();
            let registries = store.list(&instance, "book-registry", &page);
            assert_eq!(registries.await.unwrap().len(), 2);
            let expected = [note("", DueWork::Arrived), note("g", DueWork::Enter)];
            assert_eq!(due(&store).await, expected);
        }
    }

    #[tokio::test]
    async fn of_a_tenant_without_a_book_nothing_is_noted() {
        let (store, tenant) = (opened().await, TenantId::parse("o-1").unwrap());
        let arriving = arrival(&store, &tenant).await.unwrap();
        store.commit(arriving).await.unwrap();
        assert_eq!(due(&store).await, []);
    }
}
