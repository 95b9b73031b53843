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

    /// Destroys a tenant. The first call removes the key that seals all its data, which makes the data unreadable. Each
    /// call removes the counters, and at most `limit` of the records and of the outbox entries. Returns the number of
    /// removed rows; call it until that is 0, also after a crash. From the first call on, this process reads nothing of
    /// the tenant and refuses to write anything. Events stay until they are purged. `Malformed` for the instance itself.
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
