//! Prepared credential definitions: checked once, kept with their precomputed tables, and cached.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::cl::CredentialKey;
use crate::cl::revocation::RevocationKey;
use crate::format::{
    CredentialDefinition, CredentialDefinitionId, Message, RevocationRegistryDefinition, SchemaId,
};

/// A credential definition whose key is checked, with the tables of its key. Keep it to use a definition again: clones
/// share their tables, which grow with the second operation.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(into = "CredentialDefinition", try_from = "CredentialDefinition")]
pub struct PreparedDefinition {
    definition: Arc<CredentialDefinition>,
    key: CredentialKey,
    revocation: Option<RevocationKey>,
}

impl TryFrom<CredentialDefinition> for PreparedDefinition {
    type Error = Error;

    fn try_from(definition: CredentialDefinition) -> Result<Self, Error> {
        Self::new(definition)
    }
}

impl From<PreparedDefinition> for CredentialDefinition {
    fn from(prepared: PreparedDefinition) -> Self {
        Arc::unwrap_or_clone(prepared.definition)
    }
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

    /// Builds all tables now instead of at the second operation.
    pub fn prepare(&self) {
        self.key.prepare();
        if let Some(key) = &self.revocation {
            key.prepare();
        }
    }

    /// Upper bound of the memory of the keys and all their tables, built or not, in bytes.
    pub fn bytes(&self) -> usize {
        let revocation = self.revocation.as_ref().map_or(0, RevocationKey::bytes);
        self.key.bytes().saturating_add(revocation)
    }

    /// Refuses a schema other than the definition's own. A definition from the time of Indy names its schema by a
    /// ledger sequence number; it passes unchecked.
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

    /// Refuses a registry of another definition, or published by another party. The publisher of a registry chooses its
    /// key and its accumulators, and could choose them so that revoked credentials pass as not revoked. (AnonCreds
    /// v1.0, "Revocation Registry Definition Object Generation", `issuerId`.)
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

/// A cache of prepared definitions, the most recently used first, within a bound of memory.
///
/// Definitions are found by identifier and content together. If the content under a known identifier has changed, the
/// new definition is checked and prepared, and replaces the old one.
pub struct KeyCache {
    most_bytes: usize,
    known: Vec<(CredentialDefinitionId, PreparedDefinition)>,
}

impl KeyCache {
    /// Room for ten definitions of five attributes and more, revocation included.
    pub const MOST_BYTES: usize = 80_000_000;

    /// An empty cache that holds keys and tables of at most `most_bytes` bytes.
    pub fn new(most_bytes: usize) -> Self {
        Self {
            most_bytes,
            known: Vec::new(),
        }
    }

    /// The prepared definition, from the cache or prepared now. The least recently used definitions make room; a
    /// definition that is larger than the whole cache is prepared and not kept.
    ///
    /// # Errors
    /// Those of [`PreparedDefinition::new`].
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

    /// The number of definitions in the cache.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Upper bound of the memory of all cached definitions, in bytes.
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
