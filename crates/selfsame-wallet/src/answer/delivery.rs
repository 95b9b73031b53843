//! The machine of an answer: stored with the answer, called until the verifier accepts it or refuses it.

use async_trait::async_trait;
use selfsame_credential::evidence::Step;
use selfsame_driver::record::encode;
use selfsame_driver::{Error, Reason, Result};
use selfsame_openid4vc::holder::{self, Delivery, Input, PresentationState};
use selfsame_store::{Expect, Put, StoreError};
use serde::{Deserialize, Serialize};

use super::{ASKED, Noted, Opened, name, over};
use crate::Wallet;
use crate::history::{self, KEPT, origin_of};
use crate::view::{Answered, OneUse, Person};
use crate::{WalletWire, wire::SeenCall};
use selfsame_core::events::EventKind;
use selfsame_core::machine::{
    At, Call, CallAnswer, Calling, HttpBody, HttpCall, Machine, Next, Round,
};
use selfsame_driver::record::RecordCache;
use selfsame_holder::refusal;

const FLOW: &str = "answering";
const FLOW_SECONDS: u64 = 24 * 3600;

/// The machine.
pub(crate) struct Answering {
    records: RecordCache<AnswerFlow>,
    wire: WalletWire,
}

/// An answer being delivered.
#[derive(Deserialize, Serialize)]
pub(crate) struct AnswerFlow {
    state: PresentationState,
    party: String,
    #[serde(default)]
    party_name: Option<String>,
    /// The nonce of the request.
    #[serde(default)]
    nonce: String,
    cards: Vec<String>,
    claims: Vec<String>,
    #[serde(default)]
    one_use: Vec<OneUse>,
    #[serde(skip)]
    seen: Option<SeenCall>,
}

/// What a person shares, as the history will show it.
#[derive(Default)]
pub(super) struct SharedContent {
    pub cards: Vec<String>,
    pub claims: Vec<String>,
    /// The single-use cards that this hands over.
    pub one_use: Vec<OneUse>,
}

impl AnswerFlow {
    fn entry(&self, what: &str) -> history::NewHistoryEntry {
        history::NewHistoryEntry::new(what, &self.party, self.cards.clone(), self.claims.clone())
            .with(self.party_name.clone())
            .giving(self.one_use.clone())
    }
}

impl Wallet {
    /// Stores the answer with the call that delivers it, then delivers it. This uses up a previewed request.
    pub(super) async fn sent(
        &self,
        person: &Person,
        opened: &Opened,
        next: holder::HolderNext,
        shown: SharedContent,
    ) -> Result<Answered> {
        let holder::HolderNext {
            state,
            delivery,
            returned,
        } = next;
        let ctx = self.shared.clock.ctx();
        let id = ctx.token("flow/id");
        let flow = AnswerFlow {
            state,
            party: opened.asked.request.client_id.clone(),
            party_name: name(&opened.asked),
            nonce: opened.asked.request.nonce.clone(),
            cards: shown.cards,
            claims: shown.claims,
            one_use: shown.one_use,
            seen: None,
        };
        if let Some(data) = returned {
            let entry = match &flow.state {
                PresentationState::Done(done) if done.presented => flow.entry("shared"),
                _ => flow.entry("declined"),
            };
            return self.handed_back(person, opened, entry, data).await;
        }
        self.quotas.has_room_for_a_flow(person, FLOW).await?;
        let mut batch = self.quotas.room_on(&person.tenant, &KEPT).await?;
        if let Some(Delivery { url, form }) = delivery {
            let call = HttpCall {
                // If the verifier had accepted it after all, it refuses the second delivery, and the history names the
                // claims that may have left.
                is_repeatable: true,
                ..HttpCall::post(url, HttpBody::Form(form))
            };
            batch = batch.enqueue(Call::Http(Box::new(call)).entry(FLOW, &id, &id, ctx.now())?);
        }
        if let Some(Noted { id, version }) = &opened.noted {
            batch = batch
                .expect(ASKED, id, Expect::Version(*version))
                .delete(ASKED, id);
        }
        let put = Put::new(FLOW, &id, encode(&flow)?).expires(ctx.now().plus(FLOW_SECONDS));
        let first = match self.shared.begin(&self.answering, put, flow, batch).await {
            Err(StoreError::Conflict { kind, .. }) if kind == ASKED => return Err(over()),
            first => first?,
        };
        let answered = self.shared.go_on(&self.answering, first).await?;
        answered.ok_or_else(|| Error::upstream("verifier-unreachable"))
    }
}

