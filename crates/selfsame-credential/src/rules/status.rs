//! Rules for the current status of a credential: its status lists, their signers and their age.

use std::sync::Arc;

use super::{
    Court, SignedToken,
    issuer::{self, StatedKey},
};
use crate::{
    evidence::{Evidence, Fetched, Need},
    issuer_key::{self, Claimed, Finding, IssuerIdentity},
    status::{self, List, Mechanism, Reference, StatusError},
};
use selfsame_crypto::time::UnixTime;
use selfsame_verdict::{BrokenRule, Checklist, Law};

pub(crate) const REFERENCE: Law = Law::new(
    "status_reference",
    "Token Status List §6.2, Bitstring Status List §2.1",
    BrokenRule::Invalid,
);
pub(crate) const LIST: Law = Law::new(
    "status_list",
    "Token Status List §8.3, Bitstring Status List §3.2",
    BrokenRule::StatusUnknown,
);
pub(crate) const LIST_SIGNATURE: Law = Law::new(
    "status_list_signature",
    "Token Status List §8.3, Bitstring Status List §3.2",
    BrokenRule::StatusUnknown,
);
pub(crate) const LIST_FRESH: Law = Law::new(
    "status_list_fresh",
    "Token Status List §8.3, §13.7, Bitstring Status List §2.2",
    BrokenRule::StatusUnknown,
);
pub(crate) const STATUS: Law = Law::new(
    "status",
    "Token Status List §7, Bitstring Status List §3.2",
    BrokenRule::Revoked,
);

/// The rules for a list of one kind, each with the paragraph of that kind's specification.
struct Laws {
    reference: Law,
    list: Law,
    signature: Law,
    fresh: Law,
    status: Law,
    /// The detail for a status that says nothing against a credential.
    good: &'static str,
}

static OF_TOKENS: Laws = Laws {
    reference: REFERENCE.resting_on("Token Status List §6.2"),
    list: LIST.resting_on("Token Status List §8.3"),
    signature: LIST_SIGNATURE.resting_on("Token Status List §8.3"),
    fresh: LIST_FRESH.resting_on("Token Status List §8.3, §13.7"),
    status: STATUS.resting_on("Token Status List §7"),
    good: "valid",
};

static OF_BITSTRINGS: Laws = Laws {
    reference: REFERENCE.resting_on("Bitstring Status List §2.1"),
    list: LIST.resting_on("Bitstring Status List §3.2"),
    signature: LIST_SIGNATURE.resting_on("Bitstring Status List §3.2"),
    fresh: LIST_FRESH.resting_on("Bitstring Status List §2.2"),
    status: STATUS.resting_on("Bitstring Status List §3.2"),
    good: "not set",
};

impl Laws {
    const fn of(reference: &Reference) -> &'static Self {
        match reference.mechanism {
            Mechanism::Token => &OF_TOKENS,
            Mechanism::Bitstring { .. } => &OF_BITSTRINGS,
        }
    }
}

/// The parts of a credential that determine what is fetched for it.
pub(crate) struct Stated<'a> {
    pub token: &'a dyn SignedToken,
    pub claimed: Claimed<'a>,
    /// Its status entries.
    pub references: Vec<Reference>,
    /// The further needs of the credential or its holder.
    pub further: Option<Need>,
}

