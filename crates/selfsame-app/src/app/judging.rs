//! Judges proofs again when credentials are issued.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use selfsame_applications::Applications;
use selfsame_core::Shared;
use selfsame_core::organisation::OrganisationName;
use selfsame_driver::{Error, Result};
use selfsame_openid::{HeldProofs, Roles};
use selfsame_types::CredentialType;

use super::own_roles::OwnRoles;

/// The judge of the applications of all organisations of an instance.
pub(super) struct ProofJudge {
    shared: Arc<Shared>,
    /// The roles have the judge.
    roles: Weak<Roles>,
}

impl ProofJudge {
    /// A judge for the organisations of these roles.
    #[must_use]
    pub fn new(shared: Arc<Shared>, roles: &Arc<Roles>) -> Self {
        let roles = Arc::downgrade(roles);
        Self { shared, roles }
    }
}

#[async_trait]
impl HeldProofs for ProofJudge {
    async fn judge(
        &self,
        organisation: &OrganisationName,
        application: &str,
        one: &CredentialType,
    ) -> Result<()> {
        let stopped = || Error::internal("the roles are gone");
        let roles = self.roles.upgrade().ok_or_else(stopped)?;
        let own = match organisation.is_main() {
            true => roles.main.clone(),
            false => {
                let hosted = roles.organisations().find(organisation).await?;
                let unknown = || Error::not_found("organisation-unknown");
                roles.of(&hosted.ok_or_else(unknown)?).await?
            }
        };
        let applications = Applications::new(self.shared.clone(), Arc::new(OwnRoles(own)));
        applications.judge(application, one).await
    }
}
