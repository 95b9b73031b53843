//! A type's claims as form fields, and back. The claims within an object are fields of their own; those of an object
//! in a list are the fields of an entry.

pub mod application;

use selfsame_driver::{Error, Reason, Result};
use serde_json::{Map, Number, Value};

use crate::fill::{at, put};
use crate::model::{ClaimKind, TypeClaim, TypeDefinition, text_of};

/// Maximum number of list entries in a form.
const ENTRIES_MAX: usize = 50;
/// Number of empty entries after the filled ones.
const SPARE: usize = 2;

/// A form that was sent.
pub trait SentForm {
    /// The first value of a field, unless it is empty.
    fn one(&self, name: &str) -> Option<&str>;
}

/// A field of the form.
pub struct FormField {
    /// Its name in the form.
    pub name: String,
    /// Its label.
    pub label: String,
    /// A text that helps to fill it in.
    pub help: String,
    /// The kind of its claim.
    pub kind: &'static str,
    /// The value it shows.
    pub value: String,
    /// Whether it must be filled in.
    pub mandatory: bool,
    /// Whether it needs a whole line.
    pub wide: bool,
    /// The values of an enumeration.
    pub choices: Vec<FieldChoice>,
    /// The entries of a list, each with its own fields.
    pub entries: Vec<FieldEntry>,
}

/// A value to choose.
pub struct FieldChoice {
    /// The value it shows.
    pub value: String,
    /// Its label.
    pub label: String,
}

/// One entry of a list.
pub struct FieldEntry {
    /// Its number, counted from 1.
    pub number: usize,
    /// Whether it has a value.
    pub filled: bool,
    /// Its fields.
    pub fields: Vec<FormField>,
}

/// A claim with a field of its own, and where it is.
struct FormLeaf<'a> {
    claim: &'a TypeClaim,
    /// The names that lead to it from the claims of the form, or of the entry.
    path: Vec<String>,
    label: String,
    is_required: bool,
}

/// What the fields of a form show.
#[derive(Clone, Copy)]
pub enum FormContent<'a> {
    /// Nothing.
    Empty,
    /// The examples of the type.
    Examples,
    /// These claims.
    Claims(&'a Map<String, Value>),
    /// What was sent, right or wrong.
    Sent(&'a dyn SentForm),
}

/// The fields of a type, with this content.
///
/// # Errors
/// Those of [`TypeDefinition::fill`], which a checked type does not have.
pub fn of(one: &TypeDefinition, content: FormContent<'_>) -> Result<Vec<FormField>> {
    let examples = match content {
        FormContent::Examples => one.fill(&Map::new(), true)?,
        FormContent::Claims(claims) => claims.clone(),
        FormContent::Empty | FormContent::Sent(_) => Map::new(),
    };
    let filled = Filled {
        prefix: "claim.",
        values: &examples,
        sent: match content {
            FormContent::Sent(form) => Some(form),
            FormContent::Empty | FormContent::Examples | FormContent::Claims(_) => None,
        },
    };
    Ok(fields(&one.claims, &filled))
}

/// The name of the field in which a value at this place is typed, such as `doses[0].lot`: of the field itself, else of
/// the first one within it.
#[must_use]
pub fn name_at(place: &str, fields: &[FormField]) -> Option<String> {
    let name = format!("claim.{}", place.replace(['.', '['], "/").replace(']', ""));
    let within = format!("{name}/");
    let all = || fields.iter().flat_map(FormField::with_entries);
    let exact = all().find(|field| field.name == name);
    let found = exact.or_else(|| all().find(|field| field.name.starts_with(&within)));
    found.map(|field| field.name.clone())
}

impl FormField {
    /// This field, or those of its entries.
    fn with_entries(&self) -> Vec<&Self> {
        if self.entries.is_empty() {
            return vec![self];
        }
        let inner = self.entries.iter().flat_map(|entry| &entry.fields);
        inner.flat_map(Self::with_entries).collect()
    }
}

/// The values that fields show, and what their names begin with.
struct Filled<'a> {
    prefix: &'a str,
    values: &'a Map<String, Value>,
    /// What is shown instead of the values.
    sent: Option<&'a dyn SentForm>,
}

fn fields(claims: &[TypeClaim], filled: &Filled<'_>) -> Vec<FormField> {
    let field = |leaf: FormLeaf<'_>| {
        let value = at(filled.values, &leaf.path).unwrap_or(&Value::Null);
        let name = format!("{}{}", filled.prefix, leaf.path.join("/"));
        let value = FieldValue {
            value,
            sent: filled.sent,
        };
        field(&leaf, name, &value)
    };
    leaves(claims).into_iter().map(field).collect()
}

