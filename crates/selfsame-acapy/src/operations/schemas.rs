//! Schemas and credential definitions: published by the agent, and read of anybody.

use selfsame_anoncreds_wallet::{
    CredentialDefinitionView, DefinitionFilter, NewCredentialDefinition, NewSchema, SchemaView,
};
use selfsame_core::dids::Author;
use selfsame_driver::Reason;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::{OperationResult, cannot, told};
use crate::call::OperationCall;
use crate::operations::transactions::{
    AnonCredsObject, EndorserOptions, EndorserQuery, requested, requested_anoncreds,
};

/// The tag of a definition if the caller names none.
const DEFAULT_TAG: &str = "default";
/// The places of a revocation registry if the caller does not say.
const REGISTRY_SIZE: u32 = 1000;

#[derive(Deserialize)]
struct SchemaBody {
    schema_name: String,
    schema_version: String,
    attributes: Vec<String>,
}

/// Publishes a schema.
pub async fn create(call: OperationCall) -> OperationResult {
    let (asked, body): (EndorserQuery, SchemaBody) = (call.query()?, call.body()?);
    let author = call.app().agent_author(call.tenant()?).await?;
    let new = NewSchema {
        name: &body.schema_name,
        version: &body.schema_version,
        attributes: &body.attributes,
    };
    let anoncreds = call.agents().anoncreds();
    if let Some(endorser) = asked.endorser(&call, &author).await? {
        let made = anoncreds.request_schema(&author, endorser, &new).await?;
        let sent = json!({ "schema_id": made.object, "schema": unwritten(&made.object, &new) });
        return requested(&call, sent, made).await;
    }
    let schema = anoncreds.create_schema(&author, &new).await?;
    let sent = json!({ "schema_id": schema.id, "schema": legacy_schema(&schema) });
    told(&json!({ "sent": sent, "schema_id": schema.id, "schema": legacy_schema(&schema) }))
}

/// A schema that the registry does not have yet.
fn unwritten(id: &str, new: &NewSchema<'_>) -> Value {
    json!({
        "ver": "1.0",
        "id": id,
        "name": new.name,
        "version": new.version,
        "attrNames": new.attributes,
    })
}

/// A schema as Indy's ledger has it.
fn legacy_schema(schema: &SchemaView) -> Value {
    json!({
        "ver": "1.0",
        "id": schema.id,
        "name": schema.name,
        "version": schema.version,
        "attrNames": schema.attributes,
        "seqNo": schema.seq_no,
    })
}

/// Which schemas or credential definitions are listed.
#[derive(Deserialize)]
pub struct CreatedQuery {
    cred_def_id: Option<String>,
    issuer_did: Option<String>,
    issuer_id: Option<String>,
    schema_id: Option<String>,
    schema_issuer_did: Option<String>,
    schema_issuer_id: Option<String>,
    schema_name: Option<String>,
    schema_version: Option<String>,
}

impl CreatedQuery {
    /// The filter.
    pub fn filter(self) -> DefinitionFilter {
        DefinitionFilter {
            cred_def_id: self.cred_def_id,
            issuer: self.issuer_did.or(self.issuer_id),
            schema_id: self.schema_id,
            schema_issuer: self.schema_issuer_did.or(self.schema_issuer_id),
            schema_name: self.schema_name,
            schema_version: self.schema_version,
        }
    }
}

/// The schemas that the agent has published.
pub async fn created(call: OperationCall) -> OperationResult {
    let of: CreatedQuery = call.query()?;
    let anoncreds = call.agents().anoncreds();
    let ids = anoncreds
        .created_schemas(call.tenant()?, &of.filter())
        .await?;
    told(&json!({ "schema_ids": ids }))
}

/// A schema of anybody.
pub async fn show(call: OperationCall) -> OperationResult {
    let id = call.at("schema_id")?;
    let schema = call.agents().anoncreds().schema(id).await?;
    told(&json!({ "schema": legacy_schema(&schema) }))
}

#[derive(Deserialize)]
struct DefinitionBody {
    schema_id: String,
    tag: Option<String>,
    #[serde(default)]
    support_revocation: bool,
    revocation_registry_size: Option<u32>,
}

