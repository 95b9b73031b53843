//! The published objects of issuers that a holder or a verifier knows.

use std::collections::BTreeMap;

use selfsame_anoncreds::Error;
use selfsame_anoncreds::definition::PreparedDefinition;
use selfsame_anoncreds::format::{
    Credential, CredentialDefinitionId, Interval, RevocationRegistryDefinition,
    RevocationRegistryId, RevocationStatusList, Schema, SchemaId,
};
use selfsame_anoncreds::holder::Owned;
use selfsame_anoncreds::verifier::KnownObjects;
use serde::{Deserialize, Serialize};

use crate::{MissingObject, RoleError};

/// Published objects, each under the identifier that it is published under. They are plain data: saved as JSON and read
/// again, they give the same verdict.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct PublishedObjects {
    /// Schemas.
    pub schemas: BTreeMap<String, Schema>,
    /// The sequence numbers of schemas on an Indy ledger, if definitions name their schemas by them.
    pub schema_numbers: BTreeMap<String, u64>,
    /// Credential definitions, prepared once.
    pub definitions: BTreeMap<String, PreparedDefinition>,
    /// Revocation registries.
    pub registries: BTreeMap<String, RevocationRegistryDefinition>,
    /// Status lists, each of which names its registry.
    pub lists: Vec<RevocationStatusList>,
}

impl PublishedObjects {
    /// The objects under typed identifiers, as a verification takes them.
    ///
    /// # Errors
    /// [`RoleError::Refused`] if an identifier is malformed.
    pub fn known(&self) -> Result<KnownObjects<'_>, RoleError> {
        let numbers = typed(&self.schema_numbers, SchemaId::new)?;
        Ok(KnownObjects {
            schemas: typed(&self.schemas, SchemaId::new)?,
            schema_numbers: numbers
                .into_iter()
                .map(|(id, number)| (id, *number))
                .collect(),
            definitions: typed(&self.definitions, CredentialDefinitionId::new)?,
            registries: typed(&self.registries, RevocationRegistryId::new)?,
            lists: self.lists.iter().collect(),
        })
    }

    /// A credential with its schema and its definition.
    pub(crate) fn owned<'a>(&'a self, credential: &'a Credential) -> Result<Owned<'a>, RoleError> {
        let (schema, definition) = (&credential.schema_id, &credential.cred_def_id);
        let missing = |what| Err(RoleError::Missing(what));
        let Some(schema) = self.schemas.get(schema.as_str()) else {
            return missing(MissingObject::Schema(schema.to_string()));
        };
        let Some(definition) = self.definitions.get(definition.as_str()) else {
            return missing(MissingObject::Definition(definition.to_string()));
        };
        Ok(Owned {
            credential,
            schema,
            definition,
        })
    }

    /// The newest list of a registry that is not newer than the interval.
    pub(crate) fn newest(
        &self,
        registry: &str,
        interval: Interval,
    ) -> Result<&RevocationStatusList, RoleError> {
        let of_it = |list: &&RevocationStatusList| {
            let named = list.rev_reg_def_id.as_ref();
            named.is_some_and(|other| other.as_str() == registry)
                && interval
                    .to
                    .is_none_or(|to| list.timestamp.is_some_and(|at| at <= to))
        };
        let lists = self.lists.iter().filter(of_it);
        lists.max_by_key(|list| list.timestamp).ok_or_else(|| {
            RoleError::Missing(MissingObject::List {
                registry: registry.to_owned(),
                to: interval.to,
            })
        })
    }
}

/// Converts the keys of a map to typed identifiers.
fn typed<I: Ord, T>(
    named: &BTreeMap<String, T>,
    id: fn(String) -> Result<I, Error>,
) -> Result<BTreeMap<I, &T>, RoleError> {
    let each = named
        .iter()
        .map(|(text, value)| Ok((id(text.clone())?, value)));
    each.collect()
}
