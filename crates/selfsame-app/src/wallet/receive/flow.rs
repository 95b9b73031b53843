//! The flow of an offer that was taken, as a record: each call to the issuer is an effect, its answer the next input.
//!
//! A flow ends with cards, or with a failure in the person's history; a process that dies leaves it to the outbox.

use std::collections::BTreeMap;
use std::sync::Arc;

use selfsame_crypto::KeyHandle;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;
use selfsame_net::{Authorization, Body, NetError, Response};
use selfsame_openid4vc::wallet::{self, Answer, Effect, Input, ReceivedCredential, State};
use selfsame_store::{Batch, Leased, OutboxId, Put, TenantId};
use serde::{Deserialize, Serialize};

use super::judge::Judgement;
use crate::error::{Error, ErrorKind, Result, may_be_had_later, no_answer};
use crate::events::EventKind;
use crate::gather::Freshness;
use crate::outbox::Job;
use crate::record::{decode, encode};
use crate::shared::Shared;
use crate::view::wallet::CardSummary;
use crate::wallet::Wallet;
use crate::wallet::cards::{CardRecord, Look};
use crate::wallet::history::{Entry, origin_of};

pub(super) const FLOW: &str = "receiving";
/// A flow that has not ended by then never will.
const FLOW_SECONDS: u64 = 24 * 3600;
/// How often a call is made again that the issuer could not be reached for, each time after twice as long.
const CALLS_MAX: u32 = 5;
/// How often the issuer's key is asked for, to judge credentials that are here.
const JUDGEMENTS_MAX: u32 = 8;

/// What is on its way into a wallet.
#[derive(Deserialize, Serialize)]
pub(in crate::wallet) struct Flow {
    issuer: String,
    state: State,
    /// How to show each configuration's cards.
    looks: BTreeMap<String, Look>,
    /// The issuer's answer, where it is here and can't be judged yet.
    arrived: Option<Arrived>,
    /// The keys that were made for it; what no card is bound to at its end goes with it.
    #[serde(default)]
    keys: Vec<KeyHandle>,
    /// Its record outlives that, so that its keys are known until they are removed.
    #[serde(default)]
    until: Option<UnixTime>,
}

/// An answer of the issuer's.
#[derive(Clone, Deserialize, Serialize)]
struct Arrived {
    status: u16,
    content_type: Option<String>,
    body: String,
}

/// What a flow has come to when nothing more is to be done for it now.
pub(crate) enum End {
    /// The cards are kept.
    Kept(Vec<CardSummary>),
    /// It did not work out.
    Failed(Error),
    /// It goes on later.
    Waiting,
    /// What came can't be judged yet, and why; it is tried again later.
    Unjudged(String),
}

/// What follows an effect that was carried out.
pub(crate) enum Done {
    /// Another effect, if it can be carried out at once.
    Next(Option<OutboxId>),
    /// Nothing more for now.
    End(End),
}

/// What came of a call.
enum Called {
    Answered(Arrived),
    /// It is to be made again, after so many seconds.
    Later(u64),
    Failed(NetError),
}

/// What is kept of the credentials that came.
struct Kept {
    cards: Vec<CardRecord>,
    /// Why others are not.
    refused: Option<String>,
    /// Why it can't be said yet, of some of them.
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

    /// With how each configuration's cards are shown.
    pub fn showing(self, looks: BTreeMap<String, Look>) -> Self {
        Self { looks, ..self }
    }

    /// With keys that were made for it.
    pub fn with_keys(self, keys: Vec<KeyHandle>) -> Self {
        Self { keys, ..self }
    }

    pub fn put(&self, id: &str) -> Result<Put> {
        Ok(Put::new(FLOW, id, encode(self)?))
    }

    /// The keys that none of these cards is bound to.
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
            // What is no text is no answer in JSON either, and is refused as such.
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
    /// Works on a flow's effects, one after another, as long as they lead to each other.
    pub(crate) async fn finish(self: &Arc<Self>, first: Option<OutboxId>) -> Result<End> {
        let mut next = first;
        while let Some(id) = next {
            // On a task of its own: a person who goes away does not stop what can't be asked for again.
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

    /// Carries out an effect that was just written; nothing if somebody else does.
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

    /// Carries out one effect of a flow and takes its next step. The caller holds the lease until the entry is
    /// settled or, after an error, put off.
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
                let reason = no_answer(&error);
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

    /// Takes a step with what came in, and commits all that follows from it at once.
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
            let batch = batch.update_version(FLOW, (id, version), encode(&flow)?);
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
                // The token alone is worth no flush of its own: it goes to the disk with the request that spends it.
                let batch = batch.update_version(FLOW, (id, version), encode(&flow)?);
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

    /// Judges what came: what is genuine becomes cards.
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

    /// Fetches the nonce that the first credential is asked for with before the code is spent, which may be repeated:
    /// so the token is made durable together with the request that spends it. The call that is to wait, if it must.
    async fn nonce_ahead(&self, state: &mut State, attempts: u32) -> Option<Called> {
        let url = state.nonce_ahead()?.clone();
        match self.called(&Effect::FetchNonce { url }, attempts).await {
            Called::Answered(arrived) => {
                state.take_nonce(arrived.answer());
                None
            }
            Called::Later(seconds) => Some(Called::Later(seconds)),
            // It is asked for again when it is needed.
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
            // Turned away before anything was done.
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
    /// A batch with the effects of a flow.
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

/// Whether a call that gave no answer may be made again. A credential request may always: the issuer knows its own
/// request again, or refuses its nonce, for which there is a new one. A code may have been redeemed, so it is sent
/// again only if it never left; whoever still has the offer can take it again.
fn may_call_again(effect: &Effect, error: &NetError) -> bool {
    may_be_had_later(error) && (error.is_unsent() || !matches!(effect, Effect::RedeemToken { .. }))
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
                // A spent or expired code is nobody's fault, and no later attempt helps.
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

/// The issuer's code, if it is one of the specifications' (RFC 6749 §5.2, RFC 6750 §3.1, OpenID4VCI 1.0 §8.3.1.2): what
/// else it may have written is nobody's to rely on.
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

/// The end of a flow: its cards, and what the history says of it.
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

/// The credentials to keep, and the effects that remain.
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

/// Ends the flow of an effect that is given up.
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

/// An effect whose flow has expired: the instance did not run, or was not left to go on, for all that time.
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
