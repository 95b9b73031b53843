//! Waits for credentials that the issuer prepares (OpenID4VCI 1.0 §9).

use selfsame_credential::evidence::{Evidence, Step};
use selfsame_crypto::{ctx::Ctx, json};
use selfsame_oauth::ErrorBody;
use serde::{Deserialize, Serialize};

use super::{
    HttpAnswer, ReceivingState, RequestsProgress, WalletCall, WalletNext, credential, failed,
};
use crate::{
    error::Error,
    wire::{
        deferred::{DeferredRequest, DeferredResponse},
        limits,
    },
};

/// The status of an answer that defers the credential (§8.3).
pub(super) const ACCEPTED: u16 = 202;
const TELL: &str = "Tell the issuer; the credential was not stored.";

/// The issuer prepares the credential that was requested last.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Deferred {
    /// The state of the remaining requests; the first ask is the one being prepared.
    pub progress: RequestsProgress,
    /// The issuer's name for what it prepares.
    pub transaction_id: String,
    /// Seconds between two looks.
    pub interval: u32,
}

/// Takes the answer to a credential request that defers it.
pub(super) fn begun(
    progress: RequestsProgress,
    answer: HttpAnswer<'_>,
    ctx: &Ctx,
) -> Result<Step<WalletNext>, Error> {
    let key = progress.response_key.as_deref();
    let body = credential::body(answer, key)?;
    let DeferredResponse {
        transaction_id,
        interval,
    } = DeferredResponse::parse(body.expose(), TELL)?;
    let waiting = Deferred {
        progress,
        transaction_id,
        interval,
    };
    look(waiting, ctx)
}

/// Takes what a look gave. Whatever is no decision of the issuer's means that the credential is not ready yet.
pub(super) fn looked(
    waiting: &Deferred,
    answer: HttpAnswer<'_>,
    evidence: &Evidence,
    ctx: &Ctx,
) -> Result<Step<WalletNext>, Error> {
    match answer.status {
        200 => credential::arrived(waiting.progress.clone(), answer, evidence, ctx),
        ACCEPTED => {
            let body = credential::body(answer, waiting.progress.response_key.as_deref())?;
            let again = DeferredResponse::parse(body.expose(), TELL)?;
            // §9.2: the name stays.
            if again.transaction_id != waiting.transaction_id {
                let reason = "the issuer mixes up the credentials that it prepares";
                return Err(Error::counterpart(reason, TELL));
            }
            let interval = again.interval;
            look(
                Deferred {
                    interval,
                    ..waiting.clone()
                },
                ctx,
            )
        }
        429 | 500.. => look(waiting.clone(), ctx),
        _ => refused(waiting, answer, ctx),
    }
}

/// Looks again, after the issuer could not be reached.
pub(super) fn unreachable(waiting: &Deferred, ctx: &Ctx) -> Result<Step<WalletNext>, Error> {
    look(waiting.clone(), ctx)
}

fn refused(
    waiting: &Deferred,
    answer: HttpAnswer<'_>,
    ctx: &Ctx,
) -> Result<Step<WalletNext>, Error> {
    let body: Option<ErrorBody> = json::parse_as(answer.body, &limits()).ok();
    let code = body.map(|body| body.error);
    let (reason, advice) = match code.as_deref() {
        // Drafts of the specification had this in place of the status 202.
        Some("issuance_pending") => return look(waiting.clone(), ctx),
        Some("credential_request_denied") => (
            "The issuer decided not to issue this credential.",
            "Ask the issuer why.",
        ),
        Some("invalid_transaction_id") => (
            "The issuer no longer knows the credential that it was to prepare.",
            "Ask the issuer for a new offer.",
        ),
        Some("invalid_token") => (
            "The time in which the issuer was to prepare the credential is over.",
            "Ask the issuer for a new offer.",
        ),
        _ => (
            "The issuer refused to deliver the credential that it prepared.",
            "Ask the issuer for a new offer.",
        ),
    };
    let state = ReceivingState::Deferred(waiting.clone());
    Ok(Step::Done(failed(&state, code, reason.to_owned(), advice)))
}

/// The next look, in the time that the issuer named. Each has a key of its own for the response (§9.1).
fn look(mut waiting: Deferred, ctx: &Ctx) -> Result<Step<WalletNext>, Error> {
    let progress = &mut waiting.progress;
    let missing = || Error::counterpart("the issuer defers, but delivers nothing later", TELL);
    let url = progress.plan.deferred_endpoint.clone();
    let planned = progress.plan.encryption.as_deref();
    let key = match planned {
        Some(planned) => planned.response_key(ctx)?,
        None => None,
    };
    let request = DeferredRequest {
        transaction_id: waiting.transaction_id.clone(),
        response_encryption: key.as_ref().map(|key| key.parameters.clone()),
    };
    let call = WalletCall::RequestDeferred {
        url: url.ok_or_else(missing)?,
        token: progress.token.clone(),
        is_bound: progress.is_bound,
        encrypted: planned.is_some(),
        body: match planned {
            Some(planned) => planned.sealed(&request.to_json(), ctx)?,
            None => request.to_json(),
        },
        after: waiting.interval,
    };
    progress.response_key = key.map(|key| Box::new(key.key));
    let state = ReceivingState::Deferred(waiting);
    Ok(Step::Done(WalletNext::calling(state, call)))
}
