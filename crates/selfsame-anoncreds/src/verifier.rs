//! The verifier: whether a presentation is what was asked for, and whether its proof holds.
//!
//! The caller passes all published objects as [`Evidence`]; nothing is fetched. The rules are checked in this order,
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
mod evidence;
mod plan;
mod proof;
mod restrictions;
mod revocation;
mod values;

pub use crate::format::Encoding;
pub use evidence::{Evidence, Policy};

use selfsame_crypto::ctx::Ctx;

use crate::format::{Nonce, Presentation, PresentationRequest};
use crate::seed;
use crate::verdict::{Checklist, Verdict};

/// The length of a nonce in bits (AnonCreds v1.0, "Create Presentation Request").
pub(crate) const NONCE_BITS: usize = 80;

/// A nonce for a presentation request or an offer: 80 random bits.
pub fn generate_nonce(ctx: &Ctx) -> Nonce {
    Nonce::of(&seed::random(ctx, "nonce", &[]).integer(NONCE_BITS))
}

/// Verifies a presentation that was made for `request`.
pub fn verify_presentation(
    presentation: &Presentation,
    request: &PresentationRequest,
    evidence: &Evidence<'_>,
    policy: &Policy,
) -> Verdict {
    let mut list = Checklist::default();
    let plans = list.judge("answers", "Verify Presentation: Other Verification", || {
        plan::plan(presentation, request)
    });
    let plans = plans.unwrap_or_default();
    list.judge(
        "self_attested",
        "Create Presentation Request: restrictions",
        || answers::self_attested(presentation, request),
    );
    let known = list.judge("evidence", "Verify Presentation", || {
        evidence::gather(&plans, evidence)
    });
    let known = known.unwrap_or_default();
    list.judge("proven", "Verify Presentation", || {
        proof::parts(&plans, &presentation.proof)
    });
    list.judge("values", "Verify Presentation", || {
        values::consistent(presentation, request)
    });
    list.judge("encoding", "Encoding Not Verified", || {
        values::encoded(presentation, policy)
    });
    list.judge("restrictions", "Restrictions", || {
        restrictions::met(presentation, request, &known, policy)
    });
    let states = list.judge("non_revocation", "Verify Non-Revocation Proof", || {
        revocation::states(&known, presentation, evidence, policy)
    });
    let states = states.unwrap_or_default();
    list.judge("proof", "Verify Validity Proofs", || {
        proof::holds(&known, &states, presentation, request)
    });
    let answers = answers::table(presentation, request, &known, &states);
    list.verdict(Some(answers))
}

#[cfg(test)]
mod tests;
