//! The steps of DID exchange.

use selfsame_credential::evidence::{Evidence, Need, Step};
use selfsame_crypto::ctx::Ctx;
use selfsame_didcomm::Message;

use crate::advance::{Advance, Advanced, Footing, Move, Problem, ProblemKind, Recipient};
use crate::connection::{
    ConnectionRecord, ConnectionRole, ConnectionState, DidWithDoc, Handshake, HandshakeRejection,
    InvitationTerms,
};
use crate::key::VerKey;
use crate::wire::{Incoming, Vocabulary, fresh_id};

use super::messages::{DidExchangeMessage, DidRequest, DidResponse};
use super::signed::{self, Attachments, MaybeSigned};
use super::state::next;

/// What a DID exchange can be given.
#[derive(Clone, Debug, PartialEq)]
pub enum DidExchangeInput {
    /// A message of the protocol.
    Received(Box<Incoming<DidExchangeMessage>>),
    /// An act of the controller.
    Act(DidExchangeAct),
}

/// What the controller of a DID exchange can do.
#[derive(Clone, Debug, PartialEq)]
pub enum DidExchangeAct {
    /// Begins with an invitation, made or received, explicit or not.
    Begin(InvitationTerms),
    /// Sends the request.
    Request {
        /// How this agent calls itself.
        label: Option<String>,
        /// The DID for the connection.
        party: DidWithDoc,
        /// A key of that DID, which signs its document.
        key: VerKey,
        /// The key of the DID that invited, once it is resolved.
        inviter_key: Option<VerKey>,
    },
    /// Sends the response, which the invitation's key signs.
    Respond {
        /// The DID for the connection.
        party: DidWithDoc,
    },
    /// Tells the responder that its response came.
    Complete,
    /// Refuses what the peer sent.
    Reject(HandshakeRejection),
}
type Stepped = Result<Step<Advance<ConnectionRecord>>, Problem>;

