//! The terms that the data models protect: a context that comes after theirs may define them alike, and not otherwise
//! (JSON-LD 1.1 §4.1.11, VCDM 2.0 §4.3).

use serde_json::{Map, Value};

use super::KnownContexts;
use super::bundled::OF_MODELS;

/// The member whose credentials each begin with contexts of their own (VCDM 2.0 §4.13).
const CREDENTIALS: &str = "verifiableCredential";

/// The first term of a context that a data model protects, and that the context defines otherwise.
pub(super) fn redefined<'c>(known: &KnownContexts, context: &'c Value) -> Option<&'c str> {
    let first = OF_MODELS.iter();
    let first = first.filter_map(|url| Some(&known.get(*url)?.context));
    let mut first = first.filter_map(|base| in_context(base, context));
    first.next()
}

/// The first term of a context that stands in a document, at its root or deeper, and that the data model of the document
/// protects, and that the context defines otherwise. The credentials in a presentation are documents of their own.
pub(super) fn redefined_within<'d>(
    known: &KnownContexts,
    document: &'d Map<String, Value>,
) -> Option<&'d str> {
    let first = match document.get("@context") {
        Some(Value::Array(several)) => several.first(),
        one => one,
    };
    let first = first?.as_str()?;
    let model = OF_MODELS.iter().find(|url| **url == first)?;
    in_members(&known.get(*model)?.context, document)
}

fn in_members<'d>(base: &Value, members: &'d Map<String, Value>) -> Option<&'d str> {
    let mut members = members.iter().filter(|(name, _)| *name != CREDENTIALS);
    members.find_map(|(name, value)| match name.as_str() {
        "@context" => in_context(base, value),
        _ => in_value(base, value),
    })
}

fn in_value<'d>(base: &Value, value: &'d Value) -> Option<&'d str> {
    match value {
        Value::Array(several) => several.iter().find_map(|one| in_value(base, one)),
        Value::Object(members) => in_members(base, members),
        _ => None,
    }
}

fn in_context<'c>(base: &Value, context: &'c Value) -> Option<&'c str> {
    match context {
        Value::Array(several) => several.iter().find_map(|one| in_context(base, one)),
        Value::Object(members) => {
            let mut terms = members.iter().filter(|(name, _)| !name.starts_with('@'));
            let is_other = |(name, term): &(&String, &Value)| {
                let own = protected(base, name);
                own.is_some_and(|own| meaning(own, &[base]) != meaning(term, &[context, base]))
            };
            terms.find(is_other).map(|(name, _)| name.as_str())
        }
        _ => None,
    }
}

/// The definition of a term, if the context protects it.
fn protected<'b>(base: &'b Value, name: &str) -> Option<&'b Value> {
    match base {
        Value::Array(several) => several.iter().find_map(|one| protected(one, name)),
        Value::Object(members) => {
            let term = members.get(name)?;
            let own = term.get("@protected").or(members.get("@protected"));
            (own == Some(&Value::Bool(true))).then_some(term)
        }
        _ => None,
    }
}

/// A definition in one form, without whether it is protected. The prefixes in it are those of these contexts.
fn meaning(term: &Value, prefixes: &[&Value]) -> Map<String, Value> {
    let mut members = match term {
        Value::Object(members) => members.clone(),
        iri => Map::from_iter([("@id".to_owned(), iri.clone())]),
    };
    members.remove("@protected");
    for name in ["@id", "@type"] {
        if let Some(Value::String(iri)) = members.get_mut(name) {
            *iri = whole(iri, prefixes);
        }
    }
    members
}

/// An IRI without its prefix (JSON-LD 1.1 §4.1.5).
fn whole(iri: &str, prefixes: &[&Value]) -> String {
    let compact = iri.split_once(':');
    let compact = compact.filter(|(_, rest)| !rest.starts_with("//"));
    let expanded = compact.and_then(|(prefix, rest)| {
        let start = prefixes.iter().find_map(|one| prefix_of(one, prefix))?;
        Some(format!("{start}{rest}"))
    });
    expanded.unwrap_or_else(|| iri.to_owned())
}

fn prefix_of<'p>(context: &'p Value, name: &str) -> Option<&'p str> {
    match context {
        Value::Array(several) => several.iter().find_map(|one| prefix_of(one, name)),
        Value::Object(members) => {
            let term = members.get(name)?;
            term.as_str().or_else(|| term.get("@id")?.as_str())
        }
        _ => None,
    }
}
