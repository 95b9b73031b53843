//! The rules for a mobile document: those of `selfsame-mdoc`, with the status list that is judged here, and the trust of
//! the policy in the authority of its signer.

use std::sync::Arc;

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::x509::Chain;
use selfsame_mdoc::certificate::DocumentSigner;
use selfsame_mdoc::held::IssuerSigned;
use selfsame_mdoc::response::issuer_signed;
use selfsame_mdoc::verify::{self as mdoc, KnownStatus, MdocCourt, MdocRequest, VerifiedDocument};
use selfsame_verdict::{BrokenRule, Law, Outcome, Rule};
use serde_json::Value;

use super::read::{self, NotMdoc, ReadMdoc};
use crate::budget::Budget;
use crate::evidence::Need;
use crate::format::view::Subject;
use crate::rules::{Binding, Court, Malformed, issuer, status};
use crate::status::{List, Reference};
use crate::verdict::Verdict;

const READABLE: Law = Law::new(
    "readable",
    "ISO/IEC 18013-5 §8.3.2.1.2.2, RFC 8949 §5.3.1",
    BrokenRule::Invalid,
);
const SESSION: Law = Law::new(
    "device_proof",
    "ISO/IEC 18013-5 §9.1.3.4, OpenID4VP 1.0 §B.2.6",
    BrokenRule::Invalid,
);

/// A document was presented where there is no session to which it can be bound.
#[derive(Debug, thiserror::Error)]
#[error("a mobile document is presented by OpenID4VP alone")]
struct NoSession;

pub(super) fn read_credential(
    raw: &str,
    budget: &mut Budget,
) -> Result<Arc<dyn Subject>, Malformed> {
    received(raw, false, budget)
}

pub(super) fn read_presentation(
    raw: &str,
    budget: &mut Budget,
) -> Result<Arc<dyn Subject>, Malformed> {
    received(raw, true, budget)
}

pub(super) fn too_much() -> Malformed {
    Malformed::new(&READABLE, &NotMdoc::TooMuch)
}

fn received(
    raw: &str,
    is_response: bool,
    budget: &mut Budget,
) -> Result<Arc<dyn Subject>, Malformed> {
    let malformed = |error: NotMdoc| Malformed::new(&READABLE, &error);
    let bytes = read::bytes_of(raw).map_err(malformed)?;
    // The tree of the bytes takes some times their length while they are read.
    budget.take_bytes(bytes.len()).ok_or_else(too_much)?;
    let issued = match is_response {
        true => issuer_signed(&bytes).unwrap_or_default(),
        false => bytes.clone(),
    };
    let document = IssuerSigned::parse(&issued).map_err(|error| malformed(error.into()))?;
    let read = ReadMdoc::new(&document).map_err(malformed)?;
    budget.take_bytes(read.weight()).ok_or_else(too_much)?;
    Ok(Arc::new(ReceivedMdoc {
        response: is_response.then(|| bytes.into()),
        issued: issued.into(),
        read: Arc::new(read),
    }))
}

/// A document as it was received, alone or in a response.
#[derive(Debug)]
pub(super) struct ReceivedMdoc {
    response: Option<Arc<[u8]>>,
    issued: Arc<[u8]>,
    read: Arc<ReadMdoc>,
}

impl ReceivedMdoc {
    pub fn issued(issued: Arc<[u8]>, read: Arc<ReadMdoc>) -> Self {
        Self {
            response: None,
            issued,
            read,
        }
    }

    fn reference(&self) -> Option<Reference> {
        self.read.statuses().unwrap_or_default().pop()
    }
}

impl Subject for ReceivedMdoc {
    /// The status list, once the document is known to be genuine and its signer relied upon: a forger must not control
    /// what is fetched.
    fn needs(&self, court: &Court<'_>) -> Vec<Need> {
        let Some(place) = self.reference() else {
            return Vec::new();
        };
        if court.evidence.status_list(&place.uri).is_some() {
            return Vec::new();
        }
        let (verdict, _) = mdoc::verify_issued(&self.issued, &mdoc_court(court, &[]));
        match is_relied_upon(&verdict) {
            true => vec![Need::StatusList(place.uri)],
            false => Vec::new(),
        }
    }

    fn judge(&self, expected: Option<&Binding>, court: &Court<'_>) -> (Verdict, Option<&Value>) {
        let place = self.reference();
        let known = place.as_ref().and_then(|place| known(place, self, court));
        let statuses: Vec<KnownStatus<'_>> = known.into_iter().collect();
        let judged_by = mdoc_court(court, &statuses);
        let (mut verdict, document) = match (expected, &self.response) {
            (None, _) => mdoc::verify_issued(&self.issued, &judged_by),
            (Some(expected), Some(response)) => {
                let Some(transcript) = &expected.session else {
                    return (Malformed::new(&SESSION, &NoSession).verdict(), None);
                };
                let request = MdocRequest {
                    transcript,
                    reader_key: None,
                    doc_type: &self.read.doc_type,
                    wanted: &[],
                };
                mdoc::verify(response, &request, &judged_by)
            }
            (Some(_), None) => {
                return (Malformed::new(&SESSION, &NoSession).verdict(), None);
            }
        };
        trust(document.as_ref(), court, &mut verdict);
        // An unknown status says nothing against what the issuer signed.
        let is_genuine =
            holds(&verdict, &issuer::ISSUER_SIGNATURE) && verdict.outcome != Outcome::Invalid;
        (verdict, is_genuine.then_some(&self.read.claims))
    }
}

