//! Where the provider of one organisation is.

use selfsame_core::organisation::Organisation;
use selfsame_driver::{Error, Result};
use selfsame_oidc::provider::ProviderAddresses;
use selfsame_store::TenantId;
use url::Url;

/// The last part of the path of a provider's identifier.
const NAME: &str = "oidc";

/// Where the provider of one organisation is.
#[derive(Clone, Debug)]
pub struct ProviderPlace {
    /// The tenant of its records.
    pub tenant: TenantId,
    /// Its addresses.
    pub addresses: ProviderAddresses,
    /// The organisation's identifier as an issuer of credentials.
    pub credential_issuer: String,
}

impl ProviderPlace {
    /// The place of an organisation's provider.
    ///
    /// # Errors
    /// `Internal` for an organisation whose addresses have no base.
    pub fn of(organisation: &Organisation) -> Result<Self> {
        let identifier = organisation.url(NAME)?;
        let base = organisation.url(&format!("{NAME}/"))?;
        Ok(Self {
            tenant: organisation.issuer.clone(),
            credential_issuer: organisation.identifier.clone(),
            addresses: ProviderAddresses {
                issuer: identifier.into(),
                base,
            },
        })
    }

    /// Its identifier.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.addresses.issuer
    }

    /// One of its endpoints.
    ///
    /// # Errors
    /// `Internal` for a name that is no path.
    pub fn endpoint(&self, name: &str) -> Result<Url> {
        self.addresses.endpoint(name).map_err(Error::internal)
    }
}
