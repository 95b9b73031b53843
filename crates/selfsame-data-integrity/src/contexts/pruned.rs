//! A context without the terms that a document does not use. To process a context costs a copy of the terms so far for
//! each term with a context of its own, so most of the time would go to terms that are not there.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// The names that a document uses: its members' names, its texts, and the prefixes of both. Those of its own contexts
/// are among them, so that a term that they define again is seen to be protected.
#[derive(Clone, Debug, Default)]
pub(crate) struct UsedNames(HashSet<String>);

impl UsedNames {
    pub fn of(document: &Map<String, Value>) -> Self {
        let mut used = Self::default();
        used.add_members(document);
        used
    }

    /// The names to which the terms of a context refer.
    pub fn of_terms(context: &Value) -> Self {
        let mut used = Self::default();
        used.add_terms(context);
        used
    }

    fn add_members(&mut self, members: &Map<String, Value>) {
        for (name, value) in members {
            self.add(name);
            self.add_value(value);
        }
    }

    fn add_value(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.add(text),
            Value::Array(elements) => elements.iter().for_each(|one| self.add_value(one)),
            Value::Object(members) => self.add_members(members),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn add_terms(&mut self, context: &Value) {
        match context {
            Value::String(iri) => self.add(iri),
            Value::Array(several) => several.iter().for_each(|one| self.add_terms(one)),
            Value::Object(members) => members.values().for_each(|one| self.add_terms(one)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn add(&mut self, text: &str) {
        self.0.insert(text.to_owned());
        if let Some((prefix, _)) = text.split_once(':') {
            self.0.insert(prefix.to_owned());
        }
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

/// The context with the terms that the document or other terms use, and every keyword.
pub(super) fn pruned(context: &Value, by: &[&UsedNames]) -> Value {
    match context {
        Value::Array(several) => several.iter().map(|one| pruned(one, by)).collect(),
        Value::Object(members) => {
            let is_used = |name: &str| name.starts_with('@') || by.iter().any(|one| one.has(name));
            let kept = members.iter().filter(|(name, _)| is_used(name));
            let kept = kept.map(|(name, term)| (name.clone(), pruned_term(term, by)));
            Value::Object(kept.collect())
        }
        other => other.clone(),
    }
}

fn pruned_term(term: &Value, by: &[&UsedNames]) -> Value {
    let Value::Object(members) = term else {
        return term.clone();
    };
    let members = members.iter().map(|(name, value)| match name.as_str() {
        "@context" => (name.clone(), pruned(value, by)),
        _ => (name.clone(), value.clone()),
    });
    Value::Object(members.collect())
}
