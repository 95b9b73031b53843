//! The machine of an accepted offer: each call to the issuer is in the outbox, its answer the next input.
//!
//! A flow ends with cards, or with a failure in the person's history; if the process dies, the outbox continues it.

mod ending;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use selfsame_credential::evidence::Step;
use selfsame_crypto::KeyHandle;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::encode;
use selfsame_driver::{Error, Result};
use selfsame_haip::WantedProfile;
use selfsame_openid4vc::wallet::{self, Input, NamedResponse, ReceivedCredential, ReceivingState};
use selfsame_openid4vc::wire::encryption::MEDIA_TYPE;
use selfsame_openid4vc::wire::notification::{NotificationEvent, NotificationRequest};
use selfsame_store::{NewOutbox, Put};
use serde::{Deserialize, Serialize};

use ending::{ConcludedFlow, Ended, ended};

use super::attested::SenderKeys;
use super::judge::{Judgement, judged};
use super::notifying::Notifications;
use super::possession::PossessedKey;
use crate::cards::{CardRecord, Look};
use crate::history::{self, origin_of};
use crate::profile::broken;
use crate::quota::without_keys;
use crate::view::{CardSummary, PreparedCredential};
use crate::{WalletWire, wire::SeenCall};
use selfsame_core::Shared;
use selfsame_core::machine::{
    Arrived, At, Call, CallAnswer, CallAttestation, Calling, HttpBody, HttpCall, Machine, Next,
    Round, Settlement,
};
use selfsame_driver::record::RecordCache;
use selfsame_holder::refusal;

pub(super) const FLOW: &str = "receiving";
/// Seconds after which a flow that has not ended expires.
const FLOW_SECONDS: u64 = 24 * 3600;
/// Seconds after which a credential that the issuer prepares is given up.
const PREPARING_SECONDS: u64 = 30 * 24 * 3600;
/// How often the issuer's key is fetched to verify credentials that were received.
const JUDGEMENTS_MAX: u32 = 8;

/// The machine.
pub(crate) struct Receiving {
    pub(super) shared: Arc<Shared>,
    records: RecordCache<Flow>,
    wire: WalletWire,
    profile: Option<WantedProfile>,
}

/// An offer being accepted.
#[derive(Deserialize, Serialize)]
pub(crate) struct Flow {
    issuer: String,
    state: ReceivingState,
    /// How to show each configuration's cards.
    looks: BTreeMap<String, Look>,
    /// The issuer's answer, if it was received but can't be verified yet.
    arrived: Option<Arrived>,
    /// The keys that were created for this flow; those that no card is bound to are deleted at its end.
    #[serde(default)]
    keys: Vec<KeyHandle>,
    /// The key that its access token is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    possessed: Option<PossessedKey>,
    /// What the wallet is attested with where the code is redeemed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attested: Option<Box<CallAttestation>>,
    /// When the issuer is next asked for a credential that it prepares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next_look: Option<UnixTime>,
    /// When the flow expires. The record stays longer, so that its keys are known until they are deleted.
    #[serde(default)]
    until: Option<UnixTime>,
    #[serde(skip)]
    seen: Option<SeenCall>,
}

/// The state of a flow when there is nothing more to do for it now.
pub(crate) enum FlowEnd {
    /// The cards were stored.
    Kept(Vec<CardSummary>),
    /// The flow failed.
    Failed(Error),
    /// The flow continues later.
    Waiting,
    /// The issuer prepares a credential, and is asked again at this time.
    Preparing(UnixTime),
    /// The credential can't be verified yet, for this reason; it is tried again later.
    Unjudged(String),
}

impl FlowEnd {
    /// The cards received, or what the person is told.
    pub(super) fn cards(self) -> Result<Vec<CardSummary>> {
        match self {
            Self::Kept(cards) => Ok(cards),
            Self::Failed(error) => Err(error),
            Self::Waiting => Err(Error::upstream("issuer-unreachable")),
            Self::Preparing(time) => {
                Err(Error::upstream("credential-prepared").with("time", &time.rfc3339()))
            }
            Self::Unjudged(reason) => {
                Err(Error::upstream("credential-unverified-yet").with("detail", &reason))
            }
        }
    }
}

