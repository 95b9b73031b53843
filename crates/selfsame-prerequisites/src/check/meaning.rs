//! Whether the conditions of a well-formed declaration can ever hold together.

use std::collections::BTreeMap;

use super::{Flaw, FlawKind};
use crate::model::{ClaimOf, KnownClaim, Prerequisite, Prerequisites};
use crate::span::ValueSpan;

/// The flaws of meaning.
pub(super) fn flaws(
    declared: &Prerequisites,
    known: &[KnownClaim],
    today: Option<i64>,
) -> Vec<Flaw> {
    let mut found = unknown_companions(declared);
    if !found.is_empty() {
        return found;
    }
    let groups = Groups::of(declared, known);
    for (number, need) in declared.needs.iter().enumerate() {
        for (index, condition) in need.conditions.iter().enumerate() {
            let claim = claim_of(need, &condition.claim);
            if groups.span(&claim).is_some_and(|span| span.is_empty(today)) {
                found.push(Flaw {
                    kind: FlawKind::Never,
                    place: format!("needs[{number}].conditions[{index}]"),
                });
            }
        }
    }
    found
}

/// The conditions that compare a claim with one of a credential that is not proven in each set beside this one.
fn unknown_companions(declared: &Prerequisites) -> Vec<Flaw> {
    let sets = declared.sets();
    let mut found = Vec::new();
    for (number, need) in declared.needs.iter().enumerate() {
        for (index, condition) in need.conditions.iter().enumerate() {
            let Some(other) = &condition.same_as else {
                continue;
            };
            let has =
                |set: &&Vec<&Prerequisite>, name: &str| set.iter().any(|one| one.name == name);
            let mut beside = sets.iter().filter(|set| has(set, &need.name));
            if !beside.all(|set| has(&set, &other.need)) {
                found.push(Flaw {
                    kind: FlawKind::Unknown,
                    place: format!("needs[{number}].conditions[{index}].same_as.need"),
                });
            }
        }
    }
    found
}

fn claim_of(need: &Prerequisite, claim: &[String]) -> ClaimOf {
    ClaimOf {
        need: need.name.clone(),
        claim: claim.to_vec(),
    }
}

/// The claims that must have the same value, with what all conditions on any of them leave.
struct Groups {
    group: BTreeMap<ClaimOf, usize>,
    spans: Vec<ValueSpan>,
}

impl Groups {
    fn of(declared: &Prerequisites, known: &[KnownClaim]) -> Self {
        let mut groups = Self {
            group: BTreeMap::new(),
            spans: Vec::new(),
        };
        for need in &declared.needs {
            for condition in &need.conditions {
                let at = groups.place(claim_of(need, &condition.claim), known);
                if let Some(span) = groups.spans.get_mut(at) {
                    span.narrow(condition);
                }
                if let Some(other) = &condition.same_as {
                    let other = groups.place(other.clone(), known);
                    groups.unite(at, other);
                }
            }
        }
        groups
    }

    fn span(&self, claim: &ClaimOf) -> Option<&ValueSpan> {
        self.spans.get(*self.group.get(claim)?)
    }

    /// The group of a claim, which begins with what its type says.
    fn place(&mut self, claim: ClaimOf, known: &[KnownClaim]) -> usize {
        if let Some(at) = self.group.get(&claim) {
            return *at;
        }
        let mut span = ValueSpan::default();
        let own = known
            .iter()
            .filter(|one| one.need == claim.need && one.claim == claim.claim);
        own.for_each(|known| span.narrow_to(known));
        let at = self.spans.len();
        self.spans.push(span);
        self.group.insert(claim, at);
        at
    }

    fn unite(&mut self, one: usize, other: usize) {
        if one == other {
            return;
        }
        let joined = self.spans.get(other).cloned().unwrap_or_default();
        if let Some(span) = self.spans.get_mut(one) {
            span.join(&joined);
        }
        let members = self.group.values_mut().filter(|at| **at == other);
        members.for_each(|at| *at = one);
    }
}
