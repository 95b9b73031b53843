//! The server as its endpoints see it.

use std::sync::Arc;

use async_trait::async_trait;
use axum::extract::FromRef;
use selfsame_anoncreds_wallet::AnonCreds;
use selfsame_app::OrganisationRoles;
use selfsame_core::dids::Dids;
use selfsame_core::newcomer::{Newcomer, Registered};
use selfsame_core::resolver::Linked;
use selfsame_did::method::cheqd::resource::WantedResource;
use selfsame_did::{Did, DidUrl, Options, Resolution, ResolutionError};
use selfsame_driver::Result;
use selfsame_endpoints::{CredentialAnswer, EndpointHost, Instance, RemoteWallets, WithToken};
use selfsame_ledger::Registry;

use crate::server::Server;

impl FromRef<Server> for Instance {
    fn from_ref(server: &Server) -> Self {
        Self::of(Arc::new(server.clone()))
    }
}

#[async_trait]
impl EndpointHost for Server {
    fn registry(&self) -> Result<&Arc<dyn Registry>> {
        self.app().registry()
    }

    fn dids(&self) -> &Dids {
        self.app().dids()
    }

    fn anoncreds(&self) -> &AnonCreds {
        self.app().anoncreds()
    }

    async fn resolve(&self, did: &Did, options: &Options) -> Arc<Resolution> {
        self.app().resolve(did, options).await
    }

    async fn linked(
        &self,
        url: &DidUrl,
        wanted: &WantedResource,
    ) -> std::result::Result<Linked, ResolutionError> {
        self.app().linked(url, wanted).await
    }

    fn open_registration(&self) -> bool {
        Server::open_registration(self)
    }

    fn is_operator(&self, token: &str) -> bool {
        self.app().operator().is_token(token)
    }

    async fn credential(&self, of: WithToken<'_>) -> Result<CredentialAnswer> {
        self.app().credential(of.roles, of.presented, of.body).await
    }

    async fn deferred(&self, of: WithToken<'_>) -> Result<CredentialAnswer> {
        self.app().deferred(of.roles, of.presented, of.body).await
    }

    async fn notified(&self, of: WithToken<'_>) -> Result<()> {
        self.app().notified(of.roles, of.presented, of.body).await
    }

    async fn dpop_nonce(&self, roles: &OrganisationRoles) -> Result<Option<String>> {
        self.app().dpop_nonce(roles).await
    }

    async fn attester_keys(&self) -> Result<serde_json::Value> {
        self.app().attester_keys().await
    }

    fn remote_wallets(&self) -> RemoteWallets {
        self.app().remote_wallets()
    }

    async fn register(&self, newcomer: &Newcomer<'_>) -> Result<Registered> {
        self.app().register_newcomer(newcomer).await
    }
}
