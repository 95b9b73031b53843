//! The one machine that drives the records of all protocols: what a step sends is packed, and written to the outbox in
//! the commit of the step.

use std::marker::PhantomData;
use std::sync::Arc;

use async_trait::async_trait;
use selfsame_aries::advance::Problem;
use selfsame_aries::key::VerKey;
use selfsame_core::machine::{At, Call, CallAnswer, Calling, Machine, Next, Round, Settlement};
use selfsame_core::record_cache::RecordCache;
use selfsame_credential::evidence::Step;
use selfsame_didcomm::Message;
use selfsame_driver::record::encode;
use selfsame_driver::{Error, Reason, Result};
use selfsame_store::{Batch, Put, Tag};
use serde::{Serialize, de::DeserializeOwned};

use crate::destination::{Destination, OwnKey};
use crate::error::refused;
use crate::parts::AgentParts;

/// How often a delivery is put off that the peer answers with an error.
const REFUSED_MAX: u32 = 6;

/// A protocol, as the agent keeps and drives its records.
#[async_trait]
pub trait AgentProtocol: Send + Sync + 'static {
    /// The kind of its records; also the name of its machine.
    const KIND: &'static str;
    /// Its record.
    type Entry: DeserializeOwned + Serialize + Send + Sync + 'static;
    /// What it can be given.
    type Input: Send + Sync + 'static;

    /// Takes a step. Pure.
    ///
    /// # Errors
    /// The refusal; the record stays as it is.
    fn step(
        entry: &mut Self::Entry,
        input: &Self::Input,
        round: &Round<'_>,
    ) -> std::result::Result<Step<Taken<Self::Entry>>, Problem>;

    /// The tags by which a record is found.
    fn tags(entry: &Self::Entry) -> Vec<Tag>;

    /// Adds to the input what a step needs and is not pure, such as a new key.
    ///
    /// # Errors
    /// If it can't be had.
    async fn prepare(
        _agent: &AgentParts,
        _at: At<'_>,
        _entry: &Self::Entry,
        _input: &mut Self::Input,
    ) -> Result<()> {
        Ok(())
    }
}

/// What a step of a protocol gives.
pub struct Taken<E> {
    /// Messages to send, in order.
    pub send: Vec<Parcel>,
    /// A record that begins beside the one of the step.
    pub beside: Option<Beside<E>>,
    /// Further writes.
    pub batch: Option<Batch>,
    /// Whether the input had been taken before; then nothing is written.
    pub is_repeated: bool,
}

/// A message with its way.
pub struct Parcel {
    /// Our key.
    pub from: VerKey,
    /// Where it goes.
    pub to: Destination,
    /// The message.
    pub message: Message,
}

/// A record that begins beside another, with what it sends.
pub struct Beside<E> {
    pub id: String,
    pub entry: E,
    pub send: Vec<Parcel>,
}

/// What the giver of an input gets.
pub struct StepOutcome {
    /// Whether the input had been taken before.
    pub is_repeated: bool,
    /// The refusal, if the peer is told of it.
    pub problem: Option<Problem>,
    /// What is sent, and the record that it belongs to.
    parcels: Vec<(String, Parcel)>,
}

/// An input, or what came of a delivery.
pub enum AgentInput<I> {
    Input(I),
    Answer(CallAnswer),
}

impl<I> From<CallAnswer> for AgentInput<I> {
    fn from(answer: CallAnswer) -> Self {
        Self::Answer(answer)
    }
}

/// The machine of one protocol.
pub struct ProtocolMachine<P: AgentProtocol> {
    parts: AgentParts,
    records: RecordCache<P::Entry>,
    protocol: PhantomData<fn() -> P>,
}

impl<E> Taken<E> {
    /// A step that sends this.
    pub fn sending(send: Vec<Parcel>) -> Self {
        Self {
            send,
            beside: None,
            batch: None,
            is_repeated: false,
        }
    }

    /// With these writes.
    #[must_use]
    pub fn with(mut self, batch: Option<Batch>) -> Self {
        self.batch = batch;
        self
    }
}

impl<P: AgentProtocol> ProtocolMachine<P> {
    /// The machine of an agent's records.
    pub fn new(parts: AgentParts) -> Self {
        Self {
            parts,
            records: RecordCache::default(),
            protocol: PhantomData,
        }
    }

    /// A record to write.
    ///
    /// # Errors
    /// `Internal` if it can't be encoded.
    pub fn put(id: &str, entry: &P::Entry) -> Result<Put> {
        let put = Put::new(P::KIND, id, encode(entry)?);
        Ok(P::tags(entry).into_iter().fold(put, Put::tag))
    }

    /// Gives a record an input, and delivers what the step sends.
    ///
    /// # Errors
    /// The refusal of the step, and those of the driver.
    pub async fn give(self: &Arc<Self>, at: At<'_>, input: P::Input) -> Result<StepOutcome> {
        let shared = &self.parts.shared;
        let driven = shared.drive(&**self, at, AgentInput::Input(input)).await?;
        self.deliver(driven.committed.outbox);
        match driven.reply.problem {
            Some(problem) => Err(refused(&problem)),
            None => Ok(driven.reply),
        }
    }

