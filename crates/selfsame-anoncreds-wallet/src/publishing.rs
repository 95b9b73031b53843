//! The publication of schemas and credential definitions, and what the registry has of them.

mod endorsed;
mod listed;
mod read;

use std::time::Duration;

use selfsame_core::dids::Author;
use selfsame_core::machine::Call;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::encode;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Expect, OutboxId, StoreError, TenantId};

use crate::endorsing::Endorser;
use crate::error::unknown;
use crate::publication::{
    AcceptedPublication, FailedPublication, NewCredentialDefinition, NewSchema, PUBLICATION,
    Publication, PublicationState,
};
use crate::wallet::AnonCreds;
pub use endorsed::{EndorsedWrite, RequestedPublication};
pub use read::{CredentialDefinitionView, DefinitionOrigin, SchemaView};

/// How long a request waits for a publication, and the pause between two looks.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(50);
/// The sizes that ACA-Py's admin API accepts for a revocation registry.
const REGISTRY_SIZES: std::ops::RangeInclusive<u32> = 4..=32_768;

impl AnonCreds {
    /// Publishes a schema, and waits until the registry has it. The same again gives the same schema.
    ///
    /// # Errors
    /// `BadRequest` for what AnonCreds or the registry refuses, `Conflict` if there is another schema of this name and
    /// version, `Unavailable` if the registry has not answered yet: it is called until it does.
    pub async fn create_schema(&self, author: &Author, new: &NewSchema<'_>) -> Result<SchemaView> {
        self.can_publish(author)?;
        let publication = Publication::of_schema(author.clone(), new)?;
        let (id, wanted) = (publication.schema_id.clone(), publication.schema.clone());
        if self.objects.schema(&id).await?.is_none() {
            self.published(publication).await?;
        }
        let found = self.objects.schema(&id).await?;
        let found = found.ok_or_else(|| unknown("the schema", &id))?;
        match *found.schema == wanted {
            true => Ok(SchemaView::of(&id, &found)),
            false => Err(exists(&id)),
        }
    }

    /// Publishes a credential definition, and waits until the registry has it. The same again gives the same definition.
    ///
    /// # Errors
    /// `BadRequest` if the registry has no such schema, and for what AnonCreds or the registry refuses; `Conflict` if
    /// there is another definition with this tag; `Unavailable` if the registry has not answered yet.
    pub async fn create_definition(
        &self,
        author: &Author,
        new: &NewCredentialDefinition<'_>,
    ) -> Result<CredentialDefinitionView> {
        let publication = self.new_definition(author, new).await?;
        let id = publication.definition_id.clone().unwrap_or_default();
        self.published(publication.clone()).await?;
        if publication.revocable {
            self.keep_registries(&author.tenant, &publication).await?;
        }
        self.credential_definition(&id).await
    }

    /// The publication of a definition, if it can be published.
    async fn new_definition(
        &self,
        author: &Author,
        new: &NewCredentialDefinition<'_>,
    ) -> Result<Publication> {
        self.can_publish(author)?;
        new.registry_size.map(is_size).transpose()?;
        let schema_id = &*self.qualified(new.schema_id).await?;
        let schema = self.objects.schema(schema_id).await?;
        let schema = schema.ok_or_else(|| unknown("the schema", schema_id))?;
        let new = &NewCredentialDefinition { schema_id, ..*new };
        let schema = schema.schema.as_ref().clone();
        let publication = Publication::of_definition(author.clone(), schema, new)?;
        let id = publication.definition_id.clone().unwrap_or_default();
        let own = self.publication_of(&author.tenant, &id).await?;
        if own.is_none() && self.objects.definition(&id).await?.is_some() {
            // Published before, with a key that is not here.
            return Err(exists(&id));
        }
        match own.is_some_and(|own| own.revocable != publication.revocable) {
            true => Err(exists(&id)),
            false => Ok(publication),
        }
    }

    /// Gives a definition of the author a successor with a new key, and waits until the registry has it. From `until` on
    /// the old key is refused: a time to come where it is replaced in order, now where it is in other hands. Offers are
    /// then for the successor, also where they name the old definition. The same again gives the same successor.
    ///
    /// # Errors
    /// `NotFound` if the author has no such definition; as [`Self::create_definition`].
    pub async fn rotate_definition(
        &self,
        author: &Author,
        cred_def_id: &str,
        until: UnixTime,
    ) -> Result<CredentialDefinitionView> {
        self.can_publish(author)?;
        let cred_def_id = &*self.qualified(cred_def_id).await?;
        let own = self.publication_of(&author.tenant, cred_def_id).await?;
        let own = own.filter(Publication::is_published);
        let absent = || Error::not_found("anoncreds-object-absent").with("id", cred_def_id);
        let own = own.ok_or_else(absent)?;
        let next = match self.successor_of(&author.tenant, cred_def_id).await? {
            Some(next) => next,
            None => own.successor(author.clone(), until)?,
        };
        let id = next.definition_id.clone().unwrap_or_default();
        self.published(next.clone()).await?;
        self.objects.forget_end(cred_def_id);
        if next.revocable {
            self.keep_registries(&author.tenant, &next).await?;
        }
        self.credential_definition(&id).await
    }

    /// Checks that an author can publish to the registry of this instance.
    ///
    /// # Errors
    /// `BadRequest` if it can't.
    pub fn can_publish(&self, author: &Author) -> Result<()> {
        if self.shared.registry.is_none() {
            return Err(Error::bad_request("anoncreds-no-registry").with("format", FORMAT));
        }
        match author.did.origin().is_registry() {
            true => Ok(()),
            false => Err(Error::bad_request("anoncreds-did-elsewhere")
                .with("format", FORMAT)
                .with("did", &author.did)),
        }
    }

