//! What a protocol gives the machine that drives its records.

use async_trait::async_trait;
use selfsame_aries::advance::{Outgoing, Problem};
use selfsame_core::machine::At;
use selfsame_credential::evidence::Step;
use selfsame_driver::Result;
use selfsame_store::Tag;
use serde::{Serialize, de::DeserializeOwned};

use super::{AgentTurn, Parcel, Taken};
use crate::notice::Untold;
use crate::parts::AgentParts;

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
