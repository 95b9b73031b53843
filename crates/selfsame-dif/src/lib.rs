//! Credentials that are JWTs as attachments of Aries exchanges: issued by DIF Credential Manifest (RFC 0511), requested and
//! presented by DIF Presentation Exchange (RFC 0510).
//!
//! Owns: these attachments, the subset of Presentation Exchange that is understood, and the credentials that agents hold.
//! Does not own: exchanges and how they travel (selfsame-agent), the credentials' formats (selfsame-credential), what an
//! organisation issues and whom it trusts (selfsame-openid).

mod claim_path;
pub mod definition;
mod error;
mod holding;
mod issuing;
mod manifest;
mod presenting;
mod submission;
mod verifying;

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use selfsame_aries::formats::dif::FORMAT;
use selfsame_core::Shared;
use selfsame_driver::{Error, Result};
use selfsame_mediation::beside::{
    BesideFormat, BesideVerdict, CameBeside, IssuedBeside, KeptBeside, MadeAttachment, ProofBeside,
};
use selfsame_openid::{OrganisationRoles, Roles};
use selfsame_store::TenantId;
use serde_json::Value;

pub use holding::HeldCredential;

/// The format, with the roles of the organisations that agents belong to.
#[derive(Clone)]
pub struct DifFormat {
    shared: Arc<Shared>,
    roles: Weak<Roles>,
}

impl DifFormat {
    /// The format on these parts of an instance.
    #[must_use]
    pub fn new(shared: Arc<Shared>, roles: &Arc<Roles>) -> Self {
        Self {
            shared,
            roles: Arc::downgrade(roles),
        }
    }

    /// The roles of the organisation whose agent has this tenant.
    async fn roles(&self, tenant: &TenantId) -> Result<Arc<OrganisationRoles>> {
        let absent = || Error::not_found("agent-absent");
        let roles = self.roles.upgrade().ok_or_else(absent)?;
        if roles.main.organisation.issuer == *tenant {
            return Ok(roles.main.clone());
        }
        let hosted = roles.organisations().of_tenant(tenant).await?;
        roles.of(&hosted.ok_or_else(absent)?).await
    }
}

#[async_trait]
impl BesideFormat for DifFormat {
    fn name(&self) -> &'static str {
        FORMAT.name
    }

    async fn offer(&self, tenant: &TenantId, terms: &Value) -> Result<MadeAttachment> {
        self.offered(tenant, terms).await
    }

    async fn request(&self, tenant: &TenantId, offer: &[u8]) -> Result<MadeAttachment> {
        self.requested(tenant, offer).await
    }

    async fn issue(&self, tenant: &TenantId, request: &[u8], secret: &str) -> Result<IssuedBeside> {
        self.issued(tenant, request, secret).await
    }

    async fn keep(&self, tenant: &TenantId, came: CameBeside<'_>) -> Result<KeptBeside> {
        self.kept(tenant, &came).await
    }

    async fn ask(&self, tenant: &TenantId, request: &Value) -> Result<Vec<u8>> {
        self.asked(tenant, request).await
    }

    async fn present(&self, tenant: &TenantId, request: &[u8]) -> Result<Vec<u8>> {
        self.presented(tenant, request).await
    }

    async fn verify(&self, tenant: &TenantId, proof: ProofBeside<'_>) -> Result<BesideVerdict> {
        self.verified(tenant, &proof).await
    }
}
