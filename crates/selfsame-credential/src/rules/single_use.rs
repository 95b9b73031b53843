//! Rules for single-use credentials: the reference to the registry, and whether they are used up.

use selfsame_did::{Did, method::Origin};
use selfsame_verdict::{BrokenRule, Checklist, Law};
use serde_json::Value;

use super::Court;
use crate::{
    evidence::{Evidence, Fetched, Need},
    issuer_key::IssuerIdentity,
    single_use::{Action, CLAIM, Reference, SingleUseError, Use},
};

pub(crate) const REFERENCE: Law = Law::new(
    "single_use_reference",
    "Selfsame single use, The credential",
    BrokenRule::Invalid,
);
pub(crate) const SINGLE_USE: Law = Law::new(
    "single_use",
    "Selfsame single use, Whether it is used",
    BrokenRule::Spent,
);

/// The claims of a credential.
#[derive(Clone, Copy)]
pub(crate) struct Claims<'a> {
    /// As they were signed.
    pub signed: &'a Value,
    /// With every disclosure applied; `None` if the disclosures can't be processed.
    pub disclosed: Option<&'a Value>,
}

/// The need to read the registry.
pub(crate) fn need(payload: &Value, evidence: &Evidence) -> Option<Need> {
    let reference = Reference::in_payload(payload).ok().flatten()?;
    let issuer = issuer(payload)?;
    match evidence.single_use(&issuer, &reference.digest) {
        Some(_) => None,
        None => Some(Need::Use {
            issuer,
            digest: reference.digest,
        }),
    }
}

/// Whether a credential that is signed by `identity` may still be used.
pub(crate) fn judge(
    claims: Claims<'_>,
    identity: &IssuerIdentity<'_>,
    court: &Court<'_>,
    list: &mut Checklist,
) {
    let reference = match reference(claims.signed, claims.disclosed) {
        Ok(Some(reference)) => reference,
        Ok(None) => return list.skips(&REFERENCE, "the credential is not a single-use credential"),
        Err(error) => return list.fails(&REFERENCE, error.to_string()),
    };
    let Some(issuer) = issuer(claims.signed) else {
        let detail = "this issuer has no known registry";
        return list.fails_as(&REFERENCE, BrokenRule::StatusUnknown, detail);
    };
    list.passes(&REFERENCE, "");
    match court.evidence.single_use(&issuer, &reference.digest) {
        Some(fetched) => judge_use(fetched, court, list),
        None if !identity.is_trusted(court.policy) => {
            list.skips(&SINGLE_USE, "not read, since the issuer is not trusted");
        }
        None => unknown(list, "the registry has not been read"),
    }
}

/// The reference, which can't be withheld, and the matching handle if it was disclosed.
fn reference(payload: &Value, claims: Option<&Value>) -> Result<Option<Reference>, SingleUseError> {
    let reference = Reference::in_payload(payload)?;
    let Some(claims) = claims else {
        return Ok(reference);
    };
    match &reference {
        Some(reference) => drop(reference.handle(claims)?),
        None if claims.get(CLAIM).is_some() => return Err(SingleUseError::Hidden),
        None => {}
    }
    Ok(reference)
}

/// The issuer, if its registry follows from its name.
fn issuer(payload: &Value) -> Option<Did> {
    let did = Did::parse(payload.get("iss")?.as_str()?).ok()?;
    (did.origin() == Origin::Registry).then_some(did)
}

fn judge_use(fetched: &Fetched<Option<Use>>, court: &Court<'_>, list: &mut Checklist) {
    list.status_seen(fetched.at.0);
    let age = court.now.seconds_since(fetched.at);
    let allowed = court.policy.max_status_age;
    let fresh = allowed.is_none_or(|limit| age <= limit.saturating_add(court.policy.leeway));
    match &fetched.value {
        Err(unavailable) => unknown(list, &unavailable.reason),
        Ok(Some(used)) => {
            // A used credential stays used, however old the evidence is.
            let detail = format!(
                "{} by {} at {}, transaction {}",
                used.action.as_str(),
                used.by,
                used.at.rfc3339(),
                used.seq_no
            );
            let failure = match used.action {
                Action::Spent => BrokenRule::Spent,
                Action::Revoked => BrokenRule::Revoked,
            };
            list.fails_as(&SINGLE_USE, failure, detail);
        }
        Ok(None) if !fresh => unknown(list, "the registry was read too long ago"),
        Ok(None) => list.passes(
            &SINGLE_USE,
            format!("not used, as of {}", fetched.at.rfc3339()),
        ),
    }
}

fn unknown(list: &mut Checklist, detail: &str) {
    list.fails_as(&SINGLE_USE, BrokenRule::StatusUnknown, detail);
}
