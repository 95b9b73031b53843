//! Checks of claims, at any depth.

use selfsame_driver::Reason;

use super::{Checked, many, names};
use crate::fill::pattern;
use crate::formats::TypeFormats;
use crate::model::{ClaimKind, Disclosed, TypeClaim, TypeDefinition};

/// Maximum number of names on the way to a claim.
const DEPTH_MAX: usize = 8;
/// Maximum number of claims, those within others included.
const CLAIMS_MAX: usize = 200;
/// Maximum number of values of an enumeration.
const VALUES_MAX: usize = 500;
/// Maximum number of bytes of a pattern.
const PATTERN_MAX: usize = 500;
/// Greatest number that every reader of JSON keeps exactly (RFC 8259 §6).
const NUMBER_MAX: f64 = 9_007_199_254_740_991.0;

pub(super) fn check(definition: &TypeDefinition, found: &mut Checked) {
    if definition.claims.is_empty() {
        found.refuse(Reason::new("type-claims-none").with("place", "claims"));
    }
    if count(&definition.claims) > CLAIMS_MAX {
        found.refuse(many("claims", CLAIMS_MAX));
        return;
    }
    let top = Siblings {
        formats: &definition.formats,
        place: String::new(),
        depth: 0,
    };
    top.check(&definition.claims, found);
    check_derived(definition, found);
}

/// Checks what claims are derived from: so that each value of the other claim has its answer, that one is an enumeration.
fn check_derived(definition: &TypeDefinition, found: &mut Checked) {
    for (number, claim) in definition.claims.iter().enumerate() {
        let Some(derived) = &claim.derived else {
            continue;
        };
        let place = format!("claims[{number}].derived");
        let from = definition.claim(&derived.from);
        let Some(from) = from.filter(|from| from.kind == ClaimKind::Enumeration) else {
            let place = format!("{place}.from");
            found.refuse(Reason::new("type-derived-from").with("place", &place));
            continue;
        };
        let is_known = |value: &String| from.values.iter().any(|known| known.value == *value);
        if derived.values.is_empty() || !derived.values.iter().all(is_known) {
            let place = format!("{place}.values");
            let other = from.path.join(".");
            found.refuse(
                Reason::new("type-derived-values")
                    .with("place", &place)
                    .with("claim", &other),
            );
        }
    }
}

fn count(claims: &[TypeClaim]) -> usize {
    let below = |claim: &TypeClaim| {
        let of = claim
            .of
            .as_deref()
            .map_or(0, |of| count(std::slice::from_ref(of)));
        1 + of + count(&claim.claims)
    };
    claims.iter().map(below).sum()
}

/// The claims beside each other: those of the type, or those of one object.
struct Siblings<'a> {
    formats: &'a TypeFormats,
    /// The place of what contains them, with a dot; empty for the type.
    place: String,
    /// The number of names on the way to them.
    depth: usize,
}

impl Siblings<'_> {
    fn check(&self, claims: &[TypeClaim], found: &mut Checked) {
        for (number, claim) in claims.iter().enumerate() {
            let place = format!("{}claims[{number}]", self.place);
            self.check_path(claim, &place, found);
            let earlier = claims.iter().take(number);
            let collides = |other: &&TypeClaim| {
                !claim.path.is_empty() && claim.path.iter().zip(&other.path).all(|(a, b)| a == b)
            };
            if let Some(other) = earlier.into_iter().find(collides) {
                found.refuse(
                    Reason::new("type-claim-collides")
                        .with("place", &format!("{place}.path"))
                        .with("other", &other.path.join(".")),
                );
            }
            if self.depth > 0 && claim.disclosed == Some(Disclosed::Never) {
                found.refuse(
                    Reason::new("type-never-within").with("place", &format!("{place}.disclosed")),
                );
            }
            if self.depth > 0 && claim.derived.is_some() {
                found.refuse(
                    Reason::new("type-derived-within").with("place", &format!("{place}.derived")),
                );
            }
            let inner = Siblings {
                formats: self.formats,
                place: format!("{place}."),
                depth: self.depth + claim.path.len(),
            };
            inner.check_claim(claim, &place, found);
        }
    }

    fn check_path(&self, claim: &TypeClaim, place: &str, found: &mut Checked) {
        let place = format!("{place}.path");
        if claim.path.is_empty() || !claim.path.iter().all(|name| names::is_name(name)) {
            found.refuse(Reason::new("type-claim-name").with("place", &place));
            return;
        }
        if self.depth + claim.path.len() > DEPTH_MAX {
            found.refuse(
                Reason::new("type-claim-deep")
                    .with("place", &place)
                    .with("maximum", &DEPTH_MAX),
            );
        }
        for (number, name) in claim.path.iter().enumerate() {
            let is_top = self.depth + number == 0;
            if names::is_reserved(name, is_top, self.formats) {
                found.refuse(
                    Reason::new("type-claim-reserved")
                        .with("place", &place)
                        .with("name", name),
                );
            }
        }
    }

    /// Checks what a claim, or an element, is. `self` is what it contains.
    fn check_claim(&self, claim: &TypeClaim, place: &str, found: &mut Checked) {
        found.labels(&claim.label, &format!("{place}.label"));
        found.labels(&claim.help, &format!("{place}.help"));
        let before = found.refusals.len();
        check_members(claim, place, found);
        self.check_inner(claim, place, found);
        if found.refusals.len() > before {
            return;
        }
        let example = format!("{place}.example");
        if let Err(error) = claim.check(&claim.sample(), &example) {
            found.refuse(
                Reason::new("type-example")
                    .with("place", &example)
                    .because(error.reason),
            );
        }
    }

    fn check_inner(&self, claim: &TypeClaim, place: &str, found: &mut Checked) {
        if claim.kind == ClaimKind::Object {
            if claim.claims.is_empty() {
                found.refuse(
                    Reason::new("type-claims-none").with("place", &format!("{place}.claims")),
                );
            }
            self.check(&claim.claims, found);
        }
        let Some(of) = claim
            .of
            .as_deref()
            .filter(|_| claim.kind == ClaimKind::List)
        else {
            return;
        };
        let place = format!("{place}.of");
        let is_kept = of.disclosed == Some(Disclosed::Never);
        if !of.path.is_empty() || of.required || is_kept || of.derived.is_some() {
            found.refuse(Reason::new("type-element").with("place", &place));
        }
        let inner = Siblings {
            formats: self.formats,
            place: format!("{place}."),
            depth: self.depth + 1,
        };
        if inner.depth > DEPTH_MAX {
            found.refuse(
                Reason::new("type-claim-deep")
                    .with("place", &place)
                    .with("maximum", &DEPTH_MAX),
            );
            return;
        }
        inner.check_claim(of, &place, found);
    }
}

