//! What issuing a credential and presenting a proof have in common: two roles take turns, each message has attachments
//! of some formats, and an acknowledgement or a problem report ends it. One record and one step for both protocols in
//! both of their versions; a protocol is a table of states, and a table of its messages.

mod body;
mod payload;
mod record;
mod step;

pub(crate) use body::PreviewBody;
pub use body::{MessageEntry, MessageForm, Versioned};
pub use payload::{Formatted, Payload, Preview, PreviewAttribute};
pub use record::{Course, Exchange, Utterance};
pub use step::{ExchangeInput, step};
pub(crate) use step::{advance, receive};

use crate::notification::{Ack, ProblemReport};
use crate::wire::{self, Unreadable, Vocabulary};
use selfsame_didcomm::Message;
use selfsame_didcomm::message::Semver;

/// A message of an exchange.
#[derive(Clone, Debug, PartialEq)]
pub struct Speech<C: Course> {
    /// Which message of the protocol it is.
    pub kind: C::Kind,
    /// What it says.
    pub content: Spoken,
}

/// What a message of an exchange says.
#[derive(Clone, Debug, PartialEq)]
pub enum Spoken {
    /// Something with attachments.
    Payload(Box<Payload>),
    /// An acknowledgement.
    Ack(Ack),
    /// A problem report.
    Report(ProblemReport),
}

impl<C: Course> Speech<C> {
    /// A message with attachments.
    pub fn of(kind: C::Kind, payload: Payload) -> Self {
        let content = Spoken::Payload(Box::new(payload));
        Self { kind, content }
    }

    /// The acknowledgement.
    pub fn ack() -> Self {
        let content = Spoken::Ack(Ack::OK);
        let kind = C::ACK;
        Self { kind, content }
    }

    /// A problem report.
    pub fn report(report: ProblemReport) -> Self {
        let content = Spoken::Report(report);
        let kind = C::REPORT;
        Self { kind, content }
    }
}

impl<C: Course> Vocabulary for Speech<C> {
    const PROTOCOL: &'static str = C::PROTOCOL;
    const VERSIONS: &'static [Semver] = C::VERSIONS;

    fn read(message: &Message) -> Result<Self, Unreadable> {
        if message.kind.name == "ack" {
            let content = Spoken::Ack(Ack::read(message)?);
            let kind = C::ACK;
            return Ok(Self { kind, content });
        }
        if wire::is_report(&message.kind) {
            return Ok(Self::report(ProblemReport::read(message)));
        }
        let mut entries = C::MESSAGES.iter();
        let entry = entries.find(|entry| entry.name == message.kind.name);
        let entry = entry.ok_or(Unreadable::Name)?;
        Ok(Self::of(entry.kind, body::read(message, &entry.form)?))
    }

    fn name(&self) -> &'static str {
        let mut entries = C::MESSAGES.iter();
        match self.content {
            Spoken::Ack(_) => "ack",
            Spoken::Report(_) => "problem-report",
            Spoken::Payload(_) => {
                let entry = entries.find(|entry| entry.kind == self.kind);
                entry.map_or("", |entry| entry.name)
            }
        }
    }

    fn write(&self, message: &mut Message) {
        match &self.content {
            Spoken::Ack(ack) => ack.write(message),
            Spoken::Report(report) => report.write(message),
            Spoken::Payload(payload) => {
                let mut entries = C::MESSAGES.iter();
                if let Some(entry) = entries.find(|entry| entry.kind == self.kind) {
                    body::write(message, payload, &entry.form);
                }
            }
        }
    }
}
