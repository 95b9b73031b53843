//! Exchanges of version 1.0 as controllers see them. Records and states have the older names of ACA-Py's admin API.

use selfsame_aries::exchange::{Course, Exchange};
use selfsame_aries::issue_credential::{CredentialExchange, IssueMessage, IssueState};
use selfsame_aries::present_proof::{PresentationExchange, ProofMessage, ProofRole, ProofState};
use serde_json::{Map, Value, json};

use super::{CredentialOutcome, Depth, common, message};
use crate::attachments::known;

/// Members that are shown if there is something to show.
#[derive(Default)]
struct ShownMembers(Map<String, Value>);

impl ShownMembers {
    fn add(&mut self, name: &str, value: Value) {
        if !value.is_null() {
            self.0.insert(name.to_owned(), value);
        }
    }
}

/// An issuing (`V10CredentialExchange`).
pub fn credential(
    id: &str,
    exchange: &CredentialExchange,
    outcome: &CredentialOutcome<'_>,
    depth: Depth,
) -> Value {
    let mut shown = ShownMembers(common(exchange));
    let extra = &exchange.extra;
    shown.add("credential_exchange_id", json!(id));
    shown.add("state", json!(credential_state(exchange.state)));
    shown.add("auto_offer", json!(extra.auto_offer));
    shown.add("auto_issue", json!(extra.auto_issue));
    shown.add("auto_remove", json!(extra.auto_remove));
    let offer = artefact(exchange, IssueMessage::Offer);
    shown.add("credential_definition_id", offer["cred_def_id"].clone());
    shown.add("schema_id", offer["schema_id"].clone());
    shown.add("credential_id", json!(outcome.credential_id));
    shown.add("revoc_reg_id", json!(outcome.rev_reg_id));
    shown.add("revocation_id", json!(outcome.cred_rev_id()));
    if outcome.credential_id.is_some() {
        shown.add("credential", stored(exchange, &offer, outcome));
    }
    shown.add("credential_offer", offer);
    shown.add(
        "credential_request",
        artefact(exchange, IssueMessage::Request),
    );
    shown.add(
        "raw_credential",
        artefact(exchange, IssueMessage::Credential),
    );
    if depth == Depth::Messages {
        shown.add("credential_proposal_dict", proposal(exchange));
        shown.add("credential_offer_dict", said(exchange, IssueMessage::Offer));
    }
    Value::Object(shown.0)
}

/// A presenting (`V10PresentationExchange`).
pub fn presentation(id: &str, exchange: &PresentationExchange, depth: Depth) -> Value {
    let mut shown = ShownMembers(common(exchange));
    let extra = &exchange.extra;
    shown.add("presentation_exchange_id", json!(id));
    shown.add("state", json!(presentation_state(exchange)));
    shown.add("auto_present", json!(extra.auto_present));
    shown.add("auto_verify", json!(extra.auto_verify));
    shown.add("auto_remove", json!(extra.auto_remove));
    if let Some(verified) = extra.verified {
        shown.add("verified", json!(verified.to_string()));
        shown.add("verified_msgs", json!(extra.verified_msgs));
    }
    shown.add(
        "presentation_request",
        artefact(exchange, ProofMessage::Request),
    );
    shown.add(
        "presentation",
        artefact(exchange, ProofMessage::Presentation),
    );
    if depth == Depth::Messages {
        let (proposed, requested) = (ProofMessage::Proposal, ProofMessage::Request);
        shown.add("presentation_proposal_dict", said(exchange, proposed));
        shown.add("presentation_request_dict", said(exchange, requested));
    }
    Value::Object(shown.0)
}

/// The state's name in version 1.0.
pub fn credential_state(state: IssueState) -> &'static str {
    match state {
        IssueState::ProposalSent => "proposal_sent",
        IssueState::ProposalReceived => "proposal_received",
        IssueState::OfferSent => "offer_sent",
        IssueState::OfferReceived => "offer_received",
        IssueState::RequestSent => "request_sent",
        IssueState::RequestReceived => "request_received",
        IssueState::CredentialIssued => "credential_issued",
        IssueState::CredentialReceived => "credential_received",
        IssueState::Done => "credential_acked",
        IssueState::CredentialRevoked => "credential_revoked",
        IssueState::Abandoned => "abandoned",
    }
}

/// The state's name in version 1.0, in which the end has a name for each role.
pub fn presentation_state(exchange: &PresentationExchange) -> &'static str {
    match (exchange.state, exchange.role) {
        (ProofState::ProposalSent, _) => "proposal_sent",
        (ProofState::ProposalReceived, _) => "proposal_received",
        (ProofState::RequestSent, _) => "request_sent",
        (ProofState::RequestReceived, _) => "request_received",
        (ProofState::PresentationSent, _) => "presentation_sent",
        (ProofState::PresentationReceived, _) => "presentation_received",
        (ProofState::Done, ProofRole::Verifier) => "verified",
        (ProofState::Done, ProofRole::Prover) => "presentation_acked",
        (ProofState::Abandoned, _) => "abandoned",
    }
}

/// The credential as the holder keeps it.
fn stored(exchange: &CredentialExchange, offer: &Value, outcome: &CredentialOutcome<'_>) -> Value {
    let offered = exchange.message(IssueMessage::Offer);
    let preview = offered.and_then(|offered| offered.preview.as_ref());
    let attributes = preview.map_or(&[][..], |preview| &preview.attributes[..]);
    let values = attributes
        .iter()
        .map(|one| (one.name.clone(), json!(one.value)));
    json!({
        "referent": outcome.credential_id,
        "attrs": Value::Object(values.collect()),
        "schema_id": offer["schema_id"],
        "cred_def_id": offer["cred_def_id"],
        "rev_reg_id": outcome.rev_reg_id,
        "cred_rev_id": outcome.cred_rev_id(),
    })
}

/// The proposal: what the holder sent, or what the issuer's offer would answer.
fn proposal(exchange: &CredentialExchange) -> Value {
    let proposed = said(exchange, IssueMessage::Proposal);
    let offered = exchange.message(IssueMessage::Offer);
    let (true, Some(offered)) = (proposed.is_null(), offered) else {
        return proposed;
    };
    let offer = artefact(exchange, IssueMessage::Offer);
    let kind = &exchange.dialogue.kind;
    let preview = offered.preview.as_ref().map(|preview| {
        let kind = kind.sibling("credential-preview").to_string();
        json!({ "@type": kind, "attributes": preview.attributes })
    });
    json!({
        "@type": kind.sibling("propose-credential").to_string(),
        "comment": offered.comment,
        "credential_proposal": preview,
        "schema_id": offer["schema_id"],
        "cred_def_id": offer["cred_def_id"],
    })
}

/// The message; null if it was not sent.
fn said<C: Course>(exchange: &Exchange<C>, kind: C::Kind) -> Value {
    let payload = exchange.message(kind);
    payload.map_or(Value::Null, |payload| message(exchange, kind, payload))
}

/// What the message attaches: version 1.0 has one attachment. Null if it attaches nothing.
fn artefact<C: Course>(exchange: &Exchange<C>, kind: C::Kind) -> Value {
    let mut attached = exchange.message(kind).into_iter().flat_map(known);
    let bytes = attached.next().map(|one| one.bytes).unwrap_or_default();
    serde_json::from_slice(bytes).unwrap_or_default()
}
