//! What the machines of all protocols have in common: a record, an input, and pure steps. A record that takes inputs of
//! several kinds has a machine for each of them.
//!
//! A step gives the next record, further records, calls, a reply and events. The driver loads the record, gathers what
//! the step needs, commits everything at once, with the events, and makes the calls. An outbox entry names the machine
//! and the record that get the answer to its call.

mod call;
mod drive;
mod flow;
mod outbox;
mod possession;

use async_trait::async_trait;
use selfsame_credential::evidence::{Evidence, Step};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::RecordCache;
use selfsame_driver::{Error, Reason, Result};
use selfsame_store::{Batch, NewOutbox, Put, Tag, TenantId};
use serde::{Serialize, de::DeserializeOwned};
use url::Url;

use crate::gather::Freshness;
use selfsame_driver::record::events::{Event, EventKind};

pub use call::{
    Arrived, Call, CallAnswer, CallAttestation, CallEntry, CallProof, HTTP, HttpBody, HttpCall,
};
pub use drive::TriedCall;
pub use flow::{FlowOrigin, FlowResult, FlowStage};

/// A machine of a protocol.
#[async_trait]
pub trait Machine: Send + Sync {
    /// The kind of its records; also its name in outbox entries.
    const KIND: &'static str;
    /// Its record.
    type Record: DeserializeOwned + Serialize + Send + Sync;
    /// What it can be given.
    type Input: Send + Sync;
    /// What the giver of an input gets.
    type Reply: Send;

    /// Its records written last.
    fn records(&self) -> &RecordCache<Self::Record>;

    /// Takes a step. While the step still needs something, it leaves the record as it is.
    ///
    /// # Errors
    /// If the input does not fit the record's state; then nothing is written.
    fn step(
        &self,
        record: &mut Self::Record,
        input: &Self::Input,
        round: &Round<'_>,
    ) -> Result<Step<Next<Self::Reply>>>;

    /// The tags by which a record is found, if they depend on its state; `None` if it keeps those that it was begun with.
    fn tags(&self, _record: &Self::Record) -> Option<Vec<Tag>> {
        None
    }

    /// When a record with tags of its own expires; `None` for never.
    fn expires(&self, _record: &Self::Record) -> Option<UnixTime> {
        None
    }

    /// How fresh the status lists must be for a step.
    fn freshness(&self, _record: &Self::Record, _input: &Self::Input) -> Freshness {
        Freshness { max_status_age: 0 }
    }

    /// The state that its flow is in, for traces and figures; `None` for a record that is no flow.
    fn flow(&self, _record: &Self::Record) -> Option<FlowStage> {
        None
    }

    /// How its flow ended, for figures; `None` while it goes on, and for a record that is no flow.
    fn result(&self, _record: &Self::Record) -> Option<FlowResult> {
        None
    }

    /// Adds to the input what a step needs of this machine alone. Called again after a lost race, with the same input.
    ///
    /// # Errors
    /// If it can't be had; then no step is taken.
    async fn prepare(
        &self,
        _at: At<'_>,
        _record: &Self::Record,
        _input: &mut Self::Input,
    ) -> Result<()> {
        Ok(())
    }

    /// Adds what depends on the step's result and is not pure.
    ///
    /// # Errors
    /// If it can't be had; then nothing is written.
    async fn complete(
        &self,
        _at: At<'_>,
        _record: &mut Self::Record,
        next: Next<Self::Reply>,
    ) -> Result<Next<Self::Reply>> {
        Ok(next)
    }

    /// The reply to an input for a record that does not exist.
    ///
    /// # Errors
    /// The refusal of that input.
    fn absent(&self, _input: &Self::Input) -> Result<Self::Reply> {
        Err(Error::not_found("record-absent"))
    }

    /// The refusal if another record of this kind was not as the step expected; `None` if that is a lost race, after
    /// which the step is taken again.
    fn conflict(&self, _kind: &str) -> Option<Error> {
        None
    }
}

