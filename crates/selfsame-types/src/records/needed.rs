//! Checks of what a new credential needs that look at the organisation's other types.

use std::collections::BTreeSet;

use selfsame_credential::path::Segment;
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_prerequisites::check::check;
use selfsame_prerequisites::path::Graph;
use selfsame_prerequisites::{KnownClaim, Prerequisite, Prerequisites};

use super::set::TypeSet;
use crate::check::prerequisites::refusal;
use crate::model::TypeDefinition;
use crate::project::located;

/// Checks the prerequisites of a type that is to be saved or published beside the types of a set.
///
/// # Errors
/// `BadRequest` for a needed type that is not issued here, a claim that it does not have, conditions that can never
/// hold (with `today`, also those whose time is over), and types that need each other in a circle.
pub(super) fn check_needed(
    set: &TypeSet,
    definition: &TypeDefinition,
    today: Option<i64>,
) -> Result<()> {
    let Some(declared) = definition.prerequisites.as_deref() else {
        return Ok(());
    };
    let mut known = Vec::new();
    for (number, need) in declared.needs.iter().enumerate() {
        let place = format!("needs[{number}]");
        known.extend(known_claims(set, declared, need, &place)?);
    }
    if let Some(flaw) = check(declared, &known, today).first() {
        return Err(Error::of(ErrorKind::BadRequest, refusal(flaw)));
    }
    match graph(set, definition).circle(&definition.id) {
        None => Ok(()),
        Some(circle) => {
            let circle = circle.join(" → ");
            Err(Error::bad_request("prerequisite-circle").with("types", &circle))
        }
    }
}

/// What the type of a needed credential says of the claims that are looked at, if it is one of the organisation's.
fn known_claims(
    set: &TypeSet,
    declared: &Prerequisites,
    need: &Prerequisite,
    place: &str,
) -> Result<Vec<KnownClaim>> {
    let one = match &need.type_id {
        Some(id) => Some(set.find(id).map_err(|error| {
            let place = format!("prerequisites.{place}.type");
            Error::bad_request("prerequisite-type")
                .with("place", &place)
                .because(error.reason)
        })?),
        None => match need.vct_values.as_slice() {
            [vct] => set.by_vct(vct),
            // Each type may say something else of the claim.
            _ => None,
        },
    };
    let Some(one) = one else {
        return Ok(Vec::new());
    };
    let all = located(&one.claims);
    let mut known = Vec::new();
    for path in declared.looked_at(&need.name) {
        let names = path.iter().cloned().map(Segment::Name);
        let found = all
            .iter()
            .find(|one| names.clone().eq(one.path.iter().cloned()));
        let Some(found) = found else {
            let reason = Reason::new("prerequisite-claim")
                .with("place", &format!("prerequisites.{place}"))
                .with("claim", &path.join("."))
                .with("type", &one.id);
            return Err(Error::of(ErrorKind::BadRequest, reason));
        };
        let values = found.claim.values.iter().map(|one| one.value.clone());
        known.push(KnownClaim {
            need: need.name.clone(),
            claim: path.clone(),
            values: values.collect(),
            min: found.claim.min,
            max: found.claim.max,
        });
    }
    Ok(known)
}

/// Which types need which others: those of the set by their ids, others by their SD-JWT VC types.
fn graph(set: &TypeSet, definition: &TypeDefinition) -> Graph {
    let mut graph = Graph::new();
    let others = set.issued().filter(|one| one.id != definition.id);
    let others = others.map(|one| one.definition.as_ref());
    for one in others.chain([definition]) {
        let declared = one.prerequisites.as_deref();
        let sets = declared.map(Prerequisites::sets).unwrap_or_default();
        let named = |needs: Vec<&Prerequisite>| -> BTreeSet<String> {
            needs
                .into_iter()
                .map(|need| node(set, definition, need))
                .collect()
        };
        graph.insert(&one.id, sets.into_iter().map(named));
    }
    graph
}

/// The id of a needed type of this organisation, or else its first SD-JWT VC type.
fn node(set: &TypeSet, definition: &TypeDefinition, need: &Prerequisite) -> String {
    if let Some(id) = &need.type_id {
        return id.clone();
    }
    let own = |vct: &String| {
        let is_new = definition.vct.as_ref() == Some(vct);
        let id = || set.by_vct(vct).map(|one| one.id.clone());
        is_new.then(|| definition.id.clone()).or_else(id)
    };
    let mut kinds = need.vct_values.iter();
    let foreign = need.vct_values.iter().find(|vct| own(vct).is_none());
    let first = || kinds.find_map(own);
    foreign.cloned().or_else(first).unwrap_or_default()
}
