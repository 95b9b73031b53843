//! Schemas and credential definitions of all issuers, as the registry has them.

use selfsame_anoncreds::format::Message as _;
use selfsame_driver::record::decode;
use selfsame_driver::{Error, Result};
use selfsame_store::TenantId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::refused;
use crate::objects::KnownSchema;
use crate::publication::{DEFINITION, DefinitionRecord};
use crate::wallet::AnonCreds;

/// A schema in the registry.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct SchemaView {
    /// Its identifier.
    pub id: String,
    /// Its issuer.
    pub issuer_id: String,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its attributes.
    pub attributes: Vec<String>,
    /// The number of the transaction that published it.
    pub seq_no: u64,
}

/// A credential definition in the registry.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct CredentialDefinitionView {
    /// Its identifier.
    pub id: String,
    /// Its issuer.
    pub issuer_id: String,
    /// The identifier of its schema.
    pub schema_id: String,
    /// What tells it from others of its schema.
    pub tag: String,
    /// The public keys, as AnonCreds has them.
    pub value: Value,
    /// The number of the transaction that published it.
    pub seq_no: u64,
    /// The number of the transaction that published the schema, if the registry has it.
    pub schema_seq_no: Option<u64>,
    /// When its key expires, in seconds since 1970.
    pub valid_until: Option<u64>,
    /// The definition that succeeds it.
    pub succeeded_by: Option<String>,
}

/// Who published a credential definition, and of which schema.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DefinitionOrigin {
    /// Its issuer.
    pub issuer_id: String,
    /// The identifier of its schema.
    pub schema_id: String,
}

impl SchemaView {
    pub(crate) fn of(id: &str, known: &KnownSchema) -> Self {
        let schema = &known.schema;
        Self {
            id: id.to_owned(),
            issuer_id: schema.issuer_id.to_string(),
            name: schema.name.clone(),
            version: schema.version.clone(),
            attributes: schema.attr_names.clone(),
            seq_no: known.seq_no,
        }
    }
}

impl AnonCreds {
    /// A schema of any issuer.
    ///
    /// # Errors
    /// `NotFound` if the registry does not have it; the registry's.
    pub async fn schema(&self, id: &str) -> Result<SchemaView> {
        let found = self.objects.schema(id).await?;
        let found = found.ok_or_else(|| Error::not_found("anoncreds-object-absent").with("id", id));
        Ok(SchemaView::of(id, &found?))
    }

    /// A credential definition of any issuer.
    ///
    /// # Errors
    /// `NotFound` if the registry does not have it; the registry's.
    pub async fn credential_definition(&self, id: &str) -> Result<CredentialDefinitionView> {
        let found = self.objects.definition(id).await?;
        let found = found.ok_or_else(|| Error::not_found("anoncreds-object-absent").with("id", id));
        let found = found?;
        let definition = &found.definition;
        let schema = self.objects.schema(definition.schema_id.as_str()).await?;
        let json = definition.to_json().map_err(refused)?;
        let mut json: Value = serde_json::from_str(&json).map_err(Error::internal)?;
        Ok(CredentialDefinitionView {
            id: id.to_owned(),
            issuer_id: definition.issuer_id.to_string(),
            schema_id: definition.schema_id.to_string(),
            tag: definition.tag.clone(),
            value: json["value"].take(),
            seq_no: found.seq_no,
            schema_seq_no: schema.map(|schema| schema.seq_no),
            valid_until: found.valid_until.map(|until| until.0),
            succeeded_by: found.succeeded_by.map(|next| next.definition),
        })
    }

    /// The origin of a credential definition of any issuer.
    ///
    /// # Errors
    /// `BadRequest` if the registry does not have it; the registry's.
    pub async fn definition_origin(&self, id: &str) -> Result<DefinitionOrigin> {
        let known = self.known_definition(id).await?;
        Ok(DefinitionOrigin {
            issuer_id: known.definition.issuer_id.to_string(),
            schema_id: known.definition.schema_id.to_string(),
        })
    }

    /// The JSON of the definition of a publication of the tenant, by the id of its records.
    ///
    /// # Errors
    /// The store's.
    pub async fn definition_made(&self, tenant: &TenantId, id: &str) -> Result<Option<Value>> {
        let made = self.shared.store.read(tenant, DEFINITION, id).await?;
        let Some(made) = made else { return Ok(None) };
        let made: DefinitionRecord = decode(&made.value)?;
        let json = serde_json::from_str(&made.definition);
        json.map(Some).map_err(Error::internal)
    }
}