/// The result of verifying the credentials received.
#[derive(Default)]
struct KeptCards {
    cards: Vec<CardRecord>,
    /// Why others were refused.
    refused: Option<String>,
    /// Why some can't be verified yet.
    unknown: Option<String>,
    /// The configurations of which a card is kept.
    kept_of: BTreeSet<String>,
    /// The configurations of which a credential is not kept.
    lost_of: BTreeSet<String>,
}

impl Flow {
    pub fn new(issuer: String, state: ReceivingState, now: UnixTime) -> Self {
        Self {
            issuer,
            state,
            looks: BTreeMap::new(),
            arrived: None,
            keys: Vec::new(),
            possessed: None,
            attested: None,
            next_look: None,
            until: Some(now.plus(FLOW_SECONDS)),
            seen: None,
        }
    }

    /// With the look of each configuration's cards.
    pub(super) fn showing(self, looks: BTreeMap<String, Look>) -> Self {
        Self { looks, ..self }
    }

    /// With the keys that were created for it.
    pub fn with_keys(self, keys: Vec<KeyHandle>) -> Self {
        Self { keys, ..self }
    }

    /// With the keys by which the server knows its sender, which are deleted at its end.
    pub fn sent_by(mut self, sender: SenderKeys) -> Self {
        self.keys.extend(sender.handles());
        let SenderKeys {
            possessed,
            attested,
        } = sender;
        Self {
            possessed,
            attested,
            ..self
        }
    }

    /// The step after which the issuer is asked again in its time.
    fn looking_later(
        &mut self,
        call: wallet::WalletCall,
        round: &Round<'_>,
    ) -> Result<Next<FlowEnd>> {
        let now = round.ctx.now();
        let after = match &call {
            wallet::WalletCall::RequestDeferred { after, .. } => u64::from(*after),
            _ => 0,
        };
        let time = now.plus(after);
        if self.next_look.replace(time).is_none() {
            self.until = Some(now.plus(PREPARING_SECONDS));
        }
        let entry = NewOutbox {
            not_before: time,
            ..entry(round.at.id, self, call, now)?
        };
        let next = Next::written(round, FlowEnd::Preparing(time));
        Ok(next.call(entry).leaving_calls())
    }

    /// What of it the person is shown while the issuer prepares a credential.
    pub fn prepared(&self) -> Option<PreparedCredential> {
        let ReceivingState::Deferred(waiting) = &self.state else {
            return None;
        };
        let ask = waiting.progress.plan.asks.first()?;
        let look = self.looks.get(&ask.configuration_id).cloned();
        Some(PreparedCredential {
            issuer: self.issuer.clone(),
            display: look.unwrap_or_default().display(&ask.types),
            next_look: self.next_look?.rfc3339(),
        })
    }

    /// What the issuer is told of these responses at its end.
    fn told(
        &self,
        named: Vec<NamedResponse>,
        kept: &KeptCards,
        now: UnixTime,
    ) -> Option<Notifications> {
        let told = |named: NamedResponse| NotificationRequest {
            event: kept.event(&named.configuration_id),
            notification_id: named.notification_id,
            event_description: None,
        };
        let waiting = named.into_iter().map(told).collect();
        Notifications::of(
            self.state.progress()?,
            self.possessed.as_ref(),
            waiting,
            now,
        )
    }

