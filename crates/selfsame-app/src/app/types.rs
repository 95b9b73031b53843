//! Types of an organisation, with what is published of them to the registry.

use std::sync::Arc;

use selfsame_driver::{Error, Result};
use selfsame_openid::issuer::Issuer;
use selfsame_types::model::{AnonCredsObjects, NewVersion, PublishingState};
use selfsame_types::project::{TypeAttribute, attribute_values};
use selfsame_types::{TypeDefinition, TypeSummary};
use serde_json::{Map, Value};

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

    /// A type as agents issue it: the newest version, once the registry has what is published of it.
    ///
    /// # Errors
    /// `NotFound` if there is no such type, `Gone` if it is retired, `BadRequest` if it is not published in the format
    /// AnonCreds.
    pub async fn agent_type(&self, issuer: &Issuer, id: &str) -> Result<AgentType> {
        let set = issuer.types().all().await?;
        let newest = set.find(id)?;
        let objects = self.publishing.objects(issuer, id, newest.version).await?;
        let published = objects.filter(|one| one.state == PublishingState::Published);
        let unpublished = || Error::bad_request("agent-type-unpublished").with("type", &id);
        Ok(AgentType {
            objects: published.ok_or_else(unpublished)?,
            version: newest.version,
            definition: newest.definition.clone(),
        })
    }
}

/// A type as agents issue it.
pub struct AgentType {
    /// What the registry has of it.
    pub objects: AnonCredsObjects,
    /// Its version.
    pub version: u32,
    /// What its file says.
    pub definition: Arc<TypeDefinition>,
}

impl AgentType {
    /// The attributes of a credential with these claims, and with `examples` the examples of the type for the others. They
    /// are checked as those of an offer over OpenID4VCI are.
    ///
    /// # Errors
    /// As [`TypeDefinition::fill`].
    pub fn attributes(
        &self,
        given: &Map<String, Value>,
        examples: bool,
    ) -> Result<Vec<TypeAttribute>> {
        let claims = self.definition.fill(given, examples)?;
        Ok(attribute_values(&self.definition, &claims))
    }
}
