//! The driver of all machines: load, gather, step, one commit with the events, calls.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use selfsame_credential::evidence::Step;
use selfsame_driver::record::encode;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Committed, Expect, Leased, OutboxId, Put, StoreError};
use selfsame_traces::{Attribute, SpanEnd, SpanKind};

use super::call::{Call, CallEntry, Called};
use super::outbox::buried;
use super::{At, Calling, Fate, Machine, Next, Round, Settlement};
use crate::shared::{Correspondent, Shared};
use selfsame_driver::record::events::Event;

/// A step that lost a race is taken again on the new record; more races than this are not accidental.
const RACES_MAX: u32 = 8;
/// How many races are lost before the step waits for others to finish, twice as long each time.
const RACES_AT_ONCE: u32 = 2;

/// A step that was taken and committed.
pub struct Driven<R> {
    pub reply: R,
    pub committed: Committed,
    /// The call that is made next, if it is made at once.
    next: Option<OutboxId>,
}

/// What came of a call that was tried at once.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TriedCall {
    /// Another worker carries it out, or an earlier entry comes first.
    Waits,
    /// It was made without an answer, and will be made again.
    PutOff,
    /// It was answered.
    Made,
}

/// A machine's record as it was read.
struct LoadedRecord<R> {
    record: R,
    version: u64,
}

/// An outbox entry in work.
struct HeldEntry<'a> {
    leased: &'a Leased,
    entry: CallEntry,
}

impl<'a> HeldEntry<'a> {
    fn new(leased: &'a Leased) -> Result<Self> {
        let entry = CallEntry::read(leased)?;
        Ok(Self { leased, entry })
    }

    fn at(&self) -> At<'_> {
        At {
            tenant: &self.leased.tenant,
            id: &self.entry.record,
        }
    }
}

/// A record whose turn it is, and the entry in work if its call was answered.
#[derive(Clone, Copy)]
struct Turn<'a> {
    at: At<'a>,
    held: Option<&'a HeldEntry<'a>>,
}

/// How a turn's commit ended.
enum TurnEnd {
    Committed(Committed),
    /// A record of this kind was not as the step expected.
    Conflict(String),
}

impl Shared {
    /// Gives a machine an input.
    ///
    /// # Errors
    /// The step's; the machine's refusal if there is no such record; `Unavailable` after too many lost races.
    pub async fn drive<M: Machine>(
        &self,
        machine: &M,
        at: At<'_>,
        input: M::Input,
    ) -> Result<Driven<M::Reply>> {
        self.drive_from(machine, at, None, input).await
    }

    /// As [`Self::drive`], with the record and its version if they were read already.
    ///
    /// # Errors
    /// As [`Self::drive`].
    pub async fn drive_from<M: Machine>(
        &self,
        machine: &M,
        at: At<'_>,
        mut found: Option<(M::Record, u64)>,
        mut input: M::Input,
    ) -> Result<Driven<M::Reply>> {
        for races in 0..RACES_MAX {
            let_others_finish(races).await;
            let read = match found.take() {
                Some((record, version)) => Some(LoadedRecord { record, version }),
                None => self.read_record(machine, at).await?,
            };
            let Some(read) = read else {
                let reply = machine.absent(&input)?;
                let committed = Committed::default();
                let next = None;
                return Ok(Driven {
                    reply,
                    committed,
                    next,
                });
            };
            let turn = Turn { at, held: None };
            if let Some(driven) = self.take(machine, turn, read, &mut input).await? {
                return Ok(driven);
            }
        }
        Err(crowded())
    }

    /// Begins a record, in one commit with `batch`, which has its first call. Returns that call for [`Self::go_on`].
    ///
    /// # Errors
    /// The store's.
    pub async fn begin<M: Calling>(
        self: &Arc<Self>,
        machine: &Arc<M>,
        put: Put,
        record: M::Record,
        batch: Batch,
    ) -> std::result::Result<Option<OutboxId>, StoreError> {
        let committed = self.store.commit(batch.put(put)).await?;
        if let Some(version) = committed.versions.last() {
            machine.records().keep(*version, record);
        }
        Ok(committed.outbox.last().copied())
    }

