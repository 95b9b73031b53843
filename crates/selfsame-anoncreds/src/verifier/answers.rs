//! Whether the answers match the request, and what each credential has to prove.

use std::collections::BTreeSet;

use selfsame_verdict::RuleRefusal;

use crate::cl::SubProofRequest;
use crate::format::{
    CredentialIdentifiers, Interval, Presentation, PresentationRequest, RequestedAttribute,
    normalise_attribute,
};

/// The statements that one credential of the presentation has to prove.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    /// The credential's index in the presentation.
    pub index: usize,
    /// The identifiers that the presentation gives for it.
    pub identifiers: &'a CredentialIdentifiers,
    /// The revealed attributes, by normalised name, and the predicates.
    pub request: SubProofRequest,
    /// The attributes that the credential must have but does not reveal.
    pub hidden: BTreeSet<String>,
    /// The intersection of the intervals of all its referents: each its own, or else the request's.
    pub interval: Option<Interval>,
    /// The number of referents that it answers.
    referents: usize,
}

impl Plan<'_> {
    fn note(&mut self, interval: Option<Interval>) {
        self.referents = self.referents.saturating_add(1);
        self.interval = match (self.interval, interval) {
            (Some(a), Some(b)) => Some(a.narrowed(b)),
            (a, b) => a.or(b),
        };
    }
}

/// Assigns the referents to the credentials that answer them.
pub(super) fn plan<'a>(
    presentation: &'a Presentation,
    request: &PresentationRequest,
) -> Result<(Vec<Plan<'a>>, String), RuleRefusal> {
    if presentation.proof.proofs.len() != presentation.identifiers.len() {
        return RuleRefusal::fails("there is not one proof for each credential");
    }
    if let Err(error) = presentation
        .requested_proof
        .validate(presentation.identifiers.len())
    {
        return RuleRefusal::fails(error.to_string());
    }
    let mut plans: Vec<_> = presentation
        .identifiers
        .iter()
        .enumerate()
        .map(|(index, identifiers)| empty(index, identifiers))
        .collect();
    check_referents(presentation, request)?;
    let proof = &presentation.requested_proof;
    let everywhere = request.non_revoked;
    for (referent, asked) in &request.requested_attributes {
        let names = asked.names().map(normalise_attribute);
        if let Some(index) = proof.shows(referent) {
            let plan = at(&mut plans, index)?;
            plan.request.revealed.extend(names);
            plan.note(asked.non_revoked.or(everywhere));
        } else if let Some(index) = proof.hides(referent) {
            let plan = at(&mut plans, index)?;
            plan.hidden.extend(names);
            plan.note(asked.non_revoked.or(everywhere));
        }
    }
    for (referent, asked) in &request.requested_predicates {
        if let Some(answer) = proof.predicates.get(referent) {
            let plan = at(&mut plans, answer.sub_proof_index)?;
            plan.request.predicates.insert(asked.predicate());
            plan.note(asked.non_revoked.or(everywhere));
        }
    }
    if let Some(idle) = plans.iter().find(|plan| plan.referents == 0) {
        return RuleRefusal::fails(format!("credential {} answers nothing", idle.index));
    }
    let asked = request.requested_attributes.len();
    let detail = format!(
        "{asked} attributes and {} predicates, {} credentials",
        request.requested_predicates.len(),
        plans.len()
    );
    Ok((plans, detail))
}

fn empty(index: usize, identifiers: &CredentialIdentifiers) -> Plan<'_> {
    Plan {
        index,
        identifiers,
        request: SubProofRequest::default(),
        hidden: BTreeSet::new(),
        interval: None,
        referents: 0,
    }
}

fn at<'p, 'a>(plans: &'p mut [Plan<'a>], index: u32) -> Result<&'p mut Plan<'a>, RuleRefusal> {
    let place = usize::try_from(index).unwrap_or(usize::MAX);
    let refusal = || RuleRefusal::Fails(format!("there is no credential {index}"));
    plans.get_mut(place).ok_or_else(refusal)
}

/// Checks that every attribute asked for has one answer of its own kind, every predicate one, and there are no others.
fn check_referents(
    presentation: &Presentation,
    request: &PresentationRequest,
) -> Result<(), RuleRefusal> {
    let proof = &presentation.requested_proof;
    for (referent, asked) in &request.requested_attributes {
        let single = proof.revealed_attrs.contains_key(referent);
        let group = proof.revealed_attr_groups.get(referent);
        let hidden = proof.unrevealed_attrs.contains_key(referent);
        let attested = proof.self_attested_attrs.contains_key(referent);
        let answers = [single, group.is_some(), hidden, attested];
        if answers.into_iter().filter(|answered| *answered).count() != 1 {
            return RuleRefusal::fails(format!("attribute {referent:?} is not answered once"));
        }
        if single && asked.name.is_none() || group.is_some() && asked.names.is_none() {
            return RuleRefusal::fails(format!("{referent:?} is not answered in its own way"));
        }
        if group.is_some_and(|group| !same_names(asked, group.values.keys())) {
            return RuleRefusal::fails(format!("group {referent:?} has other attributes"));
        }
    }
    let predicates = proof.predicates.keys();
    if !predicates.eq(request.requested_predicates.keys()) {
        return RuleRefusal::fails("the predicates answered are not those asked for");
    }
    let answered = proof
        .revealed_attrs
        .keys()
        .chain(proof.revealed_attr_groups.keys())
        .chain(proof.unrevealed_attrs.keys())
        .chain(proof.self_attested_attrs.keys());
    for referent in answered {
        if !request.requested_attributes.contains_key(referent) {
            return RuleRefusal::fails(format!("the request does not ask for {referent:?}"));
        }
    }
    Ok(())
}

/// Whether a group is answered under the names that the request uses.
fn same_names<'a>(asked: &RequestedAttribute, answered: impl Iterator<Item = &'a String>) -> bool {
    let asked: BTreeSet<_> = asked.names().collect();
    answered.map(String::as_str).collect::<BTreeSet<_>>() == asked
}

/// Checks that every self-attested value may be self-attested.
pub(super) fn self_attested(
    presentation: &Presentation,
    request: &PresentationRequest,
) -> Result<((), String), RuleRefusal> {
    let attested = &presentation.requested_proof.self_attested_attrs;
    for referent in attested.keys() {
        let asked = request.requested_attributes.get(referent);
        if !asked.is_some_and(RequestedAttribute::may_be_self_attested) {
            return RuleRefusal::fails(format!("{referent:?} must come from a credential"));
        }
    }
    Ok(((), format!("{} attributes", attested.len())))
}
