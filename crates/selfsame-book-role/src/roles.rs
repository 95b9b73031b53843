//! What a book needs of the roles of its organisation.

use std::sync::Arc;

use async_trait::async_trait;
use selfsame_core::identity::Identity;
use selfsame_core::organisation::Organisation;
use selfsame_core::organisation::trust::OrganisationTrust;
use selfsame_driver::Result;
use selfsame_openid_view::verifier::CredentialVerdict;
use selfsame_types::{OwnTypes, TypeSet};

/// The roles of the organisation that keeps a book.
#[async_trait]
pub trait BookRoles: Send + Sync {
    /// The organisation.
    fn organisation(&self) -> &Organisation;

    /// The types that it may change.
    ///
    /// # Errors
    /// `NotFound` if it is no issuer.
    fn own_types(&self) -> Result<OwnTypes<'_>>;

    /// Its credential types.
    ///
    /// # Errors
    /// `NotFound` if it is neither issuer nor verifier; the store's.
    async fn types(&self) -> Result<Arc<TypeSet>>;

    /// The identity that it issues with.
    ///
    /// # Errors
    /// `NotFound` if it is no issuer.
    fn identity(&self) -> Result<&Arc<Identity>>;

    /// Whether all copies of the credential of an entry are revoked.
    ///
    /// # Errors
    /// `NotFound` if it is no issuer; the store's.
    async fn is_entry_revoked(&self, entry: &str) -> Result<bool>;

    /// The names by which its credentials name it, also those that it issued before; `None` if it issues none.
    fn names(&self) -> Option<Vec<String>>;

    /// Its name for people; empty if it issues nothing.
    fn title(&self) -> String;

    /// Verifies a credential.
    ///
    /// # Errors
    /// `NotFound` if it is no verifier; the verifier's.
    async fn verify(&self, credential: &str) -> Result<CredentialVerdict>;

    /// The issuers that it trusts; `None` if it is no verifier.
    fn trust(&self) -> Option<&OrganisationTrust>;
}
