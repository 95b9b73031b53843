//! Rules about the issuer: its key, the certificate chain, the signature, and whether the issuer is trusted.

use selfsame_crypto::PublicKey;
use selfsame_did::{Did, method::Origin};
use selfsame_verdict::{BrokenRule, Checklist, Law};

use super::{Court, SignedToken};
use crate::{
    evidence::Need,
    issuer_key::{self, Claimed, Finding, IssuerIdentity, Leaf},
    validity::{BadTime, Validity},
    verdict::{Policy, Trust, Verdict},
};

pub(crate) const ALGORITHM: Law = Law::new("algorithm", "RFC 8725 §3.1", BrokenRule::Invalid);
pub(crate) const ISSUER_KEY: Law = Law::new(
    "issuer_key",
    "SD-JWT VC §2.5, VC-JOSE-COSE §4",
    BrokenRule::Invalid,
);
pub(crate) const KEYS_AS_OF: Law =
    Law::new("keys_as_of", "DID Core §9.8", BrokenRule::StatusUnknown);
pub(crate) const CERTIFICATE_CHAIN: Law = Law::new(
    "certificate_chain",
    "SD-JWT VC §2.5, RFC 5280 §6",
    BrokenRule::Untrusted,
);
pub(crate) const ISSUER_SIGNATURE: Law =
    Law::new("issuer_signature", "RFC 7515 §5.2", BrokenRule::Invalid);
pub(crate) const ISSUER_TRUSTED: Law = Law::new(
    "issuer_trusted",
    "RFC 9901 §7.1 (2.c), VCDM 2.0 §5.2",
    BrokenRule::Untrusted,
);
/// Not among the rules of every verdict: only requests that name issuers for a type have it.
pub(crate) const ISSUER_FOR_REQUEST: Law = Law::new(
    "issuer_trusted_for_request",
    "RFC 9901 §7.1 (2.c), VCDM 2.0 §5.2",
    BrokenRule::Untrusted,
);
pub(crate) const TIMES: Law = Law::new(
    "times_well_formed",
    "RFC 7519 §2, VCDM 2.0 §4.9",
    BrokenRule::Invalid,
);
pub(crate) const NOT_BEFORE: Law = Law::new(
    "not_before",
    "RFC 7519 §4.1.5, VCDM 2.0 §4.9",
    BrokenRule::NotYetValid,
);
pub(crate) const EXPIRY: Law = Law::new(
    "expiry",
    "RFC 7519 §4.1.4, VCDM 2.0 §4.9",
    BrokenRule::Expired,
);

/// Longer names of an issuer are not shown.
const MAX_SHOWN: usize = 256;

/// The key that is stated to have signed, as far as the evidence shows.
pub(crate) enum StatedKey {
    By(Box<PublicKey>),
    ByLeaf(Box<Leaf>),
}

impl StatedKey {
    pub fn key(&self) -> &PublicKey {
        match self {
            Self::By(key) => key,
            Self::ByLeaf(leaf) => leaf.key(),
        }
    }

    pub fn leaf(&self) -> Option<&Leaf> {
        match self {
            Self::By(_) => None,
            Self::ByLeaf(leaf) => Some(leaf),
        }
    }
}

/// RFC 8725 §3.1: the policy accepts the algorithm. `none` and shared secrets are never parsed.
pub(crate) fn algorithm(token: &dyn SignedToken, court: &Court<'_>, list: &mut Checklist) {
    let accepted = court.policy.accepts(token.algorithm());
    list.check(
        &ALGORITHM,
        accepted,
        "the policy does not accept the signature algorithm",
    );
}

/// Finds the key, verifies its chain and the signature; `None` without a genuine signature.
pub(crate) fn signature(
    token: &dyn SignedToken,
    claimed: &Claimed<'_>,
    court: &Court<'_>,
    list: &mut Checklist,
) -> Option<StatedKey> {
    let laws = token.laws();
    let signed = match locate(claimed, court) {
        Ok(signed) => signed,
        Err((failure, detail)) => {
            list.fails_as(laws.key, failure, detail);
            list.signer_unknown();
            return None;
        }
    };
    list.passes(laws.key, source(claimed, &signed, court));
    keys_as_of(claimed, &signed, court, list);
    let anchors = &court.policy.trust_anchors;
    match signed.leaf().map(|leaf| leaf.anchored(anchors, court.now)) {
        None => list.skips(
            &CERTIFICATE_CHAIN,
            "the key does not come from a certificate",
        ),
        Some(Ok(())) => list.passes(&CERTIFICATE_CHAIN, ""),
        // Only a person who sees the error can renew the certificate.
        Some(Err(reason)) => list.fails(&CERTIFICATE_CHAIN, reason.to_string()),
    }
    let genuine = token.is_signed(signed.key(), court.evidence);
    list.check(
        laws.signature,
        genuine,
        "the signature is not by the issuer's key",
    );
    genuine.then_some(signed)
}