    /// Carries out a call that was just written and the calls it leads to, as long as each can be made at once; `None`
    /// if the outbox goes on later. Each runs in a task of its own: a call that can't be repeated continues even if the
    /// one who waits for it goes away.
    ///
    /// # Errors
    /// As stated. The entry has then been put off.
    pub async fn go_on<M: Calling>(
        self: &Arc<Self>,
        machine: &Arc<M>,
        first: Option<OutboxId>,
    ) -> Result<Option<M::Reply>> {
        let (mut next, mut reply) = (first, None);
        while let Some(id) = next {
            let Some(driven) = self.carried_early(machine, id).await?.flatten() else {
                return Ok(None);
            };
            next = driven.next;
            reply = Some(driven.reply);
        }
        Ok(reply)
    }

    /// Carries out a call that was just written, unless an earlier one to the same destination comes first.
    ///
    /// # Errors
    /// As stated. The entry has then been put off.
    pub async fn carry_early<M: Calling>(
        self: &Arc<Self>,
        machine: &Arc<M>,
        id: OutboxId,
    ) -> Result<TriedCall> {
        Ok(match self.carried_early(machine, id).await? {
            None => TriedCall::Waits,
            Some(None) => TriedCall::PutOff,
            Some(Some(_)) => TriedCall::Made,
        })
    }

    /// The step that the answer to a call led to; `None` if another worker carries the call out or an earlier entry
    /// comes first, and within it `None` if it was put off.
    async fn carried_early<M: Calling>(
        self: &Arc<Self>,
        machine: &Arc<M>,
        id: OutboxId,
    ) -> Result<Option<Option<Driven<M::Reply>>>> {
        let (shared, machine) = (self.clone(), machine.clone());
        let span = selfsame_traces::span("outbox delivery", SpanKind::Internal)
            .with(|| Attribute::Machine(M::KIND));
        let carrying = async move {
            let Some(leased) = shared.store.lease_early(id).await? else {
                return Ok(None);
            };
            let carried = shared.carry(&*machine, &leased).await;
            if let Err(error) = &carried {
                shared.put_off(&leased, error, Some(&*machine)).await;
            }
            carried.map(Some)
        };
        let done = tokio::spawn(span.watch(carrying, SpanEnd::of));
        done.await.map_err(Error::internal)?
    }

    /// Carries out the call of an entry, and takes the step that its answer leads to; `None` if the entry was put off
    /// or another worker settled it. The caller holds the lease until the entry is settled or, after an error, put off.
    async fn carry<M: Calling>(
        &self,
        machine: &M,
        leased: &Leased,
    ) -> Result<Option<Driven<M::Reply>>> {
        let held = HeldEntry::new(leased)?;
        if held.entry.machine != M::KIND {
            // A step may have another machine called, whose record goes on by the outbox.
            self.commit_in_hand(self.later(leased, 0)).await?;
            return Ok(None);
        }
        let at = held.at();
        let mut answer = None;
        for races in 0..RACES_MAX {
            let_others_finish(races).await;
            let mut read = match self.read_record(machine, at).await? {
                Some(read) if !machine.is_late(&read.record, self.clock.now()) => read,
                late => return self.came_late(machine, &held, late).await,
            };
            let known = answer.take();
            let mut input =
                match known.or_else(|| machine.kept_answer(&mut read.record).map(From::from)) {
                    Some(input) => input,
                    None => match self
                        .call(machine, at, &held.entry.call, leased.attempts)
                        .await?
                    {
                        Called::Answered(answer) => answer.into(),
                        Called::Later(seconds) => {
                            self.commit_in_hand(self.later(leased, seconds)).await?;
                            return Ok(None);
                        }
                    },
                };
            let turn = Turn {
                at,
                held: Some(&held),
            };
            match self.take(machine, turn, read, &mut input).await? {
                Some(driven) => return Ok(Some(driven)),
                None => answer = Some(input),
            }
        }
        Err(crowded())
    }

    /// Makes a call whose entry another worker holds: the other side recognises it and answers both alike.
    ///
    /// # Errors
    /// Those of the call and the step; `Unavailable` if the call must wait.
    pub async fn call_again<M: Calling>(
        &self,
        machine: &M,
        at: At<'_>,
        call: &Call,
    ) -> Result<Driven<M::Reply>> {
        match self.call(machine, at, call, 0).await? {
            Called::Answered(answer) => self.drive(machine, at, answer.into()).await,
            Called::Later(retry_after) => Err(Error::new(
                ErrorKind::Unavailable { retry_after },
                "call-later",
            )),
        }
    }

    async fn call<M: Calling>(
        &self,
        machine: &M,
        at: At<'_>,
        call: &Call,
        attempts: u32,
    ) -> Result<Called> {
        Ok(match call {
            Call::Http(call) => self.called(at.tenant, call, attempts).await?,
            Call::Registry(transaction) => Called::Answered(self.submitted(transaction).await?),
            Call::Dialogue => Called::Answered(machine.converse(at).await?),
        })
    }

