//! Objects of several types that have a context of their own.
//!
//! Their contexts apply one after the other, in the order of the types' names (JSON-LD 1.1 API §5.1.2, step 11). The
//! library applies the last one alone. So each such set of types gets one more type, whose context is those of the
//! others, and whose name comes last. The statement that an object is of it is taken out again, and counted.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::IntegrityError;
use crate::contexts::{ScopedTypes, UNDEFINED};

/// Where the added types are.
const JOINED: &str = "joined/";
/// Sorts after every other name.
const LAST: char = '\u{10ffff}';

/// The added types.
pub(in crate::expand) struct JoinedTypes {
    /// For each set of types the number of the added one, and its context.
    sets: BTreeMap<Vec<String>, Joined>,
    count: usize,
}

struct Joined {
    name: String,
    context: Value,
}

impl JoinedTypes {
    /// The added types of a document.
    pub fn of(document: &Map<String, Value>, scoped: &ScopedTypes) -> Result<Self, IntegrityError> {
        let mut joined = Self {
            sets: BTreeMap::new(),
            count: 0,
        };
        joined.collect(document, scoped)?;
        Ok(joined)
    }

    /// How many statements were added.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The context that defines the added types; nothing if there are none.
    pub fn context(&self) -> Option<Value> {
        let terms = self.sets.values().enumerate().map(|(number, joined)| {
            let iri = format!("{}{number}", prefix());
            (
                joined.name.clone(),
                json!({ "@id": iri, "@context": joined.context }),
            )
        });
        let terms: Map<String, Value> = terms.collect();
        (!terms.is_empty()).then_some(Value::Object(terms))
    }

    /// These types and the one that is added to them.
    pub fn with(&mut self, types: &[Value]) -> Option<Value> {
        if self.sets.is_empty() {
            return None;
        }
        let joined = self.sets.get(&names(types)?)?;
        let mut types = types.to_vec();
        types.push(joined.name.clone().into());
        self.count = self.count.saturating_add(1);
        Some(types.into())
    }

    fn collect(
        &mut self,
        members: &Map<String, Value>,
        scoped: &ScopedTypes,
    ) -> Result<(), IntegrityError> {
        for value in members
            .iter()
            .filter(|(name, _)| *name != "@context")
            .map(|(_, value)| value)
        {
            let elements = super::listed(value);
            if let Some(names) = names(elements) {
                self.add(names, scoped)?;
            }
            self.collect_all(elements, scoped)?;
        }
        Ok(())
    }

    fn collect_all(
        &mut self,
        elements: &[Value],
        scoped: &ScopedTypes,
    ) -> Result<(), IntegrityError> {
        for element in elements {
            match element {
                Value::Object(members) => self.collect(members, scoped)?,
                Value::Array(elements) => self.collect_all(elements, scoped)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn add(&mut self, names: Vec<String>, scoped: &ScopedTypes) -> Result<(), IntegrityError> {
        let found: Vec<_> = names.iter().filter_map(|name| scoped.get(name)).collect();
        if found.len() < 2 || self.sets.contains_key(&names) {
            return Ok(());
        }
        let mut context = Vec::new();
        for one in found {
            let one = one.ok_or(IntegrityError::Transformation(
                "a type has several contexts",
            ))?;
            context.extend(super::listed(one).iter().cloned());
        }
        let joined = Joined {
            name: format!("{LAST}{}", self.sets.len()),
            context: context.into(),
        };
        self.sets.insert(names, joined);
        Ok(())
    }
}

/// The beginning of the IRIs of added types.
pub(in crate::expand) fn prefix() -> String {
    format!("{UNDEFINED}{JOINED}")
}

/// The names in a list of several texts, sorted.
fn names(elements: &[Value]) -> Option<Vec<String>> {
    if elements.len() < 2 {
        return None;
    }
    let names = elements.iter().map(|one| one.as_str().map(str::to_owned));
    let mut names: Vec<String> = names.collect::<Option<_>>()?;
    names.sort_unstable();
    names.dedup();
    Some(names)
}