/// DID Core §9.8: a key that its owner revokes is removed from the document. An old copy of the document does not show
/// that.
fn keys_as_of(claimed: &Claimed<'_>, signed: &StatedKey, court: &Court<'_>, list: &mut Checklist) {
    let id = claimed.id.filter(|_| signed.leaf().is_none());
    let did = id.and_then(|id| Did::parse(id).ok());
    let document = did.and_then(|did| court.evidence.did(&did));
    let Some(document) = document else {
        return list.skips(
            &KEYS_AS_OF,
            "the key does not come from a fetched DID document",
        );
    };
    let (at, age) = (document.at, court.now.seconds_since(document.at));
    let (limit, leeway) = (court.policy.max_keys_age, court.policy.leeway);
    let known = format!("as of {}, {age} s ago", at.rfc3339());
    match limit.is_none_or(|limit| age <= limit.saturating_add(leeway)) {
        true => list.passes(&KEYS_AS_OF, known),
        false => list.fails(
            &KEYS_AS_OF,
            format!("the evidence for the issuer's keys is older than the policy allows: {known}"),
        ),
    }
}

/// The issuer's key, or the rule that is broken because no key was found, with the reason.
pub(crate) fn locate(
    claimed: &Claimed<'_>,
    court: &Court<'_>,
) -> Result<StatedKey, (BrokenRule, String)> {
    match issuer_key::find(claimed, court.evidence) {
        Finding::Key(key) => Ok(StatedKey::By(key)),
        Finding::Chain(leaf) => Ok(StatedKey::ByLeaf(leaf)),
        Finding::Missing(need) if is_strangers(&need, claimed, court) => Err((
            BrokenRule::Untrusted,
            "not looked up, since the issuer is not on the list of trusted issuers".to_owned(),
        )),
        Finding::Missing(_) => Err((
            BrokenRule::Unverifiable,
            "the document that names the key has not been fetched".to_owned(),
        )),
        Finding::Unavailable(reason) => Err((BrokenRule::Unverifiable, reason)),
        Finding::Refused(reason) => Err((BrokenRule::Invalid, reason.to_owned())),
    }
}

/// The needs for the issuer's key. None for an issuer that is not trusted: otherwise anyone could make this verifier
/// fetch any URL by naming it as an issuer's.
pub(crate) fn asked_for(need: Need, claimed: &Claimed<'_>, court: &Court<'_>) -> Vec<Need> {
    match is_strangers(&need, claimed, court) {
        true => Vec::new(),
        false => vec![need],
    }
}

/// Whether an untrusted issuer would cause a fetch. Keys that are in the DID itself are not fetched.
fn is_strangers(need: &Need, claimed: &Claimed<'_>, court: &Court<'_>) -> bool {
    let is_at_hand = matches!(need, Need::Did(did) if did.origin() == Origin::Itself);
    let issuer = IssuerIdentity {
        id: claimed.id,
        leaf: None,
    };
    !is_at_hand && !issuer.is_trusted(court.policy)
}

/// The source of the key, and who vouches for it: a document without a proof is only as reliable as its resolver.
fn source(claimed: &Claimed<'_>, signed: &StatedKey, court: &Court<'_>) -> String {
    let Some(id) = claimed.id.filter(|_| signed.leaf().is_none()) else {
        return "from the certificate in the header".to_owned();
    };
    if !id.starts_with("did:") {
        return match issuer_key::passed_over(claimed) {
            Some(reason) => format!("from the issuer's metadata, since {reason}"),
            None => "from the issuer's metadata".to_owned(),
        };
    }
    let told = Did::parse(id).ok().and_then(|did| {
        let resolution = court.evidence.did(&did)?.value.as_ref().ok()?;
        resolution.metadata.trusted_resolver.as_deref()
    });
    match told {
        Some(resolver) => {
            format!("from the issuer's DID document, according to {resolver}, without a proof")
        }
        None => "from the issuer's DID document".to_owned(),
    }
}

/// RFC 9901 §7.1 (2.c): the policy trusts the issuer, in general and for this request.
pub(crate) fn trust(
    identity: &IssuerIdentity<'_>,
    types: &[&str],
    court: &Court<'_>,
    list: &mut Checklist,
) {
    in_general(identity, types, court, list);
    for_request(identity, types, court, list);
}

/// As above, in general.
pub(crate) fn in_general(
    identity: &IssuerIdentity<'_>,
    types: &[&str],
    court: &Court<'_>,
    list: &mut Checklist,
) {
    if !identity.is_trusted(court.policy) {
        return list.fails(&ISSUER_TRUSTED, unlisted(identity, court));
    }
    let lists = allowed_types(identity, court.policy);
    let is_allowed = |name: &&&str| match &lists {
        Some(lists) => lists.iter().any(|allowed| allowed == **name),
        None => true,
    };
    match types.iter().find(|name| !is_allowed(name)) {
        None => list.passes(&ISSUER_TRUSTED, ""),
        Some(name) => {
            let name = if is_printable(name) {
                name
            } else {
                "this type"
            };
            let detail = format!("the issuer is trusted, but not for credentials of {name}");
            list.fails(&ISSUER_TRUSTED, detail);
        }
    }
}

