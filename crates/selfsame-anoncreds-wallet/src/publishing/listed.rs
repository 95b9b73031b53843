//! Which publications a tenant has.

use selfsame_core::machine::Machine as _;
use selfsame_driver::Result;
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{decode, encode};
use selfsame_store::{Batch, Expect, MAX_PAGE, Page, Put, Record, StoreError, Tag, TenantId};

use crate::publication::{
    DEFAULT_TAG, DefinitionFilter, PUBLICATION, Publication, Publishing, successor_tag,
};
use crate::wallet::AnonCreds;

impl AnonCreds {
    /// The publication with this id, with the version of its record.
    pub(crate) async fn publication(
        &self,
        tenant: &TenantId,
        id: &str,
    ) -> Result<Option<(Publication, u64)>> {
        let records = Publishing::records(&self.publishing);
        let found = records.find(&self.shared.store, tenant, PUBLICATION, id);
        found.await
    }

    /// A publication of the tenant, by the id of its records.
    ///
    /// # Errors
    /// The store's.
    pub async fn publication_shown(
        &self,
        tenant: &TenantId,
        id: &str,
    ) -> Result<Option<Publication>> {
        let found = self.publication(tenant, id).await?;
        Ok(found.map(|(publication, _)| publication))
    }

    /// The tenant's publications, newest first. Private keys are not in them.
    ///
    /// # Errors
    /// The store's.
    pub async fn publications(
        &self,
        tenant: &TenantId,
        paging: &Paging,
    ) -> Result<Listing<Publication>> {
        let store = &self.shared.store;
        let stored = store.list(tenant, PUBLICATION, &page(paging)).await?;
        listing(&stored, paging, read)
    }

    /// The identifiers of the schemas that the tenant has published and that fit, newest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn created_schemas(
        &self,
        tenant: &TenantId,
        of: &DefinitionFilter,
    ) -> Result<Vec<String>> {
        let found = self.published_that_fit(tenant, "schema", of).await?;
        let ids = found.into_iter().map(|publication| publication.schema_id);
        Ok(ids.collect())
    }

    /// The identifiers of the credential definitions that the tenant has published and that fit, newest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn created_definitions(
        &self,
        tenant: &TenantId,
        of: &DefinitionFilter,
    ) -> Result<Vec<String>> {
        let found = self.published_that_fit(tenant, "definition", of).await?;
        let ids = found.into_iter().filter_map(|one| one.definition_id);
        Ok(ids.collect())
    }

    /// The publications of the credential definitions that the registry has of the tenant, newest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn own_definitions(&self, tenant: &TenantId) -> Result<Vec<Publication>> {
        let all = DefinitionFilter::default();
        self.published_that_fit(tenant, "definition", &all).await
    }

    /// The publication of a definition of the tenant.
    pub(crate) async fn publication_of(
        &self,
        tenant: &TenantId,
        cred_def_id: &str,
    ) -> Result<Option<Publication>> {
        let of = DefinitionFilter {
            cred_def_id: Some(cred_def_id.to_owned()),
            ..DefinitionFilter::default()
        };
        let found = self.found(tenant, &of.tag("definition")).await?;
        Ok(found.into_iter().next())
    }

    /// The publication of the definition that succeeds one of the tenant, published or not.
    pub(crate) async fn successor_of(
        &self,
        tenant: &TenantId,
        cred_def_id: &str,
    ) -> Result<Option<Publication>> {
        let found = self.found(tenant, &successor_tag(cred_def_id)).await?;
        Ok(found.into_iter().next())
    }

    /// The definition that has taken over from one of the tenant: the last of its successors that are published.
    pub(crate) async fn in_force(
        &self,
        tenant: &TenantId,
        mut publication: Publication,
    ) -> Result<Publication> {
        loop {
            let id = publication.definition_id.as_deref().unwrap_or_default();
            match self.successor_of(tenant, id).await? {
                Some(next) if next.is_published() => publication = next,
                _ => return Ok(publication),
            }
        }
    }

    /// The publications that ended well, publish this, and fit; newest first.
    pub(crate) async fn published_that_fit(
        &self,
        tenant: &TenantId,
        what: &str,
        of: &DefinitionFilter,
    ) -> Result<Vec<Publication>> {
        let of = self.naming().filter(of).await?;
        let mut found = self.found(tenant, &of.tag(what)).await?;
        found.retain(|one| {
            let publishes = match what {
                "schema" => one.with_schema,
                _ => one.definition_id.is_some(),
            };
            publishes && one.is_published() && of.fits(one)
        });
        Ok(found)
    }

    /// The publications with a tag, newest first.
    async fn found(&self, tenant: &TenantId, tag: &Tag) -> Result<Vec<Publication>> {
        self.tag_older(tenant).await?;
        let store = &self.shared.store;
        let (mut page, mut found) = (Page::newest(MAX_PAGE), Vec::new());
        loop {
            let records = store.find(tenant, PUBLICATION, tag, &page).await?;
            for record in &records {
                found.push(read(record)?);
            }
            match records.last() {
                Some(last) if records.len() == MAX_PAGE => page = page.after(last.cursor()),
                _ => return Ok(found),
            }
        }
    }

    /// Gives tags to the publications of before they had any. A process looks for them once for each tenant.
    async fn tag_older(&self, tenant: &TenantId) -> Result<()> {
        if self.tagged.get(tenant).is_some() {
            return Ok(());
        }
        let store = &self.shared.store;
        let all = selfsame_driver::record::all(store, tenant, PUBLICATION, |record| {
            Ok((record.id.clone(), record.version, read(record)?))
        });
        for (id, version, mut publication) in all.await? {
            if publication.tag.is_some() {
                continue;
            }
            publication.tag = Some(DEFAULT_TAG.to_owned());
            let put = Put::new(PUBLICATION, &id, encode(&publication)?);
            let put = publication.tags().into_iter().fold(put, Put::tag);
            let batch = Batch::new(tenant.clone())
                .expect(PUBLICATION, &id, Expect::Version(version))
                .put(put);
            match store.commit(batch).await {
                // A step that is taken meanwhile gives it its tags.
                Ok(_) | Err(StoreError::Conflict { .. }) => {}
                Err(other) => return Err(other.into()),
            }
        }
        self.tagged.keep(tenant.clone(), ());
        Ok(())
    }
}

fn read(record: &Record) -> Result<Publication> {
    decode(&record.value)
}
