//! The flow of an accepted offer, as a record: each call to the issuer is an effect, its answer the next input.
//!
//! A flow ends with cards, or with a failure in the person's history; if the process dies, the outbox continues it.

use std::collections::BTreeMap;
use std::sync::Arc;

use selfsame_crypto::KeyHandle;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_net::{Authorization, Body, NetError, Response};
use selfsame_openid4vc::wallet::{self, Answer, Effect, Input, ReceivedCredential, State};
use selfsame_store::{Batch, Leased, OutboxId, Put, TenantId};
use serde::{Deserialize, Serialize};

use super::judge::Judgement;
use crate::events::EventKind;
use crate::gather::Freshness;
use crate::outbox::Job;
use crate::shared::Shared;
use crate::view::wallet::CardSummary;
use crate::wallet::Wallet;
use crate::wallet::cards::{CardRecord, Look};
use crate::wallet::history::{Entry, origin_of};

pub(super) const FLOW: &str = "receiving";
/// Seconds after which a flow that has not ended expires.
const FLOW_SECONDS: u64 = 24 * 3600;
/// How often a call is repeated when the issuer can't be reached; the wait doubles each time.
const CALLS_MAX: u32 = 5;
/// How often the issuer's key is fetched to verify credentials that were received.
const JUDGEMENTS_MAX: u32 = 8;

/// An offer being accepted.
#[derive(Deserialize, Serialize)]
pub(in crate::wallet) struct Flow {
    issuer: String,
    state: State,
    /// How to show each configuration's cards.
    looks: BTreeMap<String, Look>,
    /// The issuer's answer, if it was received but can't be verified yet.
    arrived: Option<Arrived>,
    /// The keys that were created for this flow; those that no card is bound to are deleted at its end.
    #[serde(default)]
    keys: Vec<KeyHandle>,
    /// When the flow expires. The record stays longer, so that its keys are known until they are deleted.
    #[serde(default)]
    until: Option<UnixTime>,
}

/// An answer from the issuer.
#[derive(Clone, Deserialize, Serialize)]
struct Arrived {
    status: u16,
    content_type: Option<String>,
    body: String,
}

/// The state of a flow when there is nothing more to do for it now.
pub(crate) enum End {
    /// The cards were stored.
    Kept(Vec<CardSummary>),
    /// The flow failed.
    Failed(Error),
    /// The flow continues later.
    Waiting,
    /// The credential can't be verified yet, for this reason; it is tried again later.
    Unjudged(String),
}

/// What follows after an effect was carried out.
pub(crate) enum Done {
    /// Another effect, if it can be carried out at once.
    Next(Option<OutboxId>),
    /// Nothing more for now.
    End(End),
}

/// The result of a call.
enum Called {
    Answered(Arrived),
    /// It is to be repeated after this number of seconds.
    Later(u64),
    Failed(NetError),
}

/// The result of verifying the credentials received.
struct Kept {
    cards: Vec<CardRecord>,
    /// Why others were refused.
    refused: Option<String>,
    /// Why some can't be verified yet.
    unknown: Option<String>,
}

impl Flow {
    pub fn new(issuer: String, state: State, now: UnixTime) -> Self {
        Self {
            issuer,
            state,
            looks: BTreeMap::new(),
            arrived: None,
            keys: Vec::new(),
            until: Some(now.plus(FLOW_SECONDS)),
        }
    }

    /// With the look of each configuration's cards.
    pub fn showing(self, looks: BTreeMap<String, Look>) -> Self {
        Self { looks, ..self }
    }

    /// With the keys that were created for it.
    pub fn with_keys(self, keys: Vec<KeyHandle>) -> Self {
        Self { keys, ..self }
    }

    pub fn put(&self, id: &str) -> Result<Put> {
        Ok(Put::new(FLOW, id, encode(self)?))
    }

    /// The keys of this flow that none of these cards is bound to.
    fn unused_keys(&self, cards: &[CardRecord]) -> Vec<KeyHandle> {
        let is_unused = |key: &&KeyHandle| cards.iter().all(|card| card.key.as_ref() != Some(key));
        self.keys.iter().filter(is_unused).cloned().collect()
    }
}

