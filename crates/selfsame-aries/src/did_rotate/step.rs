//! The steps of a rotation.

use selfsame_crypto::ctx::Ctx;

use crate::advance::{Advance, Advanced, Footing, Move, Notice, Outset, Problem, Recipient};
use crate::dialogue::Dialogue;
use crate::notification::{Ack, ProblemReport};
use crate::wire::Incoming;

use super::messages::RotateMessage;
use super::state::{RotateKind, RotateRole, RotateState, RotationRecord, next};

/// What a rotation can be given.
#[derive(Clone, Debug, PartialEq)]
pub enum RotateInput {
    /// A message came, authenticated.
    Received(Incoming<RotateMessage>),
    /// An act of the controller, or of the agent that resolved the new DID.
    Act(RotateAct),
}

/// What can be done.
#[derive(Clone, Debug, PartialEq)]
pub enum RotateAct {
    /// Changes this agent's DID.
    Rotate {
        /// The new one.
        to_did: String,
    },
    /// Ends the connection.
    Hangup,
    /// The new DID of the peer was resolved.
    Accept,
    /// The new DID of the peer can't be used.
    Refuse(RotateRefusal),
}

/// Why a new DID can't be used (RFC 0794, "Problem Report").
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RotateRefusal {
    /// It can't be resolved.
    Unresolvable,
    /// Its method is not supported.
    MethodUnsupported,
    /// Its document has no key or no service that can be used.
    DocUnsupported,
}

impl RotateRefusal {
    /// The code of the report.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unresolvable => "e.did.unresolvable",
            Self::MethodUnsupported => "e.did.method_unsupported",
            Self::DocUnsupported => "e.did.doc_unsupported",
        }
    }
}

/// Takes a step of a rotation.
///
/// # Errors
/// If thread or state do not allow the input. The record stays as it is.
pub fn step(
    footing: Footing<'_, RotationRecord>,
    input: &RotateInput,
    ctx: &Ctx,
) -> Advanced<RotationRecord> {
    match (footing, input) {
        (Footing::New(opening), RotateInput::Act(act)) => begin(opening, act, ctx),
        (Footing::New(opening), RotateInput::Received(message)) => {
            let (kind, to_did) = match &message.content {
                RotateMessage::Rotate { to_did } => (RotateKind::Rotate, Some(to_did.clone())),
                RotateMessage::Hangup => (RotateKind::Hangup, None),
                RotateMessage::Ack(_) | RotateMessage::Report(_) => {
                    return Err(Problem::unknown_thread());
                }
            };
            let state = next(RotateRole::Observing, None, Move::Receives(kind));
            let record = RotationRecord {
                state: state.ok_or(Problem::wrong_state())?,
                role: RotateRole::Observing,
                dialogue: Dialogue::joined(message, ctx),
                connection_id: opening.connection_id.clone(),
                to_did,
            };
            Ok(moved(record.clone(), record.state))
        }
        (Footing::Known(record), RotateInput::Act(act)) => answer(record, act, ctx),
        (Footing::Known(record), RotateInput::Received(message)) => receive(record, message, ctx),
    }
}

fn moved(record: RotationRecord, state: RotateState) -> Advance<RotationRecord> {
    let record = RotationRecord { state, ..record };
    Advance::of(record).tell(Notice::State(state.name()))
}

fn begin(opening: &Outset, act: &RotateAct, ctx: &Ctx) -> Advanced<RotationRecord> {
    let (kind, content, to_did) = match act {
        RotateAct::Rotate { to_did } => {
            let rotate = RotateMessage::Rotate {
                to_did: to_did.clone(),
            };
            (RotateKind::Rotate, rotate, Some(to_did.clone()))
        }
        RotateAct::Hangup => (RotateKind::Hangup, RotateMessage::Hangup, None),
        RotateAct::Accept | RotateAct::Refuse(_) => return Err(Problem::wrong_state()),
    };
    let state = next(RotateRole::Rotating, None, Move::Sends(kind)).ok_or(Problem::wrong_state())?;
    let mut dialogue = Dialogue::opened(opening, ctx);
    let message = dialogue.say(&content, ctx);
    let record = RotationRecord {
        state,
        role: RotateRole::Rotating,
        dialogue,
        connection_id: opening.connection_id.clone(),
        to_did,
    };
    Ok(moved(record, state).send(Recipient::Peer, message))
}

fn answer(record: &RotationRecord, act: &RotateAct, ctx: &Ctx) -> Advanced<RotationRecord> {
    let (kind, content, done) = match act {
        RotateAct::Accept => (
            RotateKind::Ack,
            RotateMessage::Ack(Ack::OK),
            RotateState::Done,
        ),
        RotateAct::Refuse(refusal) => {
            let report = ProblemReport::new(refusal.code(), "The new DID can't be used.");
            (
                RotateKind::Report,
                RotateMessage::Report(report),
                RotateState::Abandoned,
            )
        }
        RotateAct::Rotate { to_did } if record.is_same(Some(to_did)) => {
            return Ok(Advance::repeated(record.clone()));
        }
        RotateAct::Hangup if record.is_same(None) => return Ok(Advance::repeated(record.clone())),
        RotateAct::Rotate { .. } | RotateAct::Hangup => return Err(Problem::wrong_state()),
    };
    let Some(to) = next(record.role, Some(record.state), Move::Sends(kind)) else {
        let is_done =
            record.state == done && record.role == RotateRole::Observing && record.to_did.is_some();
        return match is_done {
            true => Ok(Advance::repeated(record.clone())),
            false => Err(Problem::wrong_state()),
        };
    };
    let mut next = record.clone();
    let message = next.dialogue.say(&content, ctx);
    Ok(moved(next, to).send(Recipient::Peer, message))
}

impl RotationRecord {
    /// Whether this agent said that already.
    fn is_same(&self, to_did: Option<&String>) -> bool {
        self.role == RotateRole::Rotating && self.to_did.as_ref() == to_did
    }
}

fn receive(
    record: &RotationRecord,
    message: &Incoming<RotateMessage>,
    ctx: &Ctx,
) -> Advanced<RotationRecord> {
    if record.dialogue.has_heard(message) {
        return Ok(Advance::repeated(record.clone()));
    }
    let mut heard = record.clone();
    heard.dialogue.hear(message, ctx)?;
    let kind = match &message.content {
        RotateMessage::Ack(_) => RotateKind::Ack,
        RotateMessage::Report(_) => RotateKind::Report,
        RotateMessage::Rotate { .. } => RotateKind::Rotate,
        RotateMessage::Hangup => RotateKind::Hangup,
    };
    let to =
        next(record.role, Some(record.state), Move::Receives(kind)).ok_or(Problem::wrong_state())?;
    match &message.content {
        RotateMessage::Report(report) => {
            heard.dialogue.error_msg = Some(report.line());
            Ok(moved(heard, to).tell(Notice::Reported(report.clone())))
        }
        _ => Ok(moved(heard, to)),
    }
}
