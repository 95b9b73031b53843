//! Whether the proof proves what was asked for, and whether it holds.

use std::collections::BTreeSet;

use selfsame_verdict::RuleRefusal;

use super::answers::Plan;
use super::known::Known;
use super::revocation::State;
use crate::cl::revocation::RegistryData;
use crate::cl::{self, Expected, Predicate, Proof, SubProofRequest};
use crate::format::{Presentation, PresentationRequest};

/// Checks that each part of the proof reveals and proves exactly what its credential's referents ask for.
pub(super) fn parts(plans: &[Plan<'_>], proof: &Proof) -> Result<((), String), RuleRefusal> {
    let mut predicates = 0_usize;
    for (plan, part) in plans.iter().zip(&proof.proofs) {
        let primary = &part.primary_proof;
        if !primary
            .eq_proof
            .revealed_attrs
            .keys()
            .eq(&plan.request.revealed)
        {
            return RuleRefusal::fails(format!(
                "credential {} reveals other attributes than asked for",
                plan.index
            ));
        }
        let proofs = &primary.predicate_proofs;
        let proven: BTreeSet<&Predicate> = proofs.iter().map(|proof| &proof.predicate).collect();
        let repeated = proven.len() != proofs.len();
        if repeated || !proven.into_iter().eq(&plan.request.predicates) {
            return RuleRefusal::fails(format!(
                "credential {} proves other predicates than asked for",
                plan.index
            ));
        }
        predicates = predicates.saturating_add(proofs.len());
    }
    Ok(((), format!("{predicates} predicates")))
}

/// Checks the proof mathematically.
pub(super) fn holds(
    known: &[Known<'_>],
    states: &[Option<State<'_>>],
    presentation: &Presentation,
    request: &PresentationRequest,
) -> Result<((), String), RuleRefusal> {
    if known.len() != states.len() {
        return RuleRefusal::fails("not every credential is judged");
    }
    let expected: Vec<_> = known
        .iter()
        .zip(states)
        .map(|(known, state)| expected(known, state.as_ref()))
        .collect();
    match cl::verify(&expected, &presentation.proof, &request.nonce.number()) {
        Ok(()) => Ok(((), "holds".to_owned())),
        Err(error) => {
            let revoked = match states.iter().any(Option::is_some) {
                true => "; a revoked credential is one reason for that",
                false => "",
            };
            RuleRefusal::fails(format!("{error}{revoked}"))
        }
    }
}

fn expected<'a>(known: &'a Known<'_>, state: Option<&'a State<'_>>) -> Expected<'a> {
    let request: &SubProofRequest = &known.plan.request;
    let registry = known.definition.revocation().zip(state);
    Expected {
        key: known.definition.key(),
        request,
        registry: registry.map(|(key, state)| RegistryData {
            key,
            registry: state.registry,
            accumulator: state.accumulator,
        }),
    }
}
