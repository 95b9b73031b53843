//! Whether the values shown match the values that the proof reveals, and the raw values that people read.

use dashu_int::IBig;
use selfsame_verdict::RuleRefusal;

use super::known::Policy;
use crate::cl::SubProof;
use crate::format::{
    AttributeValue, Encoding, Presentation, PresentationRequest, normalise_attribute,
};

/// Checks that every encoded value is the number that the credential's proof reveals under that name.
pub(super) fn consistent(
    presentation: &Presentation,
    request: &PresentationRequest,
) -> Result<((), String), RuleRefusal> {
    let mut count = 0_usize;
    let proof = &presentation.requested_proof;
    for (referent, shown) in &proof.revealed_attrs {
        let asked = request.requested_attributes.get(referent);
        let name = asked.and_then(|asked| asked.name.as_deref());
        let sub_proof = sub_proof(presentation, shown.sub_proof_index);
        check(name.unwrap_or_default(), sub_proof, &shown.encoded)?;
        count = count.saturating_add(1);
    }
    for group in proof.revealed_attr_groups.values() {
        let sub_proof = sub_proof(presentation, group.sub_proof_index);
        for (name, value) in &group.values {
            check(name, sub_proof, &value.encoded)?;
            count = count.saturating_add(1);
        }
    }
    Ok(((), format!("{count} values")))
}

fn sub_proof(presentation: &Presentation, index: u32) -> Option<&SubProof> {
    presentation.proof.proofs.get(usize::try_from(index).ok()?)
}

fn check(name: &str, sub_proof: Option<&SubProof>, encoded: &str) -> Result<(), RuleRefusal> {
    let revealed = sub_proof.map(|proof| &proof.primary_proof.eq_proof.revealed_attrs);
    let number = revealed.and_then(|numbers| numbers.get(&normalise_attribute(name)));
    match (number, encoded.parse::<IBig>()) {
        // Only the canonical form is accepted, so that the digits cannot carry a mark.
        (Some(number), Ok(shown)) if *number == shown && number.to_string() == encoded => Ok(()),
        _ => RuleRefusal::fails(format!("{name:?} is shown with another value than proven")),
    }
}

/// Checks that every raw value encodes to the number beside it.
pub(super) fn encoded(
    presentation: &Presentation,
    policy: &Policy,
) -> Result<((), String), RuleRefusal> {
    if policy.encoding == Encoding::OfTheIssuer {
        return Ok(((), "left to the issuers".to_owned()));
    }
    let proof = &presentation.requested_proof;
    for (referent, shown) in &proof.revealed_attrs {
        let value = AttributeValue {
            raw: shown.raw.clone(),
            encoded: shown.encoded.clone(),
        };
        check_text(referent, &value)?;
    }
    for group in proof.revealed_attr_groups.values() {
        for (name, value) in &group.values {
            check_text(name, value)?;
        }
    }
    Ok(((), "every text is the one that was signed".to_owned()))
}

fn check_text(name: &str, value: &AttributeValue) -> Result<(), RuleRefusal> {
    if value.is_consistent() {
        return Ok(());
    }
    RuleRefusal::fails(format!("{name:?} is shown with a text that was not signed"))
}
