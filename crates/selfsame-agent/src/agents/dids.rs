//! Keys that an agent makes for its controllers, each with a DID of its own.

use selfsame_driver::Result;
use selfsame_mediation::local_dids::{self, LocalDid};
use selfsame_store::TenantId;

use super::Agents;
use crate::connections::own_terms;

impl Agents {
    /// Makes a key with its DID: of the method that is the key itself, of a peer with this agent's endpoint, or
    /// unqualified (RFC 0793).
    ///
    /// # Errors
    /// `BadRequest` for another method; the store's.
    pub async fn create_did(&self, tenant: &TenantId, method: &str) -> Result<LocalDid> {
        let terms = self.parts.terms(tenant);
        local_dids::create(&self.parts.shared, &own_terms(tenant, &terms), method).await
    }

    /// The DIDs that were made so, the oldest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn local_dids(&self, tenant: &TenantId) -> Result<Vec<LocalDid>> {
        local_dids::list(&self.parts.shared, tenant).await
    }
}
