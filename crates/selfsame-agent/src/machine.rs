//! The one machine that drives the records of all protocols: what a step sends is packed, and written to the outbox in
//! the commit of the step.

use std::marker::PhantomData;
use std::sync::Arc;

use async_trait::async_trait;
use selfsame_agent_view::exchange::Depth;
use selfsame_aries::advance::{Outgoing, Problem};
use selfsame_aries_v2::forms;
use selfsame_core::events::EventKind;
use selfsame_core::machine::{
    At, Call, CallAnswer, Calling, Fate, FlowResult, Machine, Next, Round, Settlement, TriedCall,
};
use selfsame_credential::evidence::{Evidence, Step};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;
use selfsame_didcomm::{Message, Version};
use selfsame_driver::record::{RecordCache, encode};
use selfsame_driver::{Error, Result};
use selfsame_mediation::destination::settling::{LastSent, settlement};
use selfsame_mediation::destination::{OwnKey, delivery};
use selfsame_mediation::error::refused;
use selfsame_mediation::mailbox::Mailbox;
use selfsame_mediation::notice::{Told, Untold};
use selfsame_mediation::queue::{NewEnvelope, QueuedWrites};
use selfsame_mediation::taken::{SentMessage, StepOutcome};
use selfsame_store::{Batch, Expect, OutboxId, Put, StoreError, Tag, TenantId};
use serde::{Serialize, de::DeserializeOwned};

use crate::parts::AgentParts;

pub use selfsame_mediation::taken::{Beside, Parcel, Taken};

/// What a step of a protocol is given besides record and input.
pub struct AgentTurn<'a> {
    /// What every machine's step is given.
    pub round: &'a Round<'a>,
    /// Whether somebody hears of the record's states.
    pub is_heard: bool,
    /// How much controllers are told of the messages of exchanges.
    pub told: Depth,
}

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
        turn: &AgentTurn<'_>,
    ) -> std::result::Result<Step<Taken<Self::Entry>>, Problem>;

    /// The tags by which a record is found.
    fn tags(entry: &Self::Entry) -> Vec<Tag>;

    /// When a record expires; `None` for never.
    fn expires(_entry: &Self::Entry) -> Option<UnixTime> {
        None
    }

    /// The notices that are told once the record's messages were sent.
    fn untold(entry: &mut Self::Entry) -> &mut Untold;

    /// The way of the report that refuses an input; `None` if it can't be sent, or not to somebody unknown.
    fn report(_entry: &Self::Entry, _input: &Self::Input, _report: &Outgoing) -> Option<Parcel> {
        None
    }

    /// Whether the record is removed once its messages were sent.
    fn is_ended(_entry: &Self::Entry) -> bool {
        false
    }

    /// How the record's flow ended; `None` while it goes on, and for records that are no flows.
    fn result(_entry: &Self::Entry) -> Option<FlowResult> {
        None
    }

    /// The message after which it is; `None` for records that stay.
    fn last_sent(_entry: &mut Self::Entry) -> Option<&mut LastSent> {
        None
    }

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

/// A protocol whose records begin with a step.
pub trait Startable: AgentProtocol {
    /// The identifier of a record, by its thread.
    fn record_id(entry: &Self::Entry) -> String;
}

/// A record that begins with a step.
pub struct StartedRecord {
    /// Its identifier.
    pub id: String,
    /// What the step gives; `None` if the record existed already, and nothing was done.
    pub outcome: Option<StepOutcome>,
}

/// How a message gets to its peer.
enum PackedMessage {
    /// By an entry of the outbox, for this peer.
    Posted(Call, String),
    /// It waits until the peer comes.
    Waiting(QueuedWrites),
}

/// An input, or what came of a delivery.
pub enum AgentInput<I> {
    /// An input of the protocol.
    Input(I),
    /// What came of a delivery.
    Answer(CallAnswer),
    /// The first attempt to deliver was made, and the message goes later.
    Attempted,
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

impl<P: AgentProtocol> ProtocolMachine<P> {
    /// The machine of an agent's records.
    pub fn new(parts: AgentParts) -> Self {
        Self {
            parts,
            records: RecordCache::default(),
            protocol: PhantomData,
        }
    }

    fn turn<'a>(&self, round: &'a Round<'a>) -> AgentTurn<'a> {
        let settings = self.parts.terms(round.at.tenant).settings;
        AgentTurn {
            round,
            is_heard: self.parts.is_heard(round.at.tenant),
            told: match settings.debug_webhooks {
                true => Depth::Messages,
                false => Depth::Attachments,
            },
        }
    }