/// A machine that calls others.
#[async_trait]
pub trait Calling: Machine<Input: From<CallAnswer>> + 'static {
    /// Whether the record's time is over: its call is not made any more.
    fn is_late(&self, _record: &Self::Record, _now: UnixTime) -> bool {
        false
    }

    /// An answer that an earlier step put aside. It leaves the record.
    fn kept_answer(&self, _record: &mut Self::Record) -> Option<CallAnswer> {
        None
    }

    /// The step of a record whose call is given up; with no record, or with no error, because it came too late.
    ///
    /// # Errors
    /// If a record can't be encoded.
    fn given_up(
        &self,
        record: Option<&mut Self::Record>,
        error: Option<&Error>,
        round: &Round<'_>,
    ) -> Result<Next<Self::Reply>>;

    /// Carries out a call that is a dialogue of several requests, which the machine notes in its record.
    ///
    /// # Errors
    /// If the dialogue must go on later.
    async fn converse(&self, _at: At<'_>) -> Result<CallAnswer> {
        Err(Error::internal("this machine makes single calls"))
    }
}

/// The place of a machine's record.
#[derive(Clone, Copy)]
pub struct At<'a> {
    /// The tenant that holds it.
    pub tenant: &'a TenantId,
    /// Its id.
    pub id: &'a str,
}

/// What a step is given besides record and input. It is the same in all rounds but for the evidence.
pub struct Round<'a> {
    /// What was gathered so far.
    pub evidence: &'a Evidence,
    /// The time and randomness of the request.
    pub ctx: &'a Ctx,
    /// The place of the record.
    pub at: At<'a>,
    /// The outbox entry whose call was answered.
    pub entry: Option<&'a CallEntry>,
    /// How often that entry had been put off.
    pub attempts: u32,
}

impl Round<'_> {
    /// The URL whose answer the step is given.
    pub fn url(&self) -> Option<&Url> {
        self.entry.and_then(|entry| entry.call.url())
    }
}

/// What a step gives.
pub struct Next<R> {
    /// What becomes of the machine's record.
    pub record: Fate,
    /// Writes of further records.
    pub batch: Batch,
    /// What becomes of the outbox entry whose call was answered.
    pub entry: Settlement,
    /// Whether the commit may wait for the next one to reach the disk.
    pub deferred: bool,
    /// Whether its calls wait for their time, or belong to another machine: nobody who waits for this step makes them.
    pub leaves_calls: bool,
    /// What the giver of the input gets.
    pub reply: R,
    /// What happened; told in the commit.
    pub events: Vec<Event>,
}

/// What becomes of a machine's record.
#[derive(Clone, Copy, Eq, PartialEq)]
pub enum Fate {
    /// It stays as it is.
    Kept,
    /// It is written as the step left it.
    Written,
    /// It is deleted.
    Deleted,
}

/// What becomes of an outbox entry.
pub enum Settlement {
    /// It is done.
    Settled,
    /// It is carried out again after this number of seconds.
    Later(u64),
    /// It is kept for the operator to see, with the reason.
    Buried(Reason),
}

impl<R> Next<R> {
    /// A step that writes its record.
    pub fn written(round: &Round<'_>, reply: R) -> Self {
        Self {
            record: Fate::Written,
            ..Self::unchanged(round, reply)
        }
    }

    /// A step that ends its record.
    pub fn deleted(round: &Round<'_>, reply: R) -> Self {
        Self {
            record: Fate::Deleted,
            ..Self::unchanged(round, reply)
        }
    }

    /// A step that leaves its record as it is.
    pub fn unchanged(round: &Round<'_>, reply: R) -> Self {
        Self {
            record: Fate::Kept,
            batch: Batch::new(round.at.tenant.clone()),
            entry: Settlement::Settled,
            deferred: false,
            leaves_calls: false,
            reply,
            events: Vec::new(),
        }
    }

    /// With a further record.
    pub fn put(mut self, put: Put) -> Self {
        self.batch = self.batch.put(put);
        self
    }

    /// With a call.
    pub fn call(mut self, call: NewOutbox) -> Self {
        self.batch = self.batch.enqueue(call);
        self
    }

    /// With an event.
    pub fn tell(mut self, kind: EventKind, id: impl Into<String>) -> Self {
        self.events.push(Event::new(kind, id));
        self
    }

    /// With calls that the outbox makes in their time.
    pub fn leaving_calls(mut self) -> Self {
        self.leaves_calls = true;
        self
    }

    /// Without haste to reach the disk.
    pub fn deferred(mut self) -> Self {
        self.deferred = true;
        self
    }
}

#[cfg(test)]
mod tests;
