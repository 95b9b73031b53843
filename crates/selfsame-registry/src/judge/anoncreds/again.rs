//! Accepted objects, read again to check a later object that refers to them. They are read without the rules they were
//! accepted by: those may be stricter by now, and such a block must not stop the node.

use std::collections::BTreeSet;

use selfsame_anoncreds::format::normalise_attribute;
use serde_json::Value;

use crate::state::StateError;

/// The JSON of an object in the state.
pub(super) struct ObjectJson(Value);

impl ObjectJson {
    /// Reads an accepted object; an error if it is not JSON, which means that the state is damaged.
    pub(super) fn read(json: &str) -> Result<Self, StateError> {
        let value = serde_json::from_str(json);
        value.map(Self).map_err(|error| {
            StateError(format!("a published object can't be read again ({error})"))
        })
    }

    /// The attributes of a schema, normalised as AnonCreds computes with them.
    pub(super) fn attributes(&self) -> BTreeSet<String> {
        let names = self.0.get("attrNames").or_else(|| self.0.get("attr_names"));
        let names = names.and_then(Value::as_array).into_iter().flatten();
        names
            .filter_map(Value::as_str)
            .map(normalise_attribute)
            .collect()
    }

    /// The identifier of the schema that a definition is for.
    pub(super) fn schema_id(&self) -> Option<&str> {
        self.0.get("schemaId")?.as_str()
    }

    /// Whether the credentials of a definition can be revoked.
    pub(super) fn is_revocable(&self) -> bool {
        let key = self
            .0
            .get("value")
            .and_then(|value| value.get("revocation"));
        key.is_some_and(|key| !key.is_null())
    }
}