/// The types that an issuer may issue under the names by which the policy trusts it, which for the subject of a
/// certificate may be several; none if it may issue any.
fn allowed_types(identity: &IssuerIdentity<'_>, policy: &Policy) -> Option<Vec<String>> {
    let is_it = |name: &&String| identity.is_among(std::slice::from_ref(*name));
    let names: Vec<&String> = match &policy.trusted_issuers {
        Trust::Listed(listed) => listed.iter().filter(is_it).collect(),
        Trust::Any => policy.issuer_types.keys().filter(is_it).collect(),
    };
    let lists: Option<Vec<_>> = names
        .into_iter()
        .map(|name| policy.issuer_types.get(name))
        .collect();
    let lists = lists.filter(|lists| !lists.is_empty())?;
    Some(lists.into_iter().flatten().cloned().collect())
}

/// Whether the credential is signed by an issuer that the policy trusts to issue it, whatever its current status is.
pub fn is_by_a_trusted_issuer(verdict: &Verdict) -> bool {
    let judged = |law: &Law| verdict.rules.iter().find(|rule| rule.name == law.name);
    let holds = |law: &Law| judged(law).is_some_and(|rule| rule.passed == Some(true));
    let is_broken = |law: &Law| judged(law).is_some_and(|rule| rule.passed == Some(false));
    let is_refused = is_broken(&CERTIFICATE_CHAIN) || is_broken(&ISSUER_FOR_REQUEST);
    holds(&ISSUER_SIGNATURE) && holds(&ISSUER_TRUSTED) && !is_refused
}

/// The issuer is one of those that the policy names for each type of the credential for which it names any.
pub(crate) fn for_request(
    identity: &IssuerIdentity<'_>,
    types: &[&str],
    court: &Court<'_>,
    list: &mut Checklist,
) {
    let named = |name: &&str| court.policy.issuers_by_type.get_key_value(*name);
    let lists: Vec<_> = types.iter().filter_map(named).collect();
    let Some((name, _)) = lists.first() else {
        return;
    };
    let is_wrong = |(_, issuers): &&(&String, &Vec<String>)| !identity.is_among(issuers);
    match lists.iter().find(is_wrong) {
        None => list.passes(
            &ISSUER_FOR_REQUEST,
            format!("one of those named for credentials of {name}"),
        ),
        Some((name, _)) => {
            let id = identity.id.filter(|id| is_printable(id));
            let id = id.unwrap_or("the issuer");
            let detail = format!("{id} is not one of those named for credentials of {name}");
            list.fails(&ISSUER_FOR_REQUEST, detail);
        }
    }
}

/// The name that is missing on the list, so that its owner can add it. Names are compared as strings, so a final slash
/// matters.
fn unlisted(identity: &IssuerIdentity<'_>, court: &Court<'_>) -> String {
    let Some(id) = identity.id.filter(|id| is_printable(id)) else {
        return "the issuer is not on the list of trusted issuers".to_owned();
    };
    let bare = |name: &str| name.trim_end_matches('/').to_owned();
    let near = match &court.policy.trusted_issuers {
        Trust::Listed(listed) => listed.iter().find(|entry| bare(entry) == bare(id)),
        Trust::Any => None,
    };
    match near {
        Some(entry) => {
            format!(
                "{id} is not on the list of trusted issuers; {entry} is, which is a different issuer"
            )
        }
        None => format!("{id} is not on the list of trusted issuers"),
    }
}

/// Whether a name can be shown unchanged.
fn is_printable(name: &str) -> bool {
    name.len() <= MAX_SHOWN && name.bytes().all(|byte| byte.is_ascii_graphic())
}

/// RFC 7519 §4.1.4 and §4.1.5, and the credential's own dates.
pub(crate) fn validity(
    validity: Result<Validity, BadTime>,
    court: &Court<'_>,
    list: &mut Checklist,
) {
    let Ok(validity) = validity else {
        list.fails(&TIMES, "a time is malformed");
        return;
    };
    list.passes(&TIMES, "");
    let leeway = court.policy.leeway;
    match validity.not_before {
        None => list.skips(&NOT_BEFORE, "none is stated"),
        Some(_) => {
            let begun = validity.has_begun(court.now, leeway);
            list.check(&NOT_BEFORE, begun, "not valid yet");
        }
    }
    match validity.expires {
        None => list.skips(&EXPIRY, "none is stated"),
        Some(_) => {
            list.check(&EXPIRY, validity.lasts(court.now, leeway), "expired");
        }
    }
}
