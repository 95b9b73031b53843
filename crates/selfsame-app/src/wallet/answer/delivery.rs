//! The delivery of an answer: stored with the answer, carried out until the verifier accepts it or refuses it.

use std::sync::Arc;

use selfsame_credential::evidence::Step;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_net::{Authorization, Body, NetError, Response};
use selfsame_openid4vc::holder::{self, Asked, Effect, Input, State};
use selfsame_store::{Batch, Expect, Leased, Put, StoreError, TenantId};
use serde::{Deserialize, Serialize};

use super::{ASKED, Noted, over};
use crate::events::EventKind;
use crate::outbox::Job;
use crate::refusal::refusal;
use crate::shared::Shared;
use crate::view::wallet::{Answered, OneUse, Person};
use crate::wallet::Wallet;
use crate::wallet::history::{Entry, KEPT, origin_of};

const FLOW: &str = "answering";
const FLOW_SECONDS: u64 = 24 * 3600;
/// How often delivery is repeated if the verifier can't be reached; the wait doubles each time.
const DELIVERIES_MAX: u32 = 5;

/// An answer being delivered.
#[derive(Deserialize, Serialize)]
pub(in crate::wallet) struct Flow {
    state: State,
    party: String,
    cards: Vec<String>,
    claims: Vec<String>,
    #[serde(default)]
    one_use: Vec<OneUse>,
}

/// What a person shares, as the history will show it.
#[derive(Default)]
pub(super) struct Shown {
    pub cards: Vec<String>,
    pub claims: Vec<String>,
    /// The single-use cards that this hands over.
    pub one_use: Vec<OneUse>,
}

impl Flow {
    fn entry(&self, what: &str) -> Entry {
        Entry::new(what, &self.party, self.cards.clone(), self.claims.clone())
            .giving(self.one_use.clone())
    }
}

impl Wallet {
    /// Stores the answer with the effect that delivers it, then delivers it. This uses up a previewed request.
    pub(super) async fn sent(
        self: &Arc<Self>,
        person: &Person,
        (asked, noted): (&Asked, Option<Noted>),
        (state, effects): holder::Next,
        shown: Shown,
    ) -> Result<Answered> {
        let ctx = self.shared.clock.ctx();
        let id = ctx.token("flow/id");
        let flow = Flow {
            state,
            party: asked.request.client_id.clone(),
            cards: shown.cards,
            claims: shown.claims,
            one_use: shown.one_use,
        };
        self.has_room_for_a_flow(person, FLOW).await?;
        let batch = self.shared.room_on(&person.tenant, &KEPT).await?;
        let mut batch =
            batch.put(Put::new(FLOW, &id, encode(&flow)?).expires(ctx.now().plus(FLOW_SECONDS)));
        for effect in effects {
            let job = Job::Present {
                flow: id.clone(),
                effect,
            };
            batch = batch.enqueue(job.own_entry("verifier", &id, ctx.now())?);
        }
        if let Some((id, version)) = &noted {
            batch = batch
                .expect(ASKED, id, Expect::Version(*version))
                .delete(ASKED, id);
        }
        let committed = match self.shared.store.commit(batch).await {
            Err(StoreError::Conflict { kind, .. }) if kind == ASKED => return Err(over()),
            committed => committed?,
        };
        self.answers_at_hand.hold(&committed, flow);
        let first = committed
            .outbox
            .first()
            .copied()
            .ok_or_else(|| Error::internal("an answer without delivery"))?;
        let waiting = || {
            Error::upstream("the verifier can't be reached now; the answer will be delivered later")
                .with_hint("the history will show the result")
        };
        let leased = self.shared.store.lease_early(first).await?;
        let leased = leased.ok_or_else(waiting)?;
        let wallet = self.clone();
        let done = tokio::spawn(async move {
            let done = wallet.perform_presented(&leased).await;
            if let Err(error) = &done {
                wallet.shared.put_off(&leased, error).await;
            }
            done
        });
        done.await.map_err(Error::internal)??.ok_or_else(waiting)
    }