    /// The writes that begin a publication. Once they are committed, the outbox carries it out.
    ///
    /// # Errors
    /// `BadRequest` if its author can't publish.
    pub fn publication_begun(&self, publication: &Publication) -> Result<Batch> {
        self.can_publish(&publication.author)?;
        let (put, call) = self.publishing.begun(publication)?;
        Ok(Batch::new(publication.author.tenant.clone())
            .expect(PUBLICATION, &publication.id(), Expect::Absent)
            .put(put)
            .enqueue(call))
    }

    /// Tries a publication again, if it had failed: the outbox carries it out. Returns whether it is not finished.
    ///
    /// # Errors
    /// The store's.
    pub async fn publication_again(&self, author: &Author, id: &str) -> Result<bool> {
        let known = self.publication(&author.tenant, id).await?;
        match known.map(|(publication, _)| publication.state) {
            None | Some(PublicationState::Published(_)) => Ok(false),
            Some(PublicationState::Failed(_)) => {
                self.begun_again(author, id, None).await?;
                Ok(true)
            }
            Some(_) => Ok(true),
        }
    }

    /// Begins a publication again that had failed, through this endorser if there is one. Returns its call, unless another
    /// request was faster.
    async fn begun_again(
        &self,
        author: &Author,
        id: &str,
        endorser: Option<Endorser>,
    ) -> Result<Option<OutboxId>> {
        let Some((mut publication, version)) = self.publication(&author.tenant, id).await? else {
            return Ok(None);
        };
        let PublicationState::Failed(failed) = publication.state else {
            return Ok(None);
        };
        let (state, call) = match failed.unanswered {
            // The same transaction: the registry may have accepted it already.
            Some(transaction) => (PublicationState::Sending, Call::Registry(transaction)),
            None => (PublicationState::Preparing, Call::Dialogue),
        };
        publication.state = state;
        publication.author = author.clone();
        publication.endorser = endorser;
        let call = self.publishing.entry(&publication, call)?;
        let batch = Batch::new(author.tenant.clone())
            .update_version(PUBLICATION, id, version, encode(&publication)?)
            .enqueue(call);
        match self.shared.store.commit(batch).await {
            Ok(committed) => Ok(committed.outbox.last().copied()),
            Err(StoreError::Conflict { .. }) => Ok(None),
            Err(other) => Err(other.into()),
        }
    }

    /// Begins a publication unless it was begun, tries it again if it had failed, and waits for its end.
    async fn published(&self, publication: Publication) -> Result<AcceptedPublication> {
        self.carried_out(&publication).await?;
        self.ended(&publication.author.tenant, &publication.id())
            .await
    }

    /// Begins a publication unless it was begun, or again if it had failed.
    async fn carried_out(&self, publication: &Publication) -> Result<()> {
        let (author, id) = (publication.author.clone(), publication.id());
        let known = self.publication(&author.tenant, &id).await?;
        match known.map(|(known, _)| known.state) {
            None => {
                let begun = self.publication_begun(publication)?;
                match self.shared.store.commit(begun).await {
                    Ok(committed) => self.carry_on(committed.outbox.last().copied()).await,
                    // Another request was faster.
                    Err(StoreError::Conflict { .. }) => {}
                    Err(other) => return Err(other.into()),
                }
            }
            Some(PublicationState::Failed(_)) => {
                let endorser = publication.endorser.clone();
                let call = self.begun_again(&author, &id, endorser).await?;
                self.carry_on(call).await;
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// Carries out a call that was just written. An error is logged there, and the outbox goes on.
    async fn carry_on(&self, first: Option<OutboxId>) {
        drop(self.shared.go_on(&self.publishing, first).await);
    }

    async fn ended(&self, tenant: &TenantId, id: &str) -> Result<AcceptedPublication> {
        let accepted = |publication: Publication| match publication.state {
            PublicationState::Published(accepted) => Some(Ok(accepted)),
            PublicationState::Endorsing => {
                Some(Err(Error::new(ErrorKind::Conflict, "anoncreds-unendorsed")))
            }
            _ => None,
        };
        self.awaited(tenant, id, accepted).await?
    }

    /// Waits until a publication is as `wanted`, or has failed.
    async fn awaited<T>(
        &self,
        tenant: &TenantId,
        id: &str,
        wanted: impl Fn(Publication) -> Option<T>,
    ) -> Result<T> {
        let waiting = async {
            loop {
                let found = self.publication(tenant, id).await?;
                let gone = || Error::internal("a publication has gone");
                let (publication, _) = found.ok_or_else(gone)?;
                if let PublicationState::Failed(FailedPublication { reason, .. }) =
                    publication.state
                {
                    return Err(Error::bad_request("anoncreds-not-published").because(reason));
                }
                match wanted(publication) {
                    Some(reached) => return Ok(reached),
                    None => tokio::time::sleep(PAUSE).await,
                }
            }
        };
        let late = || {
            let kind = ErrorKind::Unavailable { retry_after: 5 };
            Error::new(kind, "anoncreds-publication-late")
        };
        let waited = tokio::time::timeout(PATIENCE, waiting).await;
        waited.unwrap_or_else(|_| Err(late()))
    }
}

/// The name of the format in the reasons of errors.
const FORMAT: &str = "anoncreds";

/// Whether a registry can have this number of places.
pub(crate) fn is_size(size: u32) -> Result<()> {
    match REGISTRY_SIZES.contains(&size) {
        true => Ok(()),
        false => Err(Error::bad_request("anoncreds-registry-size")
            .with("size", &size)
            .with("least", REGISTRY_SIZES.start())
            .with("most", REGISTRY_SIZES.end())),
    }
}

fn exists(id: &str) -> Error {
    Error::new(ErrorKind::Conflict, "anoncreds-object-exists").with("id", id)
}
