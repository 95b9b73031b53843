//! The records of a publication: how far it is, what was made for it, and the private key.

use selfsame_anoncreds::format::{IssuerId, Schema, SchemaId};
use selfsame_anoncreds::issuer::{NewDefinition, create_schema};
use selfsame_core::dids::Author;
use selfsame_driver::{Error, Reason, Result};
use selfsame_registry::anoncreds::ObjectName;
use selfsame_types::model::{AnonCredsObjects, NewVersion, PublishingState};
use selfsame_types::project;
use serde::{Deserialize, Serialize};

/// The kind of the records of publications, by type and version.
pub(super) const PUBLICATION: &str = "anoncreds_publication";
/// The kind of the records of definitions: what is public of them.
pub(super) const DEFINITION: &str = "anoncreds_definition";
/// The kind of the records of their private keys. The value is the key's JSON.
pub(super) const PRIVATE_KEY: &str = "anoncreds_private_key";
/// What tells a definition from others of its schema. There are no others: each version has a schema of its own.
const TAG: &str = "default";

/// The publication of the schema and the credential definition of a version of a type.
#[derive(Clone, Deserialize, Serialize)]
pub struct Publication {
    /// The id of the type.
    pub type_id: String,
    /// The version.
    pub version: u32,
    /// Who signs the transaction.
    pub author: Author,
    /// The schema.
    pub schema: Schema,
    /// The identifier of the schema.
    pub schema_id: String,
    /// The identifier of the credential definition.
    pub definition_id: String,
    /// Whether credentials can be revoked.
    pub revocable: bool,
    /// How far it is.
    pub state: PublicationState,
}

/// How far a publication is.
#[derive(Clone, Deserialize, Serialize)]
pub enum PublicationState {
    /// The keys are made.
    Preparing,
    /// The keys are stored, and the registry is called.
    Sending,
    /// The registry has accepted it.
    Published(PublishedObjects),
    /// It has ended without being published.
    Failed(FailedPublication),
}

/// What the registry has accepted.
#[derive(Clone, Deserialize, Serialize)]
pub struct PublishedObjects {
    /// The number of the transaction.
    pub seq_no: u64,
}

/// Why a publication failed.
#[derive(Clone, Deserialize, Serialize)]
pub struct FailedPublication {
    /// The reason.
    pub reason: Reason,
    /// The transaction, base64url, if the registry may have accepted it although no answer came.
    pub unanswered: Option<String>,
}

/// What is public of a definition.
#[derive(Deserialize, Serialize)]
pub(super) struct DefinitionRecord {
    /// The definition's JSON, as it is published.
    pub definition: String,
    /// The JSON of the proof of the key's correctness, which goes into every offer.
    pub correctness: String,
}

impl Publication {
    /// The publication of a version by this author.
    ///
    /// # Errors
    /// `BadRequest` for what AnonCreds or the registry can't name.
    pub fn of(new: &NewVersion<'_>, author: Author) -> Result<Self> {
        let NewVersion {
            definition,
            version,
        } = new;
        let unnamed = || Error::internal("the registry can't name this type");
        let names = project::attributes(definition);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let issuer = IssuerId::new(author.did.to_string()).map_err(refused)?;
        let schema = create_schema(&definition.id, &version.to_string(), &issuer, &names);
        let schema = schema.map_err(refused)?;
        let schema_id = ObjectName::schema(&author.did, &schema.name, &schema.version);
        let schema_id = schema_id.ok_or_else(unnamed)?.to_string();
        let definition_id = ObjectName::definition(&author.did, &schema_id, TAG);
        Ok(Self {
            type_id: definition.id.clone(),
            version: *version,
            definition_id: definition_id.ok_or_else(unnamed)?.to_string(),
            author,
            schema,
            schema_id,
            revocable: definition.revocable,
            state: PublicationState::Preparing,
        })
    }

    /// The id of its records.
    pub fn id(&self) -> String {
        record_id(&self.type_id, self.version)
    }

    /// Calls `make` with the definition that is to be made.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn defined<T>(
        &self,
        make: impl FnOnce(&NewDefinition<'_>) -> std::result::Result<T, selfsame_anoncreds::Error>,
    ) -> Result<T> {
        let schema_id = SchemaId::new(self.schema_id.clone()).map_err(refused)?;
        let new = NewDefinition {
            schema_id: &schema_id,
            schema: &self.schema,
            issuer_id: &self.schema.issuer_id,
            tag: TAG,
            revocable: self.revocable,
        };
        make(&new).map_err(refused)
    }

    /// What the operator sees of it.
    pub fn objects(&self) -> AnonCredsObjects {
        let (state, seq_no, reason) = match &self.state {
            PublicationState::Preparing | PublicationState::Sending => {
                (PublishingState::Publishing, None, None)
            }
            PublicationState::Published(PublishedObjects { seq_no }) => {
                (PublishingState::Published, Some(*seq_no), None)
            }
            PublicationState::Failed(failed) => {
                (PublishingState::Failed, None, Some(failed.reason.clone()))
            }
        };
        AnonCredsObjects {
            state,
            schema_id: self.schema_id.clone(),
            cred_def_id: self.definition_id.clone(),
            seq_no,
            reason,
        }
    }
}

/// The id of the records of a version of a type.
pub(super) fn record_id(type_id: &str, version: u32) -> String {
    format!("{type_id}.{version}")
}

/// The error for what AnonCreds refuses. It quotes no secret.
pub(super) fn refused(error: selfsame_anoncreds::Error) -> Error {
    Error::bad_request("anoncreds-refused").with("detail", &error)
}
