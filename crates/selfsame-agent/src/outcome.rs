//! What a step comes to.

use selfsame_aries::advance::Problem;
use selfsame_mediation::taken::Parcel;
use serde_json::Value;

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
    pub fn nothing() -> Self {
        Self {
            problem: None,
            shown: None,
            parcels: Vec::new(),
            sent: Vec::new(),
        }
    }
}
