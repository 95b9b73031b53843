//! The roles of an organisation as its book and its applications see them.

use std::sync::Arc;

use async_trait::async_trait;
use selfsame_applications::{ApplicationRoles, WrittenWithOffer};
use selfsame_book_role::BookRoles;
use selfsame_core::identity::Identity;
use selfsame_core::organisation::Organisation;
use selfsame_core::organisation::trust::OrganisationTrust;
use selfsame_driver::Result;
use selfsame_openid::OrganisationRoles;
use selfsame_openid::view::issuer::{Offer, ProvenOffer};
use selfsame_openid::view::verifier::{CredentialVerdict, VerificationRequest, VerificationStatus};
use selfsame_saved_requests::SavedRequests;
use selfsame_types::asked::definition::RequestDefinition;
use selfsame_types::{OwnTypes, TypeSet};

/// The roles of an organisation.
pub(super) struct OwnRoles(pub Arc<OrganisationRoles>);

#[async_trait]
impl BookRoles for OwnRoles {
    fn organisation(&self) -> &Organisation {
        &self.0.organisation
    }

    fn own_types(&self) -> Result<OwnTypes<'_>> {
        Ok(self.0.issuer()?.types())
    }

    async fn types(&self) -> Result<Arc<TypeSet>> {
        match self.0.publisher() {
            Ok(issuer) => issuer.types().all().await,
            Err(_) => self.0.verifier()?.types().await,
        }
    }

    fn identity(&self) -> Result<&Arc<Identity>> {
        Ok(self.0.issuer()?.identity())
    }

    async fn is_entry_revoked(&self, entry: &str) -> Result<bool> {
        self.0.issuer()?.is_entry_revoked(entry).await
    }

    fn names(&self) -> Option<Vec<String>> {
        Some(self.0.publisher().ok()?.names())
    }

    fn title(&self) -> String {
        let issuer = self.0.publisher();
        issuer.map_or_else(|_| String::new(), |issuer| issuer.name().to_string())
    }

    async fn verify(&self, credential: &str) -> Result<CredentialVerdict> {
        self.0.verifier()?.verify(credential, None).await
    }

    fn trust(&self) -> Option<&OrganisationTrust> {
        Some(self.0.verifier().ok()?.trust())
    }
}

#[async_trait]
impl ApplicationRoles for OwnRoles {
    fn organisation(&self) -> &Organisation {
        &self.0.organisation
    }

    fn issuer_name(&self) -> Result<String> {
        Ok(self.0.issuer()?.name().to_string())
    }

    async fn types(&self) -> Result<Arc<TypeSet>> {
        self.0.issuer()?.types().all().await
    }

    async fn offer(
        &self,
        proven: &ProvenOffer<'_>,
        written: WrittenWithOffer<'_>,
    ) -> Result<Offer> {
        self.0.issuer()?.create_proven_offer(proven, written).await
    }

    async fn ask(&self, definition: RequestDefinition) -> Result<VerificationRequest> {
        SavedRequests::of(self.0.verifier()?).ask(definition).await
    }

    async fn asked(&self, request: &str) -> Result<VerificationStatus> {
        self.0.verifier()?.request(request).await
    }

    async fn recheck(&self, request: &str) -> Result<VerificationStatus> {
        self.0.verifier()?.recheck(request).await
    }
}
