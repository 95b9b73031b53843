//! The making of a connection over DIDComm v2. There is no handshake: the invited side writes to the DID of the
//! invitation from a new DID of its own, and any answer shows that the connection is there. This agent begins with a
//! trust ping.

use selfsame_aries::advance::{Advanced, Move, Problem, Recipient};
use selfsame_aries::connection::{
    ConnectionRecord,
    ConnectionRole::{self, Invitee, Inviter},
    ConnectionState::{self, Abandoned, Completed, Invitation, Request},
    DidWithDoc, Handshake, HandshakeRejection, V2,
};
use selfsame_aries::connections::ConnectionMessage;
use selfsame_aries::notification::{ProblemReport, report_type};
use selfsame_aries::trust_ping::{Ping, TrustPingMessage};
use selfsame_aries::wire::{Incoming, Vocabulary as _, fresh_id};
use selfsame_crypto::ctx::Ctx;
use selfsame_didcomm::Message;
use selfsame_didcomm::message::{MessageType, Semver};

/// What such a connection can be given.
#[derive(Clone, Debug, PartialEq)]
pub enum RelationInput {
    /// A message that concerns the making of the connection.
    Received(Incoming<RelationMessage>),
    /// Any other message of the peer, authenticated, on this connection.
    Heard,
    /// An act of the controller.
    Act(RelationAct),
}

/// A message that concerns the making of the connection.
#[derive(Clone, Debug, PartialEq)]
pub enum RelationMessage {
    /// The first message of somebody invited, whatever it says.
    First {
        /// The sender's DID, which the envelope authenticates.
        did: String,
    },
    /// A problem report in the thread of the first message.
    Report(ProblemReport),
}

/// What the controller can do.
#[derive(Clone, Debug, PartialEq)]
pub enum RelationAct {
    /// Writes to the DID of the invitation.
    Request(DidWithDoc),
    /// Goes on with who wrote. What answers the first message, if anything does, is for its protocol.
    Respond {
        /// The DID for the connection: that of the invitation, or another.
        party: DidWithDoc,
        /// Whether nothing else tells the peer.
        is_telling: bool,
    },
    /// Refuses who wrote.
    Reject(HandshakeRejection),
}

/// The type of a connection that is made over DIDComm v2. No message on the wire has it.
pub fn made_kind() -> MessageType {
    MessageType::new(V2, Semver::new(2, 0), "request")
}

/// The state after a message; `None` if the table does not allow the message.
pub fn next(
    role: ConnectionRole,
    from: Option<ConnectionState>,
    moved: Move<Handshake>,
) -> Option<ConnectionState> {
    use Move::{Receives, Sends};
    Some(match (role, from, moved) {
        (Invitee, None, Receives(Handshake::Invitation)) => Invitation,
        (Invitee, Some(Invitation), Sends(Handshake::Request)) => Request,
        (Invitee, Some(Request), Receives(Handshake::Complete)) => Completed,
        (Invitee, Some(Request), Receives(Handshake::Report)) => Abandoned,
        (Invitee, Some(Invitation), Sends(Handshake::Report)) => Abandoned,
        (Inviter, None, Sends(Handshake::Invitation)) => Invitation,
        (Inviter, Some(Invitation), Receives(Handshake::Request)) => Request,
        (Inviter, Some(Request), Sends(Handshake::Response)) => Completed,
        (Inviter, Some(Request), Sends(Handshake::Report)) => Abandoned,
        (_, Some(Completed), Receives(Handshake::Complete)) => Completed,
        _ => return None,
    })
}

