//! The record of a ping.

use serde::{Deserialize, Serialize};

use crate::dialogue::Dialogue;

/// A ping, sent or received.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PingRecord {
    /// Its state.
    pub state: PingState,
    /// Its thread.
    pub dialogue: Dialogue,
}

/// The state of a ping.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum PingState {
    /// We asked, and wait for the answer.
    #[serde(rename = "sent/1")]
    Sent,
    /// There is nothing to wait for: the answer was sent or received, or is not wanted.
    #[serde(rename = "completed/1")]
    Completed,
}