/// The value of a field, or the form from which it is taken.
struct FieldValue<'a> {
    value: &'a Value,
    sent: Option<&'a dyn SentForm>,
}

fn field(leaf: &FormLeaf<'_>, name: String, value: &FieldValue<'_>) -> FormField {
    let claim = leaf.claim;
    let shown = match value.sent {
        Some(form) => form.one(&name).unwrap_or_default().to_owned(),
        None => text(value.value),
    };
    let is_wide = matches!(claim.kind, ClaimKind::List | ClaimKind::Image);
    let choices = claim.values.iter().map(|choice| FieldChoice {
        value: choice.value.clone(),
        label: match text_of(&choice.label) {
            "" => choice.value.clone(),
            label => label.to_owned(),
        },
    });
    FormField {
        label: leaf.label.clone(),
        help: text_of(&claim.help).to_owned(),
        kind: claim.kind.as_str(),
        wide: is_wide || shown.chars().count() > 28,
        mandatory: leaf.is_required,
        choices: choices.collect(),
        entries: entries(claim, &name, value),
        value: shown,
        name,
    }
}

/// The entries that have a value, and a few empty ones.
fn entries(claim: &TypeClaim, name: &str, value: &FieldValue<'_>) -> Vec<FieldEntry> {
    let Some(of) = element(claim) else {
        return Vec::new();
    };
    let examples = value.value.as_array().map_or(&[][..], Vec::as_slice);
    let many = match value.sent {
        Some(form) => entries_sent(of, name, form),
        None => examples.len(),
    };
    let empty = Map::new();
    let entry = |number: usize| {
        let example = examples.get(number).and_then(Value::as_object);
        let filled = Filled {
            prefix: &format!("{name}/{number}/"),
            values: example.unwrap_or(&empty),
            sent: value.sent,
        };
        let mut fields = fields(&of.claims, &filled);
        // An entry can stay empty.
        fields.iter_mut().for_each(|field| field.mandatory = false);
        FieldEntry {
            number: number + 1,
            filled: number < many,
            fields,
        }
    };
    (0..many + SPARE).map(entry).collect()
}

/// How many entries were sent, up to the last one that has a value.
fn entries_sent(of: &TypeClaim, name: &str, form: &dyn SentForm) -> usize {
    let is_filled = |number: &usize| {
        leaves(&of.claims).iter().any(|leaf| {
            let field = format!("{name}/{number}/{}", leaf.path.join("/"));
            form.one(&field).is_some()
        })
    };
    let last = (0..ENTRIES_MAX).rev().find(is_filled);
    last.map_or(0, |last| last.saturating_add(1))
}

/// The element of a list of objects.
fn element(claim: &TypeClaim) -> Option<&TypeClaim> {
    claim
        .of
        .as_deref()
        .filter(|of| of.kind == ClaimKind::Object)
}

/// The claims that have a field of their own.
fn leaves(claims: &[TypeClaim]) -> Vec<FormLeaf<'_>> {
    claims.iter().flat_map(leaves_of).collect()
}

fn leaves_of(claim: &TypeClaim) -> Vec<FormLeaf<'_>> {
    if claim.derived.is_some() {
        return Vec::new();
    }
    if claim.kind != ClaimKind::Object {
        return vec![FormLeaf {
            claim,
            path: claim.path.clone(),
            label: claim.name(),
            is_required: claim.required,
        }];
    }
    let inner = leaves(&claim.claims).into_iter();
    let below = inner.map(|leaf| FormLeaf {
        claim: leaf.claim,
        path: claim.path.iter().chain(&leaf.path).cloned().collect(),
        label: format!("{} · {}", claim.name(), leaf.label),
        is_required: claim.required && leaf.is_required,
    });
    below.collect()
}

/// The claims in the form; empty fields are left out.
///
/// # Errors
/// `BadRequest` for a field that is not of its kind.
pub fn read(claims: &[TypeClaim], form: &dyn SentForm) -> Result<Map<String, Value>> {
    let mut read = Map::new();
    for claim in claims {
        let sent = sent(leaves_of(claim), "claim.", form)?;
        // Check boxes alone do not make an object that need not be there.
        if sent.is_filled || claim.required || claim.kind != ClaimKind::Object {
            for (path, value) in sent.values {
                put(&mut read, &path, value);
            }
        }
    }
    Ok(read)
}

/// The values of some fields.
struct FormSent {
    values: Vec<(Vec<String>, Value)>,
    /// Whether anything besides check boxes was filled in.
    is_filled: bool,
}

