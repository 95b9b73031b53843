//! The steps of presenting a proof.

use selfsame_crypto::ctx::Ctx;

use crate::advance::{Advance, Advanced, Footing, Notice, Problem};
use crate::exchange::{self, ExchangeInput, Payload, Speech};
use crate::notification::ProblemReport;
use crate::wire::Incoming;

use super::course::is_confirmed;
use super::messages::ProofMessage;
use super::state::ProofState;
use super::{PresentationExchange, ProofSpeech};

/// What the presenting of a proof can be given.
#[derive(Clone, Debug, PartialEq)]
pub enum ProofInput {
    /// A message came.
    Received(Incoming<ProofSpeech>),
    /// The prover proposes what to prove.
    Propose(Payload),
    /// The verifier requests a presentation.
    Request(Payload),
    /// The prover presents.
    Present(Payload),
    /// The verifier judged the presentation.
    Judge {
        /// Whether the proof holds and is accepted.
        verified: bool,
        /// What was noticed.
        messages: Vec<String>,
    },
    /// Ends the exchange.
    Abandon(ProblemReport),
}

/// The code of a report that ends an exchange, as agents write it.
pub const ABANDONED: &str = "abandoned";
/// The code of the report about a presentation that is not accepted.
pub const REJECTED: &str = "rejected";

/// Takes a step of presenting a proof.
///
/// # Errors
/// If thread or state do not allow the input. The record stays as it is.
pub fn step(
    place: Footing<'_, PresentationExchange>,
    input: &ProofInput,
    ctx: &Ctx,
) -> Advanced<PresentationExchange> {
    let speech = match input {
        ProofInput::Received(message) => return exchange::receive(place, message, ctx),
        ProofInput::Judge { verified, messages } => return judge(place, *verified, messages, ctx),
        ProofInput::Propose(payload) => Speech::of(ProofMessage::Proposal, payload.clone()),
        ProofInput::Request(payload) => Speech::of(ProofMessage::Request, payload.clone()),
        ProofInput::Present(payload) => Speech::of(ProofMessage::Presentation, payload.clone()),
        ProofInput::Abandon(report) => Speech::report(ProblemReport {
            code: report.code.clone().or_else(|| Some(ABANDONED.to_owned())),
            explain: report.explain.clone(),
        }),
    };
    exchange::step(place, &ExchangeInput::Send(speech), ctx)
}

/// The judgement ends the exchange: the verifier is done, whatever it is, as the API of agents shows it. The prover
/// gets an acknowledgement, if it waits for one, or a problem report (RFC 0454, "Ack Presentation", "Problem Report").
fn judge(
    place: Footing<'_, PresentationExchange>,
    verified: bool,
    messages: &[String],
    ctx: &Ctx,
) -> Advanced<PresentationExchange> {
    let Footing::Known(record) = place else {
        return Err(Problem::wrong_state());
    };
    match record.state {
        ProofState::Done if record.extra.verified == Some(verified) => {
            return Ok(Advance::repeated(record.clone()));
        }
        ProofState::PresentationReceived => {}
        _ => return Err(Problem::wrong_state()),
    }
    let mut next = record.clone();
    next.extra.verified = Some(verified);
    next.extra.verified_msgs = messages.to_vec();
    let speech = match verified {
        true if is_confirmed(record) => Speech::ack(),
        true => {
            next.state = ProofState::Done;
            next.dialogue.updated_at = ctx.now();
            return Ok(Advance::of(next).tell(Notice::State(ProofState::Done.name())));
        }
        false => Speech::report(ProblemReport::new(
            REJECTED,
            "The presentation was not accepted.",
        )),
    };
    Ok(exchange::advance(next, &speech, ProofState::Done, ctx))
}
