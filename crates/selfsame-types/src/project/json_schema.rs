//! JSON Schema 2020-12 of a W3C credential of a type (Verifiable Credentials JSON Schema Specification).

use serde_json::{Map, Value, json};

use super::branch::{Branch, members};
use crate::model::{Addresses, ClaimKind, CredentialType, TypeClaim};

/// The schema.
pub(super) fn document(one: &CredentialType, addresses: &Addresses) -> Value {
    let claims = one.claims.iter().filter(|claim| claim.is_in_credential());
    let subject = object(Branch::all(claims));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": addresses.schema(),
        "title": one.name(),
        "description": one.summary(),
        "type": "object",
        "required": ["credentialSubject"],
        "properties": {"credentialSubject": subject},
    })
}

/// The schema of an object with these claims.
fn object(branches: Vec<Branch<'_>>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, branches) in members(branches) {
        if branches.iter().any(|branch| branch.claim.required) {
            required.push(Value::from(name));
        }
        let schema = match Branch::only(&branches) {
            Some(claim) => value(claim),
            None => object(branches),
        };
        properties.insert(name.to_owned(), schema);
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if let Some(members) = schema.as_object_mut()
        && !required.is_empty()
    {
        members.insert("required".to_owned(), required.into());
    }
    schema
}

/// The schema of a claim's value.
fn value(claim: &TypeClaim) -> Value {
    let mut schema = match claim.kind {
        ClaimKind::Text => json!({"type": "string"}),
        ClaimKind::Number if claim.integer => json!({"type": "integer"}),
        ClaimKind::Number => json!({"type": "number"}),
        ClaimKind::Date => json!({"type": "string", "format": "date"}),
        ClaimKind::Boolean => json!({"type": "boolean"}),
        ClaimKind::Image => json!({"type": "string", "pattern": "^data:image/"}),
        ClaimKind::Enumeration => {
            let values: Vec<&str> = claim
                .values
                .iter()
                .map(|choice| choice.value.as_str())
                .collect();
            json!({"enum": values})
        }
        ClaimKind::Object => object(Branch::all(&claim.claims)),
        ClaimKind::List => match &claim.of {
            Some(of) => json!({"type": "array", "items": value(of)}),
            None => json!({"type": "array"}),
        },
    };
    let pattern = claim
        .pattern
        .as_ref()
        .map(|pattern| format!("^(?:{pattern})$"));
    let members = [
        (
            "title",
            (!claim.label.is_empty()).then(|| claim.name().into()),
        ),
        ("maxLength", claim.max_length.map(Value::from)),
        ("pattern", pattern.map(Value::from)),
        ("minimum", claim.min.map(Value::from)),
        ("maximum", claim.max.map(Value::from)),
    ];
    if let Some(all) = schema.as_object_mut() {
        for (name, member) in members {
            if let Some(member) = member {
                all.insert(name.to_owned(), member);
            }
        }
    }
    schema
}
