//! Revocation: what is decided is stored with the transaction that writes it, and confirmed by the ledger's receipt.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use selfsame_core::machine::At;
use selfsame_driver::record::{all, decode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::TenantId;

use crate::registry::{REGISTRY, RegistryChange, RegistryRecord};
use crate::wallet::AnonCreds;

/// How long a request waits for the ledger, and the pause between two looks.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(10);

/// Times a change waits for others of the same registry.
const RACES_MAX: u32 = 200;

/// Places of revocation registries, by the registries' identifiers.
pub type PlacesByRegistry = BTreeMap<String, BTreeSet<u32>>;

impl AnonCreds {
    /// Revokes the credential at a place of a registry: at once, or when the pending ones are published. To revoke it
    /// again changes nothing. At once means that this waits until the ledger has it; revocations that come meanwhile
    /// are written together.
    ///
    /// # Errors
    /// `NotFound` for another's registry, `BadRequest` for a place that it does not have, `Conflict` if it is not
    /// published; `Unavailable` if the ledger does not answer in time: the revocation is stored, and written once it
    /// does.
    pub async fn revoke(
        &self,
        tenant: &TenantId,
        rev_reg_id: &str,
        cred_rev_id: u32,
        publish: bool,
    ) -> Result<()> {
        let registry = self.own_registry(tenant, rev_reg_id).await?;
        let places = BTreeSet::from([cred_rev_id]);
        let change = RegistryChange::Revoke {
            places: places.clone(),
            now: publish,
        };
        self.change(tenant, &registry, change).await?;
        match publish {
            true => self.confirmed(tenant, &registry, &places).await,
            false => Ok(()),
        }
    }

    /// Publishes pending revocations: of these places, of all places of a registry that is named without any, or of all
    /// registries if none is named. Returns what was pending, once the ledger has it.
    ///
    /// # Errors
    /// As [`Self::revoke`].
    pub async fn publish_revocations(
        &self,
        tenant: &TenantId,
        of: &PlacesByRegistry,
    ) -> Result<PlacesByRegistry> {
        let mut published = PlacesByRegistry::new();
        for (registry, places) in self.pending_among(tenant, of).await? {
            let change = RegistryChange::Publish(Some(places.clone()));
            self.change(tenant, &registry, change).await?;
            published.insert(registry.id, places);
        }
        for (id, places) in &published {
            let registry = self.own_registry(tenant, id).await?;
            self.confirmed(tenant, &registry, places).await?;
        }
        Ok(published)
    }

    /// Takes back pending revocations, named as in [`Self::publish_revocations`]. Returns what is still pending.
    ///
    /// # Errors
    /// `NotFound` for another's registry; the store's.
    pub async fn clear_pending(
        &self,
        tenant: &TenantId,
        of: &PlacesByRegistry,
    ) -> Result<PlacesByRegistry> {
        for (registry, places) in self.pending_among(tenant, of).await? {
            let change = RegistryChange::Clear(Some(places));
            self.change(tenant, &registry, change).await?;
        }
        let left = self.pending_among(tenant, &PlacesByRegistry::new()).await?;
        let left = left.into_iter();
        Ok(left
            .map(|(registry, places)| (registry.id, places))
            .collect())
    }

    /// The pending places among those named, registry by registry.
    async fn pending_among(
        &self,
        tenant: &TenantId,
        of: &PlacesByRegistry,
    ) -> Result<Vec<(RegistryRecord, BTreeSet<u32>)>> {
        let mut registries = Vec::new();
        if of.is_empty() {
            let all = self.all_registries(tenant).await?;
            registries.extend(all.into_iter().map(|one| (one, BTreeSet::new())));
        }
        for (id, places) in of {
            let registry = self.own_registry(tenant, id).await?;
            registries.push((registry, places.clone()));
        }
        let pending = registries.into_iter().map(|(registry, named)| {
            let is_named = |place: &u32| named.is_empty() || named.contains(place);
            let places = registry.pending.iter().copied().filter(is_named).collect();
            (registry, places)
        });
        Ok(pending
            .filter(|(_, places): &(_, BTreeSet<u32>)| !places.is_empty())
            .collect())
    }

    pub(crate) async fn all_registries(&self, tenant: &TenantId) -> Result<Vec<RegistryRecord>> {
        let store = &self.shared.store;
        let all = all(store, tenant, REGISTRY, |record| decode(&record.value));
        all.await
    }

    /// Changes a registry, and has its next call carried out.
    pub(crate) async fn change(
        &self,
        tenant: &TenantId,
        registry: &RegistryRecord,
        change: RegistryChange,
    ) -> Result<()> {
        let id = registry.record_id();
        let at = At { tenant, id: &id };
        let mut races = 0_u32;
        loop {
            let driven = self
                .shared
                .drive(&*self.registries, at, change.clone().into());
            match driven.await {
                Ok(driven) => {
                    self.go_on(driven.committed.outbox.first().copied());
                    return Ok(());
                }
                // Many change one registry at once, and each is told in turn.
                Err(error) if error.reason.id() == "record-crowded" && races < RACES_MAX => {
                    races = races.saturating_add(1);
                    tokio::time::sleep(PAUSE).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits until the ledger has these places as revoked.
    async fn confirmed(
        &self,
        tenant: &TenantId,
        registry: &RegistryRecord,
        places: &BTreeSet<u32>,
    ) -> Result<()> {
        let id = registry.record_id();
        let waiting = async {
            loop {
                let found = self.registry_record(tenant, &id).await?;
                if places.is_subset(&found.revoked) {
                    return Ok(());
                }
                tokio::time::sleep(PAUSE).await;
            }
        };
        let late = || {
            let kind = ErrorKind::Unavailable { retry_after: 5 };
            Err(Error::new(kind, "anoncreds-revocation-late"))
        };
        let waited = tokio::time::timeout(PATIENCE, waiting).await;
        waited.unwrap_or_else(|_| late())
    }

    pub(crate) async fn registry_record(
        &self,
        tenant: &TenantId,
        id: &str,
    ) -> Result<RegistryRecord> {
        let stored = self.shared.store.read(tenant, REGISTRY, id).await?;
        let gone = || Error::internal("a revocation registry has gone");
        decode(&stored.ok_or_else(gone)?.value)
    }
}
