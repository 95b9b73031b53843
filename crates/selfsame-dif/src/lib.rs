//! W3C credentials as attachments of Aries exchanges, requested and presented by DIF Presentation Exchange (RFC 0510): JWTs,
//! issued by DIF Credential Manifest (RFC 0511), and AnonCreds with Data Integrity proofs, issued by RFC 0809.
//!
//! Owns: these attachments, the subset of Presentation Exchange that is understood, and the JWTs that agents hold.
//! Does not own: exchanges and how they travel (selfsame-agent), the credentials' formats (selfsame-credential), what an
//! organisation issues and whom it trusts (selfsame-openid), AnonCreds (selfsame-anoncreds-wallet).

mod claim_path;
pub mod definition;
mod error;
mod holding;
mod integrity;
mod issuing;
mod manifest;
mod presenting;
mod submission;
mod verifying;

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use selfsame_anoncreds_wallet::AnonCreds;
use selfsame_aries::formats::dif::FORMAT;
use selfsame_core::Shared;
use selfsame_driver::{Error, Result};
use selfsame_mediation::beside::{
    BesideFormat, BesideVerdict, CameBeside, IssuedBeside, KeptBeside, MadeAttachment, OfferBeside,
    ProofBeside, RequestBeside,
};
use selfsame_openid::{OrganisationRoles, Roles};
use selfsame_store::TenantId;
use serde_json::Value;

pub use holding::HeldCredential;
pub use integrity::IntegrityFormat;

/// The format, with the roles of the organisations that agents belong to.
#[derive(Clone)]
pub struct DifFormat {
    shared: Arc<Shared>,
    roles: Weak<Roles>,
    integrity: IntegrityFormat,
}

impl DifFormat {
    /// The format on these parts of an instance.
    #[must_use]
    pub fn new(anoncreds: AnonCreds, roles: &Arc<Roles>) -> Self {
        Self {
            shared: anoncreds.shared().clone(),
            roles: Arc::downgrade(roles),
            integrity: IntegrityFormat::new(anoncreds),
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

    async fn offer(&self, tenant: &TenantId, offered: OfferBeside<'_>) -> Result<MadeAttachment> {
        let terms = offered.filter.terms.clone().unwrap_or_default();
        self.offered(tenant, &terms).await
    }

    async fn request(&self, tenant: &TenantId, offer: &[u8]) -> Result<MadeAttachment> {
        self.requested(tenant, offer).await
    }

    async fn issue(&self, tenant: &TenantId, asked: RequestBeside<'_>) -> Result<IssuedBeside> {
        self.issued(tenant, asked.request, asked.secret).await
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
