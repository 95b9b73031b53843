//! What controllers see of a revocation registry, and how the ledger's state of it differs from what is kept here.

use std::collections::BTreeSet;

use selfsame_driver::{Error, Reason, Result};
use selfsame_store::{Tag, TenantId};
use serde::{Deserialize, Serialize};

use crate::registry::{RegistryStage, RegistryView};
use crate::wallet::AnonCreds;

/// How the ledger's state of a registry differs from what is kept here, and why.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct RegistryDifference {
    /// Places that are revoked in the ledger alone.
    pub only_ledger: BTreeSet<u32>,
    /// Places that are confirmed here and not revoked in the ledger.
    pub only_here: BTreeSet<u32>,
    /// Places that were to be revoked here and are not yet in the ledger.
    pub unwritten: BTreeSet<u32>,
    /// The number of entries in the ledger.
    pub entries: u64,
    /// Since when the ledger's answer to a transaction is awaited, in seconds since 1970.
    pub waiting_since: Option<u64>,
    /// Why the last transaction was refused. It is made anew.
    pub refused: Option<Reason>,
}

impl AnonCreds {
    /// A revocation registry of the tenant.
    ///
    /// # Errors
    /// `NotFound` if it is not the tenant's; the store's.
    pub async fn registry_shown(&self, tenant: &TenantId, id: &str) -> Result<RegistryView> {
        Ok(RegistryView::of(&self.own_registry(tenant, id).await?))
    }

    /// How many places of a registry are given out. After a restart, a few are counted that no credential has.
    ///
    /// # Errors
    /// `NotFound` if it is not the tenant's; the store's.
    pub async fn places_given_out(&self, tenant: &TenantId, id: &str) -> Result<u32> {
        let own = self.own_registry(tenant, id).await?;
        let record = own.record_id();
        let places = self.places.given_out(tenant, &own.cred_def_id, &record);
        places.await
    }

    /// The revocation registries of the tenant, or of one of its definitions, the oldest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn registries(
        &self,
        tenant: &TenantId,
        cred_def_id: Option<&str>,
    ) -> Result<Vec<RegistryView>> {
        let found = match cred_def_id {
            Some(id) => {
                let tag = Tag::hashed("cred_def_id", self.qualified(id).await?);
                self.registries_with(tenant, &tag).await?
            }
            None => self.all_registries(tenant).await?,
        };
        Ok(found.iter().map(RegistryView::of).collect())
    }

    /// The registry in which the next credential of a definition gets its place, if one is published.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; the store's.
    pub async fn active_registry(
        &self,
        tenant: &TenantId,
        cred_def_id: &str,
    ) -> Result<RegistryView> {
        let cred_def_id = &*self.qualified(cred_def_id).await?;
        let open = self.open_registries(tenant, cred_def_id).await?;
        let active = open.iter().find(|one| one.stage == RegistryStage::Ready);
        let absent = || Error::not_found("anoncreds-registry-none").with("definition", cred_def_id);
        active.map(RegistryView::of).ok_or_else(absent)
    }

    /// How the ledger's state of a registry differs from what is kept here, if it does.
    ///
    /// # Errors
    /// `NotFound` if it is not the tenant's; the registry's.
    pub async fn registry_difference(
        &self,
        tenant: &TenantId,
        id: &str,
    ) -> Result<Option<RegistryDifference>> {
        let own = self.own_registry(tenant, id).await?;
        let ledger = self.shared.own_registry()?;
        let seen = ledger.revocation_state(&own.id, None).await?;
        let mut there = own.clone();
        let entries = seen.as_ref().map_or(0, |seen| seen.version);
        match &seen {
            Some(seen) => there.adopt(seen),
            None => there.revoked.clear(),
        }
        let found = RegistryDifference {
            only_ledger: there.revoked.difference(&own.revoked).copied().collect(),
            only_here: own.revoked.difference(&there.revoked).copied().collect(),
            unwritten: own
                .unwritten()
                .difference(&there.revoked)
                .copied()
                .collect(),
            entries,
            waiting_since: own.waiting_since().map(|since| since.0),
            refused: own.refused.clone(),
        };
        let is_same = found.only_ledger.is_empty()
            && found.only_here.is_empty()
            && found.unwritten.is_empty()
            && found.entries == own.entries;
        Ok((!is_same).then_some(found))
    }
}
