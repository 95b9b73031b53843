//! What the endpoints need of the instance that serves them.

use std::ops::Deref;
use std::sync::Arc;

use async_trait::async_trait;
use selfsame_anoncreds_wallet::AnonCreds;
use selfsame_core::dids::Dids;
use selfsame_core::newcomer::{Newcomer, Registered};
use selfsame_core::resolver::Linked;
use selfsame_did::method::cheqd::resource::WantedResource;
use selfsame_did::{Did, DidUrl, Options, Resolution, ResolutionError};
use selfsame_driver::Result;
use selfsame_ledger::Registry;
use selfsame_ledger::browse::Browser;
use selfsame_openid::OrganisationRoles;
use selfsame_openid4vc::wire::credential::CredentialAnswer;
use selfsame_remote_wallet::RemoteWallets;
use selfsame_sign_in::access::PresentedToken;
use serde_json::Value;

/// A call of an endpoint of an organisation's issuer that needs an access token.
pub struct WithToken<'a> {
    /// The organisation's roles.
    pub roles: &'a OrganisationRoles,
    /// The token.
    pub presented: &'a PresentedToken<'a>,
    /// The body.
    pub body: &'a [u8],
}

/// What serves the endpoints of an instance.
#[async_trait]
pub trait EndpointHost: Send + Sync {
    /// The registry, wherever it is.
    fn registry(&self) -> Result<&Arc<dyn Registry>>;

    /// The DIDs whose documents it hosts.
    fn dids(&self) -> &Dids;

    /// The AnonCreds of its organisations.
    fn anoncreds(&self) -> &AnonCreds;

    /// Resolves a DID of any known method; errors are part of the result.
    async fn resolve(&self, did: &Did, options: &Options) -> Arc<Resolution>;

    /// The DID-linked resource that a DID URL names.
    async fn linked(
        &self,
        url: &DidUrl,
        wanted: &WantedResource,
    ) -> std::result::Result<Linked, ResolutionError>;

    /// Whether anyone may register DIDs.
    fn open_registration(&self) -> bool;

    /// Whether this is the operator token.
    fn is_operator(&self, token: &str) -> bool;

    /// Issues credentials of an organisation for an access token.
    async fn credential(&self, call: WithToken<'_>) -> Result<CredentialAnswer>;

    /// Delivers credentials of an organisation that a wallet has asked for before, once they are approved.
    async fn deferred(&self, call: WithToken<'_>) -> Result<CredentialAnswer>;

    /// Takes what a wallet says of the credentials that it got from an organisation.
    async fn notified(&self, call: WithToken<'_>) -> Result<()>;

    /// A nonce for the next proofs of possession that come with access tokens (RFC 9449 §9), if they need one.
    async fn dpop_nonce(&self, roles: &OrganisationRoles) -> Result<Option<String>>;

    /// The keys by which others know the attester of its wallet (a JWK Set).
    async fn attester_keys(&self) -> Result<Value>;

    /// The rows of remote Indy wallets of its organisations.
    fn remote_wallets(&self) -> RemoteWallets;

    /// Registers the DID of another party in the registry, and waits for the receipt.
    async fn register(&self, newcomer: &Newcomer<'_>) -> Result<Registered>;
}

/// The instance whose endpoint was called.
#[derive(Clone)]
pub struct Instance(Arc<dyn EndpointHost>);

impl Instance {
    /// The instance that this host serves.
    pub fn of(host: Arc<dyn EndpointHost>) -> Self {
        Self(host)
    }

    /// The registry's blocks, transactions and objects, for those who browse.
    ///
    /// # Errors
    /// If it has no registry, or one that can't be browsed.
    pub fn browser(&self) -> Result<Browser<'_>> {
        Browser::of(&**self.registry()?)
    }
}

impl Deref for Instance {
    type Target = dyn EndpointHost;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

/// The roles of the organisation whose address was called.
pub struct RolesHere(pub Arc<OrganisationRoles>);

/// The roles of the organisation whose address was called, which is not suspended and not erased.
#[derive(Clone)]
pub struct ActiveRolesHere(pub Arc<OrganisationRoles>);
