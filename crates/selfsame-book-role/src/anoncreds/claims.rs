//! The attributes of an AnonCreds credential as claims of a type, and the claims as attributes.

use std::collections::BTreeMap;

use selfsame_book::BookMapping;
use selfsame_book::mapping::put_at;
use selfsame_types::model::{ClaimKind, TypeClaim};
use selfsame_types::{CredentialType, TypeDefinition};
use serde_json::{Map, Value};

/// The claims that a mapping names, from the attributes of a credential.
pub(super) fn of(one: &CredentialType, attrs: &BTreeMap<String, String>) -> Map<String, Value> {
    let mut claims = Map::new();
    let Some(mapping) = one.book.as_ref() else {
        return claims;
    };
    for (_, path) in mapping.claims() {
        let raw = attribute_of(attrs, path).map(|(_, raw)| raw);
        if let Some(value) = raw.and_then(|raw| value(kind_of(&one.definition, path), raw)) {
            put_at(&mut claims, path, &value);
        }
    }
    claims
}

/// The names of the attributes of a credential that a mapping names, each once.
pub(super) fn shown(mapping: &BookMapping, attrs: &BTreeMap<String, String>) -> Vec<String> {
    let claims = mapping.claims();
    let found = claims
        .iter()
        .filter_map(|(_, path)| Some(attribute_of(attrs, path)?.0.clone()));
    let mut names: Vec<String> = found.collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Whether a mapping names the claim of this attribute.
pub(super) fn is_shown(mapping: &BookMapping, name: &str) -> bool {
    let name = normal(name);
    let mut claims = mapping.claims().into_iter();
    claims.any(|(_, path)| normal(&path.join(".")) == name)
}

/// The attribute of a claim: the names on the way to it, joined by dots.
fn attribute_of<'a>(
    attrs: &'a BTreeMap<String, String>,
    path: &[String],
) -> Option<(&'a String, &'a String)> {
    let wanted = normal(&path.join("."));
    attrs.iter().find(|(name, _)| normal(name) == wanted)
}

/// An attribute's name without what does not tell it from others (AnonCreds v1.0, "Attribute names").
fn normal(name: &str) -> String {
    name.replace(' ', "").to_lowercase()
}

fn kind_of(definition: &TypeDefinition, path: &[String]) -> ClaimKind {
    within(&definition.claims, path).map_or(ClaimKind::Text, |claim| claim.kind)
}

fn within<'a>(claims: &'a [TypeClaim], path: &[String]) -> Option<&'a TypeClaim> {
    claims.iter().find_map(|claim| {
        let rest = path.strip_prefix(claim.path.as_slice())?;
        match (rest, claim.path.as_slice()) {
            (_, []) => None,
            ([], _) => Some(claim),
            (rest, _) => within(&claim.claims, rest),
        }
    })
}

/// The value of a claim of this kind; `None` for the empty text of a claim that the credential does not have.
fn value(kind: ClaimKind, raw: &str) -> Option<Value> {
    if raw.is_empty() {
        return None;
    }
    let text = || Value::String(raw.to_owned());
    Some(match kind {
        ClaimKind::Date => date(raw).map_or_else(text, Value::String),
        ClaimKind::Boolean => match raw {
            "1" | "true" => Value::Bool(true),
            "0" | "false" => Value::Bool(false),
            _ => text(),
        },
        ClaimKind::Number => match serde_json::from_str(raw) {
            Ok(number @ Value::Number(_)) => number,
            _ => text(),
        },
        _ => text(),
    })
}

/// A date that was written as a whole number, so that predicates can compare it (RFC 0441, "Dates and Predicates").
fn date(raw: &str) -> Option<String> {
    if raw.len() != 8 || !raw.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part = |from: usize, to: usize| raw.get(from..to).unwrap_or_default();
    Some([part(0, 4), part(4, 6), part(6, 8)].join("-"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_get_the_form_of_their_claim_and_stay_texts_if_they_have_another() {
        for (kind, raw, expected) in [
            (ClaimKind::Date, "20260323", json!("2026-03-23")),
            (ClaimKind::Date, "2026-03-23", json!("2026-03-23")),
            (ClaimKind::Date, "soon", json!("soon")),
            (ClaimKind::Boolean, "1", json!(true)),
            (ClaimKind::Boolean, "false", json!(false)),
            (ClaimKind::Boolean, "yes", json!("yes")),
            (ClaimKind::Number, "12", json!(12)),
            (ClaimKind::Number, "1e999", json!("1e999")),
            (ClaimKind::Number, "[1]", json!("[1]")),
            (ClaimKind::Text, "12", json!("12")),
        ] {
            assert_eq!(value(kind, raw), Some(expected), "{kind:?} {raw}");
        }
        assert_eq!(value(ClaimKind::Text, ""), None);
    }

    #[test]
    fn an_attribute_is_shown_if_the_mapping_names_its_claim_however_it_is_written() {
        let mapping: BookMapping = serde_json::from_value(json!({
            "topic": {"type": "registration", "source_id": ["Number"]},
            "names": [{"type": "entity_name", "claim": ["entity", "Legal Name"]}],
        }))
        .unwrap();
        for name in ["number", "NUMBER", "entity.legalname", "Entity.Legal Name"] {
            assert!(is_shown(&mapping, name), "{name}");
        }
        for name in ["", "entity", "legalname", "director", "numbers"] {
            assert!(!is_shown(&mapping, name), "{name}");
        }
        let attrs = ["director", "entity.legal name", "number"];
        let attrs = attrs.map(|name| (name.to_owned(), "x".to_owned()));
        let attrs = BTreeMap::from(attrs);
        assert_eq!(shown(&mapping, &attrs), ["entity.legal name", "number"]);
    }
}
