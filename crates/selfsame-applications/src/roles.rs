//! What applications need of the roles of their organisation.

use std::sync::Arc;

use async_trait::async_trait;
use selfsame_core::organisation::Organisation;
use selfsame_driver::Result;
use selfsame_openid_view::issuer::{Offer, ProvenOffer};
use selfsame_openid_view::verifier::{VerificationRequest, VerificationStatus};
use selfsame_store::Batch;
use selfsame_types::TypeSet;
use selfsame_types::asked::definition::RequestDefinition;

/// Gives what is written in the commit of an offer, from the offer's id.
pub type WrittenWithOffer<'a> = Box<dyn FnOnce(&str) -> Result<Batch> + Send + 'a>;

/// The issuer and the verifier of the organisation that takes applications.
#[async_trait]
pub trait ApplicationRoles: Send + Sync {
    /// The organisation.
    fn organisation(&self) -> &Organisation;

    /// The issuer's name for people.
    ///
    /// # Errors
    /// `NotFound` if the organisation is no issuer.
    fn issuer_name(&self) -> Result<String>;

    /// The types that it issues.
    ///
    /// # Errors
    /// `NotFound` if the organisation is no issuer; the store's.
    async fn types(&self) -> Result<Arc<TypeSet>>;

    /// Makes the offer of an application, and commits it with what is written beside it.
    ///
    /// # Errors
    /// Those of offers; `Conflict` if what is written beside it expects something else.
    async fn offer(&self, proven: &ProvenOffer<'_>, written: WrittenWithOffer<'_>)
    -> Result<Offer>;

    /// Asks a wallet for credentials.
    ///
    /// # Errors
    /// `NotFound` if the organisation is no verifier; `BadRequest` for a definition that is refused.
    async fn ask(&self, definition: RequestDefinition) -> Result<VerificationRequest>;

    /// A request and its verdict.
    ///
    /// # Errors
    /// `NotFound`.
    async fn asked(&self, request: &str) -> Result<VerificationStatus>;

    /// A request with the verdict on its answer now, by statuses fetched now and the issuers trusted now.
    ///
    /// # Errors
    /// `NotFound`; `Unavailable` if statuses can't be fetched.
    async fn recheck(&self, request: &str) -> Result<VerificationStatus>;
}
