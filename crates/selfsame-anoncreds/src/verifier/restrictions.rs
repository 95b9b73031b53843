//! Whether each answer's credential meets the restrictions of the request.

use std::collections::BTreeMap;

use selfsame_verdict::RuleRefusal;

use super::known::{Known, Policy};
use crate::format::{
    self, Encoding, Presentation, PresentationRequest, Query, QueryAnswer, normalise_attribute,
};

/// Checks, from what is proven, that each credential meets every restriction of the referents that it answers.
pub(super) fn met(
    presentation: &Presentation,
    request: &PresentationRequest,
    known: &[Known<'_>],
    policy: &Policy,
) -> Result<((), String), RuleRefusal> {
    let mut count = 0_usize;
    for (referent, query, index) in questions(presentation, request) {
        let known = usize::try_from(index)
            .ok()
            .and_then(|index| known.get(index));
        let Some(known) = known else {
            return RuleRefusal::fails(format!("{referent:?} has no credential"));
        };
        let shown = match policy.encoding {
            Encoding::Recommended => shown(presentation, request, index, referent),
            // Under this policy nothing ties a raw value to the proof.
            Encoding::OfTheIssuer => BTreeMap::new(),
        };
        match proven(known, presentation, shown).judge(query) {
            QueryAnswer::Holds => count = count.saturating_add(1),
            QueryAnswer::Fails => {
                return RuleRefusal::fails(format!("the credential for {referent:?} is another"));
            }
            QueryAnswer::Unknown => {
                return RuleRefusal::fails(format!("what restricts {referent:?} cannot be judged"));
            }
        }
    }
    Ok(((), format!("{count} restrictions")))
}

/// The referents that have restrictions and are answered by a credential.
fn questions<'a>(
    presentation: &'a Presentation,
    request: &'a PresentationRequest,
) -> impl Iterator<Item = (&'a str, &'a Query, u32)> {
    let proof = &presentation.requested_proof;
    let attributes = request
        .requested_attributes
        .iter()
        .filter_map(|(referent, asked)| {
            let index = proof.shows(referent).or_else(|| proof.hides(referent))?;
            Some((referent.as_str(), asked.restrictions.as_ref()?, index))
        });
    let predicates = request
        .requested_predicates
        .iter()
        .filter_map(|(referent, asked)| {
            let index = proof.predicates.get(referent)?.sub_proof_index;
            Some((referent.as_str(), asked.restrictions.as_ref()?, index))
        });
    attributes.chain(predicates)
}

/// The raw values revealed of the credential at `index`; those of `referent` take precedence.
fn shown<'a>(
    presentation: &'a Presentation,
    request: &PresentationRequest,
    index: u32,
    referent: &str,
) -> BTreeMap<String, &'a str> {
    let proof = &presentation.requested_proof;
    let mut shown = BTreeMap::new();
    for own in [false, true] {
        for (name, value) in &proof.revealed_attrs {
            let asked = request
                .requested_attributes
                .get(name)
                .and_then(|a| a.name.as_deref());
            if value.sub_proof_index == index && (name == referent) == own {
                shown.insert(normalise_attribute(asked.unwrap_or_default()), &*value.raw);
            }
        }
        for (name, group) in &proof.revealed_attr_groups {
            if group.sub_proof_index == index && (name == referent) == own {
                let values = group.values.iter();
                shown.extend(values.map(|(name, v)| (normalise_attribute(name), &*v.raw)));
            }
        }
    }
    shown
}

/// What is proven of a credential. Its registry counts as proven only with a proof of non-revocation in it.
fn proven<'a>(
    known: &Known<'a>,
    presentation: &Presentation,
    shown: BTreeMap<String, &'a str>,
) -> format::Known<'a> {
    let ids = known.plan.identifiers;
    let proofs = &presentation.proof.proofs;
    let proof = proofs.get(known.plan.index);
    let not_revoked = proof.is_some_and(|proof| proof.non_revoc_proof.is_some());
    format::Known {
        schema_id: &ids.schema_id,
        schema: known.schema,
        schema_is_certain: known.schema_is_certain,
        definition_id: &ids.cred_def_id,
        issuer_id: &known.definition.definition().issuer_id,
        registry_id: ids.rev_reg_id.as_ref().filter(|_| not_revoked),
        shown,
    }
}
