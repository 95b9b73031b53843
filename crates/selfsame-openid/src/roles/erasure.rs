//! What an erasure removes of an organisation's roles, in portions, and what it destroys in the end.

use selfsame_core::identity::IDENTITY;
use selfsame_core::organisation::HostedOrganisation;
use selfsame_driver::{Result, keys};
use selfsame_types::PUBLISHED;

use super::Roles;
use crate::issuer::{self, ValidIssued};

/// Rows that one commit removes.
const PORTION: usize = 250;
/// The kinds of records that stay while verifiers can check what an erased organisation issued; a kind that is not
/// listed here is erased. Registrations are calls to the registry that are under way.
const KEPT: [&str; 9] = [
    keys::KIND,
    IDENTITY,
    selfsame_document_signer::KIND,
    "registration",
    PUBLISHED[0],
    PUBLISHED[1],
    issuer::ANCHORED,
    issuer::WITHDRAWN,
    issuer::NEWEST,
];

impl Roles {
    /// Removes a portion of what an organisation has of people. Returns whether nothing is left of it.
    ///
    /// # Errors
    /// The store's.
    pub async fn remove_personal(&self, hosted: &HostedOrganisation) -> Result<bool> {
        let (store, tenant) = (&self.shared.store, hosted.tenant()?);
        if issuer::strip_issued(store, &tenant, PORTION).await? > 0
            || store.erase(&tenant, &KEPT, PORTION).await? > 0
        {
            return Ok(false);
        }
        // It is opened again, with what is left, for those who check what it issued.
        self.open.close(&hosted.name);
        Ok(true)
    }

    /// Destroys the keys of an organisation, then a portion of its records. Returns whether nothing is left.
    ///
    /// # Errors
    /// The store's.
    pub async fn destroy(&self, hosted: &HostedOrganisation) -> Result<bool> {
        let tenant = hosted.tenant()?;
        self.open.close(&hosted.name);
        self.shared.keys.forget_tenant(&tenant);
        self.types.forget(&tenant);
        Ok(self.shared.store.destroy(&tenant, PORTION).await? == 0)
    }

    /// The credentials of an organisation that are valid now, as far as they are counted.
    ///
    /// # Errors
    /// The store's.
    pub async fn valid_issued(&self, hosted: &HostedOrganisation) -> Result<ValidIssued> {
        let (store, now) = (&self.shared.store, self.shared.clock.now());
        issuer::valid_issued(store, &hosted.tenant()?, now).await
    }
}
