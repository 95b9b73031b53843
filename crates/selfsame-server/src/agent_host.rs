//! The server as the pages of agents see it.

use std::sync::Arc;

use async_trait::async_trait;
use axum::extract::FromRequestParts;
use http::request::Parts;
use selfsame_agent::Agents;
use selfsame_agent_ui::{AgentHere, AgentHost, AgentTenant, Revocation};
use selfsame_anoncreds_wallet::PlacesByRegistry;
use selfsame_app::agent::IssuedPlace;
use selfsame_driver::Result;

use crate::error::Problem;
use crate::extract::Working;
use crate::here::Here;
use crate::server::Server;

impl FromRequestParts<Server> for AgentHere {
    type Rejection = Problem;

    async fn from_request_parts(
        parts: &mut Parts,
        server: &Server,
    ) -> std::result::Result<Self, Problem> {
        // An organisation that is suspended does nothing.
        Here::from_request_parts(parts, server).await?;
        let working = Working::from_request_parts(parts, server).await?;
        let found = server.app().agent_at(&working.organisation).await?;
        Ok(Self {
            host: Arc::new(server.clone()),
            tenant: found.tenant,
            terms: found.terms,
            invite_base_url: found.invite_base_url,
            organisation: working.organisation,
            authority: working.authority,
        })
    }
}

#[async_trait]
impl AgentHost for Server {
    fn agents(&self) -> &Agents {
        self.app().agents()
    }

    async fn revoke(&self, tenant: &AgentTenant, revocation: &Revocation) -> Result<()> {
        let place = IssuedPlace {
            rev_reg_id: revocation.rev_reg_id.clone(),
            cred_rev_id: revocation.cred_rev_id,
        };
        let app = self.app();
        app.revoke_anoncreds(tenant, &place, revocation.publish)
            .await
    }

    async fn publish(&self, tenant: &AgentTenant, of: &PlacesByRegistry) -> Result<()> {
        let published = self.app().publish_anoncreds_revocations(tenant, of);
        published.await.map(drop)
    }
}