impl Arrived {
    fn of(response: &Response) -> Self {
        Self {
            status: response.status,
            content_type: response.content_type.clone(),
            // A body that is not UTF-8 is not JSON either, and is refused as such.
            body: String::from_utf8_lossy(&response.body).into_owned(),
        }
    }

    fn answer(&self) -> Answer<'_> {
        Answer {
            status: self.status,
            content_type: self.content_type.as_deref(),
            body: self.body.as_bytes(),
        }
    }
}

impl Wallet {
    /// Carries out a flow's effects one after another, as long as each leads to the next.
    pub(crate) async fn finish(self: &Arc<Self>, first: Option<OutboxId>) -> Result<End> {
        let mut next = first;
        while let Some(id) = next {
            // In a task of its own: calls that can't be repeated continue even if the person goes away.
            let wallet = self.clone();
            let done = tokio::spawn(async move { wallet.go_on(id).await });
            match done.await.map_err(Error::internal)?? {
                Some(Done::Next(then)) => next = then,
                Some(Done::End(end)) => return Ok(end),
                None => break,
            }
        }
        Ok(End::Waiting)
    }

    /// Carries out an effect that was just written; `None` if another worker has it.
    async fn go_on(&self, id: OutboxId) -> Result<Option<Done>> {
        let Some(leased) = self.shared.store.lease_early(id).await? else {
            return Ok(None);
        };
        match self.perform_received(&leased).await {
            Ok(done) => Ok(Some(done)),
            Err(error) => {
                self.shared.put_off(&leased, &error).await;
                Err(error)
            }
        }
    }

    /// Carries out one effect of a flow and takes its next step. The caller holds the lease until the entry is settled
    /// or, after an error, put off.
    pub(crate) async fn perform_received(&self, leased: &Leased) -> Result<Done> {
        let Job::Receive { flow: id, effect } = Job::read(leased)? else {
            return Err(Error::internal("another kind of effect came to the wallet"));
        };
        let tenant = &leased.tenant;
        let place = (tenant, FLOW, id.as_str());
        let ctx = self.shared.clock.ctx();
        let found = self.flows_at_hand.find(&self.shared.store, place).await?;
        let is_late = |flow: &Flow| flow.until.is_some_and(|until| until <= ctx.now());
        let (mut flow, version) = match found {
            Some((flow, version)) if !is_late(&flow) => (flow, version),
            late => {
                let keys = late.map(|(flow, _)| flow.keys).unwrap_or_default();
                let batch = Batch::new(tenant.clone()).settle(leased.id);
                let batch = self.shared.without_keys(batch, tenant, &keys);
                let batch = batch.delete(FLOW, &id);
                let batch = outlived(batch, &effect, &ctx)?;
                self.shared.store.commit(batch).await?;
                return Ok(Done::End(End::Waiting));
            }
        };
        let at = (id.as_str(), version);
        let called = match flow.arrived.take() {
            Some(arrived) => Called::Answered(arrived),
            None => match self.nonce_ahead(&mut flow.state, leased.attempts).await {
                Some(later) => later,
                None => self.called(&effect, leased.attempts).await,
            },
        };
        match called {
            Called::Later(seconds) => {
                let batch = self.shared.later(leased, seconds);
                self.shared.commit_in_hand(batch).await?;
                Ok(Done::End(End::Waiting))
            }
            Called::Failed(error) => {
                tracing::warn!(reason = %error, "an issuer did not answer a wallet");
                let reason = error.public_reason();
                let input = Input::Unreachable(&reason);
                self.taken(leased, (at, flow), (&input, None)).await
            }
            Called::Answered(arrived) => {
                let answer = arrived.answer();
                let input = match &effect {
                    Effect::RedeemToken { .. } => Input::Token(answer),
                    Effect::FetchNonce { .. } => Input::Nonce(answer),
                    Effect::RequestCredential { .. } => Input::Credential(answer),
                    Effect::Keep(_) => {
                        return Err(Error::internal(
                            "credentials are kept with the step that brings them",
                        ));
                    }
                };
                self.taken(leased, (at, flow), (&input, Some(&arrived)))
                    .await
            }
        }
    }

