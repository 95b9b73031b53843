//! The steps of an invitation.

use selfsame_crypto::ctx::Ctx;
use selfsame_didcomm::Message;
use selfsame_didcomm::message::Version;

use crate::advance::Outset;
use crate::advance::{Advance, Advanced, Footing, Move, Notice, Problem, ProblemKind, Recipient};
use crate::dialogue::Dialogue;
use crate::notification::ProblemReport;
use crate::wire::{Incoming, Vocabulary, fresh_id};

use super::messages::{OobInvitation, OobMessage};
use super::state::{OobKind, OobRecord, OobRole, OobState, next};

/// What an invitation can be given.
#[derive(Clone, Debug, PartialEq)]
pub enum OobInput {
    /// A message of the protocol; a new invitation, if there is no record.
    Received(Incoming<OobMessage>),
    /// A message of another protocol whose parent thread is the invitation.
    Answered {
        /// The connection that it begins or came on.
        connection_id: Option<String>,
    },
    /// An act of the controller.
    Act(OobAct),
}

/// What the controller of an invitation can do.
#[derive(Clone, Debug, PartialEq)]
pub enum OobAct {
    /// Makes an invitation.
    Invite {
        /// What it says.
        invitation: OobInvitation,
        /// Whether any number of receivers may use it.
        multi_use: bool,
    },
    /// Asks to use this connection again.
    Reuse {
        /// The connection.
        connection_id: String,
    },
    /// Gives up waiting for the acceptance of a reuse (RFC 0434, "Reuse Accepted").
    GiveUpReuse,
    /// Answers with a message of another protocol: a handshake, or an attached request's.
    Answer {
        /// The connection that is made or used.
        connection_id: Option<String>,
        /// The thread of the attached request that is answered.
        attach_thread_id: Option<String>,
    },
}

/// The code of the report to the second who uses an invitation for one (RFC 0434, "Errors").
const EXPIRED: &str = "expired-invitation";

/// Takes a step of an invitation.
///
/// # Errors
/// If thread, state or content do not allow the input. The record stays as it is.
pub fn step(place: Footing<'_, OobRecord>, input: &OobInput, ctx: &Ctx) -> Advanced<OobRecord> {
    let record = match (place, input) {
        (
            Footing::New(opening),
            OobInput::Act(OobAct::Invite {
                invitation,
                multi_use,
            }),
        ) => {
            return Ok(invite(opening, invitation, *multi_use, ctx));
        }
        (Footing::New(_), OobInput::Received(message)) => return be_invited(message, ctx),
        (Footing::New(_), _) => return Err(Problem::wrong_state()),
        (Footing::Known(record), _) => record,
    };
    match input {
        OobInput::Received(message) => receive(record, message, ctx),
        OobInput::Answered { connection_id } => answered(record, connection_id.as_ref(), ctx),
        OobInput::Act(OobAct::Invite { .. }) => Err(Problem::wrong_state()),
        OobInput::Act(OobAct::Reuse { connection_id }) => reuse(record, connection_id, ctx),
        OobInput::Act(OobAct::GiveUpReuse) => {
            let to = go(record, Move::Receives(OobKind::Report))?;
            Ok(moved(record.clone(), to, ctx))
        }
        OobInput::Act(OobAct::Answer {
            connection_id,
            attach_thread_id,
        }) => {
            let is_same = record.attach_thread_id == *attach_thread_id
                && record.connection_id == *connection_id;
            if record.state == OobState::Done && record.role == OobRole::Receiver && is_same {
                return Ok(Advance::repeated(record.clone()));
            }
            let to = go(record, Move::Sends(OobKind::Answer))?;
            let mut next = record.clone();
            next.connection_id.clone_from(connection_id);
            next.attach_thread_id.clone_from(attach_thread_id);
            Ok(moved(next, to, ctx))
        }
    }
}

fn go(record: &OobRecord, event: Move<OobKind>) -> Result<OobState, Problem> {
    next(record.role, Some(record.state), event).ok_or(Problem::wrong_state())
}

fn moved(mut record: OobRecord, to: OobState, ctx: &Ctx) -> Advance<OobRecord> {
    record.dialogue.updated_at = ctx.now();
    record.state = to;
    Advance::of(record).tell(Notice::State(to.name()))
}

fn invite(
    opening: &Outset,
    invitation: &OobInvitation,
    multi_use: bool,
    ctx: &Ctx,
) -> Advance<OobRecord> {
    let mut dialogue = Dialogue::opened(opening, ctx);
    let message = dialogue.say(&OobMessage::Invitation(invitation.clone()), ctx);
    let record = OobRecord {
        multi_use,
        ..record(OobRole::Sender, OobState::AwaitResponse, dialogue, &message)
    };
    moved(record, OobState::AwaitResponse, ctx).send(Recipient::OutOfBand, message)
}

fn be_invited(message: &Incoming<OobMessage>, ctx: &Ctx) -> Advanced<OobRecord> {
    let OobMessage::Invitation(_) = &message.content else {
        return Err(Problem::unknown_thread());
    };
    let dialogue = Dialogue::joined(message, ctx);
    let mut written = Message::new(message.kind.clone(), message.id.clone());
    message.content.write(&mut written);
    let record = record(
        OobRole::Receiver,
        OobState::PrepareResponse,
        dialogue,
        &written,
    );
    Ok(moved(record, OobState::PrepareResponse, ctx))
}