    /// Takes the answer to its call, with the nonces of the servers.
    fn heard(&mut self, response: &Arrived, first: Option<&Arrived>) {
        let is_redeeming = matches!(self.state, ReceivingState::Redeeming(_));
        if let Some(possessed) = &mut self.possessed {
            for arrived in first.into_iter().chain((!is_redeeming).then_some(response)) {
                possessed.heard_from_issuer(arrived.dpop_nonce.as_deref());
            }
        }
        if let Some(first) = first {
            self.state.take_nonce(heard(first));
        }
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

impl Receiving {
    pub fn new(shared: Arc<Shared>, wire: WalletWire, profile: Option<WantedProfile>) -> Self {
        Self {
            shared,
            records: RecordCache::default(),
            wire,
            profile,
        }
    }

    /// Verifies the credentials; the genuine ones become cards.
    fn kept(
        &self,
        flow: &Flow,
        credentials: Vec<ReceivedCredential>,
        round: &Round<'_>,
    ) -> Result<Step<KeptCards>> {
        let mut kept = KeptCards::default();
        let trusted = self.shared.trust.now();
        for credential in credentials {
            let configuration = credential.configuration_id.clone();
            match judged(&self.shared, &credential, &flow.issuer, round)? {
                Step::Needs(needs) => return Ok(Step::Needs(needs)),
                Step::Done(Judgement::Genuine(held)) => {
                    if let Some(rule) = broken(self.profile, &held, &trusted.anchors) {
                        kept.refused = Some(rule.told.to_owned());
                        kept.lost_of.insert(configuration);
                        continue;
                    }
                    let look = flow.looks.get(&credential.configuration_id).cloned();
                    let number = kept.cards.len();
                    let look = look.unwrap_or_default();
                    kept.kept_of.insert(configuration);
                    kept.cards
                        .push(CardRecord::of(credential, look, &held, round.ctx, number));
                }
                Step::Done(Judgement::Forged(reason)) => {
                    kept.refused = Some(reason);
                    kept.lost_of.insert(configuration);
                }
                Step::Done(Judgement::Unknown(reason)) => {
                    kept.unknown = Some(reason);
                    kept.lost_of.insert(configuration);
                }
            }
        }
        Ok(Step::Done(kept))
    }
}

#[async_trait]
impl Machine for Receiving {
    const KIND: &'static str = FLOW;
    type Record = Flow;
    type Input = CallAnswer;
    type Reply = FlowEnd;

    fn records(&self) -> &RecordCache<Flow> {
        &self.records
    }

    fn step(
        &self,
        flow: &mut Flow,
        answer: &CallAnswer,
        round: &Round<'_>,
    ) -> Result<Step<Next<FlowEnd>>> {
        let (input, arrived) = match answer {
            CallAnswer::Http { response, first } => {
                flow.heard(response, first.as_ref());
                flow.seen = SeenCall::of(round, response, first.as_ref());
                (flow.state.answered(heard(response)), Some(response))
            }
            CallAnswer::Unreachable { reason } => (Input::Unreachable(reason), None),
            _ => return Err(Error::internal("issuers answer by HTTP")),
        };
        let taken = wallet::step(&flow.state, &input, round.evidence, round.ctx);
        let wallet::WalletNext {
            state,
            call,
            received,
            named,
        } = match taken.map_err(refusal)? {
            Step::Needs(needs) => return Ok(Step::Needs(needs)),
            Step::Done(next) => next,
        };
        let kept = match self.kept(flow, received, round)? {
            Step::Needs(needs) => return Ok(Step::Needs(needs)),
            Step::Done(kept) => kept,
        };
        if let (Some(reason), Some(arrived)) = (&kept.unknown, arrived)
            && round.attempts < JUDGEMENTS_MAX
        {
            tracing::warn!(reason, "received credentials can't be verified yet");
            flow.arrived = Some(arrived.clone());
            let mut next = Next::written(round, FlowEnd::Unjudged(reason.clone()));
            next.entry = Settlement::Later(1 << round.attempts);
            return Ok(Step::Done(next));
        }
        match ended(&state, kept.failure()) {
            Ended::Not => {
                flow.state = state;
                if let Some(call @ wallet::WalletCall::RequestDeferred { .. }) = call {
                    return flow.looking_later(call, round).map(Step::Done);
                }
                // A token alone needs no flush of its own: it reaches the disk with the request that spends it.
                let mut next = Next::written(round, FlowEnd::Waiting);
                next.deferred = !matches!(call, Some(wallet::WalletCall::RequestCredential { .. }));
                Ok(Step::Done(match call {
                    Some(call) => next.call(entry(round.at.id, flow, call, round.ctx.now())?),
                    None => next,
                }))
            }
            Ended::With(failure) => {
                let told = flow.told(named, &kept, round.ctx.now());
                let end = ConcludedFlow {
                    cards: kept.cards,
                    failure,
                    told,
                };
                self.concluded(flow, end, round).map(Step::Done)
            }
        }
    }

    async fn complete(
        &self,
        at: At<'_>,
        flow: &mut Flow,
        next: Next<FlowEnd>,
    ) -> Result<Next<FlowEnd>> {
        SeenCall::record(flow.seen.take(), &self.wire, at).await;
        Ok(next)
    }
}

impl Calling for Receiving {
    fn is_late(&self, flow: &Flow, now: UnixTime) -> bool {
        flow.until.is_some_and(|until| until <= now)
    }

    fn kept_answer(&self, flow: &mut Flow) -> Option<CallAnswer> {
        let response = flow.arrived.take()?;
        let first = None;
        Some(CallAnswer::Http { response, first })
    }

    fn given_up(
        &self,
        flow: Option<&mut Flow>,
        error: Option<&Error>,
        round: &Round<'_>,
    ) -> Result<Next<FlowEnd>> {
        // The instance did not run, or could not continue the flow, until it expired.
        let late = Error::upstream("offer-late");
        let called = || round.url().map(origin_of).unwrap_or_default();
        let party = flow
            .as_ref()
            .map_or_else(called, |flow| flow.issuer.clone());
        let error = error.filter(|_| flow.is_some()).unwrap_or(&late);
        let failure = history::NewHistoryEntry::failed(&party, error).put(round.ctx)?;
        let mut next = Next::deleted(round, FlowEnd::Waiting).put(failure);
        if let Some(flow) = flow {
            let keys = &self.shared.keys;
            next.batch = without_keys(keys, next.batch, round.at.tenant, &flow.keys);
        }
        Ok(next)
    }
}

/// The outbox entry of a call.
pub(super) fn entry(
    id: &str,
    flow: &Flow,
    call: wallet::WalletCall,
    now: UnixTime,
) -> Result<NewOutbox> {
    Call::Http(Box::new(http(flow, call))).entry(FLOW, id, id, now)
}

/// A call as an HTTP request. A code may have been redeemed, so it is sent again only if the first request never left; a
/// person who still has the offer can accept it again. A credential request may always be repeated: the issuer
/// recognises its own request, or refuses its nonce, and then there is a new one.
fn http(flow: &Flow, call: wallet::WalletCall) -> HttpCall {
    match call {
        // The nonce for the first credential request is fetched before the code is redeemed. That call may be repeated,
        // so the token becomes durable together with the request that spends it.
        wallet::WalletCall::RedeemToken { url, form } => HttpCall {
            first: flow.state.nonce_ahead().cloned(),
            proof: flow.possessed.as_ref().map(PossessedKey::at_server),
            attested: flow.attested.clone(),
            ..HttpCall::post(url, HttpBody::EncodedForm(form))
        },
        wallet::WalletCall::FetchNonce { url } => HttpCall {
            is_repeatable: true,
            ..HttpCall::post(url, HttpBody::Empty)
        },
        wallet::WalletCall::RequestCredential {
            url,
            token,
            is_bound,
            body,
            encrypted,
        }
        | wallet::WalletCall::RequestDeferred {
            url,
            token,
            is_bound,
            body,
            encrypted,
            ..
        } => HttpCall {
            bearer: Some(token),
            proof: flow
                .possessed
                .as_ref()
                .filter(|_| is_bound)
                .map(PossessedKey::at_issuer),
            is_repeatable: true,
            ..HttpCall::post(
                url,
                match encrypted {
                    false => HttpBody::Json(body),
                    true => HttpBody::Envelope {
                        media_type: MEDIA_TYPE.to_owned(),
                        bytes: body.into_bytes(),
                    },
                },
            )
        },
    }
}

fn heard(arrived: &Arrived) -> wallet::HttpAnswer<'_> {
    wallet::HttpAnswer {
        status: arrived.status,
        content_type: arrived.content_type.as_deref(),
        body: arrived.body.as_bytes(),
    }
}

impl KeptCards {
    /// What became of the credentials of a configuration. One that is not kept counts as the failure of all (§11.1).
    fn event(&self, configuration: &str) -> NotificationEvent {
        match self.kept_of.contains(configuration) && !self.lost_of.contains(configuration) {
            true => NotificationEvent::Accepted,
            false => NotificationEvent::Failure,
        }
    }

    fn failure(&self) -> Option<Error> {
        let forged = |reason| Error::upstream("credential-not-genuine").with("detail", &reason);
        let unknown = |reason| Error::upstream("credential-unverifiable").with("detail", &reason);
        self.refused
            .as_ref()
            .map(forged)
            .or_else(|| self.unknown.as_ref().map(unknown))
    }
}