/// Takes a step of a DID exchange. Pure: with the signatures that it needs, the same step gives the message.
///
/// # Errors
/// If thread, state or content do not allow the input. The record stays as it is.
pub fn step(
    place: Footing<'_, ConnectionRecord>,
    input: &DidExchangeInput,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Stepped {
    use DidExchangeInput::{Act, Received};
    let record = match (place, input) {
        (Footing::New(opening), Act(DidExchangeAct::Begin(terms))) => {
            let begun = ConnectionRecord::begin(terms.clone(), opening.kind.clone(), ctx);
            return Ok(Step::Done(begun));
        }
        (Footing::New(_), Received(_)) => return Err(Problem::unknown_thread()),
        (Footing::New(_), Act(_)) => return Err(Problem::wrong_state()),
        (Footing::Known(record), _) => record,
    };
    match input {
        Received(message) => receive(record, message, ctx).map(Step::Done),
        Act(DidExchangeAct::Begin(_)) => Err(Problem::wrong_state()),
        Act(DidExchangeAct::Request {
            label,
            party,
            key,
            inviter_key,
        }) => {
            let mut record = record.clone();
            if record.invitation_key.is_none() {
                record.invitation_key.clone_from(inviter_key);
            }
            let asking = Asking { label, party, key };
            request(&record, &asking, evidence, ctx)
        }
        Act(DidExchangeAct::Respond { party }) => respond(record, party, evidence, ctx),
        Act(DidExchangeAct::Complete) => complete(record, ctx).map(Step::Done),
        Act(DidExchangeAct::Reject(rejection)) => {
            let report = DidExchangeMessage::Report(rejection.report(record.role));
            record.reject(rejection, &report, next, ctx).map(Step::Done)
        }
    }
}

fn receive(
    record: &ConnectionRecord,
    message: &Incoming<DidExchangeMessage>,
    ctx: &Ctx,
) -> Advanced<ConnectionRecord> {
    if record.dialogue.has_heard(message) {
        return Ok(Advance::repeated(record.clone()));
    }
    let moved = Move::Receives(message.content.handshake());
    let to = next(record.role, Some(record.state), moved);
    match (&message.content, to) {
        (DidExchangeMessage::Request(request), Some(_)) => requested(record, message, request, ctx),
        (DidExchangeMessage::Request(_), None) => {
            record.requested_again(message, not_accepted(record, message, ctx))
        }
        (_, None) => Err(Problem::wrong_state()),
        (DidExchangeMessage::Response(response), Some(to)) => {
            let refuse = |problem: Problem| {
                problem.reported(Recipient::Invitation, not_accepted(record, message, ctx))
            };
            let mut next = record.clone();
            next.dialogue.hear(message, ctx)?;
            next.theirs = Some(responded(record, response).map_err(refuse)?);
            Ok(next.moved(to))
        }
        (DidExchangeMessage::Report(report), Some(_)) => record.take_report(message, report, ctx),
        (DidExchangeMessage::Complete, Some(to)) => {
            let mut next = record.clone();
            next.dialogue.hear(message, ctx)?;
            // RFC 0023 §3: the parent thread is that of the request.
            let parent = message.parent_thread_id.as_ref();
            if parent.is_some_and(|parent| *parent != record.invitation_id) {
                return Err(Problem::unknown_thread());
            }
            Ok(next.moved(to))
        }
    }
}

/// RFC 0023, "Request processing".
fn requested(
    record: &ConnectionRecord,
    message: &Incoming<DidExchangeMessage>,
    request: &DidRequest,
    ctx: &Ctx,
) -> Advanced<ConnectionRecord> {
    let refuse = |kind, explain| {
        let problem = Problem::new(kind, HandshakeRejection::REQUEST, explain);
        problem.reported(Recipient::Sender, not_accepted(record, message, ctx))
    };
    // RFC 0023, "Correlating requests to invitations".
    if message.parent_thread_id.as_ref() != Some(&record.invitation_id) {
        return Err(refuse(
            ProblemKind::UnknownThread,
            "the request refers to another invitation",
        ));
    }
    let party = signed::of_request(&request.did, request.document.as_ref());
    let explain =
        "the document of the request is not signed by a key of its own, or of another DID";
    let party = party.ok_or_else(|| refuse(ProblemKind::Signature, explain))?;
    record.requested(message, ctx, |record| {
        record.their_label.clone_from(&request.label);
        record.theirs = Some(party);
    })
}

/// RFC 0023, "Response Processing": what comes with the response is signed with the key of the invitation. With
/// nothing signed, the DID must be the one that invited.
fn responded(record: &ConnectionRecord, response: &DidResponse) -> Result<DidWithDoc, Problem> {
    let unsigned = response.document.is_none() && response.rotation.is_none();
    if unsigned && record.invitation_did.as_ref() == Some(&response.did) {
        let did = response.did.clone();
        return Ok(DidWithDoc { did, doc: None });
    }
    let attachments = Attachments {
        document: response.document.as_ref(),
        rotation: response.rotation.as_ref(),
    };
    let key = record.signing_key()?;
    let party = signed::of_response(&response.did, &attachments, key).filter(|_| !unsigned);
    let explain = "the DID of the response is not signed with the key of the invitation";
    party.ok_or_else(|| {
        Problem::new(
            ProblemKind::Signature,
            HandshakeRejection::RESPONSE,
            explain,
        )
    })
}

/// The report that refuses a message of the peer.
fn not_accepted(
    record: &ConnectionRecord,
    message: &Incoming<DidExchangeMessage>,
    ctx: &Ctx,
) -> Message {
    let report = DidExchangeMessage::Report(HandshakeRejection::default().report(record.role));
    let mut answer = Message::new(
        message.kind.sibling(report.name()),
        fresh_id("refusal", ctx),
    );
    answer.thread.thid = Some(message.thread_id.clone());
    report.write(&mut answer);
    answer
}

/// What a request says.
struct Asking<'a> {
    label: &'a Option<String>,
    party: &'a DidWithDoc,
    key: &'a VerKey,
}

