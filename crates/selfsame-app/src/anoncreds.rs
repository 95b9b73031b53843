//! Types in the format AnonCreds: the publication of their schemas and credential definitions to the registry.

use selfsame_anoncreds_wallet::{AnonCreds, NewSchema, Publication, PublicationState};
use selfsame_core::dids::Author;
use selfsame_driver::Result;
use selfsame_driver::paging::{Listing, Paging};
use selfsame_openid::issuer::Issuer;
use selfsame_store::Batch;
use selfsame_types::model::{AnonCredsObjects, NewVersion, PublishingState, TypeState};
use selfsame_types::{TypeSummary, project};
use serde_json::{Value, json};

/// The publications of the types of issuers.
pub(crate) struct TypePublications(pub AnonCreds);

impl TypePublications {
    /// The publications of an issuer for its export, newest first. Private keys are not in it.
    pub(crate) async fn exported(
        &self,
        issuer: &Issuer,
        paging: &Paging,
    ) -> Result<Listing<Value>> {
        let tenant = issuer.identity().tenant();
        let publications = self.0.publications(tenant, paging).await?;
        let mut items = Vec::new();
        for one in &publications.items {
            items.push(json!({
                "type": one.type_id,
                "version": one.version,
                "objects": objects(one),
                "schema": one.schema,
                "definition": self.0.definition_made(tenant, &one.id()).await?,
            }));
        }
        let next = publications.next;
        Ok(Listing { items, next })
    }

    /// The writes that begin the publication of a version; none without the format AnonCreds.
    ///
    /// # Errors
    /// `BadRequest` if the issuer can't publish to a registry.
    pub(crate) fn begun(&self, issuer: &Issuer, new: &NewVersion<'_>) -> Result<Batch> {
        let identity = issuer.identity();
        if !new.definition.formats.anoncreds {
            return Ok(Batch::new(identity.tenant().clone()));
        }
        let author = Author::of(identity);
        self.0.can_publish(&author)?;
        self.0.publication_begun(&publication(author, new)?)
    }

    /// Tries the publication of the newest version again, if it had failed. Returns whether that version has one that is
    /// not finished.
    pub(crate) async fn try_again(&self, issuer: &Issuer, shown: &TypeSummary) -> Result<bool> {
        let is_published = shown.state == TypeState::Published;
        let Some(version) = shown.version.filter(|_| is_published) else {
            return Ok(false);
        };
        let author = Author::of(issuer.identity());
        let id = Publication::id_of_type(&shown.id, version);
        self.0.publication_again(&author, &id).await
    }

    /// What a version has in the registry; nothing without the format AnonCreds.
    pub(crate) async fn objects(
        &self,
        issuer: &Issuer,
        type_id: &str,
        version: u32,
    ) -> Result<Option<AnonCredsObjects>> {
        let id = Publication::id_of_type(type_id, version);
        let found = self.0.publication_shown(issuer.identity().tenant(), &id);
        Ok(found.await?.as_ref().map(objects))
    }
}

/// The publication of the schema and the credential definition of a version of a type.
fn publication(author: Author, new: &NewVersion<'_>) -> Result<Publication> {
    let NewVersion {
        definition,
        version,
    } = new;
    let schema = NewSchema {
        name: &definition.id,
        version: &version.to_string(),
        attributes: &project::attributes(definition),
    };
    let schema = Publication::of_schema(author, &schema)?;
    let both = schema.and_definition(definition.revocable)?;
    Ok(both.for_type(&definition.id, *version))
}

/// What the operator sees of a publication.
fn objects(one: &Publication) -> AnonCredsObjects {
    let (state, seq_no, reason) = match &one.state {
        PublicationState::Preparing | PublicationState::Endorsing | PublicationState::Sending => {
            (PublishingState::Publishing, None, None)
        }
        PublicationState::Published(accepted) => {
            (PublishingState::Published, Some(accepted.seq_no), None)
        }
        PublicationState::Failed(failed) => {
            (PublishingState::Failed, None, Some(failed.reason.clone()))
        }
    };
    AnonCredsObjects {
        state,
        schema_id: one.schema_id.clone(),
        cred_def_id: one.definition_id.clone().unwrap_or_default(),
        seq_no,
        reason,
    }
}
