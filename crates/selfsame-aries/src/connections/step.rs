//! The steps of connections 1.0.

use selfsame_credential::evidence::{Evidence, Need, SignatureRequest, Step};
use selfsame_crypto::ctx::Ctx;
use selfsame_didcomm::Message;
use selfsame_didcomm::message::{MessageType, Semver};

use crate::advance::Outset;
use crate::advance::{Advance, Advanced, Footing, Move, Problem, ProblemKind, Recipient};
use crate::connection::{
    Accepting, ConnectionRecord, ConnectionRole, ConnectionState, DidWithDoc, Handshake,
    HandshakeRejection, InvitationMode, InvitationTerms,
};
use crate::dialogue::Dialogue;
use crate::key::VerKey;
use crate::trust_ping::{Ping, TrustPingMessage};
use crate::wire::{Incoming, Vocabulary, fresh_id};

use super::messages::{ConnectionInvitation, ConnectionMessage, ConnectionRequest};
use super::signature::FieldSignature;
use super::state::next;

/// What a connection can be given.
#[derive(Clone, Debug, PartialEq)]
pub enum ConnectionInput {
    /// A message of the protocol.
    Received(Incoming<ConnectionMessage>),
    /// Any other message of the peer, authenticated, on this connection.
    Heard,
    /// An act of the controller.
    Act(ConnectionAct),
}

/// What the controller of a connection can do.
#[derive(Clone, Debug, PartialEq)]
pub enum ConnectionAct {
    /// Makes an invitation.
    Invite(Invited),
    /// Answers an invitation with a request.
    Request {
        /// How this agent calls itself.
        label: Option<String>,
        /// The DID for the connection.
        party: DidWithDoc,
        /// The key of the DID that invited, once it is resolved.
        inviter_key: Option<VerKey>,
    },
    /// Answers a request with a response, which the invitation's key signs.
    Respond {
        /// The DID for the connection.
        party: DidWithDoc,
    },
    /// Shows the inviter that its response came.
    Confirm,
    /// Refuses what the peer sent.
    Reject(HandshakeRejection),
}

/// An invitation to make.
#[derive(Clone, Debug, PartialEq)]
pub struct Invited {
    /// What it says.
    pub invitation: ConnectionInvitation,
    /// The key that signs the response; it is one of the invitation's, or of its DID.
    pub key: VerKey,
    /// How often it may be used.
    pub mode: InvitationMode,
    /// The controller's name for the connection.
    pub alias: Option<String>,
    /// Whether a request is answered without the controller.
    pub accept: Accepting,
}

type Stepped = Result<Step<Advance<ConnectionRecord>>, Problem>;