/// The needs to find the issuer's key, if the policy trusts the issuer, and then to check the status. Lists and
/// `further` are fetched only once the credential is known to be genuine and its issuer trusted: a forger must not
/// control what is fetched.
pub(crate) fn needs(stated: Stated<'_>, court: &Court<'_>) -> Vec<Need> {
    let Stated {
        token,
        claimed,
        references,
        further,
    } = stated;
    let (claimed, policy, evidence) = (&claimed, court.policy, court.evidence);
    let signed = match issuer_key::find(claimed, evidence) {
        Finding::Key(key) => StatedKey::By(key),
        Finding::Chain(leaf) => StatedKey::ByLeaf(leaf),
        Finding::Missing(need) => return issuer::asked_for(need, claimed, court),
        Finding::Unavailable(_) | Finding::Refused(_) => return Vec::new(),
    };
    let mut needs: Vec<Need> = further.into_iter().collect();
    for reference in &references {
        match evidence.status_list(&reference.uri) {
            None => needs.push(Need::StatusList(reference.uri.clone())),
            Some(Fetched {
                value: Ok(list), ..
            }) => {
                needs.extend(missing(&claimed_of(list, claimed), evidence));
            }
            Some(_) => {}
        }
    }
    let identity = IssuerIdentity {
        id: claimed.id,
        leaf: signed.leaf(),
    };
    let counts = || policy.accepts(token.algorithm()) && is_relied_upon(&identity, court);
    // The signature is verified last, since it costs most; if no evidence is missing, it is verified with the other
    // rules.
    if needs.is_empty() || !counts() || !token.is_signed(signed.key(), evidence) {
        return Vec::new();
    }
    needs
}

/// Whether an issuer is trusted, and its identity confirmed, as far as certificates show that.
pub(crate) fn is_relied_upon(issuer: &IssuerIdentity<'_>, court: &Court<'_>) -> bool {
    issuer.is_trusted(court.policy) && issuer.is_anchored(court.policy, court.now)
}

fn missing(claimed: &Claimed<'_>, evidence: &Evidence) -> Option<Need> {
    match issuer_key::find(claimed, evidence) {
        Finding::Missing(need) => Some(need),
        _ => None,
    }
}

/// The stated signer of a list: its own issuer or, if it names none, the credential's.
fn claimed_of<'a>(list: &'a List, credential: &Claimed<'a>) -> Claimed<'a> {
    Claimed {
        header: list.header(),
        id: list.issuer().or(credential.id),
        ..*credential
    }
}

/// Checks every status entry of a credential that is signed by `issuer`.
pub(crate) fn judge(
    references: Result<Vec<Reference>, StatusError>,
    claimed: &Claimed<'_>,
    issuer: &IssuerIdentity<'_>,
    court: &Court<'_>,
    list: &mut Checklist,
) {
    let references = match references {
        Ok(references) => references,
        Err(error @ StatusError::Unsupported) => {
            return list.fails_as(&REFERENCE, BrokenRule::StatusUnknown, error.to_string());
        }
        Err(error) => return list.fails(&REFERENCE, error.to_string()),
    };
    let Some(first) = references.first() else {
        if court.policy.require_status {
            let detail = "the policy requires a status, and the credential has none";
            list.fails_as(&REFERENCE, BrokenRule::StatusUnknown, detail);
        } else {
            let detail = "the credential has no status entry for revocation or suspension";
            list.skips(&REFERENCE, detail);
        }
        return;
    };
    list.passes(&Laws::of(first).reference, "");
    for reference in &references {
        judge_one(reference, claimed, issuer, court, list);
    }
}

fn judge_one(
    reference: &Reference,
    claimed: &Claimed<'_>,
    issuer: &IssuerIdentity<'_>,
    court: &Court<'_>,
    checklist: &mut Checklist,
) {
    let laws = Laws::of(reference);
    let Some(fetched) = court.evidence.status_list(&reference.uri) else {
        if !is_relied_upon(issuer, court) {
            return checklist.skips(&laws.list, "not fetched, since the issuer is not trusted");
        }
        return checklist.fails(&laws.list, "the status list has not been fetched");
    };
    checklist.status_seen(fetched.at.0);
    let list: &Arc<List> = match &fetched.value {
        Ok(list) => list,
        Err(unavailable) => return checklist.fails(&laws.list, unavailable.reason.as_str()),
    };
    let status = match list.status(reference) {
        Ok(status) => status,
        Err(error) => return checklist.fails(&laws.list, error.to_string()),
    };
    checklist.passes(&laws.list, purpose(reference));
    if let Err(detail) = is_genuine(list, claimed, issuer, court) {
        return checklist.fails(&laws.signature, detail);
    }
    checklist.passes(&laws.signature, purpose(reference));
    match stale(list, fetched.at, court) {
        None => checklist.passes(
            &laws.fresh,
            named(reference, &ages(list, fetched.at, court)),
        ),
        Some(why) => {
            let seen = format!("{why}: {}", ages(list, fetched.at, court));
            checklist.fails(&laws.fresh, named(reference, &seen));
        }
    }
    match status {
        status::Value::Valid => checklist.passes(&laws.status, named(reference, laws.good)),
        status::Value::Invalid => checklist.fails(&laws.status, "revoked"),
        status::Value::Suspended => {
            checklist.fails_as(&laws.status, BrokenRule::Suspended, "suspended");
        }
        status::Value::Other(_) => {
            let detail = "the status value is unknown";
            checklist.fails_as(&laws.status, BrokenRule::StatusUnknown, detail);
        }
    }
}