    /// Delivers these messages now, one after another, in a task of its own. What fails is put off by the outbox.
    pub fn deliver(self: &Arc<Self>, entries: Vec<selfsame_store::OutboxId>) {
        if entries.is_empty() {
            return;
        }
        let machine = self.clone();
        tokio::spawn(async move {
            for entry in entries {
                let carried = machine.parts.shared.go_on(&machine, Some(entry)).await;
                if let Err(error) = carried {
                    tracing::warn!(%error, "a message is delivered later");
                }
            }
        });
    }

    /// The entry of the outbox that delivers a message.
    async fn packed(&self, at: At<'_>, record: &str, parcel: Parcel) -> Result<Batch> {
        let shared = &self.parts.shared;
        let Parcel { from, to, message } = parcel;
        // Messages to one peer arrive in order.
        let subject = to.keys.first().map_or_else(String::new, VerKey::to_base58);
        let sender = OwnKey {
            tenant: at.tenant,
            key: &from,
        };
        let call = Call::Http(Box::new(to.call(shared, sender, &message).await?));
        let entry = call.entry(P::KIND, record, &subject, shared.clock.now())?;
        Ok(Batch::new(at.tenant.clone()).enqueue(entry))
    }
}

#[async_trait]
impl<P: AgentProtocol> Machine for ProtocolMachine<P> {
    const KIND: &'static str = P::KIND;
    type Record = P::Entry;
    type Input = AgentInput<P::Input>;
    type Reply = StepOutcome;

    fn records(&self) -> &RecordCache<P::Entry> {
        &self.records
    }

    fn tags(&self, entry: &P::Entry) -> Option<Vec<Tag>> {
        Some(P::tags(entry))
    }

    fn step(
        &self,
        entry: &mut P::Entry,
        input: &AgentInput<P::Input>,
        round: &Round<'_>,
    ) -> Result<Step<Next<StepOutcome>>> {
        let input = match input {
            AgentInput::Input(input) => input,
            AgentInput::Answer(answer) => return Ok(Step::Done(delivered(answer, round))),
        };
        match P::step(entry, input, round) {
            Ok(Step::Needs(needs)) => Ok(Step::Needs(needs)),
            Ok(Step::Done(taken)) => next::<P>(taken, round).map(Step::Done),
            Err(problem) => Err(refused(&problem)),
        }
    }

    async fn prepare(
        &self,
        at: At<'_>,
        entry: &P::Entry,
        input: &mut AgentInput<P::Input>,
    ) -> Result<()> {
        match input {
            AgentInput::Input(input) => P::prepare(&self.parts, at, entry, input).await,
            AgentInput::Answer(_) => Ok(()),
        }
    }

    async fn complete(
        &self,
        at: At<'_>,
        _entry: &mut P::Entry,
        mut next: Next<StepOutcome>,
    ) -> Result<Next<StepOutcome>> {
        for (record, parcel) in std::mem::take(&mut next.reply.parcels) {
            let packed = self.packed(at, &record, parcel).await?;
            next.batch = next.batch.and(packed);
        }
        Ok(next)
    }
}

#[async_trait]
impl<P: AgentProtocol> Calling for ProtocolMachine<P> {
    fn given_up(
        &self,
        _entry: Option<&mut P::Entry>,
        error: Option<&Error>,
        round: &Round<'_>,
    ) -> Result<Next<StepOutcome>> {
        if let Some(error) = error {
            tracing::warn!(%error, record = round.at.id, "a message was not delivered");
        }
        Ok(Next::unchanged(round, StepOutcome::nothing()))
    }
}

impl StepOutcome {
    fn nothing() -> Self {
        Self {
            is_repeated: false,
            problem: None,
            parcels: Vec::new(),
        }
    }
}

/// What a step of a protocol gives, as the driver commits it.
fn next<P: AgentProtocol>(taken: Taken<P::Entry>, round: &Round<'_>) -> Result<Next<StepOutcome>> {
    let mut outcome = StepOutcome::nothing();
    if taken.is_repeated {
        outcome.is_repeated = true;
        return Ok(Next::unchanged(round, outcome));
    }
    let of = |id: &str, parcels: Vec<Parcel>| -> Vec<(String, Parcel)> {
        let named = parcels.into_iter();
        named.map(|parcel| (id.to_owned(), parcel)).collect()
    };
    outcome.parcels = of(round.at.id, taken.send);
    let mut next = Next::written(round, outcome);
    if let Some(beside) = taken.beside {
        let sent = of(&beside.id, beside.send);
        next.reply.parcels.extend(sent);
        next = next.put(ProtocolMachine::<P>::put(&beside.id, &beside.entry)?);
    }
    if let Some(batch) = taken.batch {
        next.batch = next.batch.and(batch);
    }
    Ok(next)
}

/// What becomes of a delivery: done if the peer took the message, tried again a few times if it answered with an error.
fn delivered(answer: &CallAnswer, round: &Round<'_>) -> Next<StepOutcome> {
    let mut next = Next::unchanged(round, StepOutcome::nothing());
    let reason = match answer {
        CallAnswer::Http { response, .. } if response.status / 100 == 2 => return next,
        CallAnswer::Http { response, .. } => {
            Reason::new("aries-peer-status").with("status", &response.status)
        }
        CallAnswer::Unreachable { reason } => Reason::new("aries-peer-away").with("why", reason),
        CallAnswer::Accepted(_) | CallAnswer::Finished => return next,
        CallAnswer::Refused(error) => error.reason.clone(),
    };
    next.entry = match round.attempts < REFUSED_MAX {
        true => Settlement::Later(1 << round.attempts),
        false => Settlement::Buried(reason),
    };
    next
}