impl Answering {
    pub fn new(wire: WalletWire) -> Self {
        Self {
            records: RecordCache::default(),
            wire,
        }
    }
}

#[async_trait]
impl Machine for Answering {
    const KIND: &'static str = FLOW;
    type Record = AnswerFlow;
    type Input = CallAnswer;
    type Reply = Answered;

    fn records(&self) -> &RecordCache<AnswerFlow> {
        &self.records
    }

    fn step(
        &self,
        flow: &mut AnswerFlow,
        answer: &CallAnswer,
        round: &Round<'_>,
    ) -> Result<Step<Next<Answered>>> {
        if let CallAnswer::Http { response, first } = answer {
            let seen = SeenCall::of(round, response, first.as_ref());
            flow.seen = seen.map(|seen| seen.answering(&flow.nonce));
        }
        let input = match answer {
            CallAnswer::Http { response, .. } => Input::Delivered {
                status: response.status,
                body: response.body.as_bytes(),
            },
            CallAnswer::Unreachable { reason } => Input::Unreachable(reason),
            _ => return Err(Error::internal("verifiers answer by HTTP")),
        };
        let taken = holder::step(&flow.state, input, round.evidence, round.ctx);
        let state = match taken.map_err(refusal)? {
            Step::Needs(needs) => return Ok(Step::Needs(needs)),
            Step::Done(next) => next.state,
        };
        let (entry, delivered, redirect_uri) = match state {
            PresentationState::Done(done) => {
                let what = if done.presented { "shared" } else { "declined" };
                (flow.entry(what), true, done.redirect_uri)
            }
            PresentationState::Failed(failed) => {
                tracing::warn!(reason = %failed.reason, "the verifier did not accept an answer");
                (
                    flow.entry("failed")
                        .because(Reason::rule_broken(&failed.reason, None)),
                    false,
                    None,
                )
            }
            PresentationState::Asked(_)
            | PresentationState::Answering(_)
            | PresentationState::Declining(_) => {
                return Err(Error::internal(
                    "an answer that was delivered has not ended",
                ));
            }
        };
        let presented = entry.is("shared");
        let entry = entry.put(round.ctx)?;
        let history = entry.id.clone();
        let answered = Answered {
            delivered,
            redirect_uri: redirect_uri.map(String::from),
            history: history.clone(),
            returned: None,
        };
        // If a power failure loses this commit, the answer is delivered again, and the verifier replies that it has it.
        let next = Next::deleted(round, answered).put(entry).deferred();
        Ok(Step::Done(match presented {
            true => next.tell(EventKind::Presented, history),
            false => next,
        }))
    }

    async fn complete(
        &self,
        at: At<'_>,
        flow: &mut AnswerFlow,
        next: Next<Answered>,
    ) -> Result<Next<Answered>> {
        SeenCall::record(flow.seen.take(), &self.wire, at).await;
        Ok(next)
    }
}

impl Calling for Answering {
    fn given_up(
        &self,
        flow: Option<&mut AnswerFlow>,
        error: Option<&Error>,
        round: &Round<'_>,
    ) -> Result<Next<Answered>> {
        // The instance did not run, or could not continue the flow, until it expired.
        let late = Error::upstream("answer-late");
        let ending = match flow {
            Some(flow) => {
                let reason = error.unwrap_or(&late).reason.clone();
                flow.entry("failed").because(reason)
            }
            None => {
                let party = round.url().map(origin_of).unwrap_or_default();
                history::NewHistoryEntry::failed(&party, &late)
            }
        };
        let ending = ending.put(round.ctx)?;
        let answered = Answered {
            delivered: false,
            redirect_uri: None,
            history: ending.id.clone(),
            returned: None,
        };
        Ok(Next::deleted(round, answered).put(ending))
    }
}
