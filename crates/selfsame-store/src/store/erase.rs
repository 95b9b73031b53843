//! Erasure: the rows of a tenant are removed in portions, so that the commits of other tenants do not wait.

use super::Store;
use crate::backend::Write;
use crate::error::{Result, StoreError};
use crate::tenant::TenantId;

impl Store {
    /// Removes at most `limit` records of a tenant, of all kinds but `keep`, in one commit. Returns how many; call it
    /// until none is left. Counters and the outbox stay. `Malformed` for the instance itself.
    pub async fn erase(&self, tenant: &TenantId, keep: &[&str], limit: usize) -> Result<u64> {
        let keep = keep.iter().map(|kind| (*kind).to_owned()).collect();
        self.remove(tenant, Some(keep), limit).await
    }

    /// Destroys a tenant: the first call removes the key that seals all its data, so that nobody can read them any more;
    /// each call removes its counters, and at most `limit` of its records and of its outbox entries. Returns how many;
    /// call it until none is left, also after a crash. From the first call on, this process reads nothing of the tenant
    /// and refuses to write anything. Events stay until they are purged. `Malformed` for the instance itself.
    pub async fn destroy(&self, tenant: &TenantId, limit: usize) -> Result<u64> {
        if *tenant != TenantId::instance() {
            self.0.vault.destroy(tenant);
        }
        self.remove(tenant, None, limit).await
    }

    async fn remove(
        &self,
        tenant: &TenantId,
        keep: Option<Vec<String>>,
        limit: usize,
    ) -> Result<u64> {
        if *tenant == TenantId::instance() {
            return Err(StoreError::Malformed("tenant"));
        }
        let tenant = tenant.clone();
        let erase = Write::Erase {
            tenant,
            keep,
            limit,
        };
        let batch = self.durable(vec![erase]);
        Ok(self.write(batch).await?.purged)
    }
}