    async fn read_record<M: Machine>(
        &self,
        machine: &M,
        at: At<'_>,
    ) -> Result<Option<LoadedRecord<M::Record>>> {
        let records = machine.records();
        let found = records.find(&self.store, at.tenant, M::KIND, at.id).await?;
        Ok(found.map(|(record, version)| LoadedRecord { record, version }))
    }

    /// Takes a step and commits everything it gives at once; `None` if it lost a race.
    async fn take<M: Machine>(
        &self,
        machine: &M,
        turn: Turn<'_>,
        read: LoadedRecord<M::Record>,
        input: &mut M::Input,
    ) -> Result<Option<Driven<M::Reply>>> {
        let stage = machine.flow(&read.record);
        let trace = stage.and_then(|stage| stage.origin?.trace);
        let span = selfsame_traces::continued(trace, "step").with(|| Attribute::Machine(M::KIND));
        let taking = self.take_turn(machine, turn, read, input);
        let taken = span.watch(taking, SpanEnd::of).await?;
        if let (Some(stage), Some(_)) = (stage, &taken) {
            stage.left(self.clock.now());
        }
        Ok(taken)
    }

    async fn take_turn<M: Machine>(
        &self,
        machine: &M,
        turn: Turn<'_>,
        mut read: LoadedRecord<M::Record>,
        input: &mut M::Input,
    ) -> Result<Option<Driven<M::Reply>>> {
        let Turn { at, held } = turn;
        let had_ended = machine.result(&read.record).is_some();
        machine.prepare(at, &read.record, input).await?;
        let ctx = self.clock.ctx();
        let freshness = machine.freshness(&read.record, input);
        let step = self.run(at.tenant, freshness, |evidence| -> Result<Step<_>> {
            let round = Round {
                evidence,
                ctx: &ctx,
                at,
                entry: held.map(|held| &held.entry),
                attempts: held.map_or(0, |held| held.leased.attempts),
            };
            machine.step(&mut read.record, input, &round)
        });
        let next = step.await?;
        let next = machine.complete(at, &mut read.record, next).await?;
        let own = self.own_writes(machine, turn, &read, &next)?;
        let batch = own.and(next.batch);
        let batch = match next.deferred {
            true => batch.deferred(),
            false => batch,
        };
        let committed = self.commit_turn(batch, &next.events, held.is_some());
        let committed = match committed.await? {
            TurnEnd::Committed(committed) => committed,
            TurnEnd::Conflict(kind) => return machine.conflict(&kind).map_or(Ok(None), Err),
        };
        if let (false, Some(result)) = (had_ended, machine.result(&read.record)) {
            result.count();
        }
        if next.record == Fate::Written
            && let Some(version) = committed.versions.first()
        {
            machine.records().keep(*version, read.record);
        }
        let first = committed.outbox.first().copied();
        Ok(Some(Driven {
            reply: next.reply,
            committed,
            next: first.filter(|_| !next.leaves_calls),
        }))
    }

    /// Commits what a turn gave, and tells the events. It knows no machine, so it is compiled once.
    async fn commit_turn(&self, batch: Batch, events: &[Event], is_held: bool) -> Result<TurnEnd> {
        let batch = told_in(batch, events);
        if batch.is_empty() {
            return Ok(TurnEnd::Committed(Committed::default()));
        }
        let committed = match is_held {
            true => self.commit_in_hand(batch).await,
            false => self.store.commit(batch).await,
        };
        match committed {
            Ok(committed) => {
                self.events.told(events);
                Ok(TurnEnd::Committed(committed))
            }
            // Another worker made the same call, has taken the step already, and told what happened.
            Err(StoreError::Conflict { kind, .. }) if is_held && kind == "outbox" => {
                Ok(TurnEnd::Committed(Committed::default()))
            }
            Err(StoreError::Conflict { kind, .. }) => Ok(TurnEnd::Conflict(kind)),
            Err(other) => Err(other.into()),
        }
    }

    /// What becomes of the record, and of the entry whose call was answered.
    fn own_writes<M: Machine>(
        &self,
        machine: &M,
        Turn { at, held }: Turn<'_>,
        read: &LoadedRecord<M::Record>,
        next: &Next<M::Reply>,
    ) -> Result<Batch> {
        let version = read.version;
        let batch = Batch::new(at.tenant.clone());
        let batch = match next.record {
            Fate::Kept => batch,
            Fate::Written => written(machine, batch, at, read)?,
            Fate::Deleted => batch
                .expect(M::KIND, at.id, Expect::Version(version))
                .delete(M::KIND, at.id),
        };
        Ok(match held {
            Some(held) => self.settlement(batch, held.leased, &next.entry),
            None => batch,
        })
    }

