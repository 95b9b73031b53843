//! The attributes of an AnonCreds schema (AnonCreds specification, "Schema Publisher: Publish Schema Object"), and what the
//! claims of a credential are as their values.

use std::collections::BTreeSet;

use selfsame_credential::single_use::HANDLE;
use selfsame_driver::Reason;
use serde_json::{Map, Value};

use crate::fill::at;
use crate::model::{ClaimKind, TypeClaim, TypeDefinition};

/// Maximum number of attributes of a schema.
const ATTRIBUTES_MAX: usize = 125;
/// The attribute of the holder's link secret, which every credential has.
const LINK_SECRET: &str = "master_secret";

/// An attribute: a claim that is not an object.
struct Attribute<'a> {
    /// The names on the way to the claim.
    path: Vec<String>,
    /// These names, joined by dots.
    name: String,
    /// The place of the claim in the definition.
    place: String,
    claim: &'a TypeClaim,
}

/// The names of the attributes: one for each claim in the credential that is not an object, the names on the way to it
/// joined by dots. A credential that can be used once has a handle beside them, which the agent draws.
#[must_use]
pub fn attributes(definition: &TypeDefinition) -> Vec<String> {
    let all = of_claims(&definition.claims, &[], "").into_iter();
    let names = all.map(|attribute| attribute.name);
    let handle = definition.single_use.then(|| HANDLE.to_owned());
    names.chain(handle).collect()
}

/// An attribute of a credential with its value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TypeAttribute {
    /// Its name.
    pub name: String,
    /// Its value, before it is encoded.
    pub value: String,
}

/// The claims of a credential as the values of the attributes, without the handle of single use. The text of a claim that
/// the credential does not have is empty.
#[must_use]
pub fn attribute_values(
    definition: &TypeDefinition,
    claims: &Map<String, Value>,
) -> Vec<TypeAttribute> {
    let value = |attribute: Attribute<'_>| TypeAttribute {
        value: match at(claims, &attribute.path) {
            Some(value) => text(attribute.claim, value),
            None => String::new(),
        },
        name: attribute.name,
    };
    let all = of_claims(&definition.claims, &[], "").into_iter();
    all.map(value).collect()
}

/// A value as a text. Dates and booleans are whole numbers, so that predicates can compare them (RFC 0441, "Dates and
/// Predicates").
fn text(claim: &TypeClaim, value: &Value) -> String {
    match value {
        Value::Bool(is_so) => u8::from(*is_so).to_string(),
        Value::String(date) if claim.kind == ClaimKind::Date => date.replace('-', ""),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// What AnonCreds can't carry of a type, each with its place.
pub(crate) fn refusals(definition: &TypeDefinition) -> Vec<Reason> {
    let all = of_claims(&definition.claims, &[], "");
    let mut refused = Vec::new();
    if all.is_empty() {
        refused.push(Reason::new("anoncreds-none").with("place", "claims"));
    }
    if all.len() + usize::from(definition.single_use) > ATTRIBUTES_MAX {
        let many = Reason::new("anoncreds-attributes")
            .with("place", "claims")
            .with("maximum", &ATTRIBUTES_MAX);
        refused.push(many);
    }
    let mut seen = BTreeSet::new();
    for Attribute {
        name, place, claim, ..
    } in &all
    {
        if claim.kind == ClaimKind::Image {
            let kind = Reason::new("anoncreds-kind")
                .with("place", &format!("{place}.kind"))
                .with("kind", claim.kind.as_str());
            refused.push(kind);
        }
        let place = format!("{place}.path");
        let normal = name.to_lowercase();
        if [LINK_SECRET, HANDLE].contains(&normal.as_str()) {
            let reserved = Reason::new("type-claim-reserved")
                .with("place", &place)
                .with("name", name);
            refused.push(reserved);
        }
        if !seen.insert(normal) {
            let twice = Reason::new("anoncreds-name")
                .with("place", &place)
                .with("claim", name);
            refused.push(twice);
        }
    }
    refused
}

/// The attributes of claims beside each other; `before` are the names on the way to what contains them, and `place` is its
/// place, with a dot.
fn of_claims<'a>(claims: &'a [TypeClaim], before: &[String], place: &str) -> Vec<Attribute<'a>> {
    let mut all = Vec::new();
    for (number, claim) in claims.iter().enumerate() {
        if !claim.is_in_credential() {
            continue;
        }
        let path = [before, &claim.path].concat();
        let place = format!("{place}claims[{number}]");
        match claim.kind {
            ClaimKind::Object => {
                all.extend(of_claims(&claim.claims, &path, &format!("{place}.")));
            }
            _ => all.push(Attribute {
                name: path.join("."),
                path,
                place,
                claim,
            }),
        }
    }
    all
}
