//! The table of answers: how each referent is answered, and by which credential.

use std::collections::BTreeMap;

use super::known::Known;
use super::revocation::State;
use crate::format::{Presentation, PresentationRequest};
use crate::verdict::{AnswerKind, Answered, NotRevoked, Source};

/// The table of answers.
pub(super) fn table(
    presentation: &Presentation,
    request: &PresentationRequest,
    known: &[Known<'_>],
    states: &[Option<State<'_>>],
) -> Vec<Answered> {
    let sources: BTreeMap<usize, Source> = known
        .iter()
        .zip(states)
        .map(|(known, state)| (known.plan.index, source(known, state.as_ref())))
        .collect();
    let source = |index: Option<u32>| sources.get(&usize::try_from(index?).ok()?).cloned();
    let proof = &presentation.requested_proof;
    let attributes = request
        .requested_attributes
        .iter()
        .map(|(referent, asked)| {
            let (shown, hidden) = (proof.shows(referent), proof.hides(referent));
            let answer = match (shown, hidden) {
                (Some(_), _) => AnswerKind::Revealed,
                (None, Some(_)) => AnswerKind::Unrevealed,
                (None, None) => AnswerKind::SelfAttested,
            };
            Answered {
                referent: referent.clone(),
                attributes: asked.names().map(str::to_owned).collect(),
                answer,
                credential: source(shown.or(hidden)),
            }
        });
    let predicates = request
        .requested_predicates
        .iter()
        .map(|(referent, asked)| Answered {
            referent: referent.clone(),
            attributes: vec![asked.name.clone()],
            answer: AnswerKind::Predicate {
                comparison: asked.p_type,
                bound: asked.p_value,
            },
            credential: source(proof.predicates.get(referent).map(|s| s.sub_proof_index)),
        });
    attributes.chain(predicates).collect()
}

fn source(known: &Known<'_>, state: Option<&State<'_>>) -> Source {
    let ids = known.plan.identifiers;
    Source {
        index: known.plan.index,
        issuer_id: known.definition.definition().issuer_id.clone(),
        schema_id: ids.schema_id.clone(),
        cred_def_id: ids.cred_def_id.clone(),
        not_revoked: state.map(|state| NotRevoked {
            rev_reg_id: state.registry_id.clone(),
            as_of: state.as_of,
            interval: state.interval,
        }),
    }
}