fn sent(leaves: Vec<FormLeaf<'_>>, prefix: &str, form: &dyn SentForm) -> Result<FormSent> {
    let mut sent = FormSent {
        values: Vec::new(),
        is_filled: false,
    };
    for leaf in leaves {
        let name = format!("{prefix}{}", leaf.path.join("/"));
        let value = match element(leaf.claim) {
            Some(of) => stated(of, &name, form)?,
            None => {
                let wrong = |kind| unreadable(&leaf.label, kind);
                typed(leaf.claim.kind, form.one(&name)).map_err(wrong)?
            }
        };
        let is_box = leaf.claim.kind == ClaimKind::Boolean;
        sent.is_filled |= value.is_some() && (!is_box || form.one(&name).is_some());
        sent.values.extend(value.map(|value| (leaf.path, value)));
    }
    Ok(sent)
}

/// The non-empty entries of a list of objects.
fn stated(of: &TypeClaim, name: &str, form: &dyn SentForm) -> Result<Option<Value>> {
    let mut entries = Vec::new();
    for number in 0..ENTRIES_MAX {
        let sent = sent(leaves(&of.claims), &format!("{name}/{number}/"), form)?;
        let is_filled = sent.values.iter().any(|(_, value)| !value.is_boolean());
        let mut entry = Map::new();
        for (path, value) in sent.values {
            put(&mut entry, &path, value);
        }
        if is_filled {
            entries.push(Value::Object(entry));
        }
    }
    Ok((!entries.is_empty()).then_some(Value::Array(entries)))
}

/// A typed text as a value of its kind, or an error that names the kind.
fn typed(kind: ClaimKind, sent: Option<&str>) -> std::result::Result<Option<Value>, Reason> {
    match (kind, sent) {
        (ClaimKind::Boolean, sent) => Ok(Some(Value::Bool(sent == Some("true")))),
        (_, None) => Ok(None),
        (ClaimKind::Number, Some(text)) => number(text).map(Some).ok_or_else(|| kind.expected()),
        (ClaimKind::List, Some(text)) => list(text).map(Some).ok_or_else(|| kind.expected()),
        (_, Some(text)) => Ok(Some(Value::String(text.to_owned()))),
    }
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

fn unreadable(label: &str, kind: Reason) -> Error {
    Error::bad_request("field-of-other-kind")
        .with("label", label)
        .with_reason("kind", kind)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::TypeSet;
    use serde_json::json;

    struct Typed(BTreeMap<&'static str, &'static str>);

    impl SentForm for Typed {
        fn one(&self, name: &str) -> Option<&str> {
            self.0.get(name).copied()
        }
    }

    /// The values of all fields of the sample `immunization`, by their names.
    fn shown(content: FormContent<'_>) -> BTreeMap<String, String> {
        let types = TypeSet::of_samples("urn:x:");
        let fields = of(types.find("immunization").unwrap(), content).unwrap();
        let all = fields.iter().flat_map(FormField::with_entries);
        all.map(|field| (field.name.clone(), field.value.clone()))
            .filter(|(_, value)| !value.is_empty())
            .collect()
    }

    #[test]
    fn a_form_is_empty_or_has_the_examples_or_what_was_typed() {
        assert!(shown(FormContent::Empty).is_empty());
        let examples = shown(FormContent::Examples);
        assert_eq!(examples["claim.patient/family_name"], "Musterfrau");
        let typed = [
            ("claim.patient/birth_date", "nonsense"),
            ("claim.doses/1/lot", "X"),
        ];
        let again = shown(FormContent::Sent(&Typed(typed.into())));
        let expected = typed.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(again, expected.into());
    }

    #[test]
    fn a_place_in_the_claims_has_its_field() {
        let types = TypeSet::of_samples("urn:x:");
        let fields = of(types.find("immunization").unwrap(), FormContent::Empty).unwrap();
        let name = |place| name_at(place, &fields);
        assert_eq!(
            name("patient.birth_date").as_deref(),
            Some("claim.patient/birth_date")
        );
        assert_eq!(name("doses[1].lot").as_deref(), Some("claim.doses/1/lot"));
        assert!(name("patient").is_some_and(|name| name.starts_with("claim.patient/")));
        assert_eq!(name("nothing"), None);
    }

    #[test]
    fn lists_read_back_as_they_were_shown() {
        let texts = json!(["one", "two"]);
        assert_eq!(list(&text(&texts)), Some(texts));
        let objects = json!([{"a": 1}, {"b": [2]}]);
        assert_eq!(list(&text(&objects)), Some(objects));
        assert_eq!(list("[1,"), None);
    }

    #[test]
    fn numbers_keep_their_kind() {
        assert_eq!(number("3"), Some(json!(3)));
        assert_eq!(number("3.5"), Some(json!(3.5)));
        assert_eq!(number("NaN"), None);
    }
}