    /// A record to write.
    ///
    /// # Errors
    /// `Internal` if it can't be encoded.
    pub fn put(id: &str, entry: &P::Entry) -> Result<Put> {
        let mut put = Put::new(P::KIND, id, encode(entry)?);
        put.expires = P::expires(entry);
        Ok(P::tags(entry).into_iter().fold(put, Put::tag))
    }

    /// Gives a record an input, and delivers what the step sends.
    ///
    /// # Errors
    /// The refusal of the step, and those of the driver.
    pub async fn give(self: &Arc<Self>, at: At<'_>, input: P::Input) -> Result<StepOutcome> {
        self.give_read(at, None, input).await
    }

    /// As [`Self::give`], with the record and its version if they were read already.
    ///
    /// # Errors
    /// As [`Self::give`].
    pub async fn give_read(
        self: &Arc<Self>,
        at: At<'_>,
        read: Option<(P::Entry, u64)>,
        input: P::Input,
    ) -> Result<StepOutcome> {
        let shared = &self.parts.shared;
        let input = AgentInput::Input(input);
        let mut driven = shared.drive_from(&**self, at, read, input).await?;
        let sent = std::mem::take(&mut driven.reply.sent);
        self.deliver(at.tenant, &driven.committed.outbox, sent);
        match driven.reply.problem {
            Some(problem) => Err(refused(&problem)),
            None => Ok(driven.reply),
        }
    }

    /// Begins a record with its first input, and delivers what the step sends. `entry` is the record before that step.
    /// A step with the same `ctx` begins the same record.
    ///
    /// # Errors
    /// The refusal of the step, and the store's.
    pub async fn start(
        self: &Arc<Self>,
        tenant: &TenantId,
        mut entry: P::Entry,
        mut input: P::Input,
        ctx: &Ctx,
    ) -> Result<StartedRecord>
    where
        P: Startable,
    {
        let unnamed = At { tenant, id: "" };
        P::prepare(&self.parts, unnamed, &entry, &mut input).await?;
        let shared = &self.parts.shared;
        let evidence = Evidence::default();
        let round = |at| Round {
            evidence: &evidence,
            ctx,
            at,
            entry: None,
            attempts: 0,
        };
        let taken = match P::step(&mut entry, &input, &self.turn(&round(unnamed))) {
            Ok(Step::Done(taken)) => taken,
            Ok(Step::Needs(_)) => return Err(Error::internal("a first step needs nothing")),
            Err(problem) => return Err(refused(&problem)),
        };
        let id = P::record_id(&entry);
        let at = At { tenant, id: &id };
        let next = next::<P>(&mut entry, taken, &round(at))?;
        let next = self.complete(at, &mut entry, next).await?;
        let put = Self::put(&id, &entry)?;
        let batch = Batch::new(tenant.clone()).expect(P::KIND, &id, Expect::Absent);
        let batch = batch.put(put).and(next.batch);
        let committed = match shared.events.commit_all(batch, &next.events).await {
            Ok(committed) => committed,
            Err(StoreError::Conflict { kind, .. }) if kind == P::KIND => {
                return Ok(StartedRecord { id, outcome: None });
            }
            Err(other) => return Err(other.into()),
        };
        if let Some(version) = committed.versions.first() {
            self.records.keep(*version, entry);
        }
        let mut outcome = next.reply;
        let sent = std::mem::take(&mut outcome.sent);
        self.deliver(tenant, &committed.outbox, sent);
        Ok(StartedRecord {
            id,
            outcome: Some(outcome),
        })
    }

    /// Delivers what a step sent now, after what was sent to the same peers before. What fails is put off by the outbox.
    /// The step's messages are the last entries of its commit.
    pub fn deliver(
        self: &Arc<Self>,
        tenant: &TenantId,
        outbox: &[OutboxId],
        sent: Vec<SentMessage>,
    ) {
        let first = outbox.len().saturating_sub(sent.len());
        let own = outbox.get(first..).unwrap_or_default();
        for (entry, SentMessage { record, peer }) in own.iter().copied().zip(sent) {
            let (machine, of) = (self.clone(), (tenant.clone(), record));
            self.parts.lines.push(&peer, entry.0, move |is_last| {
                let (machine, (tenant, record)) = (machine.clone(), of.clone());
                async move {
                    let at = At {
                        tenant: &tenant,
                        id: &record,
                    };
                    machine.delivered(at, entry, is_last).await
                }
            });
        }
    }

    /// Delivers a message; false if it waits for an earlier one to the same peer, and this is not the last attempt. If it
    /// goes later, controllers hear of its step now.
    async fn delivered(self: &Arc<Self>, at: At<'_>, entry: OutboxId, is_last: bool) -> bool {
        let put_off = match self.parts.shared.carry_early(self, entry).await {
            Ok(TriedCall::Waits) if !is_last => return false,
            Ok(attempt) => attempt != TriedCall::Made,
            Err(error) => {
                tracing::warn!(%error, "a message is delivered later");
                true
            }
        };
        let shared = &self.parts.shared;
        if put_off && let Err(error) = shared.drive(&**self, at, AgentInput::Attempted).await {
            tracing::warn!(%error, "controllers are told later");
        }
        true
    }