/// Publishes a credential definition.
pub async fn create_definition(call: OperationCall) -> OperationResult {
    let (asked, body): (EndorserQuery, DefinitionBody) = (call.query()?, call.body()?);
    let author = call.app().agent_author(call.tenant()?).await?;
    let size = body.revocation_registry_size.unwrap_or(REGISTRY_SIZE);
    let new = NewCredentialDefinition {
        schema_id: &body.schema_id,
        tag: body.tag.as_deref().unwrap_or(DEFAULT_TAG),
        registry_size: body.support_revocation.then_some(size),
    };
    let anoncreds = call.agents().anoncreds();
    if let Some(endorser) = asked.endorser(&call, &author).await? {
        let made = anoncreds
            .request_definition(&author, endorser, &new)
            .await?;
        let sent = json!({ "credential_definition_id": made.object });
        return requested(&call, sent, made).await;
    }
    let made = anoncreds.create_definition(&author, &new).await?;
    let sent = json!({ "credential_definition_id": made.id });
    told(&json!({ "sent": sent, "credential_definition_id": made.id }))
}

/// The credential definitions that the agent has published.
pub async fn created_definitions(call: OperationCall) -> OperationResult {
    let of: CreatedQuery = call.query()?;
    let anoncreds = call.agents().anoncreds();
    let ids = anoncreds
        .created_definitions(call.tenant()?, &of.filter())
        .await?;
    told(&json!({ "credential_definition_ids": ids }))
}

/// A credential definition of anybody.
pub async fn show_definition(call: OperationCall) -> OperationResult {
    let id = call.at("cred_def_id")?;
    let found = call.agents().anoncreds().credential_definition(id).await?;
    told(&json!({ "credential_definition": legacy_definition(&found) }))
}

/// A credential definition as Indy's ledger has it: it names the schema by the number of its transaction.
fn legacy_definition(definition: &CredentialDefinitionView) -> Value {
    let schema = match definition.schema_seq_no {
        Some(seq_no) => seq_no.to_string(),
        None => definition.schema_id.clone(),
    };
    json!({
        "ver": "1.0",
        "id": definition.id,
        "schemaId": schema,
        "type": "CL",
        "tag": definition.tag,
        "value": definition.value,
    })
}

