//! Types of an organisation, with what is published of them to the registry.

use selfsame_driver::Result;
use selfsame_openid::issuer::Issuer;
use selfsame_types::TypeSummary;
use selfsame_types::model::NewVersion;

use super::App;

impl App {
    /// Publishes the draft of a type as its next version. With the format AnonCreds, its schema and its credential
    /// definition are published to the registry afterwards. Without a draft, tries that again if it had failed.
    ///
    /// # Errors
    /// As [`selfsame_types::OwnTypes::publish`]; `BadRequest` if the issuer can't publish to a registry.
    pub async fn publish_type(&self, issuer: &Issuer, id: &str) -> Result<TypeSummary> {
        let publishing = &self.publishing;
        let before = self.type_shown(issuer, id).await?;
        if before.has_draft || !publishing.try_again(issuer, &before).await? {
            let now = self.clock().now();
            let further = |new: &NewVersion<'_>| publishing.begun(issuer, new);
            issuer.types().publish(id, now, further).await?;
        }
        self.type_shown(issuer, id).await
    }

    /// One type, with what its newest version has in the registry.
    ///
    /// # Errors
    /// As [`selfsame_types::OwnTypes::one`].
    pub async fn type_shown(&self, issuer: &Issuer, id: &str) -> Result<TypeSummary> {
        let mut shown = issuer.types().one(id).await?;
        if let Some(version) = shown.version {
            shown.anoncreds = self.publishing.objects(issuer, id, version).await?;
        }
        Ok(shown)
    }
}
