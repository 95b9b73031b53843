//! Credential definitions made ready for use: checked once, with what is computed once, and kept.

use std::fmt;
use std::sync::Arc;

use crate::Error;
use crate::cl::CredentialKey;
use crate::cl::revocation::RevocationKey;
use crate::format::{
    CredentialDefinition, CredentialDefinitionId, Message, RevocationRegistryDefinition, SchemaId,
};

/// A credential definition whose key is checked, with the tables of its key. Whoever meets a definition again keeps
/// this: clones share their tables, which grow with the second operation.
#[derive(Clone, Debug)]
pub struct PreparedDefinition {
    definition: Arc<CredentialDefinition>,
    key: CredentialKey,
    revocation: Option<RevocationKey>,
}

impl PreparedDefinition {
    /// Checks the definition and every number of its key.
    pub fn new(definition: CredentialDefinition) -> Result<Self, Error> {
        definition.validate()?;
        let revocation = definition.value.revocation.clone();
        Ok(Self {
            key: CredentialKey::new(&definition.value.primary)?,
            revocation: revocation.map(RevocationKey::new),
            definition: Arc::new(definition),
        })
    }

    /// The definition as it is published.
    pub fn definition(&self) -> &CredentialDefinition {
        &self.definition
    }

    /// The key for attributes.
    pub fn key(&self) -> &CredentialKey {
        &self.key
    }

    /// The key for revocation, if its credentials can be revoked.
    pub fn revocation(&self) -> Option<&RevocationKey> {
        self.revocation.as_ref()
    }

    /// Builds all tables now, instead of when the definition is met again: for who has time ahead of the work.
    pub fn prepare(&self) {
        self.key.prepare();
        if let Some(key) = &self.revocation {
            key.prepare();
        }
    }

    /// The memory of the keys and all their tables in bytes, at most: tables that are not built yet are counted too.
    pub fn bytes(&self) -> usize {
        let revocation = self.revocation.as_ref().map_or(0, RevocationKey::bytes);
        self.key.bytes().saturating_add(revocation)
    }

    /// Refuses another schema than the one the definition is for. A definition of the days of Indy names its schema
    /// by a number of its ledger, and is not asked.
    pub(crate) fn check_schema_id(&self, schema_id: &SchemaId) -> Result<(), Error> {
        let own = &self.definition.schema_id;
        if own == schema_id || own.is_sequence_number() {
            return Ok(());
        }
        Err(Error::Mismatch {
            what: "the schema",
            why: "the credential definition is for another",
        })
    }

    /// Refuses a registry of another definition, and one that somebody else publishes for this definition. Who publishes
    /// a registry chooses its key and its accumulators, and with those of their own choice the revoked could prove that
    /// they are not. (AnonCreds v1.0, "Revocation Registry Definition Object Generation", `issuerId`.)
    pub(crate) fn check_registry(
        &self,
        cred_def_id: &CredentialDefinitionId,
        registry: &RevocationRegistryDefinition,
    ) -> Result<(), Error> {
        let refused = |why| {
            Err(Error::Mismatch {
                what: RevocationRegistryDefinition::WHAT,
                why,
            })
        };
        if registry.cred_def_id != *cred_def_id {
            return refused("it is for another credential definition");
        }
        if registry.issuer_id != self.definition.issuer_id {
            return refused("its issuer is not the credential definition's");
        }
        Ok(())
    }
}

/// Prepared definitions for whoever meets them again, the newest first, within a bound of memory.
///
/// A definition is found by its identifier and its content together: another content under a known identifier is
/// another definition, checked and prepared anew in the place of the one before.
pub struct KeyCache {
    most_bytes: usize,
    known: Vec<(CredentialDefinitionId, PreparedDefinition)>,
}

impl KeyCache {
    /// Room for ten definitions of five attributes and more, revocation included.
    pub const MOST_BYTES: usize = 80_000_000;

    /// An empty cache that holds keys and tables of so many bytes at most.
    pub fn new(most_bytes: usize) -> Self {
        Self {
            most_bytes,
            known: Vec::new(),
        }
    }

    /// The definition made ready, by this call or an earlier one. What was not asked for longest makes room; a definition
    /// that is larger than the whole cache is prepared and not kept.
    ///
    /// # Errors
    /// As [`PreparedDefinition::new`].
    pub fn definition(
        &mut self,
        id: &CredentialDefinitionId,
        definition: &CredentialDefinition,
    ) -> Result<PreparedDefinition, Error> {
        let place = self.known.iter().position(|(known, _)| known == id);
        let known = place.map(|place| self.known.remove(place));
        let prepared = match known {
            Some((_, known)) if *known.definition == *definition => known,
            _ => PreparedDefinition::new(definition.clone())?,
        };
        if prepared.bytes() <= self.most_bytes {
            self.known.insert(0, (id.clone(), prepared.clone()));
        }
        while self.bytes() > self.most_bytes {
            self.known.pop();
        }
        Ok(prepared)
    }

    /// How many definitions are kept.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether none is kept.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The memory of all that is kept in bytes, at most.
    pub fn bytes(&self) -> usize {
        let each = self.known.iter().map(|(_, definition)| definition.bytes());
        each.fold(0, usize::saturating_add)
    }
}

impl Default for KeyCache {
    fn default() -> Self {
        Self::new(Self::MOST_BYTES)
    }
}

impl fmt::Debug for KeyCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyCache")
            .field("definitions", &self.len())
            .field("most_bytes", &self.most_bytes)
            .finish()
    }
}

#[cfg(test)]
mod tests;
