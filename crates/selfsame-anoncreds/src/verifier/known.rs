//! The inputs of a verification beside the presentation: published objects, and the verifier's own policy.

use std::collections::BTreeMap;

use selfsame_verdict::RuleRefusal;

use super::answers::Plan;
use crate::definition::PreparedDefinition;
use crate::format::{
    CredentialDefinitionId, Encoding, Overrides, RevocationRegistryDefinition,
    RevocationRegistryId, RevocationStatusList, Schema, SchemaId,
};

/// The published objects that a presentation refers to, as far as the verifier knows them.
#[derive(Clone, Debug, Default)]
pub struct KnownObjects<'a> {
    /// Schemas.
    pub schemas: BTreeMap<SchemaId, &'a Schema>,
    /// The ledger sequence numbers of schemas, by which credential definitions from the time of Indy name them.
    pub schema_numbers: BTreeMap<SchemaId, u64>,
    /// Credential definitions, prepared once.
    pub definitions: BTreeMap<CredentialDefinitionId, &'a PreparedDefinition>,
    /// Revocation registries.
    pub registries: BTreeMap<RevocationRegistryId, &'a RevocationRegistryDefinition>,
    /// Status lists, each with its registry, its timestamp and its accumulator.
    pub lists: Vec<&'a RevocationStatusList>,
}

/// The choices that a verifier makes for itself.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Lists that are accepted although they are older than the interval.
    pub overrides: Overrides,
    /// How the raw values must be encoded.
    pub encoding: Encoding,
}

/// A credential of the presentation, with the published objects it refers to.
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

/// Finds the published objects of each credential, and refuses those that do not belong together.
pub(super) fn gather<'a>(
    plans: &'a [Plan<'a>],
    objects: &KnownObjects<'a>,
) -> Result<(Gathered<'a>, String), RuleRefusal> {
    let known: Vec<_> = plans
        .iter()
        .map(|plan| known(plan, objects))
        .collect::<Result<_, _>>()?;
    let detail = format!("{} credentials, all of known definitions", known.len());
    Ok((known, detail))
}

fn known<'a>(plan: &'a Plan<'a>, objects: &KnownObjects<'a>) -> Result<Known<'a>, RuleRefusal> {
    let ids = plan.identifiers;
    let Some(schema) = objects.schemas.get(&ids.schema_id) else {
        return RuleRefusal::missing(format!("schema {}", ids.schema_id));
    };
    let Some(definition) = objects.definitions.get(&ids.cred_def_id) else {
        return RuleRefusal::missing(format!("credential definition {}", ids.cred_def_id));
    };
    let published = definition.definition();
    let named = names_schema(&published.schema_id, &ids.schema_id, objects);
    if named == Some(false) {
        return RuleRefusal::fails(format!(
            "{} is not a definition for {}",
            ids.cred_def_id, ids.schema_id
        ));
    }
    if let Err(error) = published.check_schema(schema) {
        return RuleRefusal::fails(error.to_string());
    }
    check_attributes(plan, schema)?;
    Ok(Known {
        plan,
        schema,
        schema_is_certain: named.is_some(),
        definition,
        registry: registry(plan, definition, objects)?,
    })
}

/// Whether a definition names this schema. A definition from the time of Indy names it by a ledger sequence number;
/// unless the schema's number is known, the result is `None`.
fn names_schema(named: &SchemaId, schema: &SchemaId, objects: &KnownObjects<'_>) -> Option<bool> {
    if !named.is_sequence_number() {
        return Some(named == schema);
    }
    let number = objects.schema_numbers.get(schema)?;
    Some(named.as_str() == number.to_string())
}

/// Checks that a credential has every attribute that is asked of it, including those that stay hidden.
fn check_attributes(plan: &Plan<'_>, schema: &Schema) -> Result<(), RuleRefusal> {
    let attributes = schema.attributes();
    let request = &plan.request;
    let compared = request
        .predicates
        .iter()
        .map(|predicate| &predicate.attr_name);
    let mut asked = request.revealed.iter().chain(&plan.hidden).chain(compared);
    match asked.find(|name| !attributes.contains(*name)) {
        None => Ok(()),
        Some(name) => RuleRefusal::fails(format!("credential {} has no {name:?}", plan.index)),
    }
}

/// The credential's registry. It must be known if a timestamp refers to it, and must belong to the definition.
fn registry<'a>(
    plan: &Plan<'_>,
    definition: &PreparedDefinition,
    objects: &KnownObjects<'a>,
) -> Result<Option<&'a RevocationRegistryDefinition>, RuleRefusal> {
    let ids = plan.identifiers;
    let Some(id) = &ids.rev_reg_id else {
        if ids.timestamp.is_some() {
            return RuleRefusal::fails("a credential has a timestamp and no registry");
        }
        return Ok(None);
    };
    let Some(registry) = objects.registries.get(id) else {
        if ids.timestamp.is_none() {
            return Ok(None);
        }
        return RuleRefusal::missing(format!("revocation registry {id}"));
    };
    match definition.check_registry(&ids.cred_def_id, registry) {
        Ok(()) => Ok(Some(registry)),
        Err(error) => RuleRefusal::fails(format!("{id}: {error}")),
    }
}
