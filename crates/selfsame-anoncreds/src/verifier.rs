//! The verifier: whether a presentation is what was asked for, and whether its proof holds.
//!
//! The caller passes all published objects as [`KnownObjects`]; nothing is fetched. The rules are checked in this order,
//! cheap ones first, up to the first that fails:
//!
//! | rule | what it asks | AnonCreds v1.0 |
//! |---|---|---|
//! | `answers` | every referent is answered once, in its own way; there are no other answers | Verify Presentation, "Other Verification" |
//! | `self_attested` | only attributes without restrictions come from the holder alone | Create Presentation Request, `restrictions` |
//! | `evidence` | schemas, definitions and registries are known, and belong together; a registry's issuer is its definition's | "Verify Presentation", "Revocation Registry Definition Object Generation" |
//! | `proven` | the proof reveals exactly the attributes asked for, and proves exactly the predicates asked for | "Verify Presentation" |
//! | `values` | the encoded values shown are the ones that the proof reveals | "Verify Presentation" |
//! | `encoding` | the raw values encode to the signed numbers (unless the policy leaves encoding to issuers) | "Encoding Not Verified" |
//! | `restrictions` | each answer's credential meets the restrictions | "Restrictions" |
//! | `non_revocation` | if requested and the credential is revocable, non-revocation is proven, within the interval, for a known list | "Request Non-Revocation Proofs", "Verify Non-Revocation Proof" |
//! | `proof` | the length of every response; each predicate is about its attribute, all parts about one link secret; A' and every T are in range and coprime to n; the blinded values are those of the parts; the challenge | "Verify Validity Proofs", "Verify Non-Revocation Proof" |
//!
//! Where the specification leaves room, the strict reading applies: a definition must be of the schema named, and a
//! registry of the definition named, published by the definition's issuer; the request's interval holds for referents
//! without one; only a revealed value meets an `attr::…::value` restriction; if the definition allows revocation and an
//! interval is requested, non-revocation must be proven even if the presentation names no registry.

mod answers;
mod known;
mod proof;
mod restrictions;
mod revocation;
mod table;
mod values;

pub use crate::format::Encoding;
pub use known::{KnownObjects, Policy};

use selfsame_crypto::ctx::Ctx;
use selfsame_verdict::{BrokenRule, Checklist, Law};

use crate::format::{Nonce, Presentation, PresentationRequest};
use crate::seed;
use crate::verdict::AnoncredsVerdict;

/// The length of a nonce in bits (AnonCreds v1.0, "Create Presentation Request").
pub(crate) const NONCE_BITS: usize = 80;

/// A nonce for a presentation request or an offer: 80 random bits.
pub fn generate_nonce(ctx: &Ctx) -> Nonce {
    Nonce::of(&seed::random(ctx, "nonce", &[]).integer(NONCE_BITS))
}

const fn law(name: &'static str, paragraph: &'static str) -> Law {
    Law::new(name, paragraph, BrokenRule::Invalid)
}

const ANSWERS: Law = law("answers", "Verify Presentation: Other Verification");
const SELF_ATTESTED: Law = law("self_attested", "Create Presentation Request: restrictions");
const EVIDENCE: Law = law("evidence", "Verify Presentation");
const PROVEN: Law = law("proven", "Verify Presentation");
const VALUES: Law = law("values", "Verify Presentation");
const ENCODING: Law = law("encoding", "Encoding Not Verified");
const RESTRICTIONS: Law = law("restrictions", "Restrictions");
const NON_REVOCATION: Law = law("non_revocation", "Verify Non-Revocation Proof");
const PROOF: Law = law("proof", "Verify Validity Proofs");
const LAWS: &[&[&Law]] = &[&[
    &ANSWERS,
    &SELF_ATTESTED,
    &EVIDENCE,
    &PROVEN,
    &VALUES,
    &ENCODING,
    &RESTRICTIONS,
    &NON_REVOCATION,
    &PROOF,
]];

/// Verifies a presentation that was made for `request`.
pub fn verify_presentation(
    presentation: &Presentation,
    request: &PresentationRequest,
    objects: &KnownObjects<'_>,
    policy: &Policy,
) -> AnoncredsVerdict {
    let mut list = Checklist::new(LAWS);
    let plans = list.judge(&ANSWERS, || answers::plan(presentation, request));
    let plans = plans.unwrap_or_default();
    list.judge(&SELF_ATTESTED, || {
        answers::self_attested(presentation, request)
    });
    let known = list.judge(&EVIDENCE, || known::gather(&plans, objects));
    let known = known.unwrap_or_default();
    list.judge(&PROVEN, || proof::parts(&plans, &presentation.proof));
    list.judge(&VALUES, || values::consistent(presentation, request));
    list.judge(&ENCODING, || values::encoded(presentation, policy));
    list.judge(&RESTRICTIONS, || {
        restrictions::met(presentation, request, &known, policy)
    });
    let states = list.judge(&NON_REVOCATION, || {
        revocation::states(&known, presentation, objects, policy)
    });
    let states = states.unwrap_or_default();
    list.judge(&PROOF, || {
        proof::holds(&known, &states, presentation, request)
    });
    for state in states.iter().flatten() {
        list.status_seen(state.as_of);
    }
    let answers = table::table(presentation, request, &known, &states);
    let (verdict, answers) = list.conclude(Some(answers));
    AnoncredsVerdict {
        verdict,
        answers: answers.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests;
