//! How a flow ends.

use selfsame_core::events::EventKind;
use selfsame_core::machine::{Next, Round};
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_openid4vc::wallet::ReceivingState;

use super::{Flow, FlowEnd, Receiving};
use crate::cards::CardRecord;
use crate::history;
use crate::quota::without_keys;
use crate::receive::notifying::Notifications;
use crate::view::CardSummary;

/// Whether a flow has ended, and with what failure.
pub(super) enum Ended {
    Not,
    With(Option<Error>),
}

/// Whether a flow in this state has ended.
pub(super) fn ended(state: &ReceivingState, failure: Option<Error>) -> Ended {
    match state {
        ReceivingState::Received(_) => Ended::With(failure),
        ReceivingState::Failed(failed) => {
            tracing::warn!(reason = %failed.reason, code = failed.code.as_deref(), "an offer could not be accepted");
            let kind = match failed.code.as_deref() {
                // A spent or expired code is not the issuer's failure, and trying again does not help.
                Some("invalid_grant") => ErrorKind::Gone,
                _ => ErrorKind::Upstream,
            };
            let reason = Reason::rule_broken(&failed.reason, Some(&failed.advice));
            let error = Error::of(kind, reason);
            let code = failed.code.as_deref().and_then(known_code);
            Ended::With(Some(Error { code, ..error }))
        }
        ReceivingState::Redeeming(_)
        | ReceivingState::Proving(_)
        | ReceivingState::Requesting(_)
        | ReceivingState::Deferred(_) => Ended::Not,
    }
}

/// The issuer's error code, if a specification defines it (RFC 6749 §5.2, RFC 6750 §3.1, RFC 9449 §5, OpenID4VCI 1.0
/// §8.3.1.2). Callers cannot rely on other codes.
fn known_code(code: &str) -> Option<&'static str> {
    const KNOWN: [&str; 21] = [
        "credential_request_denied",
        "insufficient_scope",
        "invalid_authorization_details",
        "invalid_client",
        "invalid_client_attestation",
        "invalid_credential_request",
        "invalid_dpop_proof",
        "invalid_encryption_parameters",
        "invalid_grant",
        "invalid_nonce",
        "invalid_proof",
        "invalid_request",
        "invalid_scope",
        "invalid_token",
        "invalid_transaction_id",
        "unauthorized_client",
        "unknown_credential_configuration",
        "unknown_credential_identifier",
        "use_attestation_challenge",
        "use_dpop_nonce",
        "use_fresh_attestation",
    ];
    KNOWN.into_iter().find(|known| *known == code)
}

/// What a flow ends with.
pub(super) struct ConcludedFlow {
    pub cards: Vec<CardRecord>,
    pub failure: Option<Error>,
    /// What the issuer is told of it.
    pub told: Option<Notifications>,
}

impl Receiving {
    /// The end of a flow: stores its cards and its history entries, and deletes the keys that no card is bound to.
    pub(super) fn concluded(
        &self,
        flow: &Flow,
        end: ConcludedFlow,
        round: &Round<'_>,
    ) -> Result<Next<FlowEnd>> {
        let ConcludedFlow {
            cards,
            failure,
            told,
        } = end;
        let mut unused = flow.unused_keys(&cards);
        let mut next = Next::deleted(round, FlowEnd::Waiting);
        if let Some(told) = told {
            unused.retain(|key| told.key().is_none_or(|needed| needed.key != *key));
            let begun = told.begun(round.at.id, round.ctx.now())?;
            next = next.put(begun.put).call(begun.call).leaving_calls();
        }
        let keys = &self.shared.keys;
        next.batch = without_keys(keys, next.batch, round.at.tenant, &unused);
        let mut summaries = Vec::new();
        for card in cards {
            let (put, note, summary) = card.into_put()?;
            next = next.put(put).put(note);
            next = next.tell(EventKind::Received, &summary.id);
            summaries.push(summary);
        }
        if !summaries.is_empty() {
            let titles = summaries
                .iter()
                .map(|card: &CardSummary| card.display.title.clone());
            let received = history::NewHistoryEntry::new(
                "received",
                &flow.issuer,
                titles.collect(),
                Vec::new(),
            );
            next = next.put(received.put(round.ctx)?);
        }
        if let Some(error) = failure {
            let failed = history::NewHistoryEntry::failed(&flow.issuer, &error).put(round.ctx)?;
            next = next.put(failed);
            next.reply = FlowEnd::Failed(error);
        } else {
            next.reply = FlowEnd::Kept(summaries);
        }
        Ok(next)
    }
}
