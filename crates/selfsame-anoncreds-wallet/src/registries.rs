//! The revocation registries of a definition: two are kept, one in use and one in reserve, and each place is given out
//! once.

mod beginning;
mod issued;
mod revoking;
mod shown;

use std::sync::Arc;
use std::time::Duration;

use selfsame_core::machine::Call;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Expect, OutboxId, Page, Put, StoreError, Tag, TenantId};

use crate::places::LeasedPlaces;
use crate::publication::Publication;
use crate::registry::{
    REGISTRY, Registries, RegistryChange, RegistryRecord, RegistryStage, is_open_tag,
};
use crate::wallet::AnonCreds;
pub use beginning::{BegunRegistry, NewRevocationRegistry};
pub(crate) use issued::issuance;
pub use issued::{IssuanceState, IssuanceView};
pub use revoking::PlacesByRegistry;
pub use shown::RegistryDifference;

/// Registries of a definition that have room, or are being made: one in use and one in reserve.
const KEPT: usize = 2;
/// How long an issuance waits for a registry with room, and the pause between two looks.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);

/// A place in a registry, given out once.
pub(crate) struct TakenPlace {
    pub(crate) registry: RegistryRecord,
    pub(crate) index: u32,
}

impl AnonCreds {
    /// Begins registries until a definition has as many as are kept. They are made in the background.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn keep_registries(
        &self,
        tenant: &TenantId,
        publication: &Publication,
    ) -> Result<()> {
        let cred_def_id = publication.definition_id.as_deref().unwrap_or_default();
        let mut open = self.open_registries(tenant, cred_def_id).await?.len();
        while open < KEPT {
            let number = self
                .last_number(tenant, cred_def_id)
                .await?
                .saturating_add(1);
            let record = RegistryRecord::new(publication, number, self.shared.clock.now())?;
            open = match self.begin(tenant, &record).await? {
                true => open.saturating_add(1),
                // Another request was faster.
                false => self.open_registries(tenant, cred_def_id).await?.len(),
            };
        }
        Ok(())
    }

    /// Begins a registry, which is made in the background; false if another one has its number.
    async fn begin(&self, tenant: &TenantId, record: &RegistryRecord) -> Result<bool> {
        let call = self.registries.call(record, Call::Dialogue, 0)?;
        let put = Put::new(REGISTRY, record.record_id(), encode(record)?);
        let put = record.tags().into_iter().fold(put, Put::tag);
        let batch = Batch::new(tenant.clone())
            .expect(REGISTRY, &record.record_id(), Expect::Absent)
            .put(put)
            .enqueue(call);
        match self.shared.store.commit(batch).await {
            Ok(committed) => {
                self.go_on(committed.outbox.last().copied());
                Ok(true)
            }
            Err(StoreError::Conflict { .. }) => Ok(false),
            Err(other) => Err(other.into()),
        }
    }

    /// Takes a place in a registry of a definition. A registry whose places are all given out makes room for the next
    /// one; while none is published, this waits.
    ///
    /// # Errors
    /// `Unavailable` if none is published in time; the store's.
    pub(crate) async fn take_place(
        &self,
        tenant: &TenantId,
        publication: &Publication,
    ) -> Result<TakenPlace> {
        let taking = async {
            let mut tried_again = false;
            loop {
                if let Some(taken) = self.try_take(tenant, publication).await? {
                    return Ok(taken);
                }
                if !tried_again {
                    self.try_failed_again(tenant, publication).await?;
                    tried_again = true;
                }
                tokio::time::sleep(PAUSE).await;
            }
        };
        let late = || {
            let kind = ErrorKind::Unavailable { retry_after: 5 };
            Err(Error::new(kind, "anoncreds-registry-late"))
        };
        let taken = tokio::time::timeout(PATIENCE, taking).await;
        taken.unwrap_or_else(|_| late())
    }

    async fn try_take(
        &self,
        tenant: &TenantId,
        publication: &Publication,
    ) -> Result<Option<TakenPlace>> {
        let cred_def_id = publication.definition_id.as_deref().unwrap_or_default();
        let lease = self.places.of(tenant, cred_def_id);
        let mut lease = lease.lock().await;
        loop {
            if let Some(places) = &mut *lease
                && let Some(index) = places.left.next()
            {
                let registry = self.registry_record(tenant, &places.registry).await?;
                if registry.stage != RegistryStage::Decommissioned {
                    return Ok(Some(TakenPlace { registry, index }));
                }
            }
            *lease = self.lease_places(tenant, publication).await?;
            if lease.is_none() {
                return Ok(None);
            }
        }
    }

    /// Leases places of the first registry of a definition that has some; `None` while none is published.
    async fn lease_places(
        &self,
        tenant: &TenantId,
        publication: &Publication,
    ) -> Result<Option<LeasedPlaces>> {
        let cred_def_id = publication.definition_id.as_deref().unwrap_or_default();
        let open = self.open_registries(tenant, cred_def_id).await?;
        if open.len() < KEPT {
            self.keep_registries(tenant, publication).await?;
        }
        for registry in open {
            if registry.stage != RegistryStage::Ready {
                continue;
            }
            let id = registry.record_id();
            let leased = self.places.lease(tenant, &id, registry.size).await?;
            if leased.is_some() {
                return Ok(leased);
            }
            let full = RegistryChange::Close(RegistryStage::Full);
            self.change(tenant, &registry, full).await?;
            self.keep_registries(tenant, publication).await?;
        }
        Ok(None)
    }

    async fn try_failed_again(&self, tenant: &TenantId, of: &Publication) -> Result<()> {
        let cred_def_id = of.definition_id.as_deref().unwrap_or_default();
        for registry in self.open_registries(tenant, cred_def_id).await? {
            if matches!(registry.stage, RegistryStage::Failed(_)) {
                self.change(tenant, &registry, RegistryChange::Again)
                    .await?;
            }
        }
        Ok(())
    }

    /// Gives out no more places of the registries of a definition that are published, and begins others.
    ///
    /// # Errors
    /// `NotFound` if the tenant has no such definition; the store's.
    pub async fn rotate_registries(&self, tenant: &TenantId, cred_def_id: &str) -> Result<()> {
        let cred_def_id = &*self.qualified(cred_def_id).await?;
        let publication = self.own_definition(tenant, cred_def_id).await?;
        for registry in self.open_registries(tenant, cred_def_id).await? {
            if registry.is_published() {
                let closed = RegistryChange::Close(RegistryStage::Decommissioned);
                self.change(tenant, &registry, closed).await?;
            }
        }
        self.keep_registries(tenant, &publication).await
    }

    /// The publication of a revocable definition of the tenant.
    pub(crate) async fn own_definition(
        &self,
        tenant: &TenantId,
        cred_def_id: &str,
    ) -> Result<Publication> {
        let own = self.publication_of(tenant, cred_def_id).await?;
        let own = own.filter(|own| own.is_published() && own.revocable);
        own.ok_or_else(|| Error::not_found("anoncreds-object-absent").with("id", cred_def_id))
    }

    /// The registries of a definition that have room, or may still get it, the oldest first.
    pub(crate) async fn open_registries(
        &self,
        tenant: &TenantId,
        cred_def_id: &str,
    ) -> Result<Vec<RegistryRecord>> {
        let mut open = self
            .registries_with(tenant, &is_open_tag(cred_def_id))
            .await?;
        open.sort_by_key(|registry| registry.number);
        Ok(open)
    }

    /// The registries with a tag.
    pub(crate) async fn registries_with(
        &self,
        tenant: &TenantId,
        tag: &Tag,
    ) -> Result<Vec<RegistryRecord>> {
        let (mut page, mut all) = (Page::first(100), Vec::new());
        loop {
            let found = self.shared.store.find(tenant, REGISTRY, tag, &page).await?;
            for record in &found {
                all.push(decode(&record.value)?);
            }
            match found.last() {
                Some(last) if found.len() == page.limit => page = page.after(last.cursor()),
                _ => return Ok(all),
            }
        }
    }

    /// The registry of the tenant with this identifier.
    pub(crate) async fn own_registry(&self, tenant: &TenantId, id: &str) -> Result<RegistryRecord> {
        let tag = Tag::hashed("rev_reg_id", self.qualified(id).await?);
        let found = self.registries_with(tenant, &tag).await?.into_iter().next();
        found.ok_or_else(|| Error::not_found("anoncreds-object-absent").with("id", id))
    }

    /// The greatest number of a definition's registries.
    async fn last_number(&self, tenant: &TenantId, cred_def_id: &str) -> Result<u32> {
        let (store, tag) = (&self.shared.store, Tag::hashed("cred_def_id", cred_def_id));
        let found = store
            .find(tenant, REGISTRY, &tag, &Page::newest(KEPT))
            .await?;
        let mut last = 0;
        for record in &found {
            last = decode::<RegistryRecord>(&record.value)?.number.max(last);
        }
        Ok(last)
    }

    /// Carries out a call of a registry that was just written, while the caller goes on.
    pub(crate) fn go_on(&self, call: Option<OutboxId>) {
        let (shared, machine): (_, Arc<Registries>) =
            (self.shared.clone(), self.registries.clone());
        // An error is logged there, and the outbox goes on.
        tokio::spawn(async move { drop(shared.go_on(&machine, call).await) });
    }
}