fn mdoc_court<'a>(court: &Court<'a>, statuses: &'a [KnownStatus<'a>]) -> MdocCourt<'a> {
    MdocCourt {
        now: court.now,
        leeway: court.policy.leeway,
        authorities: &court.policy.authorities,
        algorithms: court.policy.algorithms.as_deref(),
        statuses,
        require_status: court.policy.require_status,
    }
}

fn holds(verdict: &Verdict, law: &Law) -> bool {
    let mut rules = verdict.rules.iter();
    rules.any(|rule| rule.name == law.name && rule.passed == Some(true))
}

fn is_relied_upon(verdict: &Verdict) -> bool {
    let mut rules = verdict.rules.iter();
    let has_signer =
        rules.any(|rule| rule.name == "signer_certificate" && rule.passed == Some(true));
    has_signer && holds(verdict, &issuer::ISSUER_SIGNATURE)
}

/// The policy trusts the authority of the signer, in general and for this request. An authority is named by the digest of
/// its certificate; a signer by that of its own.
fn trust(document: Option<&VerifiedDocument<'_>>, court: &Court<'_>, verdict: &mut Verdict) {
    let Some(document) = document else {
        let detail = "the document's signer is of no trusted authority";
        return conclude(&issuer::ISSUER_TRUSTED, Err(detail.to_owned()), verdict);
    };
    let authority = court.policy.authorities.get(document.signer.authority);
    let digests = [
        Some(document.signer.sha256),
        authority.map(|one| sha256(one)),
    ];
    let names = digests.into_iter().flatten();
    let names: Vec<String> = names
        .map(|digest| format!("x509_hash:{}", base64url_encode(&digest)))
        .collect();
    let limits = names
        .iter()
        .filter_map(|name| court.policy.issuer_types.get(name));
    let mut limits = limits.peekable();
    let may = limits.peek().is_none()
        || limits.any(|types| types.iter().any(|one| one == document.doc_type));
    let detail = "the document's authority is trusted, but not for documents of this type";
    let general = may.then_some(()).ok_or_else(|| detail.to_owned());
    conclude(&issuer::ISSUER_TRUSTED, general, verdict);
    if let Some(named) = court.policy.issuers_by_type.get(document.doc_type) {
        let is_named = named.iter().any(|name| names.contains(name));
        let detail =
            "the document's authority is not one of those named for documents of this type";
        let for_request = is_named.then_some(()).ok_or_else(|| detail.to_owned());
        conclude(&issuer::ISSUER_FOR_REQUEST, for_request, verdict);
    }
}

fn conclude(law: &Law, result: Result<(), String>, verdict: &mut Verdict) {
    let is_broken = result.is_err();
    verdict.rules.push(Rule {
        name: law.name.into(),
        passed: Some(!is_broken),
        detail: result.err().unwrap_or_default(),
        paragraph: "ISO/IEC 18013-5 §9.3.3".into(),
    });
    let is_worse = matches!(verdict.outcome, Outcome::Invalid | Outcome::Unverifiable);
    if is_broken && !is_worse {
        verdict.outcome = Outcome::Untrusted;
    }
}

/// What is known of the status of a document; `None` if its list was not fetched.
fn known<'a>(
    place: &'a Reference,
    document: &ReceivedMdoc,
    court: &Court<'_>,
) -> Option<KnownStatus<'a>> {
    let fetched = court.evidence.status_list(&place.uri)?;
    let value = match &fetched.value {
        Err(unavailable) => Err(unavailable.reason.clone()),
        Ok(list) => listed(list, place, document, court).and_then(|value| {
            let stale = status::stale(list, fetched.at, court);
            stale.map_or(Ok(value), |why| Err(why.to_owned()))
        }),
    };
    Some(KnownStatus {
        uri: &place.uri,
        index: place.index,
        value,
        at: fetched.at,
    })
}

/// The status in a list that the document's signer signed, or another signer of its authority.
fn listed(
    list: &List,
    place: &Reference,
    document: &ReceivedMdoc,
    court: &Court<'_>,
) -> Result<u8, String> {
    let status = list.status(place).map_err(|error| error.to_string())?;
    let first = |x5c: Option<&Vec<Vec<u8>>>| x5c.and_then(|chain| chain.first()).cloned();
    let signers = (
        first(list.header().x5c.as_ref()),
        first(document.read.header.x5c.as_ref()),
    );
    let (Some(own), Some(documents)) = signers else {
        return Err("the status list has no certificate of its signer".to_owned());
    };
    let find = |certificate: &[u8]| {
        DocumentSigner::find(certificate, &court.policy.authorities, court.now).ok()
    };
    let is_same = own == documents;
    let is_of_authority = || match (find(&own), find(&documents)) {
        (Some(own), Some(documents)) => own.authority == documents.authority,
        _ => false,
    };
    let key = Chain::parse(std::slice::from_ref(&own)).ok();
    let key = key.filter(|_| is_same || is_of_authority());
    let signed = key.is_some_and(|chain| {
        court.policy.accepts(list.header().alg) && list.verify(chain.leaf_public_key()).is_ok()
    });
    match signed {
        true => Ok(status.into()),
        false => {
            Err("the status list is not signed by the document's signer or authority".to_owned())
        }
    }
}
