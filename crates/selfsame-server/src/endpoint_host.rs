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
use selfsame_endpoints::{CredentialResponse, EndpointHost, Instance, PresentedToken};
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

    async fn credential(
        &self,
        roles: &OrganisationRoles,
        presented: &PresentedToken<'_>,
        body: &[u8],
    ) -> Result<CredentialResponse> {
        self.app().credential(roles, presented, body).await
    }

    async fn dpop_nonce(&self, roles: &OrganisationRoles) -> Result<String> {
        self.app().dpop_nonce(roles).await
    }

    async fn register(&self, newcomer: &Newcomer<'_>) -> Result<Registered> {
        self.app().register_newcomer(newcomer).await
    }
}