fn record(role: OobRole, state: OobState, dialogue: Dialogue, invitation: &Message) -> OobRecord {
    OobRecord {
        state,
        role,
        dialogue,
        invitation: String::from_utf8(invitation.write(Version::V1)).unwrap_or_default(),
        multi_use: false,
        connection_id: None,
        attach_thread_id: None,
        reuse_msg_id: None,
    }
}

/// RFC 0434, "Reuse": the message begins a thread of its own below the invitation.
fn reuse(record: &OobRecord, connection_id: &str, ctx: &Ctx) -> Advanced<OobRecord> {
    if record.state == OobState::AwaitResponse
        && record.connection_id.as_deref() == Some(connection_id)
    {
        return Ok(Advance::repeated(record.clone()));
    }
    let to = go(record, Move::Sends(OobKind::Reuse))?;
    let mut next = record.clone();
    let id = fresh_id("reuse", ctx);
    let message = below(record, &OobMessage::Reuse, id.clone(), Some(id.clone()));
    next.reuse_msg_id = Some(id);
    next.connection_id = Some(connection_id.to_owned());
    Ok(moved(next, to, ctx).send(Recipient::Peer, message))
}

/// A message in a thread below the invitation.
fn below(record: &OobRecord, content: &OobMessage, id: String, thread: Option<String>) -> Message {
    let mut message = Message::new(record.dialogue.kind.sibling(content.name()), id);
    message.thread.thid = thread;
    message.thread.pthid = Some(record.dialogue.thread_id.clone());
    content.write(&mut message);
    message
}

fn receive(record: &OobRecord, message: &Incoming<OobMessage>, ctx: &Ctx) -> Advanced<OobRecord> {
    if record.dialogue.has_heard(message) {
        return Ok(Advance::repeated(record.clone()));
    }
    if message.parent_thread_id.as_ref() != Some(&record.dialogue.thread_id) {
        return Err(Problem::unknown_thread());
    }
    match (&message.content, record.role) {
        (OobMessage::Reuse, OobRole::Sender) => reuse_asked(record, message, ctx),
        (OobMessage::ReuseAccepted, OobRole::Receiver) => {
            let to = go(record, Move::Receives(OobKind::ReuseAccepted))?;
            if record.reuse_msg_id.as_ref() != Some(&message.thread_id) {
                return Err(Problem::unknown_thread());
            }
            let mut next = record.clone();
            next.dialogue.note(&message.id, ctx);
            Ok(moved(next, to, ctx))
        }
        (OobMessage::Report(report), OobRole::Receiver) => {
            let to = go(record, Move::Receives(OobKind::Report))?;
            let mut next = record.clone();
            next.dialogue.note(&message.id, ctx);
            next.dialogue.error_msg = Some(report.line());
            next.connection_id = None;
            Ok(moved(next, to, ctx).tell(Notice::Reported(report.clone())))
        }
        _ => Err(Problem::wrong_state()),
    }
}

/// RFC 0434, "Reuse": the sender MUST answer that the connection is used again.
fn reuse_asked(
    record: &OobRecord,
    message: &Incoming<OobMessage>,
    ctx: &Ctx,
) -> Advanced<OobRecord> {
    let Some(to) = next(
        record.role,
        Some(record.state),
        Move::Receives(OobKind::Reuse),
    ) else {
        let report = OobMessage::Report(ProblemReport::new(
            EXPIRED,
            "The invitation was used already.",
        ));
        let thread = Some(message.thread_id.clone());
        let report = below(record, &report, fresh_id("expired", ctx), thread);
        let problem = Problem::new(
            ProblemKind::Used,
            EXPIRED,
            "the invitation was used already",
        );
        return Err(problem.reported(Recipient::Sender, report));
    };
    let mut next = record.clone();
    next.dialogue.note(&message.id, ctx);
    let thread = Some(message.thread_id.clone());
    let accepted = below(
        record,
        &OobMessage::ReuseAccepted,
        fresh_id("accepted", ctx),
        thread,
    );
    let to = if record.multi_use { record.state } else { to };
    Ok(moved(next, to, ctx)
        .tell(Notice::Received("handshake-reuse"))
        .send(Recipient::Sender, accepted))
}

/// Evidence that another protocol was launched from the invitation (RFC 0434, "States").
fn answered(record: &OobRecord, connection_id: Option<&String>, ctx: &Ctx) -> Advanced<OobRecord> {
    if record.role == OobRole::Sender
        && record.state == OobState::Done
        && record.connection_id.as_ref() == connection_id
    {
        return Ok(Advance::repeated(record.clone()));
    }
    let to = go(record, Move::Receives(OobKind::Answer))?;
    if record.multi_use {
        return Ok(Advance::of(record.clone()).tell(Notice::Received("answer")));
    }
    let mut next = record.clone();
    next.connection_id = connection_id.cloned();
    Ok(moved(next, to, ctx))
}
