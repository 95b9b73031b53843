//! The records of a publication: how far it is, what was made for it, and the private key.

use selfsame_anoncreds::format::{IssuerId, Schema, SchemaId};
use selfsame_anoncreds::issuer::{NewDefinition, create_schema};
use selfsame_core::dids::Author;
use selfsame_crypto::encoding::base58_encode;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, Reason, Result};
use selfsame_registry::anoncreds::ObjectName;
use selfsame_store::Tag;
use serde::{Deserialize, Serialize};

use crate::endorsing::Endorser;
use crate::error::refused;

/// The kind of the records of publications.
pub(crate) const PUBLICATION: &str = "anoncreds_publication";
/// The kind of the records of definitions: what is public of them. Each has the id of its publication.
pub(crate) const DEFINITION: &str = "anoncreds_definition";
/// The kind of the records of their private keys. The value is the key's JSON.
pub(crate) const PRIVATE_KEY: &str = "anoncreds_private_key";
/// The tag of a definition if the controller chose no other.
pub(crate) const DEFAULT_TAG: &str = "default";

/// The publication of a schema, of a credential definition, or of both.
#[derive(Clone, Deserialize, Serialize)]
pub struct Publication {
    /// The id of the credential type, if it is for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_id: Option<String>,
    /// The version of that type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// Who signs the transaction.
    pub author: Author,
    /// The schema.
    pub schema: Schema,
    /// The identifier of the schema.
    pub schema_id: String,
    /// Whether the schema is published too; it was published before otherwise.
    #[serde(default = "yes")]
    pub with_schema: bool,
    /// The identifier of the credential definition, if one is published.
    #[serde(default)]
    pub definition_id: Option<String>,
    /// What tells the definition from others of its schema. Records of before tags were stored have none.
    #[serde(default)]
    pub tag: Option<String>,
    /// Whether credentials can be revoked.
    #[serde(default)]
    pub revocable: bool,
    /// How many places a revocation registry of the definition has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registry_size: Option<u32>,
    /// The definition that this one succeeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successor_of: Option<Predecessor>,
    /// Who endorses the transaction, if its author may not write alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endorser: Option<Endorser>,
    /// The transaction that the endorser is asked to sign, base64url.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authored: Option<String>,
    /// How far it is.
    pub state: PublicationState,
}

/// A definition that another one succeeds.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Predecessor {
    /// Its identifier.
    pub definition: String,
    /// The time from which its key is refused.
    pub until: UnixTime,
}

/// How far a publication is.
#[derive(Clone, Deserialize, Serialize)]
pub enum PublicationState {
    /// The keys are made.
    Preparing,
    /// The keys are stored, and the transaction waits for its endorser.
    Endorsing,
    /// The keys are stored, and the registry is called.
    Sending,
    /// The registry has accepted it.
    Published(AcceptedPublication),
    /// It has ended without being published.
    Failed(FailedPublication),
}

/// What the registry has accepted.
#[derive(Clone, Deserialize, Serialize)]
pub struct AcceptedPublication {
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
pub(crate) struct DefinitionRecord {
    /// The definition's JSON, as it is published.
    pub definition: String,
    /// The JSON of the proof of the key's correctness. Offers have a part of it.
    pub correctness: String,
}

/// A schema that is to be published.
#[derive(Clone, Copy, Debug)]
pub struct NewSchema<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its version.
    pub version: &'a str,
    /// Its attributes.
    pub attributes: &'a [String],
}

/// A credential definition that is to be published.
#[derive(Clone, Copy, Debug)]
pub struct NewCredentialDefinition<'a> {
    /// The identifier of its schema, which the registry has.
    pub schema_id: &'a str,
    /// What tells it from others of this schema.
    pub tag: &'a str,
    /// How many places each of its revocation registries has; without it, credentials can't be revoked.
    pub registry_size: Option<u32>,
}

