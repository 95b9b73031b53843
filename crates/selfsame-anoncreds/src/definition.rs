//! Credential definitions made ready for use: checked once, with what is computed once, and kept.

use crate::Error;
use crate::cl::CredentialKey;
use crate::cl::revocation::RevocationKey;
use crate::format::{CredentialDefinition, Message, SchemaId};

/// A credential definition whose key is checked, with the tables of its key. Whoever meets a definition again keeps
/// this: clones share their tables, which grow with the second operation.
#[derive(Clone, Debug)]
pub struct PreparedDefinition {
    definition: CredentialDefinition,
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
            definition,
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
}
