//! Destinations of DIDComm v2: where the subject of a DID takes messages.

use selfsame_aries::advance::{Problem, ProblemKind};
use selfsame_aries::key::VerKey;
use selfsame_aries::peer_document::{PeerDocument, contained};
use selfsame_core::machine::Round;
use selfsame_credential::evidence::{Need, SignatureRequest, Step};
use selfsame_crypto::Algorithm;
use selfsame_did::{Did, Document, Relationship};
use selfsame_didcomm::service::{V2Endpoint, V2Service};
use selfsame_didcomm::v2::draft_rotation;
use url::Url;

use crate::destination::{Destination, Located};
use crate::packing::DidPair;

/// Where the subject of a DID takes messages of DIDComm v2 from this DID of ours. Documents of others are needs.
///
/// # Errors
/// If a DID can't be resolved, or the document names no service of DIDComm v2.
pub fn located(did: &str, own: &Did, round: &Round<'_>) -> Result<Step<Located>, Problem> {
    let theirs: Did = did.parse().map_err(|_| unresolved())?;
    let document = match document(&theirs, round)? {
        Step::Done(document) => document,
        Step::Needs(needs) => return Ok(Step::Needs(needs)),
    };
    let service = V2Service::of(&document).ok_or_else(no_service)?;
    let endpoint = match service.to {
        V2Endpoint::Url(url) => url,
        V2Endpoint::Mediator(mediator) => match mediated(&mediator, round)? {
            Step::Done(url) => url,
            Step::Needs(needs) => return Ok(Step::Needs(needs)),
        },
    };
    Ok(Step::Done(Located {
        destination: Destination {
            keys: Vec::new(),
            through: Vec::new(),
            endpoint: Some(endpoint),
            dids: Some(DidPair {
                own: own.clone(),
                theirs,
                from_prior: None,
                is_leaving: false,
            }),
        },
        document: PeerDocument::of(&document),
    }))
}

/// As [`located`], without asking others; `None` if that does not suffice.
pub fn named(did: &str, own: &Did) -> Option<Destination> {
    let theirs: Did = did.parse().ok()?;
    let service = V2Service::of(&contained(&theirs)?)?;
    let endpoint = match service.to {
        V2Endpoint::Url(url) => url,
        V2Endpoint::Mediator(_) => return None,
    };
    Some(Destination {
        keys: Vec::new(),
        through: Vec::new(),
        endpoint: Some(endpoint),
        dids: Some(DidPair {
            own: own.clone(),
            theirs,
            from_prior: None,
            is_leaving: false,
        }),
    })
}

/// The URL of a mediator. A mediator behind a mediator is not followed.
fn mediated(mediator: &Did, round: &Round<'_>) -> Result<Step<Url>, Problem> {
    let document = match document(mediator, round)? {
        Step::Done(document) => document,
        Step::Needs(needs) => return Ok(Step::Needs(needs)),
    };
    match V2Service::of(&document).map(|service| service.to) {
        Some(V2Endpoint::Url(url)) => Ok(Step::Done(url)),
        _ => Err(no_service()),
    }
}

fn document(did: &Did, round: &Round<'_>) -> Result<Step<Document>, Problem> {
    if let Some(document) = contained(did) {
        return Ok(Step::Done(document));
    }
    let Some(fetched) = round.evidence.did(did) else {
        return Ok(Step::Needs(vec![Need::Did(did.clone())]));
    };
    let resolution = fetched.value.as_ref().map_err(|_| unresolved())?;
    let document = resolution.document_of(did).map_err(|_| unresolved())?;
    Ok(Step::Done(document.clone()))
}

fn no_service() -> Problem {
    let explain = "the DID document names no service of DIDComm v2";
    Problem::new(ProblemKind::Content, "request_not_accepted", explain)
}

fn unresolved() -> Problem {
    let explain = "the DID can't be resolved";
    Problem::new(ProblemKind::Content, "request_not_accepted", explain)
}

/// The JWT that says that this agent, which had a DID with this key, has another one now, or leaves. It is signed by the
/// key (DIDComm v2.1, "DID Rotation").
///
/// # Errors
/// If the key is not an authentication key of the DID.
pub fn prior(
    before: &Did,
    key: &VerKey,
    now: Option<&Did>,
    round: &Round<'_>,
) -> Result<Step<String>, Problem> {
    let document = contained(before).ok_or_else(unresolved)?;
    let mut keys = document.keys(Relationship::Authentication);
    let kid = keys.find(|(_, public)| public == key.public_key());
    let (kid, _) = kid.ok_or_else(unresolved)?;
    let unsigned = draft_rotation(&kid, Algorithm::EdDsa, now, round.ctx.now());
    let request = SignatureRequest {
        key: key.handle(),
        bytes: unsigned.signing_input().to_vec(),
    };
    Ok(match round.evidence.signature(&request) {
        Some(signature) => Step::Done(unsigned.finish(signature)),
        None => Step::Needs(vec![Need::Signature(request)]),
    })
}
