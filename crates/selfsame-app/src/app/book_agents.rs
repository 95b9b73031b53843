//! The Aries agents of an instance as its books see them.

use async_trait::async_trait;
use selfsame_agent::connect::OobAnswer;
use selfsame_agent::{Agents, ExchangeFilter};
use selfsame_book_role::BookAgents;
use selfsame_driver::Result;
use selfsame_driver::paging::Paging;
use selfsame_store::TenantId;
use serde_json::{Map, Value};

/// Seconds for which the agent takes what a verifier answers to a proof that anybody asked for: a day. A verifier need not
/// answer, so its exchange ends then too.
const KEY_SECONDS: u64 = 86_400;

/// The agents of an instance.
pub(super) struct OwnAgents(pub Agents);

#[async_trait]
impl BookAgents for OwnAgents {
    async fn answer(&self, tenant: &TenantId, invitation: Map<String, Value>) -> Result<bool> {
        let how = OobAnswer {
            alias: None,
            auto_accept: false,
            use_existing_connection: false,
            label: None,
            key_seconds: Some(KEY_SECONDS),
        };
        let received = self.0.receive_oob_invitation(tenant, invitation, how);
        let received = received.await?;
        let is_sent = self.sends(tenant, received.attach_thread_id).await;
        // Nothing of it is needed any more; its exchange knows the way to the verifier.
        self.0.forget_oob(tenant, &received.oob_id).await?;
        is_sent
    }
}

impl OwnAgents {
    /// Whether nothing is wrong in the exchange of a request that came just now.
    async fn sends(&self, tenant: &TenantId, thread: Option<String>) -> Result<bool> {
        if thread.is_none() {
            // Without a thread, the exchanges of everybody would be found.
            return Ok(false);
        }
        let filter = ExchangeFilter {
            thread_id: thread,
            ..ExchangeFilter::default()
        };
        let (proving, paging) = (self.0.proving(), Paging::default());
        let found = proving.list(tenant, &filter, &paging).await?;
        let first = found.items.first();
        let wrong = first.and_then(|one| one["error_msg"].as_str());
        if let Some(wrong) = wrong {
            tracing::warn!(%tenant, wrong, "an agent can't prove an entry of its book");
        }
        Ok(wrong.is_none())
    }
}
