//! The steps of trust ping.

use selfsame_crypto::ctx::Ctx;

use crate::advance::{Advance, Advanced, Footing, Notice, Problem, Recipient};
use crate::dialogue::Dialogue;
use crate::wire::Incoming;

use super::messages::{Ping, PingResponse, TrustPingMessage};
use super::state::{PingRecord, PingState};

/// What a ping can be given.
#[derive(Clone, Debug, PartialEq)]
pub enum PingInput {
    /// Asks the peer.
    Send(Ping),
    /// A message came.
    Received(Incoming<TrustPingMessage>),
}

/// Takes a step of a ping.
///
/// # Errors
/// If an answer belongs to no question, or to one that is not open.
pub fn step(place: Footing<'_, PingRecord>, input: &PingInput, ctx: &Ctx) -> Advanced<PingRecord> {
    match (place, input) {
        (Footing::New(opening), PingInput::Send(ping)) => {
            let mut dialogue = Dialogue::opened(opening, ctx);
            let message = dialogue.say(&TrustPingMessage::Ping(ping.clone()), ctx);
            let state = match ping.response_requested {
                true => PingState::Sent,
                false => PingState::Completed,
            };
            let record = PingRecord { state, dialogue };
            Ok(Advance::of(record).send(Recipient::Peer, message))
        }
        (Footing::New(_), PingInput::Received(message)) => match &message.content {
            TrustPingMessage::Ping(ping) => Ok(answer(ping, message, ctx)),
            TrustPingMessage::Response(_) => Err(Problem::unknown_thread()),
        },
        (Footing::Known(record), PingInput::Received(message)) => receive(record, message, ctx),
        (Footing::Known(_), PingInput::Send(_)) => Err(Problem::wrong_state()),
    }
}

fn answer(ping: &Ping, message: &Incoming<TrustPingMessage>, ctx: &Ctx) -> Advance<PingRecord> {
    let mut dialogue = Dialogue::joined(message, ctx);
    let response = TrustPingMessage::Response(PingResponse::default());
    let response = ping
        .response_requested
        .then(|| dialogue.say(&response, ctx));
    let state = PingState::Completed;
    let advance = Advance::of(PingRecord { state, dialogue }).tell(Notice::Received("ping"));
    match response {
        Some(response) => advance.send(Recipient::Peer, response),
        None => advance,
    }
}

fn receive(
    record: &PingRecord,
    message: &Incoming<TrustPingMessage>,
    ctx: &Ctx,
) -> Advanced<PingRecord> {
    if record.dialogue.has_heard(message) {
        return Ok(Advance::repeated(record.clone()));
    }
    let mut next = record.clone();
    next.dialogue.hear(message, ctx)?;
    match (record.state, &message.content) {
        (PingState::Sent, TrustPingMessage::Response(_)) => {
            next.state = PingState::Completed;
            Ok(Advance::of(next).tell(Notice::Received("ping_response")))
        }
        _ => Err(Problem::wrong_state()),
    }
}

#[cfg(test)]
mod tests;