    /// Delivers an answer; `None` if it must be tried again. The caller holds the lease until the entry is settled or,
    /// after an error, put off.
    pub(crate) async fn perform_presented(&self, leased: &Leased) -> Result<Option<Answered>> {
        let Job::Present { flow: id, effect } = Job::read(leased)? else {
            return Err(Error::internal("another kind of effect came to the wallet"));
        };
        let tenant = &leased.tenant;
        let place = (tenant, FLOW, id.as_str());
        let Some((flow, _)) = self.answers_at_hand.find(&self.shared.store, place).await? else {
            let batch = Batch::new(tenant.clone()).settle(leased.id);
            let batch = outlived(batch, &effect, &self.shared)?;
            self.shared.store.commit(batch).await?;
            return Ok(None);
        };
        let Effect::PostResponse { url, form } = effect;
        let posted = self
            .shared
            .net
            .post(&url, Body::Form(form), Authorization::None)
            .await;
        if leased.attempts < DELIVERIES_MAX && is_to_be_repeated(&posted) {
            let batch = self.shared.later(leased, 1 << leased.attempts);
            self.shared.commit_in_hand(batch).await?;
            return Ok(None);
        }
        self.delivered(leased, (&id, flow), posted).await.map(Some)
    }

    async fn delivered(
        &self,
        leased: &Leased,
        (id, flow): (&str, Flow),
        posted: std::result::Result<Response, NetError>,
    ) -> Result<Answered> {
        let ctx = self.shared.clock.ctx();
        let reason;
        let input = match &posted {
            Ok(response) => Input::Delivered {
                status: response.status,
                body: &response.body,
            },
            Err(error) => {
                tracing::warn!(reason = %error, "an answer could not be delivered");
                reason = error.public_reason();
                Input::Unreachable(&reason)
            }
        };
        let next = match holder::step(&flow.state, input, &Default::default(), &ctx)
            .map_err(refusal)?
        {
            Step::Done((state, _)) => state,
            Step::Needs(_) => return Err(Error::internal("the end of an answer needs nothing")),
        };
        let (entry, delivered, redirect_uri) = match next {
            State::Done(done) => {
                let what = if done.presented { "shared" } else { "declined" };
                (flow.entry(what), true, done.redirect_uri)
            }
            State::Failed(failed) => {
                tracing::warn!(reason = %failed.reason, "the verifier did not accept an answer");
                (flow.entry("failed").because(failed.reason), false, None)
            }
            State::Asked(_) | State::Answering(_) | State::Declining(_) => {
                return Err(Error::internal(
                    "an answer that was delivered has not ended",
                ));
            }
        };
        let presented = entry.is("shared");
        let entry = entry.put(&ctx)?;
        let history = entry.id.clone();
        // If a power failure loses this commit, the answer is delivered again, and the verifier replies that it has it.
        let batch = Batch::new(leased.tenant.clone())
            .settle(leased.id)
            .delete(FLOW, id)
            .put(entry)
            .deferred();
        self.shared.commit_in_hand(batch).await?;
        if presented {
            self.shared.events.tell(EventKind::Presented, &history);
        }
        Ok(Answered {
            delivered,
            redirect_uri: redirect_uri.map(String::from),
            history,
        })
    }
}

/// Whether to deliver the answer again: the verifier refused it unread, or gave no answer. If it had accepted it after
/// all, it refuses the second delivery, and the history names the claims that may have left.
fn is_to_be_repeated(posted: &std::result::Result<Response, NetError>) -> bool {
    match posted {
        Ok(response) => matches!(response.status, 429 | 503),
        Err(error) => error.is_retried(),
    }
}

/// Ends the flow of a delivery that was given up.
///
/// # Errors
/// The store's.
pub(crate) async fn abandoned(
    shared: &Shared,
    batch: Batch,
    (tenant, id, effect): (&TenantId, &str, &Effect),
    error: &Error,
) -> Result<Batch> {
    let Some(record) = shared.store.read(tenant, FLOW, id).await? else {
        return outlived(batch, effect, shared);
    };
    let flow: Flow = decode(&record.value)?;
    let entry = flow.entry("failed").because(error.reason.clone());
    Ok(batch.delete(FLOW, id).put(entry.put(&shared.clock.ctx())?))
}

/// The failure of a delivery whose flow has expired: the instance did not run, or could not continue it, until then.
fn outlived(batch: Batch, effect: &Effect, shared: &Shared) -> Result<Batch> {
    let Effect::PostResponse { url, .. } = effect;
    let error = Error::upstream("the answer was not delivered in time");
    let entry = Entry::failed(&origin_of(url), &error);
    Ok(batch.put(entry.put(&shared.clock.ctx())?))
}