    /// Takes a step with this input, and commits everything that follows from it at once.
    async fn taken(
        &self,
        leased: &Leased,
        ((id, version), flow): ((&str, u64), Flow),
        (input, arrived): (&Input<'_>, Option<&Arrived>),
    ) -> Result<Done> {
        let tenant = &leased.tenant;
        let ctx = self.shared.clock.ctx();
        let freshness = Freshness { max_status_age: 0 };
        let step = self.shared.run(tenant, freshness, |evidence| {
            wallet::step(&flow.state, input, evidence, &ctx)
        });
        let (state, effects) = step.await?;
        let (credentials, further) = parted(effects);
        let kept = self.kept(tenant, credentials, (&flow, &ctx)).await?;
        if let (Some(reason), Some(arrived)) = (&kept.unknown, arrived)
            && leased.attempts < JUDGEMENTS_MAX
        {
            tracing::warn!(reason, "received credentials can't be verified yet");
            let flow = Flow {
                arrived: Some(arrived.clone()),
                ..flow
            };
            let batch = self.shared.later(leased, 1 << leased.attempts);
            let batch = batch.update_version(FLOW, id, version, encode(&flow)?);
            self.shared.commit_in_hand(batch).await?;
            return Ok(Done::End(End::Unjudged(reason.clone())));
        }
        let asks_for_credential = further
            .iter()
            .any(|effect| matches!(effect, Effect::RequestCredential { .. }));
        let ended = ended(&state, kept.failure());
        let unused = match ended {
            Ended::Not => Vec::new(),
            Ended::With(_) => flow.unused_keys(&kept.cards),
        };
        let batch = Batch::new(tenant.clone()).settle(leased.id);
        let batch = self.shared.without_keys(batch, tenant, &unused);
        let batch = self.shared.enqueued(batch, id, further)?;
        let (batch, flow, end) = match ended {
            Ended::Not => {
                let flow = Flow { state, ..flow };
                // A token alone needs no flush of its own: it reaches the disk with the request that spends it.
                let batch = batch.update_version(FLOW, id, version, encode(&flow)?);
                let batch = if asks_for_credential {
                    batch
                } else {
                    batch.deferred()
                };
                (batch, Some(flow), None)
            }
            Ended::With(failure) => {
                let batch = batch.delete(FLOW, id);
                let (batch, end) = concluded(batch, (&flow.issuer, kept.cards), (failure, &ctx))?;
                (batch, None, Some(end))
            }
        };
        let committed = self.shared.commit_in_hand(batch).await?;
        if let Some(flow) = flow {
            self.flows_at_hand.hold(&committed, flow);
        }
        if let Some(End::Kept(cards)) = &end {
            for card in cards {
                self.shared.events.tell(EventKind::Received, &card.id);
            }
        }
        Ok(match end {
            Some(end) => Done::End(end),
            None => Done::Next(committed.outbox.first().copied()),
        })
    }

    /// Verifies the credentials; the genuine ones become cards.
    async fn kept(
        &self,
        tenant: &TenantId,
        credentials: Vec<ReceivedCredential>,
        (flow, ctx): (&Flow, &Ctx),
    ) -> Result<Kept> {
        let mut kept = Kept {
            cards: Vec::new(),
            refused: None,
            unknown: None,
        };
        for credential in credentials {
            match self.judged(tenant, (&credential, &flow.issuer)).await? {
                Judgement::Genuine(held) => {
                    let look = flow.looks.get(&credential.configuration_id).cloned();
                    let number = kept.cards.len();
                    let card = (credential, look.unwrap_or_default());
                    kept.cards.push(CardRecord::of(card, &held, ctx, number));
                }
                Judgement::Forged(reason) => kept.refused = Some(reason),
                Judgement::Unknown(reason) => kept.unknown = Some(reason),
            }
        }
        Ok(kept)
    }

    /// Fetches the nonce for the first credential request before the code is redeemed. This call may be repeated, so
    /// the token becomes durable together with the request that spends it. Returns the call if it must wait.
    async fn nonce_ahead(&self, state: &mut State, attempts: u32) -> Option<Called> {
        let url = state.nonce_ahead()?.clone();
        match self.called(&Effect::FetchNonce { url }, attempts).await {
            Called::Answered(arrived) => {
                state.take_nonce(arrived.answer());
                None
            }
            Called::Later(seconds) => Some(Called::Later(seconds)),
            // The nonce is asked for again when it is needed.
            Called::Failed(_) => None,
        }
    }

    async fn called(&self, effect: &Effect, attempts: u32) -> Called {
        let net = &self.shared.net;
        let answer = match effect {
            Effect::RedeemToken { url, form } => {
                let body = Body::Bytes {
                    content_type: "application/x-www-form-urlencoded".to_owned(),
                    bytes: form.expose().as_bytes().to_vec(),
                };
                net.post(url, body, Authorization::None).await
            }
            Effect::FetchNonce { url } => net.post(url, Body::Empty, Authorization::None).await,
            Effect::RequestCredential { url, token, body } => {
                let authorization = Authorization::Bearer(token.clone());
                let body = Body::Json(body.clone().into_bytes());
                net.post(url, body, authorization).await
            }
            Effect::Keep(_) => Err(NetError::BadCall("credentials are not sent anywhere")),
        };
        match answer {
            // Refused before anything was done.
            Ok(response) if matches!(response.status, 429 | 503) && attempts < CALLS_MAX => {
                let wait = 1_u64 << attempts;
                Called::Later(response.retry_after.unwrap_or(wait).clamp(wait, 60))
            }
            Ok(response) => Called::Answered(Arrived::of(&response)),
            Err(error) if attempts < CALLS_MAX && may_call_again(effect, &error) => {
                tracing::info!(reason = %error, attempts, "an issuer can't be reached now");
                Called::Later(1 << attempts)
            }
            Err(error) => Called::Failed(error),
        }
    }
}

impl Shared {
    /// The batch with the effects of a flow added.
    pub(super) fn enqueued(&self, batch: Batch, flow: &str, effects: Vec<Effect>) -> Result<Batch> {
        effects.into_iter().try_fold(batch, |batch, effect| {
            let job = Job::Receive {
                flow: flow.to_owned(),
                effect,
            };
            Ok(batch.enqueue(job.own_entry("issuer", flow, self.clock.now())?))
        })
    }
}

impl Kept {
    fn failure(&self) -> Option<Error> {
        let forged = |reason| {
            Error::upstream(format!(
                "the issuer sent a credential that is not genuine: {reason}"
            ))
            .with_hint("it was not stored; tell the issuer")
        };
        let unknown = |reason| {
            Error::upstream(format!("the credential could not be verified: {reason}"))
                .with_hint("it was not stored; ask the issuer for a new offer")
        };
        self.refused
            .as_ref()
            .map(forged)
            .or_else(|| self.unknown.as_ref().map(unknown))
    }
}

/// Whether a call without an answer may be repeated. A credential request always may: the issuer recognises its own
/// request, or refuses its nonce, and then there is a new one. A code may have been redeemed, so it is sent again only
/// if the first request never left; a person who still has the offer can accept it again.
fn may_call_again(effect: &Effect, error: &NetError) -> bool {
    error.is_retried() && (error.is_unsent() || !matches!(effect, Effect::RedeemToken { .. }))
}

/// Whether a flow has ended, and with what failure.
enum Ended {
    Not,
    With(Option<Error>),
}

fn ended(state: &State, failure: Option<Error>) -> Ended {
    match state {
        State::Received(_) => Ended::With(failure),
        State::Failed(failed) => {
            tracing::warn!(reason = %failed.reason, code = failed.code.as_deref(), "an offer could not be accepted");
            let kind = match failed.code.as_deref() {
                // A spent or expired code is not the issuer's failure, and trying again does not help.
                Some("invalid_grant") => ErrorKind::Gone,
                _ => ErrorKind::Upstream,
            };
            let error = Error::new(kind, failed.reason.clone()).with_hint(failed.advice.clone());
            let code = failed.code.as_deref().and_then(known_code);
            Ended::With(Some(Error { code, ..error }))
        }
        State::Redeeming(_) | State::Proving(_) | State::Requesting(_) => Ended::Not,
    }
}

/// The issuer's error code, if a specification defines it (RFC 6749 §5.2, RFC 6750 §3.1, OpenID4VCI 1.0 §8.3.1.2).
/// Callers cannot rely on other codes.
fn known_code(code: &str) -> Option<&'static str> {
    const KNOWN: [&str; 15] = [
        "credential_request_denied",
        "insufficient_scope",
        "invalid_authorization_details",
        "invalid_client",
        "invalid_credential_request",
        "invalid_encryption_parameters",
        "invalid_grant",
        "invalid_nonce",
        "invalid_proof",
        "invalid_request",
        "invalid_scope",
        "invalid_token",
        "unauthorized_client",
        "unknown_credential_configuration",
        "unknown_credential_identifier",
    ];
    KNOWN.into_iter().find(|known| *known == code)
}