/// Which credential definition, or which schema; what is missing may be anything.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DefinitionFilter {
    /// The identifier of the definition.
    pub cred_def_id: Option<String>,
    /// Its issuer.
    pub issuer: Option<String>,
    /// The identifier of its schema.
    pub schema_id: Option<String>,
    /// Who published the schema.
    pub schema_issuer: Option<String>,
    /// The schema's name.
    pub schema_name: Option<String>,
    /// The schema's version.
    pub schema_version: Option<String>,
}

impl DefinitionFilter {
    /// The tag that leads to the fewest publications.
    pub(crate) fn tag(&self, what: &str) -> Tag {
        match (&self.cred_def_id, &self.schema_id) {
            (Some(id), _) => Tag::hashed("cred_def_id", id),
            (None, Some(id)) => Tag::hashed("schema_id", id),
            (None, None) => Tag::hashed("publishes", what),
        }
    }

    /// Whether a publication is of what is asked for.
    pub(crate) fn fits(&self, one: &Publication) -> bool {
        let is = |asked: &Option<String>, known: &str| {
            asked.as_deref().is_none_or(|asked| asked == known)
        };
        is(
            &self.cred_def_id,
            one.definition_id.as_deref().unwrap_or_default(),
        ) && is(&self.issuer, one.author.did.as_str())
            && is(&self.schema_id, &one.schema_id)
            && is(&self.schema_issuer, one.schema.issuer_id.as_str())
            && is(&self.schema_name, &one.schema.name)
            && is(&self.schema_version, &one.schema.version)
    }
}

impl Publication {
    /// The publication of a schema by this author.
    ///
    /// # Errors
    /// `BadRequest` for what AnonCreds or the registry can't name.
    pub fn of_schema(author: Author, new: &NewSchema<'_>) -> Result<Self> {
        let issuer = IssuerId::new(author.did.to_string()).map_err(refused)?;
        let names: Vec<&str> = new.attributes.iter().map(String::as_str).collect();
        let schema = create_schema(new.name, new.version, &issuer, &names).map_err(refused)?;
        let schema_id = ObjectName::schema(&author.did, &schema.name, &schema.version);
        Ok(Self {
            type_id: None,
            version: None,
            schema_id: schema_id.ok_or_else(unnamed)?.to_string(),
            author,
            schema,
            with_schema: true,
            definition_id: None,
            tag: Some(DEFAULT_TAG.to_owned()),
            revocable: false,
            registry_size: None,
            successor_of: None,
            endorser: None,
            authored: None,
            state: PublicationState::Preparing,
        })
    }

    /// The publication of a definition for a schema by this author.
    ///
    /// # Errors
    /// `BadRequest` for what the registry can't name.
    pub fn of_definition(
        author: Author,
        schema: Schema,
        new: &NewCredentialDefinition<'_>,
    ) -> Result<Self> {
        let id = ObjectName::definition(&author.did, new.schema_id, new.tag);
        Ok(Self {
            type_id: None,
            version: None,
            author,
            schema,
            schema_id: new.schema_id.to_owned(),
            with_schema: false,
            definition_id: Some(id.ok_or_else(unnamed)?.to_string()),
            tag: Some(new.tag.to_owned()),
            revocable: new.registry_size.is_some(),
            registry_size: new.registry_size,
            successor_of: None,
            endorser: None,
            authored: None,
            state: PublicationState::Preparing,
        })
    }

    /// The same with a definition for the schema that it publishes.
    ///
    /// # Errors
    /// `BadRequest` for what the registry can't name.
    pub fn and_definition(self, revocable: bool) -> Result<Self> {
        let id = ObjectName::definition(&self.author.did, &self.schema_id, DEFAULT_TAG);
        Ok(Self {
            definition_id: Some(id.ok_or_else(unnamed)?.to_string()),
            revocable,
            ..self
        })
    }

