//! A template's claims as form fields, and back.

use selfsame_core::templates::Labels;
use selfsame_core::templates::{ClaimField, ClaimKind, ItemField};
use selfsame_driver::Reason;
use serde_json::{Map, Number, Value};

use crate::error::Problem;
use crate::extract::Form;

/// Maximum number of list entries in a form.
const ENTRIES_MAX: usize = 50;
/// Number of empty entries after the filled ones.
const SPARE: usize = 2;

/// A field of the form.
pub(super) struct Field {
    pub(super) name: String,
    pub(super) label: String,
    pub(super) kind: &'static str,
    pub(super) value: String,
    pub(super) mandatory: bool,
    pub(super) wide: bool,
    /// The entries of a list, each with its own fields.
    pub(super) entries: Vec<FieldEntry>,
}

/// One entry of a list.
pub(super) struct FieldEntry {
    pub(super) number: usize,
    pub(super) filled: bool,
    pub(super) fields: Vec<Field>,
}

impl Field {
    pub(super) fn of(claim: &ClaimField) -> Self {
        Self {
            label: label(claim),
            mandatory: claim.mandatory,
            entries: entries(claim),
            ..Self::new(name(claim), claim.kind, &claim.example)
        }
    }

    fn new(name: String, kind: ClaimKind, example: &Value) -> Self {
        let value = text(example);
        Self {
            name,
            label: String::new(),
            kind: match kind {
                ClaimKind::Text => "text",
                ClaimKind::Date => "date",
                ClaimKind::Number => "number",
                ClaimKind::Boolean => "boolean",
                ClaimKind::List => "list",
            },
            wide: kind == ClaimKind::List || value.chars().count() > 28,
            value,
            mandatory: false,
            entries: Vec::new(),
        }
    }
}

/// The entries of the example, and a few empty ones.
fn entries(claim: &ClaimField) -> Vec<FieldEntry> {
    if claim.items.is_empty() {
        return Vec::new();
    }
    let examples = claim.example.as_array().map_or(&[][..], Vec::as_slice);
    let numbers = 0..examples.len() + SPARE;
    numbers
        .map(|number| FieldEntry {
            number: number + 1,
            filled: number < examples.len(),
            fields: claim
                .items
                .iter()
                .map(|item| {
                    let example = examples.get(number).and_then(|entry| entry.get(&item.name));
                    Field {
                        label: named(&item.label, &item.name),
                        ..Field::new(
                            item_name(claim, number, item),
                            item.kind,
                            example.unwrap_or(&Value::Null),
                        )
                    }
                })
                .collect(),
        })
        .collect()
}

/// A claim's name for people.
pub fn label(claim: &ClaimField) -> String {
    named(&claim.label, &claim.path.join(" "))
}

fn named(labels: &Labels, otherwise: &str) -> String {
    let any = labels.get("en").or_else(|| labels.values().next());
    any.map_or_else(|| otherwise.to_owned(), Clone::clone)
}

/// The claims in the form; empty fields are left out.
pub(super) fn read(claims: &[ClaimField], form: &Form) -> Result<Map<String, Value>, Problem> {
    let mut read = Map::new();
    for claim in claims {
        let value = if claim.items.is_empty() {
            let wrong = |kind| unreadable(&label(claim), kind);
            typed(claim.kind, form.one(&name(claim))).map_err(wrong)?
        } else {
            stated(claim, form)?
        };
        if let Some(value) = value {
            put(&mut read, &claim.path, value);
        }
    }
    Ok(read)
}

/// The non-empty entries of a list; check boxes alone do not count.
fn stated(claim: &ClaimField, form: &Form) -> Result<Option<Value>, Problem> {
    let mut entries = Vec::new();
    for number in 0..ENTRIES_MAX {
        let mut entry = Map::new();
        let mut filled = false;
        for item in &claim.items {
            let sent = form.one(&item_name(claim, number, item));
            filled |= sent.is_some() && item.kind != ClaimKind::Boolean;
            let wrong = |kind| unreadable(&named(&item.label, &item.name), kind);
            if let Some(value) = typed(item.kind, sent).map_err(wrong)? {
                entry.insert(item.name.clone(), value);
            }
        }
        if filled {
            entries.push(Value::Object(entry));
        }
    }
    Ok((!entries.is_empty()).then_some(Value::Array(entries)))
}

/// A typed text as a value of its kind, or an error that names the kind.
fn typed(kind: ClaimKind, sent: Option<&str>) -> Result<Option<Value>, Reason> {
    match (kind, sent) {
        (ClaimKind::Boolean, sent) => Ok(Some(Value::Bool(sent == Some("true")))),
        (_, None) => Ok(None),
        (ClaimKind::Text | ClaimKind::Date, Some(text)) => Ok(Some(Value::String(text.to_owned()))),
        (ClaimKind::Number, Some(text)) => number(text).map(Some).ok_or_else(|| kind.expected()),
        (ClaimKind::List, Some(text)) => list(text).map(Some).ok_or_else(|| kind.expected()),
    }
}

fn item_name(claim: &ClaimField, number: usize, item: &ItemField) -> String {
    format!("{}/{number}/{}", name(claim), item.name)
}

fn name(claim: &ClaimField) -> String {
    format!("claim.{}", claim.path.join("/"))
}

/// Lists of texts as one text a line; any deeper value as JSON.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(Value::is_string) => items
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join("\n"),
        Value::Array(_) | Value::Object(_) => {
            serde_json::to_string_pretty(value).unwrap_or_default()
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn number(text: &str) -> Option<Value> {
    if let Ok(whole) = text.parse::<i64>() {
        return Some(Value::from(whole));
    }
    text.parse::<f64>()
        .ok()
        .and_then(Number::from_f64)
        .map(Value::Number)
}

fn list(text: &str) -> Option<Value> {
    if text.starts_with('[') {
        return serde_json::from_str::<Vec<Value>>(text)
            .ok()
            .map(Value::Array);
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Some(Value::Array(
        lines.map(|line| Value::String(line.to_owned())).collect(),
    ))
}

fn put(object: &mut Map<String, Value>, path: &[String], value: Value) {
    match path {
        [] => {}
        [last] => {
            object.insert(last.clone(), value);
        }
        [first, rest @ ..] => {
            let inner = object
                .entry(first.clone())
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

fn unreadable(label: &str, kind: Reason) -> Problem {
    Problem::bad_request("field-of-other-kind")
        .with("label", label)
        .with_reason("kind", kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_read_back_as_they_were_shown() {
        let texts = json!(["one", "two"]);
        assert_eq!(list(&text(&texts)), Some(texts));
        let objects = json!([{"a": 1}, {"b": [2]}]);
        assert_eq!(list(&text(&objects)), Some(objects));
        assert_eq!(list("[1,"), None);
    }

    #[test]
    fn paths_become_nested_objects() {
        let mut object = Map::new();
        let path = |names: &[&str]| {
            names
                .iter()
                .map(|&name| name.to_owned())
                .collect::<Vec<_>>()
        };
        put(
            &mut object,
            &path(&["patient", "given_name"]),
            json!("Maja"),
        );
        put(
            &mut object,
            &path(&["patient", "birth_date"]),
            json!("1990-01-01"),
        );
        assert_eq!(
            Value::Object(object),
            json!({"patient": {"given_name": "Maja", "birth_date": "1990-01-01"}})
        );
    }

    #[test]
    fn numbers_keep_their_kind() {
        assert_eq!(number("3"), Some(json!(3)));
        assert_eq!(number("3.5"), Some(json!(3.5)));
        assert_eq!(number("NaN"), None);
    }
}
