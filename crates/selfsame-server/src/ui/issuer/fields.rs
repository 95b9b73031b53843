//! A template's claims as form fields, and back.

use selfsame_app::view::issuer::{ClaimField, ClaimKind};
use serde_json::{Map, Number, Value};

use crate::error::Problem;
use crate::extract::Form;

/// A field of the form.
pub(super) struct Field {
    pub(super) name: String,
    pub(super) label: String,
    pub(super) kind: &'static str,
    pub(super) value: String,
    pub(super) mandatory: bool,
    pub(super) wide: bool,
}

impl Field {
    pub(super) fn of(claim: &ClaimField) -> Self {
        let value = text(&claim.example);
        let kind = match claim.kind {
            ClaimKind::Text => "text",
            ClaimKind::Date => "date",
            ClaimKind::Number => "number",
            ClaimKind::Boolean => "boolean",
            ClaimKind::List => "list",
        };
        Self {
            name: name(claim),
            label: label(claim),
            kind,
            wide: kind == "list" || value.chars().count() > 40,
            value,
            mandatory: claim.mandatory,
        }
    }
}

/// A claim's name for people.
pub fn label(claim: &ClaimField) -> String {
    let any = claim
        .label
        .get("en")
        .or_else(|| claim.label.values().next());
    any.cloned().unwrap_or_else(|| claim.path.join(" "))
}

/// The claims as the form states them; what is left empty is left out.
pub(super) fn read(claims: &[ClaimField], form: &Form) -> Result<Map<String, Value>, Problem> {
    let mut read = Map::new();
    for claim in claims {
        let sent = form.one(&name(claim));
        let value = match (claim.kind, sent) {
            (ClaimKind::Boolean, sent) => Some(Value::Bool(sent == Some("true"))),
            (_, None) => None,
            (ClaimKind::Text | ClaimKind::Date, Some(text)) => Some(Value::String(text.to_owned())),
            (ClaimKind::Number, Some(text)) => {
                Some(number(text).ok_or_else(|| unreadable(claim, "a number"))?)
            }
            (ClaimKind::List, Some(text)) => {
                Some(list(text).ok_or_else(|| unreadable(claim, "a list"))?)
            }
        };
        if let Some(value) = value {
            put(&mut read, &claim.path, value);
        }
    }
    Ok(read)
}

fn name(claim: &ClaimField) -> String {
    format!("claim.{}", claim.path.join("/"))
}

/// Lists of texts stand one on a line; anything deeper stands as JSON.
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

fn unreadable(claim: &ClaimField, what: &str) -> Problem {
    Problem::bad_request(format!("“{}” is not {what}", label(claim)))
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
