//! The machine of revocation registries. The keys, the tails and the call that publishes a registry are stored in one
//! commit, and so are the intent to revoke and the call that writes it. After a crash the outbox goes on with what was
//! stored; the ledger answers a repeated transaction as it did the first time.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use selfsame_core::events::EventKind;
use selfsame_core::machine::{At, Call, CallAnswer, Calling, Machine, Next, Round};
use selfsame_core::notice::Told;
use selfsame_credential::evidence::Step;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::RecordCache;
use selfsame_driver::{Error, Result};
use selfsame_registry::anoncreds::RevocationState;
use selfsame_store::{NewOutbox, Tag, TenantId};
use tokio::sync::Semaphore;

use super::change::{Following, RegistryChange, RegistryInput};
use super::making::{MadeRegistry, RegistryWorkshop};
use super::record::{REGISTRY, RegistryRecord, RegistryStage, SentEntry};
use super::view::RegistryView;
use crate::endorsing::{EndorsedObject, EndorsingCell, FollowingWrite};

/// The topic of their webhooks.
const TOPIC: &str = "revocation_registry";
/// Seconds after which an entry follows one of the same second.
const NEXT_SECONDS: u64 = 1;
/// Seconds after which a refused entry is made anew.
const ANEW_SECONDS: u64 = 60;
/// Seconds after which a call that was given up is made again.
const GIVEN_UP_SECONDS: u64 = 600;

/// The machine of revocation registries.
pub(crate) struct Registries {
    pub(crate) workshop: RegistryWorkshop,
    endorsing: EndorsingCell,
    records: RecordCache<RegistryRecord>,
    /// One registry is made at a time, so that other computations find a free core.
    turn: Semaphore,
    /// Tells whether somebody hears of a tenant's registries; unset if there is no such service.
    hearing: OnceLock<RegistryHearing>,
}

/// Tells whether somebody hears of the states of a tenant's registries.
pub(crate) type RegistryHearing = Arc<dyn Fn(&TenantId) -> bool + Send + Sync>;

/// An input of a registry, and what was made for it.
pub(crate) struct RegistryStep {
    input: RegistryInput,
    /// When it was prepared.
    now: UnixTime,
    seen: Option<RevocationState>,
    made: Option<MadeStep>,
}

/// What a step of a registry needs made.
enum MadeStep {
    Registry(Box<MadeRegistry>),
    Entry(SentEntry),
}

impl From<CallAnswer> for RegistryStep {
    fn from(answer: CallAnswer) -> Self {
        Self::of(RegistryInput::Heard(answer))
    }
}

impl From<RegistryChange> for RegistryStep {
    fn from(change: RegistryChange) -> Self {
        Self::of(RegistryInput::Change(change))
    }
}

impl RegistryStep {
    fn of(input: RegistryInput) -> Self {
        Self {
            input,
            now: UnixTime(0),
            seen: None,
            made: None,
        }
    }
}

impl Registries {
    /// The machine of these parts.
    pub(crate) fn new(workshop: RegistryWorkshop, endorsing: EndorsingCell) -> Self {
        Self {
            workshop,
            endorsing,
            records: RecordCache::default(),
            turn: Semaphore::new(1),
            hearing: OnceLock::new(),
        }
    }

    /// Has controllers told of the registries of the tenants that somebody hears of.
    pub(crate) fn set_hearing(&self, hearing: RegistryHearing) {
        let _ = self.hearing.set(hearing);
    }

    fn hears(&self, tenant: &TenantId) -> bool {
        self.hearing.get().is_some_and(|hearing| hearing(tenant))
    }

    /// The outbox entry of a registry's next call, due after some seconds.
    pub(crate) fn call(&self, of: &RegistryRecord, call: Call, after: u64) -> Result<NewOutbox> {
        let (id, now) = (of.record_id(), self.workshop.shared.clock.now());
        // One call of a registry is on its way at a time, and those of several need no order among them.
        let subject = format!("{} {id}", of.author.did);
        Ok(NewOutbox {
            not_before: now.plus(after),
            ..call.entry(REGISTRY, &id, &subject, now)?
        })
    }

    /// The step that stores a new registry, and has it published or endorsed.
    fn send(
        &self,
        record: &mut RegistryRecord,
        made: &MadeRegistry,
        round: &Round<'_>,
    ) -> Result<Next<()>> {
        record.tails_hash = Some(made.tails_hash.clone());
        record.accumulator.clone_from(&made.accumulator);
        let mut next = Next::written(round, ());
        next.batch = next.batch.and(made.writes.clone());
        let object = EndorsedObject::Registry;
        match self.endorsing.following(object, &made.transaction, round)? {
            FollowingWrite::Waiting { writes, authored } => {
                next.batch = next.batch.and(writes);
                record.authored = Some(authored);
                record.stage = RegistryStage::Endorsing;
                Ok(next)
            }
            FollowingWrite::Called(call) => {
                record.stage = RegistryStage::Sending;
                Ok(next.call(self.call(record, call, 0)?))
            }
        }
    }

    /// The step that stores an entry and has it written.
    fn write(
        &self,
        record: &mut RegistryRecord,
        entry: &SentEntry,
        round: &Round<'_>,
    ) -> Result<Next<()>> {
        for place in &entry.revoked {
            record.queued.remove(place);
        }
        record.writing = Some(entry.clone());
        let call = Call::Registry(entry.transaction.clone());
        Ok(Next::written(round, ()).call(self.call(record, call, 0)?))
    }
}

#[async_trait]
impl Machine for Registries {
    const KIND: &'static str = REGISTRY;
    type Record = RegistryRecord;
    type Input = RegistryStep;
    type Reply = ();

