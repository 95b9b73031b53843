//! Checks of what a new credential needs, so far as the file of its type alone shows it.

use selfsame_driver::Reason;
use selfsame_prerequisites::check::{Flaw, FlawKind, check as flaws};
use selfsame_prerequisites::{Fill, Helper};
use serde_json::Value;

use super::Checked;
use crate::asked::check::is_issuer;
use crate::model::{TypeClaim, TypeDefinition};

pub(super) fn check(definition: &TypeDefinition, found: &mut Checked) {
    let Some(declared) = definition.prerequisites.as_deref() else {
        return;
    };
    // AnonCreds are issued by agents, which ask for no proof.
    if definition.formats.anoncreds || definition.formats.offered().next().is_none() {
        found.refuse(Reason::new("prerequisite-format"));
    }
    let flawed = flaws(declared, &[], None);
    flawed.iter().for_each(|flaw| found.refuse(refusal(flaw)));
    for (number, need) in declared.needs.iter().enumerate() {
        if !need.issuers.iter().all(|issuer| is_issuer(issuer)) {
            let place = format!("prerequisites.needs[{number}].issuers");
            found.refuse(Reason::new("saved-issuer").with("place", &place));
        }
    }
    for (number, fill) in declared.fills.iter().enumerate() {
        let place = format!("prerequisites.fills[{number}]");
        match definition.claim(&fill.claim) {
            Some(claim) if claim.derived.is_none() => check_fill(claim, fill, &place, found),
            _ => {
                let place = format!("{place}.claim");
                found.refuse(Reason::new("prerequisite-fill").with("place", &place));
            }
        }
    }
}

/// Checks that a value which is known by now fits the claim.
fn check_fill(claim: &TypeClaim, fill: &Fill, place: &str, found: &mut Checked) {
    let value = match fill.helper {
        Some(Helper::Today | Helper::EndOfValidity) => Some(Value::from("2026-01-31")),
        Some(Helper::Identifier) => Some(Value::from("0123456789abcdef")),
        None => fill.literal.clone(),
    };
    let misfit = value.and_then(|value| claim.check(&value, &claim.path.join(".")).err());
    if let Some(misfit) = misfit {
        found.refuse(
            Reason::new("prerequisite-value")
                .with("place", place)
                .because(misfit.reason),
        );
    }
}

/// A flaw of a declaration, in words.
pub(crate) fn refusal(flaw: &Flaw) -> Reason {
    let place = format!("prerequisites.{}", flaw.place);
    match flaw.kind {
        FlawKind::Entries => Reason::new("prerequisite-entries").with("place", &place),
        FlawKind::Text => Reason::new("prerequisite-text").with("place", &place),
        FlawKind::Bounds => Reason::new("prerequisite-bounds").with("place", &place),
        FlawKind::Twice => Reason::new("prerequisite-twice").with("place", &place),
        FlawKind::Unknown => Reason::new("prerequisite-unknown").with("place", &place),
        FlawKind::Choice => Reason::new("prerequisite-choice").with("place", &place),
        FlawKind::Never => Reason::new("prerequisite-never").with("place", &place),
        FlawKind::Unused => Reason::new("prerequisite-unused").with("place", &place),
    }
}
