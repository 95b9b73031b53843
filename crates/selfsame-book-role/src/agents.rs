//! What books need of the Aries agents of their organisations.

use async_trait::async_trait;
use selfsame_driver::Result;
use selfsame_store::TenantId;
use serde_json::{Map, Value};

/// The agents of an instance.
#[async_trait]
pub trait BookAgents: Send + Sync {
    /// Has the agent of a tenant answer the request for a proof that is attached to an invitation. Returns whether it sends
    /// the proof; why not is in the log and in its exchange.
    ///
    /// # Errors
    /// `BadRequest` if it is no invitation; the agent's and the store's.
    async fn answer(&self, tenant: &TenantId, invitation: Map<String, Value>) -> Result<bool>;
}
