//! How an organisation looks to people: its logo and its colour.

use selfsame_core::organisation::look::{LogoFile, LookView};
use selfsame_driver::Result;

use crate::roles::OrganisationRoles;

impl OrganisationRoles {
    /// How the organisation looks.
    ///
    /// # Errors
    /// The store's.
    pub async fn look(&self) -> Result<LookView> {
        let look = self.organisations.look(&self.organisation.name).await?;
        look.view(&self.organisation)
    }

    /// The file of its logo with this digest.
    ///
    /// # Errors
    /// `NotFound` if it has no such logo now; those of the store.
    pub async fn logo(&self, digest: &str) -> Result<LogoFile> {
        self.organisations.logo(&self.organisation, digest).await
    }
}