    /// The publication of a definition that succeeds this one, whose key is refused from a time on.
    ///
    /// # Errors
    /// `BadRequest` for what the registry can't name.
    pub(crate) fn successor(&self, author: Author, until: UnixTime) -> Result<Self> {
        let tag = next_tag(self.tag.as_deref().unwrap_or(DEFAULT_TAG));
        let new = NewCredentialDefinition {
            schema_id: &self.schema_id,
            tag: &tag,
            registry_size: self.registry_size,
        };
        let definition = self.definition_id.clone().unwrap_or_default();
        let next = Self::of_definition(author, self.schema.clone(), &new)?;
        Ok(Self {
            revocable: self.revocable,
            successor_of: Some(Predecessor { definition, until }),
            ..next
        })
    }

    /// The same through an endorser.
    #[must_use]
    pub(crate) fn endorsed_by(self, endorser: Endorser) -> Self {
        Self {
            endorser: Some(endorser),
            ..self
        }
    }

    /// The same for a version of a credential type.
    #[must_use]
    pub fn for_type(self, type_id: &str, version: u32) -> Self {
        Self {
            type_id: Some(type_id.to_owned()),
            version: Some(version),
            ..self
        }
    }

    /// The id of its records.
    #[must_use]
    pub fn id(&self) -> String {
        match (&self.type_id, self.version, &self.definition_id) {
            (Some(type_id), Some(version), _) => Self::id_of_type(type_id, version),
            (_, _, Some(definition)) => Self::id_of_object(definition),
            _ => Self::id_of_object(&self.schema_id),
        }
    }

    /// The id of the records for a version of a credential type.
    #[must_use]
    pub fn id_of_type(type_id: &str, version: u32) -> String {
        format!("{type_id}.{version}")
    }

    /// The id of the records for a schema or a definition that belongs to no type. The ids of types have no colon.
    pub(crate) fn id_of_object(object: &str) -> String {
        let digest = sha256(object.as_bytes());
        format!(":{}", base58_encode(digest.get(..16).unwrap_or_default()))
    }

    /// The tags by which it is found.
    pub(crate) fn tags(&self) -> Vec<Tag> {
        let mut tags = vec![Tag::hashed("schema_id", &self.schema_id)];
        if self.with_schema {
            tags.push(Tag::hashed("publishes", "schema"));
        }
        if let Some(id) = &self.definition_id {
            tags.push(Tag::hashed("publishes", "definition"));
            tags.push(Tag::hashed("cred_def_id", id));
        }
        if let Some(before) = &self.successor_of {
            tags.push(successor_tag(&before.definition));
        }
        tags
    }

    /// Whether the registry has it.
    pub(crate) fn is_published(&self) -> bool {
        matches!(self.state, PublicationState::Published(_))
    }

    /// Calls `make` with the definition that is to be made.
    pub(crate) fn defined<T>(
        &self,
        make: impl FnOnce(&NewDefinition<'_>) -> std::result::Result<T, selfsame_anoncreds::Error>,
    ) -> Result<T> {
        let schema_id = SchemaId::new(self.schema_id.clone()).map_err(refused)?;
        let issuer_id = IssuerId::new(self.author.did.to_string()).map_err(refused)?;
        let new = NewDefinition {
            schema_id: &schema_id,
            schema: &self.schema,
            issuer_id: &issuer_id,
            tag: self.tag.as_deref().unwrap_or(DEFAULT_TAG),
            revocable: self.revocable,
        };
        make(&new).map_err(refused)
    }
}

/// The tag of the publication whose definition succeeds another.
pub(crate) fn successor_tag(cred_def_id: &str) -> Tag {
    Tag::hashed("succeeds", cred_def_id)
}

/// The tag of the definition after the one with this tag: `default`, `default.2`, `default.3`.
fn next_tag(tag: &str) -> String {
    let numbered = tag.rsplit_once('.');
    let numbered = numbered.and_then(|(name, number)| Some((name, number.parse::<u32>().ok()?)));
    match numbered {
        Some((name, number)) => format!("{name}.{}", number.saturating_add(1)),
        None => format!("{tag}.2"),
    }
}

fn yes() -> bool {
    true
}

fn unnamed() -> Error {
    Error::bad_request("anoncreds-unnamed")
}
