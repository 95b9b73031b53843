//! Definitions that types of several organisations have in common.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use selfsame_crypto::hash::sha256;
use selfsame_driver::Result;
use selfsame_driver::record::encode;

use crate::model::TypeDefinition;

/// Each definition of a type that is open, once in memory: organisations copy types from each other.
#[derive(Default)]
pub(super) struct Definitions(Mutex<HashMap<[u8; 32], Weak<TypeDefinition>>>);

impl Definitions {
    /// The definition, or an equal one that is in memory already.
    ///
    /// # Errors
    /// `Internal` if it cannot be JSON.
    pub fn share(&self, definition: TypeDefinition) -> Result<Arc<TypeDefinition>> {
        let digest = sha256(&encode(&definition)?);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(same) = known.get(&digest).and_then(Weak::upgrade) {
            return Ok(same);
        }
        // Before the table would grow, what is in use no longer leaves it.
        if known.len() == known.capacity() {
            known.retain(|_, definition| definition.strong_count() > 0);
        }
        let definition = Arc::new(definition);
        known.insert(digest, Arc::downgrade(&definition));
        Ok(definition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(id: usize) -> TypeDefinition {
        let id = format!("type-{id}");
        let file = serde_json::json!({"id": id, "title": {"en": "A type"}, "claims": []});
        serde_json::from_value(file).unwrap()
    }

    #[test]
    fn equal_definitions_are_held_once_and_none_longer_than_it_is_used() {
        let definitions = Definitions::default();
        let [one, same, other] = [1, 1, 2].map(|id| definitions.share(definition(id)).unwrap());
        assert!(Arc::ptr_eq(&one, &same) && !Arc::ptr_eq(&one, &other));
        for id in 3..1_000 {
            definitions.share(definition(id)).unwrap();
        }
        assert!(definitions.0.lock().unwrap().len() < 20);
        assert!(Arc::ptr_eq(
            &one,
            &definitions.share(definition(1)).unwrap()
        ));
    }
}
