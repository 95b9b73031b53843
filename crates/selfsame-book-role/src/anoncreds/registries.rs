//! The revocation registries of the entries of books: what is revoked there is noted in the book.

use selfsame_book::entry::BookChange;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256_parts;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{ErrorKind, Result};
use selfsame_store::{Batch, MAX_PAGE, Page, Put, Record, StoreError, Tag, TenantId};
use serde::{Deserialize, Serialize};

use crate::books::{BOOK, Book, Books};

/// The kind of the records of registries that are looked at. They are the instance's, so that one look finds those of all
/// books.
const REGISTRY: &str = "book-registry";
/// Registries that are read at once.
const REGISTRIES_AT_ONCE: usize = 200;

/// A registry of which a book has entries.
#[derive(Deserialize, Serialize)]
struct RegistryRecord {
    /// The tenant of the book.
    tenant: String,
    rev_reg_id: String,
    /// The number of the registry's entries up to which the book follows it.
    seen: Option<u64>,
}

/// A revocation registry of which a book has entries.
#[derive(Clone, Debug)]
pub struct BookRegistry {
    /// The tenant of the book.
    pub tenant: TenantId,
    id: String,
    version: u64,
    rev_reg_id: String,
    seen: Option<u64>,
}

impl BookRegistry {
    fn read(record: &Record) -> Result<Self> {
        let known: RegistryRecord = decode(&record.value)?;
        Ok(Self {
            tenant: TenantId::parse(&known.tenant)?,
            id: record.id.clone(),
            version: record.version,
            rev_reg_id: known.rev_reg_id,
            seen: known.seen,
        })
    }
}

/// Some registries, and where the list goes on.
#[derive(Clone, Debug)]
pub struct BookRegistries {
    /// The registries.
    pub items: Vec<BookRegistry>,
    /// The cursor after which further ones are; `None` if these are the last.
    pub next: Option<String>,
}

/// Finds the entries of a registry.
pub(super) fn tag(rev_reg_id: &str) -> Tag {
    Tag::hashed("registry", rev_reg_id)
}

/// The writes by which a registry is looked at from its first entry on.
pub(crate) fn followed(tenant: &TenantId, rev_reg_id: &str) -> Result<Batch> {
    let tenant_length = (tenant.as_str().len() as u64).to_be_bytes();
    let digest = sha256_parts(&[
        b"selfsame-book/registry/",
        &tenant_length,
        tenant.as_str().as_bytes(),
        rev_reg_id.as_bytes(),
    ]);
    let record = RegistryRecord {
        tenant: tenant.as_str().to_owned(),
        rev_reg_id: rev_reg_id.to_owned(),
        seen: None,
    };
    let put = Put::new(REGISTRY, hex_encode(&digest), encode(&record)?);
    Ok(Batch::new(TenantId::instance()).put(put))
}

impl Books {
    /// The first registries of which books have entries, after the one at `cursor`. Those whose records
    /// can't be read are left out.
    ///
    /// # Errors
    /// The store's.
    pub async fn registries(&self, cursor: Option<&str>) -> Result<BookRegistries> {
        let mut page = Page::first(REGISTRIES_AT_ONCE);
        if let Some(cursor) = cursor {
            page = page.after(cursor);
        }
        let store = &self.shared().store;
        let records = store.list(&TenantId::instance(), REGISTRY, &page).await?;
        let last = records
            .last()
            .filter(|_| records.len() == REGISTRIES_AT_ONCE);
        Ok(BookRegistries {
            items: self
                .unread()
                .without(REGISTRY, &records, BookRegistry::read),
            next: last.map(|last| last.cursor()),
        })
    }

    /// Looks at a registry no more, because its book is no more.
    ///
    /// # Errors
    /// The store's.
    pub async fn forget_registry(&self, registry: &BookRegistry) -> Result<()> {
        let forgotten = Batch::new(TenantId::instance()).delete(REGISTRY, &registry.id);
        self.shared().store.commit(forgotten.deferred()).await?;
        Ok(())
    }
}

impl Book {
    /// Notes what was revoked in a registry since the last look.
    ///
    /// # Errors
    /// The registry's, the store's and the index's.
    pub async fn look_at(&self, registry: &BookRegistry) -> Result<()> {
        let places = self.anoncreds().revoked_places(&registry.rev_reg_id);
        let Some(places) = places.await? else {
            return Ok(());
        };
        if registry.seen == Some(places.version) {
            return Ok(());
        }
        let tag = tag(&registry.rev_reg_id);
        let mut page = Page::first(MAX_PAGE);
        loop {
            let found = self.store().find(self.tenant(), BOOK, &tag, &page).await?;
            for record in &found {
                if let BookChange::Entered(entry) = decode(&record.value)?
                    && let Some(held) = &entry.held
                    && held.cred_rev_id.is_some_and(|place| places.has(place))
                {
                    self.revoke_if_there(&entry.credential_id).await?;
                }
            }
            match found.last().filter(|_| found.len() >= page.limit) {
                Some(last) => page = Page::first(MAX_PAGE).after(last.cursor()),
                None => break,
            }
        }
        self.note_seen(registry, places.version).await
    }

    /// Notes a revocation, unless the entry was erased meanwhile.
    async fn revoke_if_there(&self, credential_id: &str) -> Result<()> {
        match self.revoke(credential_id).await {
            Err(error) if !matches!(error.kind, ErrorKind::Gone | ErrorKind::NotFound) => {
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// Notes how far a registry was followed, unless an entry came meanwhile: then it is looked at again.
    async fn note_seen(&self, registry: &BookRegistry, version: u64) -> Result<()> {
        let record = RegistryRecord {
            tenant: registry.tenant.as_str().to_owned(),
            rev_reg_id: registry.rev_reg_id.clone(),
            seen: Some(version),
        };
        let batch = Batch::new(TenantId::instance());
        let batch =
            batch.update_version(REGISTRY, &registry.id, registry.version, encode(&record)?);
        match self.store().commit(batch.deferred()).await {
            Ok(_) | Err(StoreError::Conflict { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unread::UnreadRecords;

    #[test]
    fn a_registry_whose_record_cant_be_read_does_not_hold_up_the_others() {
        let values = [
            r#"{"tenant":"o-1","rev_reg_id":"r","seen":null}"#,
            r#"{"tenant":7}"#,
            r#"{"tenant":"","rev_reg_id":"r","seen":null}"#,
            r#"{"tenant":"o-2","rev_reg_id":"s","seen":3}"#,
        ];
        let records = (0_u64..).zip(values).map(|(seq, value)| Record {
            id: seq.to_string(),
            value: value.as_bytes().to_vec(),
            version: 1,
            expires: None,
            seq,
        });
        let records: Vec<Record> = records.collect();
        let items = UnreadRecords::default().without(REGISTRY, &records, BookRegistry::read);
        let known: Vec<&str> = items.iter().map(|one| one.rev_reg_id.as_str()).collect();
        assert_eq!(known, ["r", "s"]);
    }
}