/// Takes a step of a connection. Pure.
///
/// # Errors
/// If thread or state do not allow the input. The record stays as it is.
pub fn step(
    record: &ConnectionRecord,
    input: &RelationInput,
    ctx: &Ctx,
) -> Advanced<ConnectionRecord> {
    match input {
        RelationInput::Received(message) => receive(record, message, ctx),
        RelationInput::Heard => record.hear(next, ctx),
        RelationInput::Act(RelationAct::Request(party)) => request(record, party, ctx),
        RelationInput::Act(RelationAct::Respond { party, is_telling }) => {
            let mut advance = respond(record, party, ctx)?;
            if *is_telling && !advance.is_repeated {
                let told = ping(fresh_id("told", ctx), false);
                advance = advance.send(Recipient::Peer, told);
            }
            Ok(advance)
        }
        RelationInput::Act(RelationAct::Reject(rejection)) => {
            let report = ConnectionMessage::Report(rejection.report(record.role));
            record.reject(rejection, &report, next, ctx)
        }
    }
}

fn receive(
    record: &ConnectionRecord,
    message: &Incoming<RelationMessage>,
    ctx: &Ctx,
) -> Advanced<ConnectionRecord> {
    let moved = Move::Receives(match &message.content {
        RelationMessage::First { .. } => Handshake::Request,
        RelationMessage::Report(_) => Handshake::Report,
    });
    let to = next(record.role, Some(record.state), moved);
    match (&message.content, to) {
        (RelationMessage::First { did }, Some(_)) => record.requested(message, ctx, |record| {
            // The record keeps the protocol that made it, not that of the first message.
            record.dialogue.kind = made_kind();
            let did = did.clone();
            record.theirs = Some(DidWithDoc { did, doc: None });
        }),
        (RelationMessage::First { .. }, None) => {
            record.requested_again(message, refusal(message, ctx))
        }
        (RelationMessage::Report(report), Some(_)) => record.take_report(message, report, ctx),
        (RelationMessage::Report(_), None) => Err(Problem::wrong_state()),
    }
}

/// The report to somebody whose first message is refused.
pub fn refusal(message: &Incoming<RelationMessage>, ctx: &Ctx) -> Message {
    let report = HandshakeRejection::default().report(Inviter);
    let kind = report_type(&message.kind);
    let mut written = Message::new(kind, fresh_id("refusal", ctx));
    written.thread.thid = Some(message.thread_id.clone());
    report.write(&mut written);
    written
}

/// The first message: DIDComm v2.1, "Out Of Band Messages", wants the invitation as its parent thread.
fn request(record: &ConnectionRecord, party: &DidWithDoc, ctx: &Ctx) -> Advanced<ConnectionRecord> {
    let moved = Move::Sends(Handshake::Request);
    let Some(to) = next(record.role, Some(record.state), moved) else {
        return record.again(Request, Invitee, party);
    };
    let mut next = record.clone();
    next.dialogue.begin_below(&record.invitation_id, ctx);
    next.ours = Some(party.clone());
    next.theirs = record
        .invitation_did
        .clone()
        .map(|did| DidWithDoc { did, doc: None });
    let mut message = ping(next.dialogue.thread_id.clone(), true);
    message.thread.pthid = Some(record.invitation_id.clone());
    Ok(next.moved(to).send(Recipient::Invitation, message))
}

fn respond(record: &ConnectionRecord, party: &DidWithDoc, ctx: &Ctx) -> Advanced<ConnectionRecord> {
    let moved = Move::Sends(Handshake::Response);
    let Some(to) = next(record.role, Some(record.state), moved) else {
        return record.again(Completed, Inviter, party);
    };
    let mut next = record.clone();
    next.ours = Some(party.clone());
    next.dialogue.updated_at = ctx.now();
    Ok(next.moved(to))
}

fn ping(id: String, response_requested: bool) -> Message {
    let ping = TrustPingMessage::Ping(Ping {
        response_requested,
        ..Ping::default()
    });
    let kind = MessageType::new(TrustPingMessage::PROTOCOL, Semver::new(1, 0), ping.name());
    let mut message = Message::new(kind, id);
    ping.write(&mut message);
    message
}

#[cfg(test)]
mod tests;