#[derive(Deserialize)]
struct AnonCredsSchemaBody {
    schema: AnonCredsSchema,
    #[serde(default)]
    options: EndorserOptions,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnonCredsSchema {
    issuer_id: Option<String>,
    name: String,
    version: String,
    attr_names: Vec<String>,
}

/// Publishes a schema, in the words of AnonCreds.
pub async fn create_anoncreds(call: OperationCall) -> OperationResult {
    let AnonCredsSchemaBody { schema, options } = call.body()?;
    let author = call.app().agent_author(call.tenant()?).await?;
    is_own(schema.issuer_id.as_deref(), author.did.as_str())?;
    let new = NewSchema {
        name: &schema.name,
        version: &schema.version,
        attributes: &schema.attr_names,
    };
    let anoncreds = call.agents().anoncreds();
    if let Some(endorser) = options.endorser(&call, &author).await? {
        let made = anoncreds.request_schema(&author, endorser, &new).await?;
        let object = unwritten_anoncreds(&made.object, &author, &new);
        return requested_anoncreds(&call, object, made).await;
    }
    let made = anoncreds.create_schema(&author, &new).await?;
    told(&json!({
        "schema_state": { "state": "finished", "schema_id": made.id, "schema": schema_of(&made) },
        "schema_metadata": {},
        "registration_metadata": { "txn": { "seqNo": made.seq_no } },
    }))
}

/// A schema that the registry may not have yet.
fn unwritten_anoncreds(id: &str, author: &Author, new: &NewSchema<'_>) -> AnonCredsObject {
    let schema = json!({
        "issuerId": author.did,
        "name": new.name,
        "version": new.version,
        "attrNames": new.attributes,
    });
    AnonCredsObject {
        kind: "schema",
        members: json!({ "schema_id": id, "schema": schema }),
    }
}

fn schema_of(schema: &SchemaView) -> Value {
    json!({
        "issuerId": schema.issuer_id,
        "name": schema.name,
        "version": schema.version,
        "attrNames": schema.attributes,
    })
}

/// What is published in the name of another can't be signed here.
pub fn is_own(named: Option<&str>, own: &str) -> OperationResult<()> {
    match named {
        Some(named) if named != own && !own.ends_with(&format!(":{named}")) => Err(cannot(
            Reason::new("agent-issuer-foreign").with("did", &own),
        )),
        _ => Ok(()),
    }
}

/// A schema of anybody, in the words of AnonCreds.
pub async fn show_anoncreds(call: OperationCall) -> OperationResult {
    let id = call.at("schema_id")?;
    let schema = call.agents().anoncreds().schema(id).await?;
    told(&json!({
        "schema_id": schema.id,
        "schema": schema_of(&schema),
        "resolution_metadata": {},
        "schema_metadata": { "seqNo": schema.seq_no },
    }))
}

#[derive(Deserialize)]
struct AnonCredsDefinitionBody {
    credential_definition: AnonCredsDefinition,
    #[serde(default)]
    options: DefinitionOptions,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnonCredsDefinition {
    issuer_id: Option<String>,
    schema_id: String,
    tag: Option<String>,
}

#[derive(Default, Deserialize)]
struct DefinitionOptions {
    #[serde(default)]
    support_revocation: bool,
    revocation_registry_size: Option<u32>,
    #[serde(flatten)]
    endorser: EndorserOptions,
}

/// Publishes a credential definition, in the words of AnonCreds.
pub async fn create_anoncreds_definition(call: OperationCall) -> OperationResult {
    let AnonCredsDefinitionBody {
        credential_definition: asked,
        options,
    } = call.body()?;
    let author = call.app().agent_author(call.tenant()?).await?;
    is_own(asked.issuer_id.as_deref(), author.did.as_str())?;
    let size = options.revocation_registry_size.unwrap_or(REGISTRY_SIZE);
    let new = NewCredentialDefinition {
        schema_id: &asked.schema_id,
        tag: asked.tag.as_deref().unwrap_or(DEFAULT_TAG),
        registry_size: options.support_revocation.then_some(size),
    };
    let anoncreds = call.agents().anoncreds();
    if let Some(endorser) = options.endorser.endorser(&call, &author).await? {
        let made = anoncreds
            .request_definition(&author, endorser, &new)
            .await?;
        let object = unwritten_definition(&made.object);
        return requested_anoncreds(&call, object, made).await;
    }
    let made = anoncreds.create_definition(&author, &new).await?;
    told(&finished(&made))
}

/// A credential definition that the registry may not have yet.
fn unwritten_definition(id: &str) -> AnonCredsObject {
    AnonCredsObject {
        kind: "credential_definition",
        members: json!({ "credential_definition_id": id }),
    }
}

fn finished(made: &CredentialDefinitionView) -> Value {
    json!({
        "credential_definition_state": {
            "state": "finished",
            "credential_definition_id": made.id,
            "credential_definition": definition_of(made),
        },
        "credential_definition_metadata": {},
        "registration_metadata": { "txn": { "seqNo": made.seq_no } },
    })
}

fn definition_of(definition: &CredentialDefinitionView) -> Value {
    json!({
        "issuerId": definition.issuer_id,
        "schemaId": definition.schema_id,
        "type": "CL",
        "tag": definition.tag,
        "value": definition.value,
    })
}

/// A credential definition of anybody, in the words of AnonCreds.
pub async fn show_anoncreds_definition(call: OperationCall) -> OperationResult {
    let id = call.at("cred_def_id")?;
    let found = call.agents().anoncreds().credential_definition(id).await?;
    told(&json!({
        "credential_definition_id": found.id,
        "credential_definition": definition_of(&found),
        "resolution_metadata": {},
        "credential_definition_metadata": { "seqNo": found.seq_no },
    }))
}