/// The detail for a list, with its purpose, if it has one.
fn named(reference: &Reference, seen: &str) -> String {
    match &reference.mechanism {
        Mechanism::Token => seen.to_owned(),
        Mechanism::Bitstring { purpose, .. } => format!("{purpose}: {seen}"),
    }
}

/// The purpose of a list, if it has only one.
fn purpose(reference: &Reference) -> &'static str {
    match &reference.mechanism {
        Mechanism::Token => "",
        Mechanism::Bitstring { purpose, .. } => purpose.as_str(),
    }
}

/// The list is signed by the credential's own issuer, or by an issuer that the policy trusts by name.
fn is_genuine(
    list: &List,
    claimed: &Claimed<'_>,
    issuer: &IssuerIdentity<'_>,
    court: &Court<'_>,
) -> Result<(), String> {
    let claimed = claimed_of(list, claimed);
    let signed = issuer::locate(&claimed, court).map_err(|(_, detail)| detail)?;
    let identity = IssuerIdentity {
        id: claimed.id,
        leaf: signed.leaf(),
    };
    let anchored = identity.is_anchored(court.policy, court.now);
    let entitled = identity.is(issuer) || identity.is_listed(court.policy);
    let accepted = court.policy.accepts(list.header().alg);
    match anchored && entitled && accepted && list.verify(signed.key()).is_ok() {
        true => Ok(()),
        false => Err(
            "the list is signed neither by the credential's issuer nor by another trusted issuer"
                .to_owned(),
        ),
    }
}

/// Why a list is too old: by its own `exp` and `ttl`, or by the policy's limits since it was fetched and since it was
/// signed. A host that serves an old list was still asked just now: only the signature's time reveals that.
pub(crate) fn stale(list: &List, fetched: UnixTime, court: &Court<'_>) -> Option<&'static str> {
    let (now, policy) = (court.now, court.policy);
    let within = |since: UnixTime, limit: u64| {
        now.seconds_since(since) <= limit.saturating_add(policy.leeway)
    };
    let fetched_within = |limit: Option<u64>| limit.is_none_or(|limit| within(fetched, limit));
    let is_current = list.is_current(now, policy.leeway).is_ok();
    if !is_current || !fetched_within(list.ttl()) || !fetched_within(policy.max_status_age) {
        return Some("the list is older than its own limit or the policy allows");
    }
    let limit = policy.max_status_signed_age?;
    match list.signed_at() {
        None => Some("the list does not state when it was signed, and the policy requires that"),
        Some(signed) if within(signed, limit) => None,
        Some(_) => Some("the list was signed longer ago than the policy allows"),
    }
}

/// How long ago a list was fetched and, if it states that, signed.
fn ages(list: &List, fetched: UnixTime, court: &Court<'_>) -> String {
    let fetched = court.now.seconds_since(fetched);
    match list.signed_at() {
        Some(signed) => {
            let signed = court.now.seconds_since(signed);
            format!("{fetched} s old, signed {signed} s ago")
        }
        None => format!("{fetched} s old"),
    }
}
