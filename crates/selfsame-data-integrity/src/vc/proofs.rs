//! The proofs of a credential or of a presentation.

use selfsame_verdict::Checklist;

use crate::{ExpectedProof, IntegrityError, IntegrityProof, ProofPurpose, Secured};

use super::{KnownMethod, VcCourt, VcRequest, laws};

/// By whom and for what a proof must be.
pub(super) struct AskedProof<'a> {
    /// The issuer or the holder, as the document has it.
    pub by: Option<&'a str>,
    pub purpose: ProofPurpose,
    pub request: Option<&'a VcRequest<'a>>,
}

/// Judges the proofs, and says who made the one that counts: the first whose method its controller allows for the
/// purpose, and whose controller the document names. Other proofs of known methods must hold too.
pub(super) fn judge(
    secured: &Secured,
    asked: &AskedProof<'_>,
    court: &VcCourt<'_>,
    list: &mut Checklist,
) -> Option<String> {
    let proofs = secured.proofs();
    let methods: Vec<Option<&KnownMethod<'_>>> =
        proofs.iter().map(|one| known(one, court)).collect();
    let counts = |(proof, method): &(&IntegrityProof, &Option<&KnownMethod<'_>>)| {
        method.is_some_and(|method| {
            let is_named = asked.by.is_none_or(|by| by == method.controller);
            let is_for = method.purposes.contains(&asked.purpose);
            is_named && is_for && proof.purpose == asked.purpose.as_str()
        })
    };
    let Some((proof, Some(method))) = proofs.iter().zip(&methods).find(counts) else {
        list.fails(&laws::PROOF_KEY, "no proof is by a known key of its author");
        return None;
    };
    list.passes(&laws::PROOF_KEY, "");
    let domain = asked.request.and_then(|request| request.domain);
    let domain = domain.map(|domain| [domain]);
    let expected = ExpectedProof {
        purpose: asked.purpose,
        domain: domain.as_ref().map(<[&str; 1]>::as_slice),
        challenge: asked.request.map(|request| request.challenge),
        now: court.now,
        leeway: court.leeway,
    };
    match proof.check(&expected) {
        Ok(()) => list.passes(&laws::PROOF_ASKED, ""),
        Err(error) => list.fails(&laws::PROOF_ASKED, error.to_string()),
    }
    let keys: Vec<_> = methods
        .iter()
        .map(|one| one.map(|one| one.key.clone()))
        .collect();
    let results = secured.verify(&keys, court.contexts);
    let own = proofs
        .iter()
        .zip(&results)
        .find(|(one, _)| std::ptr::eq(*one, proof));
    let own = own.map_or(&Err(IntegrityError::Signature), |(_, result)| result);
    let wrong = results.iter().zip(&methods).find_map(|(result, method)| {
        let is_judged = method.is_some() && !matches!(result, Err(IntegrityError::Unsupported(_)));
        result.as_ref().err().filter(|_| is_judged)
    });
    match own.as_ref().err().or(wrong) {
        None => list.passes(&laws::PROOF, ""),
        Some(error) => list.fails(&laws::PROOF, error.to_string()),
    }
    Some(method.controller.to_owned())
}

fn known<'c>(proof: &IntegrityProof, court: &VcCourt<'c>) -> Option<&'c KnownMethod<'c>> {
    court
        .methods
        .iter()
        .find(|method| method.url == proof.method)
}