fn request(
    record: &ConnectionRecord,
    asking: &Asking<'_>,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Stepped {
    let Some(to) = next(
        record.role,
        Some(record.state),
        Move::Sends(Handshake::Request),
    ) else {
        let again = record.again(
            ConnectionState::Request,
            ConnectionRole::Invitee,
            asking.party,
        );
        return again.map(Step::Done);
    };
    let doc = asking.party.doc.as_ref();
    let signed = doc
        .map(|doc| signed::document(doc, asking.key, evidence))
        .transpose();
    let document = match attachment(signed)? {
        Ok(document) => document,
        Err(need) => return Ok(Step::Needs(vec![need])),
    };
    let mut next = record.clone();
    next.dialogue.begin_below(&record.invitation_id, ctx);
    next.ours = Some(asking.party.clone());
    let request = DidExchangeMessage::Request(DidRequest {
        label: asking.label.clone(),
        goal_code: None,
        goal: None,
        did: asking.party.did.clone(),
        document,
    });
    let message = next.dialogue.say(&request, ctx);
    Ok(Step::Done(
        next.moved(to).send(Recipient::Invitation, message),
    ))
}

/// The attachment, or the need for its signature.
fn attachment(
    signed: Result<Option<MaybeSigned>, selfsame_didcomm::Error>,
) -> Result<Result<Option<selfsame_didcomm::Attachment>, Need>, Problem> {
    match signed {
        Ok(None) => Ok(Ok(None)),
        Ok(Some(Ok(attachment))) => Ok(Ok(Some(attachment))),
        Ok(Some(Err(request))) => Ok(Err(Need::Signature(request))),
        Err(_) => {
            let explain = "the DID or its document can't be signed";
            Err(Problem::new(
                ProblemKind::Content,
                "signature-failed",
                explain,
            ))
        }
    }
}

fn respond(
    record: &ConnectionRecord,
    party: &DidWithDoc,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Stepped {
    let Some(to) = next(
        record.role,
        Some(record.state),
        Move::Sends(Handshake::Response),
    ) else {
        let again = record.again(ConnectionState::Response, ConnectionRole::Inviter, party);
        return again.map(Step::Done);
    };
    let key = record.signing_key()?;
    // RFC 0023 §2: a DID that can be resolved has no document here; version 1.1 signs the DID itself.
    let is_rotated = party.doc.is_none() && record.dialogue.kind.version.minor > 0;
    let signed = match &party.doc {
        Some(doc) => signed::document(doc, key, evidence).map(Some),
        None if is_rotated => signed::rotation(&party.did, key, evidence).map(Some),
        None => Ok(None),
    };
    let signed = match attachment(signed)? {
        Ok(signed) => signed,
        Err(need) => return Ok(Step::Needs(vec![need])),
    };
    let (rotation, document) = match is_rotated {
        true => (signed, None),
        false => (None, signed),
    };
    let did = party.did.clone();
    let response = DidResponse {
        did,
        document,
        rotation,
    };
    let mut next = record.clone();
    next.ours = Some(party.clone());
    let message = next
        .dialogue
        .say(&DidExchangeMessage::Response(response), ctx);
    Ok(Step::Done(next.moved(to).send(Recipient::Peer, message)))
}

fn complete(record: &ConnectionRecord, ctx: &Ctx) -> Advanced<ConnectionRecord> {
    let moved = Move::Sends(Handshake::Complete);
    let Some(to) = next(record.role, Some(record.state), moved) else {
        return record.confirmed_again();
    };
    let mut next = record.clone();
    let message = next.dialogue.say(&DidExchangeMessage::Complete, ctx);
    Ok(next.moved(to).send(Recipient::Peer, message))
}