/// Checks the members that belong to a kind, and that no other kind has them.
fn check_members(claim: &TypeClaim, place: &str, found: &mut Checked) {
    let kind = claim.kind;
    let members = [
        ("max_length", claim.max_length.is_some(), ClaimKind::Text),
        ("pattern", claim.pattern.is_some(), ClaimKind::Text),
        ("min", claim.min.is_some(), ClaimKind::Number),
        ("max", claim.max.is_some(), ClaimKind::Number),
        ("integer", claim.integer, ClaimKind::Number),
        ("values", !claim.values.is_empty(), ClaimKind::Enumeration),
        ("claims", !claim.claims.is_empty(), ClaimKind::Object),
        ("of", claim.of.is_some(), ClaimKind::List),
        ("derived", claim.derived.is_some(), ClaimKind::Boolean),
    ];
    for (member, _, owner) in members
        .into_iter()
        .filter(|(_, is_there, owner)| *is_there && *owner != kind)
    {
        found.refuse(
            Reason::new("type-member")
                .with("place", &format!("{place}.{member}"))
                .with("kind", owner.as_str()),
        );
    }
    if claim
        .max_length
        .is_some_and(|most| !(1..=100_000).contains(&most))
    {
        found.refuse(Reason::new("type-max-length").with("place", &format!("{place}.max_length")));
    }
    if let Some(text) = &claim.pattern
        && (text.len() > PATTERN_MAX || pattern(text).is_none())
    {
        found.refuse(Reason::new("type-pattern").with("place", &format!("{place}.pattern")));
    }
    check_range(claim, place, found);
    if kind == ClaimKind::Enumeration {
        check_values(claim, place, found);
    }
    if kind == ClaimKind::List && claim.of.is_none() {
        found.refuse(Reason::new("type-element-missing").with("place", &format!("{place}.of")));
    }
}

fn check_range(claim: &TypeClaim, place: &str, found: &mut Checked) {
    let is_exact = |bound: f64| bound.is_finite() && bound.abs() <= NUMBER_MAX;
    let is_outside = [claim.min, claim.max]
        .into_iter()
        .flatten()
        .any(|bound| !is_exact(bound));
    let least = claim.min.unwrap_or(-NUMBER_MAX);
    let most = claim.max.unwrap_or(NUMBER_MAX);
    let is_empty = match claim.integer {
        true => least.ceil() > most.floor(),
        false => least > most,
    };
    if is_outside || is_empty {
        found.refuse(Reason::new("type-range").with("place", &format!("{place}.min")));
    }
}

fn check_values(claim: &TypeClaim, place: &str, found: &mut Checked) {
    let place = format!("{place}.values");
    if claim.values.is_empty() {
        found.refuse(Reason::new("type-values-none").with("place", &place));
    }
    if claim.values.len() > VALUES_MAX {
        found.refuse(many(&place, VALUES_MAX));
        return;
    }
    let mut seen = std::collections::BTreeSet::new();
    for (number, choice) in claim.values.iter().enumerate() {
        let place = format!("{place}[{number}]");
        found.text(&choice.value, &format!("{place}.value"));
        found.labels(&choice.label, &format!("{place}.label"));
        if !seen.insert(&choice.value) {
            found.refuse(Reason::new("type-value-twice").with("place", &place));
        }
    }
}
