//! The attributes of an AnonCreds schema (AnonCreds specification, "Schema Publisher: Publish Schema Object").

use std::collections::BTreeSet;

use selfsame_driver::Reason;

use crate::model::{ClaimKind, TypeClaim, TypeDefinition};

/// Maximum number of attributes of a schema.
const ATTRIBUTES_MAX: usize = 125;
/// The attribute of the holder's link secret, which every credential has.
const LINK_SECRET: &str = "master_secret";

/// An attribute: a claim that is not an object.
struct Attribute<'a> {
    /// The names on the way to the claim, joined by dots.
    name: String,
    /// The place of the claim in the definition.
    place: String,
    claim: &'a TypeClaim,
}

/// The names of the attributes: one for each claim in the credential that is not an object, the names on the way to it
/// joined by dots.
#[must_use]
pub fn attributes(definition: &TypeDefinition) -> Vec<String> {
    let all = of_claims(&definition.claims, "", "").into_iter();
    all.map(|attribute| attribute.name).collect()
}

/// What AnonCreds can't carry of a type, each with its place.
pub(crate) fn refusals(definition: &TypeDefinition) -> Vec<Reason> {
    let all = of_claims(&definition.claims, "", "");
    let mut refused = Vec::new();
    if all.is_empty() {
        refused.push(Reason::new("anoncreds-none").with("place", "claims"));
    }
    if all.len() > ATTRIBUTES_MAX {
        let many = Reason::new("anoncreds-attributes")
            .with("place", "claims")
            .with("maximum", &ATTRIBUTES_MAX);
        refused.push(many);
    }
    let mut seen = BTreeSet::new();
    for Attribute { name, place, claim } in &all {
        if matches!(claim.kind, ClaimKind::List | ClaimKind::Image) {
            let kind = Reason::new("anoncreds-kind")
                .with("place", &format!("{place}.kind"))
                .with("kind", claim.kind.as_str());
            refused.push(kind);
        }
        let place = format!("{place}.path");
        let normal = name.to_lowercase();
        if normal == LINK_SECRET {
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

/// The attributes of claims beside each other; `before` and `place` are those of what contains them, each with a dot.
fn of_claims<'a>(claims: &'a [TypeClaim], before: &str, place: &str) -> Vec<Attribute<'a>> {
    let mut all = Vec::new();
    for (number, claim) in claims.iter().enumerate() {
        if !claim.is_in_credential() {
            continue;
        }
        let name = format!("{before}{}", claim.path.join("."));
        let place = format!("{place}claims[{number}]");
        match claim.kind {
            ClaimKind::Object => {
                all.extend(of_claims(
                    &claim.claims,
                    &format!("{name}."),
                    &format!("{place}."),
                ));
            }
            _ => all.push(Attribute { name, place, claim }),
        }
    }
    all
}