/// The end of a flow: stores its cards and its history entries.
fn concluded(
    mut batch: Batch,
    (issuer, cards): (&str, Vec<CardRecord>),
    (failure, ctx): (Option<Error>, &Ctx),
) -> Result<(Batch, End)> {
    let mut summaries = Vec::new();
    for card in cards {
        let (put, summary) = card.into_put()?;
        batch = batch.put(put);
        summaries.push(summary);
    }
    if !summaries.is_empty() {
        let titles = summaries
            .iter()
            .map(|card: &CardSummary| card.display.title.clone());
        let entry = Entry::new("received", issuer, titles.collect(), Vec::new());
        batch = batch.put(entry.put(ctx)?);
    }
    match failure {
        None => Ok((batch, End::Kept(summaries))),
        Some(error) => {
            let batch = batch.put(Entry::failed(issuer, &error).put(ctx)?);
            Ok((batch, End::Failed(error)))
        }
    }
}

/// Splits off the credentials to keep from the remaining effects.
fn parted(effects: Vec<Effect>) -> (Vec<ReceivedCredential>, Vec<Effect>) {
    let (mut credentials, mut further) = (Vec::new(), Vec::new());
    for effect in effects {
        match effect {
            Effect::Keep(more) => credentials.extend(more),
            other => further.push(other),
        }
    }
    (credentials, further)
}

