//! What a context may contain, so that no part of a document loses its meaning unseen.
//!
//! A term that no context defines is dropped when a document is transformed, and nothing signs it. So every context is
//! processed after one that puts undefined terms into a vocabulary of their own ([`UNDEFINED`]), by which they are
//! found in the result. A context that takes that vocabulary away gets it back (`null`), and one whose features drop
//! parts of a document in other ways (indexes, terms without meaning, directions) is refused.

use serde_json::{Map, Value, json};

use crate::IntegrityError;

use super::ScopedTypes;

/// The scheme of the IRIs of undefined terms and relative references.
pub(crate) const UNDEFINED: &str = "undefined://";

/// A published context whose `null` does not take the vocabulary of undefined terms away. `scoped` gets the types that
/// have a context of their own.
pub(super) fn without_gaps(
    context: &Value,
    scoped: &mut ScopedTypes,
) -> Result<Value, IntegrityError> {
    let mut walk = ContextCheck {
        scoped,
        is_own: false,
    };
    walk.local(context)
}

/// Checks a context that stands in a document.
pub(crate) fn check_local(context: &Value, scoped: &mut ScopedTypes) -> Result<(), IntegrityError> {
    let mut walk = ContextCheck {
        scoped,
        is_own: true,
    };
    walk.local(context).map(drop)
}

struct ContextCheck<'s> {
    scoped: &'s mut ScopedTypes,
    /// Whether the context stands in the document, where nothing may be changed.
    is_own: bool,
}

impl ContextCheck<'_> {
    fn local(&mut self, context: &Value) -> Result<Value, IntegrityError> {
        match context {
            Value::Null if self.is_own => Err(unsupported()),
            Value::Null => Ok(json!([null, { "@vocab": vocabulary() }])),
            Value::String(_) => Ok(context.clone()),
            Value::Array(several) => {
                let mut all = Vec::with_capacity(several.len());
                for one in several {
                    match self.local(one)? {
                        Value::Array(parts) => all.extend(parts),
                        part => all.push(part),
                    }
                }
                Ok(all.into())
            }
            Value::Object(members) => Ok(self.definitions(members)?.into()),
            Value::Bool(_) | Value::Number(_) => Err(unsupported()),
        }
    }

    fn definitions(
        &mut self,
        members: &Map<String, Value>,
    ) -> Result<Map<String, Value>, IntegrityError> {
        let mut all = Map::new();
        for (name, value) in members {
            let value = match name.as_str() {
                "@version" | "@protected" | "@propagate" | "@base" | "@language" => value.clone(),
                "@vocab" if value.is_string() => value.clone(),
                keyword if is_keyword_like(keyword) => return Err(unsupported()),
                term => self.definition(term, value)?,
            };
            all.insert(name.clone(), value);
        }
        Ok(all)
    }

    fn definition(&mut self, term: &str, value: &Value) -> Result<Value, IntegrityError> {
        match value {
            Value::String(iri) => check_iri(iri)?,
            Value::Object(members) => return self.expanded(term, members),
            // A term that is defined as nothing drops what it names.
            _ => return Err(unsupported()),
        }
        Ok(value.clone())
    }

    fn expanded(
        &mut self,
        term: &str,
        members: &Map<String, Value>,
    ) -> Result<Value, IntegrityError> {
        let mut all = members.clone();
        for (name, value) in members {
            match (name.as_str(), value) {
                ("@id", Value::String(iri)) => check_iri(iri)?,
                ("@type", Value::String(_)) | ("@protected" | "@prefix", Value::Bool(_)) => {}
                ("@language", Value::String(_) | Value::Null) => {}
                ("@container", container) if is_plain(container) => {}
                ("@context", context) => {
                    let context = self.local(context)?;
                    self.scoped.add(term, &context);
                    all.insert("@context".to_owned(), context);
                }
                _ => return Err(unsupported()),
            }
        }
        Ok(all.into())
    }
}

/// The URLs in a context and in those of its terms.
pub(super) fn named(context: &Value) -> Vec<&str> {
    match context {
        Value::String(url) => vec![url],
        Value::Array(several) => several.iter().flat_map(named).collect(),
        Value::Object(members) => {
            let inner = members.values().filter_map(|term| term.get("@context"));
            inner.flat_map(named).collect()
        }
        _ => Vec::new(),
    }
}

/// The vocabulary of undefined terms.
pub(crate) fn vocabulary() -> String {
    format!("{UNDEFINED}term/")
}

/// Whether a text has the form of a keyword (JSON-LD 1.1 §9.1); one that is none is dropped.
pub(crate) fn is_keyword_like(text: &str) -> bool {
    let letters = text.strip_prefix('@').unwrap_or_default();
    !letters.is_empty() && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Other keywords have no aliases here, so that a document shows what it uses.
fn check_iri(iri: &str) -> Result<(), IntegrityError> {
    match iri {
        "@id" | "@type" => Ok(()),
        keyword if is_keyword_like(keyword) => Err(unsupported()),
        _ => Ok(()),
    }
}

/// Containers whose keys are not lost in the dataset, as those of indexes are.
fn is_plain(container: &Value) -> bool {
    let plain = |one: &Value| {
        let one = one.as_str().unwrap_or_default();
        ["@list", "@set", "@graph", "@language"].contains(&one)
    };
    match container {
        Value::Array(several) => several.iter().all(plain),
        one => plain(one),
    }
}

fn unsupported() -> IntegrityError {
    IntegrityError::Transformation("a context uses what is not supported")
}
