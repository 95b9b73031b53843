//! Reads AnonCreds objects.

use selfsame_crypto::time::UnixTime;

use crate::anoncreds::{
    DEFINITION, ObjectName, PublishedDefinition, PublishedRegistry, PublishedSchema, REGISTRY,
    RevocationState, RevocationVersion, RevokedBits, SCHEMA,
};
use crate::history::History;
use crate::state::{StateError, StateKey, StateRead, read};

use super::StateMachine;

impl StateMachine {
    /// The schema of an identifier.
    pub fn schema(
        &self,
        state: &dyn StateRead,
        id: &str,
    ) -> Result<Option<PublishedSchema>, StateError> {
        match ObjectName::parse(id, self.network().as_str()).filter(|name| name.kind() == SCHEMA) {
            Some(name) => read(&self.begun(state), &StateKey::Object(&name)),
            None => Ok(None),
        }
    }

    /// The credential definition of an identifier, with its successor.
    pub fn credential_definition(
        &self,
        state: &dyn StateRead,
        id: &str,
    ) -> Result<Option<PublishedDefinition>, StateError> {
        let name = ObjectName::parse(id, self.network().as_str());
        match name.filter(|name| name.kind() == DEFINITION) {
            Some(name) => read(&self.begun(state), &StateKey::Object(&name)),
            None => Ok(None),
        }
    }

    /// The definition of the revocation registry of an identifier.
    pub fn revocation_registry(
        &self,
        state: &dyn StateRead,
        id: &str,
    ) -> Result<Option<PublishedRegistry>, StateError> {
        match ObjectName::parse(id, self.network().as_str()).filter(|name| name.kind() == REGISTRY)
        {
            Some(name) => read(&self.begun(state), &StateKey::Object(&name)),
            None => Ok(None),
        }
    }

    /// The revoked places of a registry now or at a time; `None` before its first entry.
    pub fn revoked(
        &self,
        state: &dyn StateRead,
        id: &str,
        at: Option<UnixTime>,
    ) -> Result<Option<RevocationState>, StateError> {
        let Some(name) = self.registry_name(id) else {
            return Ok(None);
        };
        let state = self.begun(state);
        let entries = History::<RevocationVersion>::new(&state, StateKey::Entries(&name));
        let wanted = match at {
            Some(time) => entries.number_at(time)?,
            None => Some(entries.count()?).filter(|count| *count > 0),
        };
        let Some(wanted) = wanted else {
            return Ok(None);
        };
        let mut bits = read::<RevokedBits>(&state, &StateKey::Revoked(&name))?
            .ok_or_else(|| StateError("a registry has entries and no list".to_owned()))?;
        // The stored list is the present one, so later entries are undone, the last one first.
        for number in (wanted.saturating_add(1)..=entries.count()?).rev() {
            let later = entries.version(number)?;
            bits = bits
                .with(&later.issued, true)
                .and_then(|bits| bits.with(&later.revoked, false))
                .ok_or_else(|| StateError("a registry's entries contradict its list".to_owned()))?;
        }
        let version = entries.version(wanted)?;
        Ok(Some(RevocationState {
            version: wanted,
            accumulator: version.after,
            revoked: bits.0,
            receipt: version.receipt,
        }))
    }

    /// The last `count` entries of a registry, oldest first.
    pub fn revocation_entries(
        &self,
        state: &dyn StateRead,
        id: &str,
        count: usize,
    ) -> Result<Vec<RevocationVersion>, StateError> {
        match self.registry_name(id) {
            Some(name) => History::new(&self.begun(state), StateKey::Entries(&name)).latest(count),
            None => Ok(Vec::new()),
        }
    }

    fn registry_name(&self, id: &str) -> Option<ObjectName> {
        ObjectName::parse(id, self.network().as_str()).filter(|name| name.kind() == REGISTRY)
    }
}