    /// What gets a message to its peer. Messages to one peer arrive in order.
    async fn packed(&self, at: At<'_>, parcel: Parcel) -> Result<PackedMessage> {
        let shared = &self.parts.shared;
        let Parcel { from, to, message } = parcel;
        let sender = OwnKey {
            tenant: at.tenant,
            key: &from,
        };
        let envelope = match to.version() {
            Version::V1 => to.seal(shared, sender, &message).await?,
            Version::V2 => to.seal(shared, sender, &in_v2(&message)?).await?,
        };
        if let Some(endpoint) = &to.endpoint {
            let call = delivery(endpoint.clone(), envelope, to.version());
            return Ok(PackedMessage::Posted(call, to.peer()));
        }
        let key = to.keys.into_iter().next();
        let key = key.ok_or_else(|| Error::internal("a peer has a key"))?;
        let new = NewEnvelope {
            mailbox: Mailbox::OfKey(key.clone()),
            to: key,
            thread: Some(message.thread_id().to_owned()),
            envelope,
        };
        let terms = self.parts.terms(at.tenant).mediation;
        let queued = self.parts.mediation.queue.add(at.tenant, new, &terms);
        queued.await.map(PackedMessage::Waiting)
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

    fn expires(&self, entry: &P::Entry) -> Option<UnixTime> {
        P::expires(entry)
    }

    fn result(&self, entry: &P::Entry) -> Option<FlowResult> {
        P::result(entry)
    }

    fn step(
        &self,
        entry: &mut P::Entry,
        input: &AgentInput<P::Input>,
        round: &Round<'_>,
    ) -> Result<Step<Next<StepOutcome>>> {
        let input = match input {
            AgentInput::Input(input) => input,
            AgentInput::Answer(answer) => {
                let mut answered = Next::unchanged(round, StepOutcome::nothing());
                answered.entry = settlement(answer, round.attempts);
                // If the note of it is lost, the message goes again, and its receiver recognises it.
                answered.deferred = matches!(answered.entry, Settlement::Settled);
                return Ok(Step::Done(told::<P>(entry, answered, round)));
            }
            AgentInput::Attempted => {
                let nothing = Next::unchanged(round, StepOutcome::nothing());
                return Ok(Step::Done(told::<P>(entry, nothing, round)));
            }
        };
        match P::step(entry, input, &self.turn(round)) {
            Ok(Step::Needs(needs)) => Ok(Step::Needs(needs)),
            Ok(Step::Done(taken)) => next::<P>(entry, taken, round).map(Step::Done),
            Err(problem) => {
                let report = problem.report.as_deref();
                let parcel = report.and_then(|report| P::report(entry, input, report));
                refusal(problem, parcel, round).map(Step::Done)
            }
        }
    }

    /// An attempt to deliver concerns no record that is gone.
    fn absent(&self, input: &AgentInput<P::Input>) -> Result<StepOutcome> {
        match input {
            AgentInput::Attempted => Ok(StepOutcome::nothing()),
            _ => Err(Error::not_found("record-absent")),
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
            AgentInput::Answer(_) | AgentInput::Attempted => Ok(()),
        }
    }

    async fn complete(
        &self,
        at: At<'_>,
        entry: &mut P::Entry,
        mut next: Next<StepOutcome>,
    ) -> Result<Next<StepOutcome>> {
        for (record, parcel) in std::mem::take(&mut next.reply.parcels) {
            match self.packed(at, parcel).await? {
                PackedMessage::Posted(call, peer) => {
                    if P::is_ended(entry)
                        && record == at.id
                        && let Some(last) = P::last_sent(entry)
                    {
                        last.note(&call);
                    }
                    let now = self.parts.shared.clock.now();
                    next.batch = next
                        .batch
                        .enqueue(call.entry(P::KIND, &record, &peer, now)?);
                    next.reply.sent.push(SentMessage { record, peer });
                }
                PackedMessage::Waiting(queued) => {
                    next.batch = next.batch.and(queued.batch);
                    next.events.push(queued.event);
                }
            }
        }
        Ok(next)
    }
}

#[async_trait]
impl<P: AgentProtocol> Calling for ProtocolMachine<P> {
    fn given_up(
        &self,
        entry: Option<&mut P::Entry>,
        error: Option<&Error>,
        round: &Round<'_>,
    ) -> Result<Next<StepOutcome>> {
        if let Some(error) = error {
            tracing::warn!(%error, record = round.at.id, "a message was not delivered");
        }
        let nothing = Next::unchanged(round, StepOutcome::nothing());
        Ok(match entry {
            Some(entry) => told::<P>(entry, nothing, round),
            None => nothing,
        })
    }
}

/// A message in the form of DIDComm v2.
fn in_v2(message: &Message) -> Result<Message> {
    let protocol = &message.kind.protocol;
    forms::write(message).map_err(|why| {
        Error::bad_request("aries-v2-unspoken")
            .with("protocol", protocol)
            .with("why", &why)
    })
}

/// What a step of a protocol gives, as the driver commits it.
fn next<P: AgentProtocol>(
    entry: &mut P::Entry,
    taken: Taken<P::Entry>,
    round: &Round<'_>,
) -> Result<Next<StepOutcome>> {
    let mut outcome = StepOutcome::nothing();
    outcome.shown = taken.shown;
    if taken.is_repeated {
        return Ok(Next::unchanged(round, outcome));
    }
    let of = |id: &str, parcels: Vec<Parcel>| -> Vec<(String, Parcel)> {
        let named = parcels.into_iter();
        named.map(|parcel| (id.to_owned(), parcel)).collect()
    };
    let is_silent = !is_posted(&taken.send);
    outcome.parcels = of(round.at.id, taken.send);
    let mut next = Next::written(round, outcome);
    let saying = Saying {
        record: round.at.id,
        tell: taken.tell,
        ctx: round.ctx,
    };
    next = noted::<P>(entry, next, saying)?;
    if is_silent {
        next = told::<P>(entry, next, round);
    }
    if let Some(mut beside) = taken.beside {
        let saying = Saying {
            record: &beside.id,
            tell: beside.tell,
            ctx: round.ctx,
        };
        next = noted::<P>(&mut beside.entry, next, saying)?;
        if !is_posted(&beside.send) {
            let told = P::untold(&mut beside.entry).take();
            next = told.into_iter().fold(next, tell);
        }
        let sent = of(&beside.id, beside.send);
        next.reply.parcels.extend(sent);
        next = next.put(ProtocolMachine::<P>::put(&beside.id, &beside.entry)?);
    }
    if let Some(batch) = taken.batch {
        next.batch = next.batch.and(batch);
    }
    Ok(next)
}

/// Whether any of these is delivered by the outbox. What waits for its peer is sent as far as this agent can.
fn is_posted(send: &[Parcel]) -> bool {
    send.iter().any(|parcel| parcel.to.endpoint.is_some())
}

/// What a record's controllers are told.
struct Saying<'a> {
    record: &'a str,
    tell: Vec<Told>,
    ctx: &'a Ctx,
}

/// A refusal leaves the record as it is. The report is sent, if there is a way to the peer.
fn refusal(
    problem: Problem,
    report: Option<Parcel>,
    round: &Round<'_>,
) -> Result<Next<StepOutcome>> {
    let Some(parcel) = report else {
        return Err(refused(&problem));
    };
    let outcome = StepOutcome {
        problem: Some(problem),
        parcels: vec![(round.at.id.to_owned(), parcel)],
        ..StepOutcome::nothing()
    };
    Ok(Next::unchanged(round, outcome))
}

/// With the notices of a record as records of their own. They are told after its messages were sent.
fn noted<P: AgentProtocol>(
    entry: &mut P::Entry,
    mut next: Next<StepOutcome>,
    saying: Saying<'_>,
) -> Result<Next<StepOutcome>> {
    let Saying { record, tell, ctx } = saying;
    for told in tell {
        let id = P::untold(entry).note(record, ctx);
        next = next.put(told.put(&id, ctx.now())?);
    }
    Ok(next)
}

/// With the events of what was noted so far. A record that is over is removed once its last message is delivered.
fn told<P: AgentProtocol>(
    entry: &mut P::Entry,
    mut next: Next<StepOutcome>,
    round: &Round<'_>,
) -> Next<StepOutcome> {
    let told = P::untold(entry).take();
    if !told.is_empty() && next.record == Fate::Kept {
        next.record = Fate::Written;
        next.deferred = false;
    }
    let is_settled = matches!(next.entry, Settlement::Settled | Settlement::Buried(_));
    let is_last = P::last_sent(entry).is_none_or(|last| last.is_settled_by(round.entry));
    if P::is_ended(entry) && is_settled && is_last {
        next.record = Fate::Deleted;
    }
    told.into_iter().fold(next, tell)
}

fn tell(next: Next<StepOutcome>, notice: String) -> Next<StepOutcome> {
    next.tell(EventKind::AgentNotice, notice)
}
