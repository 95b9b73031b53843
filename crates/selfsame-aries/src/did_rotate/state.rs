//! The record of a rotation, and the table of states.

use serde::{Deserialize, Serialize};

use crate::advance::Move::{self, Receives, Sends};
use crate::dialogue::Dialogue;

/// A rotation. A hangup is one to no DID.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct RotationRecord {
    /// Its state.
    pub state: RotateState,
    /// Who this agent is.
    pub role: RotateRole,
    /// Its thread.
    pub dialogue: Dialogue,
    /// The connection.
    pub connection_id: Option<String>,
    /// The new DID; `None` after a hangup.
    pub to_did: Option<String>,
}

/// Who an agent is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RotateRole {
    /// It changes its DID.
    Rotating,
    /// It is told so.
    Observing,
}

/// Where a rotation stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum RotateState {
    /// The other side was told. Until it acknowledges, messages come to both DIDs.
    #[serde(rename = "rotate-sent/1")]
    Sent,
    /// We were told, and resolve the new DID.
    #[serde(rename = "rotate-received/1")]
    Received,
    /// The new DID is in use, or the connection is over.
    #[serde(rename = "done/1")]
    Done,
    /// The old DID stays.
    #[serde(rename = "abandoned/1")]
    Abandoned,
}

/// What moves a rotation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RotateKind {
    /// `rotate`.
    Rotate,
    /// `hangup`.
    Hangup,
    /// `ack`.
    Ack,
    /// `problem-report`.
    Report,
}

impl RotateState {
    /// The state's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sent => "rotate-sent",
            Self::Received => "rotate-received",
            Self::Done => "done",
            Self::Abandoned => "abandoned",
        }
    }
}

/// The table of states (RFC 0794, "Messages").
pub fn next(
    role: RotateRole,
    from: Option<RotateState>,
    moved: Move<RotateKind>,
) -> Option<RotateState> {
    use RotateKind::{Ack, Hangup, Report, Rotate};
    use RotateRole::{Observing, Rotating};
    use RotateState as S;
    Some(match (role, from, moved) {
        (Rotating, None, Sends(Rotate)) => S::Sent,
        (Rotating, None, Sends(Hangup)) | (Observing, None, Receives(Hangup)) => S::Done,
        (Rotating, Some(S::Sent), Receives(Ack)) => S::Done,
        (Rotating, Some(S::Sent), Receives(Report)) => S::Abandoned,
        (Observing, None, Receives(Rotate)) => S::Received,
        (Observing, Some(S::Received), Sends(Ack)) => S::Done,
        (Observing, Some(S::Received), Sends(Report)) => S::Abandoned,
        _ => return None,
    })
}
