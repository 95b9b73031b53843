//! The steps of an exchange.

use selfsame_crypto::ctx::Ctx;

use crate::advance::{Advance, Advanced, Footing, Move, Notice, Problem, Recipient};
use crate::dialogue::{Dialogue, Initiator};
use crate::wire::Incoming;

use super::record::{Course, Exchange};
use super::{Speech, Spoken};

/// What an exchange can be given.
#[derive(Clone, Debug, PartialEq)]
pub enum ExchangeInput<C: Course> {
    /// A message came.
    Received(Incoming<Speech<C>>),
    /// The controller sends a message. The caller made its attachments, since it knows the format.
    Send(Speech<C>),
}

/// Takes a step of an exchange.
///
/// # Errors
/// If thread or state do not allow the input. The record stays as it is.
pub fn step<C: Course>(
    place: Footing<'_, Exchange<C>>,
    input: &ExchangeInput<C>,
    ctx: &Ctx,
) -> Advanced<Exchange<C>> {
    match input {
        ExchangeInput::Received(message) => receive(place, message, ctx),
        ExchangeInput::Send(speech) => send(place, speech, ctx),
    }
}

fn send<C: Course>(
    place: Footing<'_, Exchange<C>>,
    speech: &Speech<C>,
    ctx: &Ctx,
) -> Advanced<Exchange<C>> {
    let moved = Move::Sends(speech.kind);
    let (record, to) = match place {
        Footing::New(opening) => {
            let role = C::role(moved).ok_or(Problem::wrong_state())?;
            let to = C::next(role, None, moved).ok_or(Problem::wrong_state())?;
            let dialogue = Dialogue::opened(opening, ctx);
            let mut record = Exchange::new(role, Initiator::Us, dialogue, to);
            record.connection_id.clone_from(&opening.connection_id);
            (record, to)
        }
        Footing::Known(record) if is_said(record, speech) => {
            return Ok(Advance::repeated(record.clone()));
        }
        Footing::Known(record) => {
            let to = C::next(record.role, Some(record.state), moved);
            (record.clone(), to.ok_or(Problem::wrong_state())?)
        }
    };
    Ok(advance(record, speech, to, ctx))
}

/// Whether this was said, and nothing came since: then it is the same act again.
fn is_said<C: Course>(record: &Exchange<C>, speech: &Speech<C>) -> bool {
    let is_same = match &speech.content {
        Spoken::Payload(payload) => record.message(speech.kind) == Some(payload.as_ref()),
        Spoken::Ack(_) | Spoken::Report(_) => true,
    };
    is_same && record.said_last == Some(speech.kind)
}

/// The record after a message that is allowed, with the message.
pub(crate) fn advance<C: Course>(
    mut record: Exchange<C>,
    speech: &Speech<C>,
    to: C::State,
    ctx: &Ctx,
) -> Advance<Exchange<C>> {
    let moved = Move::Sends(speech.kind);
    match &speech.content {
        Spoken::Payload(payload) => {
            record.messages.insert(speech.kind, (**payload).clone());
        }
        Spoken::Report(report) => record.note_error(report.line(), ctx),
        Spoken::Ack(_) => {}
    }
    record.said_last = Some(speech.kind);
    let message = record.dialogue.say(speech, ctx);
    record.note_spoken(moved, ctx);
    record.state = C::settled(&record, moved, to);
    let notice = Notice::State(C::name(record.state));
    Advance::of(record)
        .send(Recipient::Peer, message)
        .tell(notice)
}

pub(crate) fn receive<C: Course>(
    place: Footing<'_, Exchange<C>>,
    message: &Incoming<Speech<C>>,
    ctx: &Ctx,
) -> Advanced<Exchange<C>> {
    let moved = Move::Receives(message.content.kind);
    let (mut record, to) = match place {
        Footing::New(opening) => {
            let role = C::role(moved).ok_or(Problem::unknown_thread())?;
            let to = C::next(role, None, moved).ok_or(Problem::unknown_thread())?;
            let dialogue = Dialogue::joined(message, ctx);
            let mut record = Exchange::new(role, Initiator::External, dialogue, to);
            record.connection_id.clone_from(&opening.connection_id);
            (record, to)
        }
        Footing::Known(record) if record.dialogue.has_heard(message) => {
            return Ok(Advance::repeated(record.clone()));
        }
        Footing::Known(record) => {
            let mut next = record.clone();
            next.dialogue.hear(message, ctx)?;
            let to = C::next(record.role, Some(record.state), moved);
            (next, to.ok_or(Problem::wrong_state())?)
        }
    };
    let reported = match &message.content.content {
        Spoken::Payload(payload) => {
            record
                .messages
                .insert(message.content.kind, (**payload).clone());
            None
        }
        Spoken::Ack(_) => None,
        Spoken::Report(report) => {
            record.note_error(report.line(), ctx);
            Some(Notice::Reported(report.clone()))
        }
    };
    record.said_last = None;
    record.note_spoken(moved, ctx);
    record.state = C::settled(&record, moved, to);
    let notice = Notice::State(C::name(record.state));
    let advance = Advance::of(record).tell(notice);
    Ok(match reported {
        Some(reported) => advance.tell(reported),
        None => advance,
    })
}
