//! What a step of a protocol gives, and what it comes to.

use selfsame_aries::advance::Problem;
use selfsame_aries::key::VerKey;
use selfsame_core::notice::Told;
use selfsame_didcomm::Message;
use selfsame_store::Batch;
use serde_json::Value;

use crate::destination::Destination;

/// What a step of a protocol gives.
pub struct Taken<E> {
    /// Messages to send, in order.
    pub send: Vec<Parcel>,
    /// A record that begins beside the one of the step.
    pub beside: Option<Beside<E>>,
    /// Further writes.
    pub batch: Option<Batch>,
    /// What controllers are told, in order.
    pub tell: Vec<Told>,
    /// The record after the step, for the giver of the input.
    pub shown: Option<Value>,
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
    /// Its identifier.
    pub id: String,
    /// The record.
    pub entry: E,
    /// What it sends.
    pub send: Vec<Parcel>,
    /// What controllers are told of it.
    pub tell: Vec<Told>,
}

impl<E> Taken<E> {
    /// A step that sends this.
    pub fn sending(send: Vec<Parcel>) -> Self {
        Self {
            send,
            beside: None,
            batch: None,
            tell: Vec::new(),
            shown: None,
            is_repeated: false,
        }
    }

    /// The answer to an input that had been taken before.
    pub fn repeated() -> Self {
        Self {
            is_repeated: true,
            ..Self::sending(Vec::new())
        }
    }

    /// With these writes.
    #[must_use]
    pub fn with(mut self, batch: Option<Batch>) -> Self {
        self.batch = batch;
        self
    }

    /// With what controllers are told.
    #[must_use]
    pub fn telling(mut self, tell: Vec<Told>) -> Self {
        self.tell = tell;
        self
    }
}

/// What the giver of an input gets.
pub struct StepOutcome {
    /// The refusal, if the peer is told of it.
    pub problem: Option<Problem>,
    /// The record after the step.
    pub shown: Option<Value>,
    /// What is sent, and the record that it belongs to.
    pub parcels: Vec<(String, Parcel)>,
    /// What was sent, in the order of its entries in the outbox.
    pub sent: Vec<SentMessage>,
}

/// A message in the outbox.
pub struct SentMessage {
    /// The record that sent it.
    pub record: String,
    /// The key of its recipient.
    pub peer: String,
}

impl StepOutcome {
    /// Nothing is sent or shown.
    pub fn nothing() -> Self {
        Self {
            problem: None,
            shown: None,
            parcels: Vec::new(),
            sent: Vec::new(),
        }
    }
}