/// Takes a step of a connection. Pure: with the signature that it needs, the same step gives the response.
///
/// # Errors
/// If thread, state or content do not allow the input. The record stays as it is.
pub fn step(
    place: Footing<'_, ConnectionRecord>,
    input: &ConnectionInput,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Stepped {
    let record = match (place, input) {
        (Footing::New(opening), ConnectionInput::Act(ConnectionAct::Invite(invited))) => {
            return Ok(Step::Done(invite(opening, invited, ctx)));
        }
        (Footing::New(_), ConnectionInput::Received(message)) => {
            return be_invited(message, ctx).map(Step::Done);
        }
        (Footing::New(_), _) => return Err(Problem::wrong_state()),
        (Footing::Known(record), _) => record,
    };
    match input {
        ConnectionInput::Received(message) => receive(record, message, ctx).map(Step::Done),
        ConnectionInput::Heard => record.hear(next, ctx).map(Step::Done),
        ConnectionInput::Act(ConnectionAct::Invite(_)) => Err(Problem::wrong_state()),
        ConnectionInput::Act(ConnectionAct::Respond { party }) => {
            respond(record, party, evidence, ctx)
        }
        ConnectionInput::Act(ConnectionAct::Request {
            label,
            party,
            inviter_key,
        }) => {
            let connection = party.clone();
            let label = label.clone();
            let request = ConnectionRequest { label, connection };
            request_of(record, request, inviter_key.as_ref(), ctx).map(Step::Done)
        }
        ConnectionInput::Act(ConnectionAct::Confirm) => confirm(record, ctx).map(Step::Done),
        ConnectionInput::Act(ConnectionAct::Reject(rejection)) => {
            let report = ConnectionMessage::Report(rejection.report(record.role));
            record.reject(rejection, &report, next, ctx).map(Step::Done)
        }
    }
}

/// RFC 0160 §0: the invitation is shown outside any connection.
fn invite(opening: &Outset, invited: &Invited, ctx: &Ctx) -> Advance<ConnectionRecord> {
    let mut dialogue = Dialogue::opened(opening, ctx);
    let message = dialogue.say(
        &ConnectionMessage::Invitation(invited.invitation.clone()),
        ctx,
    );
    let terms = InvitationTerms {
        role: ConnectionRole::Inviter,
        id: dialogue.thread_id,
        key: Some(invited.key.clone()),
        did: invited.invitation.did().map(str::to_owned),
        mode: invited.mode,
        label: None,
        alias: invited.alias.clone(),
        accept: invited.accept,
    };
    ConnectionRecord::begin(terms, dialogue.kind, ctx).send(Recipient::OutOfBand, message)
}

/// An invitation came, from wherever.
fn be_invited(message: &Incoming<ConnectionMessage>, ctx: &Ctx) -> Advanced<ConnectionRecord> {
    let ConnectionMessage::Invitation(invitation) = &message.content else {
        return Err(Problem::unknown_thread());
    };
    let terms = InvitationTerms {
        role: ConnectionRole::Invitee,
        id: message.id.clone(),
        key: invitation.key().cloned(),
        did: invitation.did().map(str::to_owned),
        mode: InvitationMode::Once,
        label: invitation.label.clone(),
        alias: None,
        accept: Accepting::Manual,
    };
    Ok(ConnectionRecord::begin(terms, message.kind.clone(), ctx))
}

fn receive(
    record: &ConnectionRecord,
    message: &Incoming<ConnectionMessage>,
    ctx: &Ctx,
) -> Advanced<ConnectionRecord> {
    if record.dialogue.has_heard(message) {
        return Ok(Advance::repeated(record.clone()));
    }
    let moved = Move::Receives(message.content.handshake());
    let to = next(record.role, Some(record.state), moved);
    match (&message.content, to) {
        (ConnectionMessage::Request(request), Some(_)) => {
            record.requested(message, ctx, |record| {
                record.their_label.clone_from(&request.label);
                record.theirs = Some(request.connection.clone());
            })
        }
        (ConnectionMessage::Request(_), None) => {
            record.requested_again(message, not_accepted(record, message, ctx))
        }
        (_, None) => Err(Problem::wrong_state()),
        (ConnectionMessage::Response(signed), Some(to)) => {
            responded(record, message, signed, to, ctx)
        }
        (ConnectionMessage::Report(report), Some(_)) => record.take_report(message, report, ctx),
        (ConnectionMessage::Ack(_) | ConnectionMessage::Invitation(_), Some(_)) => {
            record.hear(next, ctx)
        }
    }
}

/// RFC 0160, "Response Processing": the key of the invitation signed the DID.
fn responded(
    record: &ConnectionRecord,
    message: &Incoming<ConnectionMessage>,
    signed: &FieldSignature,
    to: ConnectionState,
    ctx: &Ctx,
) -> Advanced<ConnectionRecord> {
    let mut next = record.clone();
    next.dialogue.hear(message, ctx)?;
    let refuse = |kind, explain| {
        let problem = Problem::new(kind, HandshakeRejection::RESPONSE, explain);
        problem.reported(Recipient::Invitation, not_accepted(record, message, ctx))
    };
    let key = record.signing_key()?;
    let party = signed.signed_by(key).map_err(|_| {
        refuse(
            ProblemKind::Content,
            "the signed DID of the response can't be read",
        )
    })?;
    let party = party.ok_or_else(|| {
        refuse(
            ProblemKind::Signature,
            "the response is not signed by the key of the invitation",
        )
    })?;
    if !party.is_consistent() {
        return Err(refuse(
            ProblemKind::Content,
            "the document is of another DID",
        ));
    }
    next.theirs = Some(party);
    Ok(next.moved(to))
}

/// The report that refuses a message of the peer.
fn not_accepted(
    record: &ConnectionRecord,
    message: &Incoming<ConnectionMessage>,
    ctx: &Ctx,
) -> Message {
    let report = ConnectionMessage::Report(HandshakeRejection::default().report(record.role));
    let mut answer = Message::new(
        message.kind.sibling(report.name()),
        fresh_id("refusal", ctx),
    );
    answer.thread.thid = Some(message.thread_id.clone());
    report.write(&mut answer);
    answer
}

fn request_of(
    record: &ConnectionRecord,
    request: ConnectionRequest,
    inviter_key: Option<&VerKey>,
    ctx: &Ctx,
) -> Advanced<ConnectionRecord> {
    let Some(to) = next(
        record.role,
        Some(record.state),
        Move::Sends(Handshake::Request),
    ) else {
        return record.again(
            ConnectionState::Request,
            ConnectionRole::Invitee,
            &request.connection,
        );
    };
    let mut next = record.clone();
    next.dialogue.begin_below(&record.invitation_id, ctx);
    if next.invitation_key.is_none() {
        next.invitation_key = inviter_key.cloned();
    }
    next.ours = Some(request.connection.clone());
    let message = next.dialogue.say(&ConnectionMessage::Request(request), ctx);
    Ok(next.moved(to).send(Recipient::Invitation, message))
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
    let request = SignatureRequest {
        key: key.handle(),
        bytes: FieldSignature::signed_bytes(party, ctx.now()),
    };
    let Some(signature) = evidence.signature(&request) else {
        return Ok(Step::Needs(vec![Need::Signature(request)]));
    };
    let signed = FieldSignature::new(
        &record.dialogue.kind,
        key.clone(),
        &request.bytes,
        signature,
    );
    let mut next = record.clone();
    next.ours = Some(party.clone());
    let message = next.dialogue.say(&ConnectionMessage::Response(signed), ctx);
    Ok(Step::Done(next.moved(to).send(Recipient::Peer, message)))
}

/// RFC 0160 §3: any message confirms the connection. A ping is understood by all agents.
fn confirm(record: &ConnectionRecord, ctx: &Ctx) -> Advanced<ConnectionRecord> {
    let moved = Move::Sends(Handshake::Complete);
    let Some(to) = next(record.role, Some(record.state), moved) else {
        return record.confirmed_again();
    };
    // It confirms the response, and nothing is learnt from an answer.
    let ping = TrustPingMessage::Ping(Ping {
        response_requested: false,
        ..Ping::default()
    });
    let kind = MessageType::new(TrustPingMessage::PROTOCOL, Semver::new(1, 0), ping.name());
    let kind = kind.with_prefix(record.dialogue.kind.prefix.clone());
    let mut message = Message::new(kind, fresh_id("confirmation", ctx));
    ping.write(&mut message);
    let mut next = record.clone();
    next.dialogue.updated_at = ctx.now();
    Ok(next.moved(to).send(Recipient::Peer, message))
}
