//! Places of registries, given out once. A process leases a few at a time in a durable commit, and gives them out from
//! memory; a restart leaves out those that it had not given out. The counters of the store lease 1,024 at a time, which
//! is more than most registries have.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use selfsame_core::Shared;
use selfsame_driver::Result;
use selfsame_driver::record::{decode, encode};
use selfsame_store::{Batch, Expect, Put, StoreError, TenantId};

/// The kind of the records of the next place of each registry.
const PLACES: &str = "anoncreds_places";
/// Places leased at once at most, and the part of a registry that they are at most.
const LEASED_MAX: u32 = 64;
const LEASED_PART: u32 = 16;
/// Definitions whose leases are held; beyond them all are dropped, which leaves places out.
const HELD_MAX: usize = 2_048;

/// Places of a registry that this process alone gives out.
pub(crate) struct LeasedPlaces {
    /// The id of the registry's record.
    pub(crate) registry: String,
    pub(crate) left: Range<u32>,
}

/// The lease of a definition, if there is one. Who holds the lock takes a place or leases further ones.
pub(crate) type DefinitionLease = Arc<tokio::sync::Mutex<Option<LeasedPlaces>>>;

/// The leases of one process.
pub(crate) struct PlaceLeases {
    shared: Arc<Shared>,
    held: Mutex<HashMap<(TenantId, String), DefinitionLease>>,
}

impl PlaceLeases {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let held = Mutex::default();
        Self { shared, held }
    }

    pub(crate) fn of(&self, tenant: &TenantId, cred_def_id: &str) -> DefinitionLease {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (tenant.clone(), cred_def_id.to_owned());
        if held.len() >= HELD_MAX && !held.contains_key(&key) {
            held.clear();
        }
        held.entry(key).or_default().clone()
    }

    /// How many places of a registry are given out. Those that this process leases and has not given out are not among
    /// them.
    pub(crate) async fn given_out(
        &self,
        tenant: &TenantId,
        cred_def_id: &str,
        registry: &str,
    ) -> Result<u32> {
        let stored = self.shared.store.read(tenant, PLACES, registry).await?;
        let next = stored.map(|stored| decode(&stored.value)).transpose()?;
        let leased = next.unwrap_or(1_u32).saturating_sub(1);
        let lease = self.of(tenant, cred_def_id);
        let lease = lease.lock().await;
        let own = lease.as_ref().filter(|own| own.registry == registry);
        let left = own.map_or(0, |own| own.left.end.saturating_sub(own.left.start));
        Ok(leased.saturating_sub(left))
    }

    /// Leases places of a registry with this many; `None` if all are leased. Index 0 is never assigned, and the last
    /// place has no bit of its own.
    pub(crate) async fn lease(
        &self,
        tenant: &TenantId,
        registry: &str,
        size: u32,
    ) -> Result<Option<LeasedPlaces>> {
        let store = &self.shared.store;
        loop {
            let stored = store.read(tenant, PLACES, registry).await?;
            let (next, expect) = match &stored {
                Some(stored) => (decode(&stored.value)?, Expect::Version(stored.version)),
                None => (1_u32, Expect::Absent),
            };
            if next >= size {
                return Ok(None);
            }
            let count = (size / LEASED_PART).clamp(1, LEASED_MAX);
            let end = next.saturating_add(count).min(size);
            let batch = Batch::new(tenant.clone())
                .expect(PLACES, registry, expect)
                .put(Put::new(PLACES, registry, encode(&end)?));
            match store.commit(batch).await {
                Ok(_) => {
                    return Ok(Some(LeasedPlaces {
                        registry: registry.to_owned(),
                        left: next..end,
                    }));
                }
                // Another process was faster.
                Err(StoreError::Conflict { .. }) => {}
                Err(other) => return Err(other.into()),
            }
        }
    }
}