    fn records(&self) -> &RecordCache<RegistryRecord> {
        &self.records
    }

    fn tags(&self, record: &RegistryRecord) -> Option<Vec<Tag>> {
        Some(record.tags())
    }

    async fn prepare(
        &self,
        at: At<'_>,
        record: &RegistryRecord,
        step: &mut RegistryStep,
    ) -> Result<()> {
        // After a lost race the record has changed, and so has what is to be made.
        (step.seen, step.made) = (None, None);
        step.now = self.workshop.shared.clock.now();
        if matches!(step.input, RegistryInput::Heard(CallAnswer::Refused(_)))
            && record.writing.is_some()
        {
            let registry = self.workshop.shared.own_registry()?;
            step.seen = registry.revocation_state(&record.id, None).await?;
        }
        let mut after = record.clone();
        // The step gives the error.
        let following = after.changed(&step.input, step.seen.as_ref(), step.now);
        step.made = match following {
            Ok(Following::Making) => {
                // The semaphore is never closed.
                let _turn = self.turn.acquire().await;
                let made = self.workshop.make(at, &after).await?;
                Some(MadeStep::Registry(Box::new(made)))
            }
            Ok(Following::Entry) => {
                let entry = self.workshop.entry(at, &after, after.next_entry());
                let entry = entry.await?;
                Some(MadeStep::Entry(entry))
            }
            Ok(Following::Nothing | Following::Soon | Following::Later | Following::Publishing)
            | Err(_) => None,
        };
        Ok(())
    }

    fn step(
        &self,
        record: &mut RegistryRecord,
        step: &RegistryStep,
        round: &Round<'_>,
    ) -> Result<Step<Next<()>>> {
        let before = record.stage.clone();
        let unwritten_since = record.unwritten_since;
        let was_again = matches!(step.input, RegistryInput::Change(RegistryChange::Again));
        let following = record.changed(&step.input, step.seen.as_ref(), step.now)?;
        let next = match (following, &step.made) {
            (Following::Making, Some(MadeStep::Registry(made))) => {
                self.send(record, made, round)?
            }
            (Following::Entry, Some(MadeStep::Entry(entry))) => self.write(record, entry, round)?,
            (Following::Publishing, _) => {
                let RegistryInput::Change(RegistryChange::Endorsed(endorsed)) = &step.input else {
                    return Err(Error::internal("an endorsed transaction is missing"));
                };
                let call = self.call(record, Call::registry(endorsed), 0)?;
                Next::written(round, ()).call(call)
            }
            (Following::Making | Following::Entry, _) => {
                return Err(Error::internal("a registry's step lacks what it needs"));
            }
            (Following::Soon | Following::Later, _) => {
                let after = match following {
                    Following::Soon => NEXT_SECONDS,
                    _ => ANEW_SECONDS,
                };
                let call = self.call(record, Call::Dialogue, after)?;
                Next::written(round, ()).call(call)
            }
            (Following::Nothing, _) if was_again && record.stage == RegistryStage::Preparing => {
                let call = self.call(record, Call::Dialogue, 0)?;
                Next::written(round, ()).call(call)
            }
            (Following::Nothing, _) => Next::written(round, ()),
        };
        let next = match &step.input {
            RegistryInput::Heard(CallAnswer::Accepted(receipt)) => {
                tracing::info!(registry = record.id, seq_no = receipt.seq_no, "published");
                if let Some(since) = unwritten_since {
                    let waited = step.now.seconds_since(since) as f64;
                    metrics::histogram!("selfsame_revocation_seconds").record(waited);
                }
                next.tell(EventKind::Anchored, receipt.seq_no.to_string())
            }
            _ => next,
        };
        match record.stage != before && self.hears(round.at.tenant) {
            true => noticed(record, next, round).map(Step::Done),
            false => Ok(Step::Done(next)),
        }
    }
}

/// With the notice of a registry's state.
fn noticed(record: &RegistryRecord, next: Next<()>, round: &Round<'_>) -> Result<Next<()>> {
    let random = hex_encode(&round.ctx.random::<16>("anoncreds/notice"));
    let id = format!("{}.{random}", record.record_id());
    let told = Told::new(TOPIC, &RegistryView::of(record).record());
    let next = next.put(told.put(&id, round.ctx.now())?);
    Ok(next.tell(EventKind::AgentNotice, id))
}

#[async_trait]
impl Calling for Registries {
    fn given_up(
        &self,
        record: Option<&mut RegistryRecord>,
        error: Option<&Error>,
        round: &Round<'_>,
    ) -> Result<Next<()>> {
        let (Some(record), Some(error)) = (record, error) else {
            return Ok(Next::unchanged(round, ()));
        };
        match round.entry.map(|entry| &entry.call) {
            // The ledger may have accepted it, so the same transaction is sent again.
            Some(Call::Registry(transaction)) => {
                let call = Call::Registry(transaction.clone());
                let call = self.call(record, call, GIVEN_UP_SECONDS)?;
                Ok(Next::unchanged(round, ()).call(call))
            }
            _ if record.stage == RegistryStage::Preparing => {
                record.stage = RegistryStage::Failed(error.reason.clone());
                Ok(Next::written(round, ()))
            }
            _ => {
                let call = self.call(record, Call::Dialogue, GIVEN_UP_SECONDS)?;
                Ok(Next::unchanged(round, ()).call(call))
            }
        }
    }

    /// What the call is for is made before its step, which stores it.
    async fn converse(&self, _: At<'_>) -> Result<CallAnswer> {
        Ok(CallAnswer::Finished)
    }
}
