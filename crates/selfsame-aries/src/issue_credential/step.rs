//! The steps of issuing a credential.

use selfsame_crypto::ctx::Ctx;

use crate::advance::{Advance, Advanced, Footing, Notice, Problem};
use crate::exchange::{self, ExchangeInput, Payload, Speech};
use crate::notification::ProblemReport;
use crate::wire::Incoming;

use super::messages::IssueMessage;
use super::state::IssueState;
use super::{CredentialExchange, IssueSpeech};

/// What the issuing of a credential can be given.
#[derive(Clone, Debug, PartialEq)]
pub enum IssueInput {
    /// A message came.
    Received(Incoming<IssueSpeech>),
    /// The holder proposes a credential.
    Propose(Payload),
    /// The issuer offers one.
    Offer(Payload),
    /// The holder requests it.
    Request(Payload),
    /// The issuer issues it.
    Issue(Payload),
    /// The holder has stored it.
    Store,
    /// Ends the exchange.
    Abandon(ProblemReport),
    /// The credential was revoked.
    Revoke,
}

/// The code of a report that ends an exchange (RFC 0453, "States").
pub const ABANDONED: &str = "issuance-abandoned";

/// Takes a step of issuing a credential.
///
/// # Errors
/// If thread or state do not allow the input. The record stays as it is.
pub fn step(
    place: Footing<'_, CredentialExchange>,
    input: &IssueInput,
    ctx: &Ctx,
) -> Advanced<CredentialExchange> {
    let speech = match input {
        IssueInput::Received(message) => return exchange::receive(place, message, ctx),
        IssueInput::Revoke => return revoke(place, ctx),
        IssueInput::Propose(payload) => Speech::of(IssueMessage::Proposal, payload.clone()),
        IssueInput::Offer(payload) => Speech::of(IssueMessage::Offer, payload.clone()),
        IssueInput::Request(payload) => Speech::of(IssueMessage::Request, payload.clone()),
        IssueInput::Issue(payload) => Speech::of(IssueMessage::Credential, payload.clone()),
        IssueInput::Store => Speech::ack(),
        IssueInput::Abandon(report) => Speech::report(coded(report)),
    };
    exchange::step(place, &ExchangeInput::Send(speech), ctx)
}

fn coded(report: &ProblemReport) -> ProblemReport {
    let code = report.code.clone();
    ProblemReport {
        code: code.or_else(|| Some(ABANDONED.to_owned())),
        explain: report.explain.clone(),
    }
}

/// The issuer revoked the credential, or told the holder so.
fn revoke(place: Footing<'_, CredentialExchange>, ctx: &Ctx) -> Advanced<CredentialExchange> {
    let Footing::Known(record) = place else {
        return Err(Problem::wrong_state());
    };
    match record.state {
        IssueState::CredentialRevoked => Ok(Advance::repeated(record.clone())),
        IssueState::Done | IssueState::CredentialIssued => {
            let mut next = record.clone();
            next.state = IssueState::CredentialRevoked;
            next.dialogue.updated_at = ctx.now();
            Ok(Advance::of(next).tell(Notice::State(IssueState::CredentialRevoked.name())))
        }
        _ => Err(Problem::wrong_state()),
    }
}
