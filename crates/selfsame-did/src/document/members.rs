//! Taking members out of an object of a document.

use serde_json::{Map, Value};

/// The maximum number of verification methods, references of one relationship, services, controllers or other names.
pub(super) const MAX_LIST: usize = 128;

/// Takes members out of an object.
pub(super) trait TakenMembers {
    /// The string under `name`; `None` if it is absent or not a string.
    fn text(&mut self, name: &str) -> Option<String>;
}

impl TakenMembers for Map<String, Value> {
    fn text(&mut self, name: &str) -> Option<String> {
        match self.remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }
}

pub(super) fn take(members: &mut Map<String, Value>, name: &str) -> Option<Value> {
    members.remove(name)
}

/// Accepts a string or a list of strings.
pub(super) fn strings(value: Option<Value>) -> Option<Vec<String>> {
    match value? {
        Value::String(text) => Some(vec![text]),
        Value::Array(all) if all.len() <= MAX_LIST => all
            .into_iter()
            .map(|one| match one {
                Value::String(text) => Some(text),
                _ => None,
            })
            .collect(),
        _ => None,
    }
}
