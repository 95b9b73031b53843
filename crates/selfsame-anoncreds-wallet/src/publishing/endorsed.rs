//! Publications through an endorser: begun until their transaction waits for it, and gone on with once it has signed.

use std::time::Duration;

use selfsame_core::dids::Author;
use selfsame_core::machine::At;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_registry::Transaction;
use selfsame_registry::transaction::AuthoredTransaction;
use selfsame_store::TenantId;

use super::exists;
use crate::endorsing::{EndorsedObject, Endorser, read};
use crate::publication::{NewCredentialDefinition, NewSchema, Publication, PublicationState};
use crate::registry::{RegistryChange, RegistryRecord, RegistryStage};
use crate::wallet::AnonCreds;

/// How long a request waits for the ledger to have a registry, and the pause between two looks.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);

/// What is published through an endorser.
#[derive(Clone, Debug)]
pub struct RequestedPublication {
    /// The identifier of the schema or the definition.
    pub object: String,
    /// The transaction that waits for the endorser; `None` if the registry has the object.
    pub waiting: Option<AuthoredTransaction>,
}

/// A transaction that its endorser has signed, with what it publishes.
#[derive(Clone, Debug)]
pub struct EndorsedWrite {
    /// What it publishes.
    pub object: EndorsedObject,
    /// The identifier of the record that waits for it.
    pub record: String,
    /// The transaction.
    pub transaction: Transaction,
}

impl AnonCreds {
    /// Begins to publish a schema through an endorser, until its transaction waits. The same again gives the same
    /// transaction.
    ///
    /// # Errors
    /// As [`Self::create_schema`].
    pub async fn request_schema(
        &self,
        author: &Author,
        endorser: Endorser,
        new: &NewSchema<'_>,
    ) -> Result<RequestedPublication> {
        self.can_publish(author)?;
        let publication = Publication::of_schema(author.clone(), new)?;
        let id = publication.schema_id.clone();
        match self.objects.schema(&id).await? {
            Some(found) if *found.schema == publication.schema => Ok(RequestedPublication {
                object: id,
                waiting: None,
            }),
            Some(_) => Err(exists(&id)),
            None => self.requested(publication.endorsed_by(endorser), id).await,
        }
    }

    /// Begins to publish a credential definition through an endorser, until its transaction waits. The same again gives
    /// the same transaction.
    ///
    /// # Errors
    /// As [`Self::create_definition`].
    pub async fn request_definition(
        &self,
        author: &Author,
        endorser: Endorser,
        new: &NewCredentialDefinition<'_>,
    ) -> Result<RequestedPublication> {
        let publication = self.new_definition(author, new).await?;
        let id = publication.definition_id.clone().unwrap_or_default();
        self.requested(publication.endorsed_by(endorser), id).await
    }

    async fn requested(
        &self,
        publication: Publication,
        object: String,
    ) -> Result<RequestedPublication> {
        self.carried_out(&publication).await?;
        let waits = |publication: Publication| match publication.state {
            PublicationState::Endorsing => Some(publication.authored),
            PublicationState::Published(_) => Some(None),
            _ => None,
        };
        let (tenant, id) = (&publication.author.tenant, publication.id());
        let waiting = self.awaited(tenant, &id, waits).await?;
        Ok(RequestedPublication {
            object,
            waiting: waiting.map(|kept| read(&kept)).transpose()?,
        })
    }

    /// Goes on with a publication whose transaction is endorsed, and waits until the registry has it. The same again
    /// changes nothing.
    ///
    /// # Errors
    /// `BadRequest` if another transaction waits, or the registry refuses this one; `Unavailable` if the registry has not
    /// answered yet.
    pub async fn write_endorsed(&self, tenant: &TenantId, write: &EndorsedWrite) -> Result<()> {
        match write.object {
            EndorsedObject::Publication => {
                let at = At {
                    tenant,
                    id: &write.record,
                };
                let input = write.transaction.clone().into();
                let driven = self.shared.drive(&*self.publishing, at, input).await?;
                self.carry_on(driven.committed.outbox.last().copied()).await;
                self.ended(tenant, &write.record).await.map(drop)
            }
            EndorsedObject::Registry => {
                let registry = self.registry_record(tenant, &write.record).await?;
                let endorsed = RegistryChange::Endorsed(Box::new(write.transaction.clone()));
                self.change(tenant, &registry, endorsed).await?;
                self.registry_written(tenant, &write.record).await
            }
        }
    }

    /// Begins the registries of a definition that the registry has, if its credentials can be revoked.
    ///
    /// # Errors
    /// The store's.
    pub async fn begin_registries(&self, tenant: &TenantId, publication: &str) -> Result<()> {
        match self.publication(tenant, publication).await? {
            Some((publication, _)) if publication.revocable && publication.is_published() => {
                self.keep_registries(tenant, &publication).await
            }
            _ => Ok(()),
        }
    }

    async fn registry_written(&self, tenant: &TenantId, id: &str) -> Result<()> {
        let written = self.registry_reached(tenant, id, RegistryRecord::is_published);
        written.await.map(drop)
    }

    /// Waits until a registry is as `wanted`, or has failed.
    ///
    /// # Errors
    /// `BadRequest` if it has failed; `Unavailable` after a while; the store's.
    pub(crate) async fn registry_reached(
        &self,
        tenant: &TenantId,
        id: &str,
        wanted: impl Fn(&RegistryRecord) -> bool,
    ) -> Result<RegistryRecord> {
        let waiting = async {
            loop {
                let registry = self.registry_record(tenant, id).await?;
                match &registry.stage {
                    RegistryStage::Failed(reason) => {
                        let reason = reason.clone();
                        return Err(Error::bad_request("anoncreds-not-published").because(reason));
                    }
                    _ if wanted(&registry) => return Ok(registry),
                    _ => tokio::time::sleep(PAUSE).await,
                }
            }
        };
        let late = || {
            let kind = ErrorKind::Unavailable { retry_after: 5 };
            Err(Error::new(kind, "anoncreds-publication-late"))
        };
        let waited = tokio::time::timeout(PATIENCE, waiting).await;
        waited.unwrap_or_else(|_| late())
    }
}