    fn settlement(&self, batch: Batch, leased: &Leased, entry: &Settlement) -> Batch {
        match entry {
            Settlement::Settled => batch.settle(leased.id),
            Settlement::Later(seconds) => batch.retry(leased.id, self.clock.now().plus(*seconds)),
            Settlement::Buried(reason) => {
                batch.bury(leased.id, reason.stored_within(Batch::REASON_MAX))
            }
        }
    }

    /// Ends an entry whose record has ended, or whose time is over.
    async fn came_late<M: Calling>(
        &self,
        machine: &M,
        held: &HeldEntry<'_>,
        late: Option<LoadedRecord<M::Record>>,
    ) -> Result<Option<Driven<M::Reply>>> {
        if let (None, Call::Registry(transaction)) = (&late, &held.entry.call) {
            // A transaction is sent even if the record that waited for its receipt has expired.
            self.submitted(transaction).await?;
        }
        let batch = self.ending(machine, held, late, None)?;
        self.store.commit(batch.settle(held.leased.id)).await?;
        Ok(None)
    }

    /// The last writes of a record whose call is given up.
    fn ending<M: Calling>(
        &self,
        machine: &M,
        held: &HeldEntry<'_>,
        mut read: Option<LoadedRecord<M::Record>>,
        error: Option<&Error>,
    ) -> Result<Batch> {
        let (at, ctx, evidence) = (held.at(), self.clock.ctx(), self.evidence());
        let round = Round {
            evidence: &evidence,
            ctx: &ctx,
            at,
            entry: Some(&held.entry),
            attempts: held.leased.attempts,
        };
        let record = read.as_mut().map(|read| &mut read.record);
        let next = machine.given_up(record, error, &round)?;
        let batch = Batch::new(at.tenant.clone());
        let batch = match (&read, next.record) {
            (None, _) | (Some(_), Fate::Kept) => batch,
            (Some(read), Fate::Written) => written(machine, batch, at, read)?,
            (Some(_), Fate::Deleted) => batch.delete(M::KIND, at.id),
        };
        // Readers find these events when they next look: the batch is committed elsewhere.
        Ok(told_in(batch, &next.events).and(next.batch))
    }
}

#[async_trait]
impl<M: Calling> Correspondent for M {
    fn name(&self) -> &'static str {
        M::KIND
    }

    async fn carry_out(self: Arc<Self>, shared: &Arc<Shared>, leased: &Leased) -> Result<()> {
        if let Some(driven) = shared.carry(&*self, leased).await? {
            // This entry is settled; if the next one fails, that has already been put off.
            drop(shared.go_on(&self, driven.next).await);
        }
        Ok(())
    }

    async fn given_up(&self, shared: &Shared, leased: &Leased, error: &Error) -> Result<Batch> {
        let held = HeldEntry::new(leased)?;
        let read = shared.read_record(self, held.at()).await?;
        let batch = shared.ending(self, &held, read, Some(error))?;
        Ok(buried(leased, error).and(batch))
    }
}

/// The write of a record as a step left it.
fn written<M: Machine>(
    machine: &M,
    batch: Batch,
    at: At<'_>,
    read: &LoadedRecord<M::Record>,
) -> Result<Batch> {
    let value = encode(&read.record)?;
    Ok(match machine.tags(&read.record) {
        None => batch.update_version(M::KIND, at.id, read.version, value),
        Some(tags) => {
            let mut put = Put::new(M::KIND, at.id, value);
            put.expires = machine.expires(&read.record);
            batch
                .expect(M::KIND, at.id, Expect::Version(read.version))
                .put(tags.into_iter().fold(put, Put::tag))
        }
    })
}

fn told_in(batch: Batch, events: &[Event]) -> Batch {
    let tell = |batch, event: &Event| event.told_in(batch);
    events.iter().fold(batch, tell)
}

/// Waits after this many lost races: not at all, then for 4, 8, … 128 ms.
async fn let_others_finish(races: u32) {
    if races >= RACES_AT_ONCE {
        tokio::time::sleep(Duration::from_millis(1 << races)).await;
    }
}

fn crowded() -> Error {
    let error = Error::new(ErrorKind::Unavailable { retry_after: 1 }, "record-crowded");
    tracing::warn!(%error, "refused");
    error
}
