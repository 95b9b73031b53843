//! Types that have a context of their own.

use std::collections::BTreeMap;

use serde_json::Value;

/// For each name the context that it brings, or `None` if there are different ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScopedTypes(BTreeMap<String, Option<Value>>);

impl ScopedTypes {
    pub fn add(&mut self, name: &str, context: &Value) {
        self.merge(name, Some(context));
    }

    pub fn add_all(&mut self, other: &Self) {
        for (name, context) in &other.0 {
            self.merge(name, context.as_ref());
        }
    }

    /// The context of a name: `Some(None)` if there are different ones.
    pub fn get(&self, name: &str) -> Option<Option<&Value>> {
        self.0.get(name).map(Option::as_ref)
    }

    fn merge(&mut self, name: &str, context: Option<&Value>) {
        match self.0.get_mut(name) {
            Some(known) if known.as_ref() != context => *known = None,
            Some(_) => {}
            None => drop(self.0.insert(name.to_owned(), context.cloned())),
        }
    }
}