/// Ends the flow of an effect that was given up.
///
/// # Errors
/// The store's.
pub(crate) async fn abandoned(
    shared: &Shared,
    batch: Batch,
    (tenant, id, effect): (&TenantId, &str, &Effect),
    error: &Error,
) -> Result<Batch> {
    let ctx = shared.clock.ctx();
    let Some(record) = shared.store.read(tenant, FLOW, id).await? else {
        return outlived(batch, effect, &ctx);
    };
    let flow: Flow = decode(&record.value)?;
    let entry = Entry::failed(&flow.issuer, error).put(&ctx)?;
    let batch = batch.delete(FLOW, id).put(entry);
    Ok(shared.without_keys(batch, tenant, &flow.keys))
}

/// The failure of an effect whose flow has expired: the instance did not run, or could not continue it, until then.
fn outlived(batch: Batch, effect: &Effect, ctx: &Ctx) -> Result<Batch> {
    let party = match effect {
        Effect::RedeemToken { url, .. }
        | Effect::FetchNonce { url }
        | Effect::RequestCredential { url, .. } => origin_of(url),
        Effect::Keep(_) => String::new(),
    };
    let error = Error::upstream("the offer was not accepted in time")
        .with_hint("ask the issuer for a new one");
    Ok(batch.put(Entry::failed(&party, &error).put(ctx)?))
}
