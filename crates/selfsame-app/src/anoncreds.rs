//! Types in the format AnonCreds: the publication of their schemas and credential definitions to the registry.

mod machine;
mod publication;

use selfsame_core::dids::Author;
use selfsame_core::machine::{Call, Machine as _};
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_openid::issuer::Issuer;
use selfsame_store::{Batch, Expect, Put, StoreError, TenantId};
use selfsame_types::TypeSummary;
use selfsame_types::model::{ANONCREDS, AnonCredsObjects, NewVersion, TypeState};
use serde_json::{Value, json};

pub use machine::Publishing;
use publication::{DEFINITION, DefinitionRecord, PUBLICATION, Publication, PublicationState};

impl Publishing {
    /// The publications of an issuer for its export, newest first. Private keys are not in it.
    ///
    /// # Errors
    /// The store's.
    pub async fn exported(&self, issuer: &Issuer, paging: &Paging) -> Result<Listing<Value>> {
        let (store, tenant) = (&self.shared.store, issuer.identity().tenant());
        let stored = store.list(tenant, PUBLICATION, &page(paging)).await?;
        let publications = listing(&stored, paging, |stored| {
            decode::<Publication>(&stored.value)
        })?;
        let mut items = Vec::new();
        for one in &publications.items {
            let made = store.read(tenant, DEFINITION, &one.id()).await?;
            let made = made.map(|made| decode::<DefinitionRecord>(&made.value));
            let definition = made.transpose()?;
            let definition = definition.map(|made| serde_json::from_str::<Value>(&made.definition));
            items.push(json!({
                "type": one.type_id,
                "version": one.version,
                "objects": one.objects(),
                "schema": one.schema,
                "definition": definition.transpose().map_err(Error::internal)?,
            }));
        }
        let next = publications.next;
        Ok(Listing { items, next })
    }

    /// The writes that begin the publication of a version; none without the format AnonCreds.
    ///
    /// # Errors
    /// `BadRequest` if the issuer can't publish to a registry.
    pub fn begun(&self, issuer: &Issuer, new: &NewVersion<'_>) -> Result<Batch> {
        let identity = issuer.identity();
        let batch = Batch::new(identity.tenant().clone());
        if !new.definition.formats.anoncreds {
            return Ok(batch);
        }
        if self.shared.registry.is_none() {
            return Err(Error::bad_request("anoncreds-no-registry").with("format", ANONCREDS));
        }
        if !identity.did().origin().is_registry() {
            return Err(Error::bad_request("anoncreds-did-elsewhere")
                .with("format", ANONCREDS)
                .with("did", identity.did()));
        }
        let publication = Publication::of(new, Author::of(identity))?;
        let id = publication.id();
        let put = Put::new(PUBLICATION, &id, encode(&publication)?);
        let call = self.entry(&publication, Call::Dialogue)?;
        Ok(batch
            .expect(PUBLICATION, &id, Expect::Absent)
            .put(put)
            .enqueue(call))
    }

    /// Tries the publication of the newest version again, if it had failed. Returns whether that version has one that is
    /// not finished.
    ///
    /// # Errors
    /// The store's.
    pub async fn try_again(&self, issuer: &Issuer, shown: &TypeSummary) -> Result<bool> {
        let identity = issuer.identity();
        let Some(version) = shown
            .version
            .filter(|_| shown.state == TypeState::Published)
        else {
            return Ok(false);
        };
        let found = self.found(identity.tenant(), &shown.id, version).await?;
        let Some((mut publication, stored)) = found else {
            return Ok(false);
        };
        let (state, call) = match publication.state {
            PublicationState::Published(_) => return Ok(false),
            PublicationState::Preparing | PublicationState::Sending => return Ok(true),
            PublicationState::Failed(failed) => match failed.unanswered {
                // The same transaction: the registry may have accepted it already.
                Some(transaction) => (PublicationState::Sending, Call::Registry(transaction)),
                None => (PublicationState::Preparing, Call::Dialogue),
            },
        };
        publication.state = state;
        publication.author = Author::of(identity);
        let entry = self.entry(&publication, call)?;
        let (id, value) = (publication.id(), encode(&publication)?);
        let batch = Batch::new(identity.tenant().clone())
            .update_version(PUBLICATION, &id, stored, value)
            .enqueue(entry);
        match self.shared.store.commit(batch).await {
            // Another request was faster.
            Ok(_) | Err(StoreError::Conflict { .. }) => Ok(true),
            Err(other) => Err(other.into()),
        }
    }

    /// What a version has in the registry; nothing without the format AnonCreds.
    ///
    /// # Errors
    /// The store's.
    pub async fn objects(
        &self,
        issuer: &Issuer,
        type_id: &str,
        version: u32,
    ) -> Result<Option<AnonCredsObjects>> {
        let found = self.found(issuer.identity().tenant(), type_id, version);
        Ok(found.await?.map(|(publication, _)| publication.objects()))
    }

    /// The publication of a version, with the version of its record.
    async fn found(
        &self,
        tenant: &TenantId,
        type_id: &str,
        version: u32,
    ) -> Result<Option<(Publication, u64)>> {
        let id = publication::record_id(type_id, version);
        let records = self.records();
        let found = records.find(&self.shared.store, tenant, PUBLICATION, &id);
        found.await
    }
}
