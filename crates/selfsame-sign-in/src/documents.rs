//! What a provider publishes: its metadata and its public keys.

use selfsame_attester::ALGORITHMS;
use selfsame_driver::{Error, Result};
use selfsame_oauth::jwt::VerificationKeys;
use selfsame_oidc::provider::ProviderMetadata;

use crate::service::SignIns;

impl SignIns {
    /// The metadata (OpenID Connect Discovery §3, RFC 8414 §2).
    ///
    /// # Errors
    /// `Internal` for addresses without a base.
    pub fn metadata(&self) -> Result<ProviderMetadata> {
        let service = &self.service;
        let (acr, locales) = (&service.parts.acr, &service.parts.locales);
        let metadata = ProviderMetadata::of(&self.place.addresses, &service.rules, acr, locales);
        let metadata = metadata.map_err(Error::internal)?;
        let metadata = metadata.with_credentials(service.parts.credentials.names());
        let gate = service.parts.gate.as_ref();
        Ok(match gate.is_some_and(|gate| gate.is_open()) {
            true => metadata.with_attestations(&ALGORITHMS, self.place.endpoint("challenge")?),
            false => metadata,
        })
    }

    /// The public keys: those in use, the next ones, and former ones for a day.
    ///
    /// # Errors
    /// The store's.
    pub async fn keys(&self) -> Result<VerificationKeys> {
        let keys = &self.service.key_sets;
        let set = keys.of(self.shared(), &self.place.tenant).await?;
        Ok(set.published.clone())
    }

    /// Signs with the next keys from now on, and publishes further ones.
    ///
    /// # Errors
    /// The store's; `Conflict` if the keys are being rotated elsewhere.
    pub async fn rotate_keys(&self) -> Result<()> {
        let keys = &self.service.key_sets;
        keys.rotate(self.shared(), &self.place.tenant).await
    }
}
