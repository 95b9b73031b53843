//! What a verifier knows when it judges: published objects, and its own policy.

use std::collections::BTreeMap;

use super::answers::Plan;
use crate::definition::PreparedDefinition;
use crate::format::{
    CredentialDefinitionId, Encoding, Overrides, RevocationRegistryDefinition,
    RevocationRegistryId, RevocationStatusList, Schema, SchemaId,
};
use crate::verdict::Refusal;

/// The published objects a presentation refers to.
#[derive(Clone, Debug, Default)]
pub struct Evidence<'a> {
    /// Schemas.
    pub schemas: BTreeMap<SchemaId, &'a Schema>,
    /// The numbers that schemas have on a ledger of the days of Indy, by which definitions of that time name them.
    pub schema_numbers: BTreeMap<SchemaId, u64>,
    /// Credential definitions, prepared once.
    pub definitions: BTreeMap<CredentialDefinitionId, &'a PreparedDefinition>,
    /// Revocation registries.
    pub registries: BTreeMap<RevocationRegistryId, &'a RevocationRegistryDefinition>,
    /// Status lists, each with its registry, its timestamp and its accumulator.
    pub lists: Vec<&'a RevocationStatusList>,
}

/// What a verifier decides for itself.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Lists that are accepted though they are older than the interval.
    pub overrides: Overrides,
    /// What is asked of raw values.
    pub encoding: Encoding,
}

/// A credential of the presentation, with what is known of it.
#[derive(Debug)]
pub(super) struct Known<'a> {
    pub plan: &'a Plan<'a>,
    pub schema: &'a Schema,
    /// Whether the definition is known to be for this schema.
    pub schema_is_certain: bool,
    pub definition: &'a PreparedDefinition,
    pub registry: Option<&'a RevocationRegistryDefinition>,
}

type Gathered<'a> = Vec<Known<'a>>;

/// Finds what is known of each credential, and refuses what does not belong together.
pub(super) fn gather<'a>(
    plans: &'a [Plan<'a>],
    evidence: &Evidence<'a>,
) -> Result<(Gathered<'a>, String), Refusal> {
    let known: Vec<_> = plans
        .iter()
        .map(|plan| known(plan, evidence))
        .collect::<Result<_, _>>()?;
    let detail = format!("{} credentials, all of known definitions", known.len());
    Ok((known, detail))
}

fn known<'a>(plan: &'a Plan<'a>, evidence: &Evidence<'a>) -> Result<Known<'a>, Refusal> {
    let ids = plan.identifiers;
    let Some(schema) = evidence.schemas.get(&ids.schema_id) else {
        return Refusal::missing(format!("schema {}", ids.schema_id));
    };
    let Some(definition) = evidence.definitions.get(&ids.cred_def_id) else {
        return Refusal::missing(format!("credential definition {}", ids.cred_def_id));
    };
    let published = definition.definition();
    let named = names_schema(&published.schema_id, &ids.schema_id, evidence);
    if named == Some(false) {
        return Refusal::fails(format!(
            "{} is not a definition for {}",
            ids.cred_def_id, ids.schema_id
        ));
    }
    if let Err(error) = published.check_schema(schema) {
        return Refusal::fails(error.to_string());
    }
    check_attributes(plan, schema)?;
    Ok(Known {
        plan,
        schema,
        schema_is_certain: named.is_some(),
        definition,
        registry: registry(plan, definition, evidence)?,
    })
}

/// Whether a definition names this schema. One of the days of Indy names it by a number of its ledger, and nobody can tell
/// unless the schema's number is known.
fn names_schema(named: &SchemaId, schema: &SchemaId, evidence: &Evidence<'_>) -> Option<bool> {
    if !named.is_sequence_number() {
        return Some(named == schema);
    }
    let number = evidence.schema_numbers.get(schema)?;
    Some(named.as_str() == number.to_string())
}

/// A credential has every attribute that is asked of it, also those that stay hidden.
fn check_attributes(plan: &Plan<'_>, schema: &Schema) -> Result<(), Refusal> {
    let attributes = schema.attributes();
    let request = &plan.request;
    let compared = request
        .predicates
        .iter()
        .map(|predicate| &predicate.attr_name);
    let mut asked = request.revealed.iter().chain(&plan.hidden).chain(compared);
    match asked.find(|name| !attributes.contains(*name)) {
        None => Ok(()),
        Some(name) => Refusal::fails(format!("credential {} has no {name:?}", plan.index)),
    }
}

/// The registry, which must be known as soon as a timestamp says that it is used, and must be the definition's own.
fn registry<'a>(
    plan: &Plan<'_>,
    definition: &PreparedDefinition,
    evidence: &Evidence<'a>,
) -> Result<Option<&'a RevocationRegistryDefinition>, Refusal> {
    let ids = plan.identifiers;
    let Some(id) = &ids.rev_reg_id else {
        if ids.timestamp.is_some() {
            return Refusal::fails("a credential has a timestamp and no registry");
        }
        return Ok(None);
    };
    let Some(registry) = evidence.registries.get(id) else {
        if ids.timestamp.is_none() {
            return Ok(None);
        }
        return Refusal::missing(format!("revocation registry {id}"));
    };
    match definition.check_registry(&ids.cred_def_id, registry) {
        Ok(()) => Ok(Some(registry)),
        Err(error) => Refusal::fails(format!("{id}: {error}")),
    }
}
