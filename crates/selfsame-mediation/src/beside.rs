//! A format of attachments that another crate makes and judges, for the agent that carries them.

use async_trait::async_trait;
use selfsame_aries::exchange::Preview;
use selfsame_aries::formats::CredentialFilter;
use selfsame_driver::Result;
use selfsame_store::{Batch, TenantId};
use serde_json::Value;

/// A format of attachments that another crate makes and judges.
#[async_trait]
pub trait BesideFormat: Send + Sync {
    /// Its name in the table of formats.
    fn name(&self) -> &'static str;

    /// The offer of a credential.
    async fn offer(&self, tenant: &TenantId, offered: OfferBeside<'_>) -> Result<MadeAttachment>;

    /// The request for what is offered.
    async fn request(&self, tenant: &TenantId, offer: &[u8]) -> Result<MadeAttachment>;

    /// The credential that is requested.
    async fn issue(&self, tenant: &TenantId, asked: RequestBeside<'_>) -> Result<IssuedBeside>;

    /// The writes that keep a credential which came. `secret` is that of the request.
    async fn keep(&self, tenant: &TenantId, came: CameBeside<'_>) -> Result<KeptBeside>;

    /// The request for a proof, made complete.
    async fn ask(&self, tenant: &TenantId, request: &Value) -> Result<Vec<u8>>;

    /// A proof of what is requested, with the first credentials that fit.
    async fn present(&self, tenant: &TenantId, request: &[u8]) -> Result<Vec<u8>>;

    /// Whether a proof is valid and of what was requested.
    async fn verify(&self, tenant: &TenantId, proof: ProofBeside<'_>) -> Result<BesideVerdict>;
}

/// What is to be offered.
pub struct OfferBeside<'a> {
    /// Which credential.
    pub filter: &'a CredentialFilter,
    /// Its attributes. What the issuer adds by itself is added to them.
    pub preview: &'a mut Preview,
}

/// A request to be answered with a credential.
pub struct RequestBeside<'a> {
    /// The request.
    pub request: &'a [u8],
    /// The offer.
    pub offer: &'a [u8],
    /// The attributes of the offer.
    pub preview: Option<&'a Preview>,
    /// What the offer left to remember. Secret.
    pub secret: &'a str,
    /// The exchange.
    pub exchange: &'a str,
}

/// An attachment with what its maker must remember.
pub struct MadeAttachment {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What the maker needs for the next step. Secret.
    pub secret: String,
}

/// An issued credential.
pub struct IssuedBeside {
    /// The credential.
    pub bytes: Vec<u8>,
    /// The identifier of its format in the message.
    pub format: String,
    /// The issuer's identifier of it, in a register beside the exchange.
    pub id: Option<String>,
    /// The credential definition; empty without one.
    pub cred_def_id: String,
    /// The revocation registry, if the credential has a place in one of the agent's.
    pub rev_reg_id: Option<String>,
    /// The index there.
    pub cred_rev_id: Option<u32>,
    /// What the commit of the exchange writes.
    pub writes: Batch,
}

/// A credential that came.
pub struct CameBeside<'a> {
    /// The identifier of its format in the message.
    pub format: &'a str,
    /// The credential.
    pub bytes: &'a [u8],
    /// What the request left to remember. Secret.
    pub secret: &'a str,
    /// The identifier that it gets; a new one without it.
    pub id: Option<&'a str>,
}

/// A credential that is kept.
pub struct KeptBeside {
    /// Its identifier.
    pub id: String,
    /// The revocation registry, if the credential has a place in one.
    pub rev_reg_id: Option<String>,
    /// The index there.
    pub cred_rev_id: Option<u32>,
    /// The writes.
    pub writes: Batch,
}

/// A proof with its request.
pub struct ProofBeside<'a> {
    /// The request.
    pub request: &'a [u8],
    /// The proof.
    pub presentation: &'a [u8],
}

/// Whether a proof is accepted.
pub struct BesideVerdict {
    /// Whether it is.
    pub is_valid: bool,
    /// Why not: a text for each finding.
    pub messages: Vec<String>,
}
