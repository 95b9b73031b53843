//! The record of an invitation.

use serde::{Deserialize, Serialize};

use crate::advance::Move::{self, Receives, Sends};
use crate::dialogue::Dialogue;

/// An invitation, made or received.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct OobRecord {
    /// Its state.
    pub state: OobState,
    /// Who this agent is.
    pub role: OobRole,
    /// The thread of the invitation, whose identifier is that of the invitation.
    pub dialogue: Dialogue,
    /// The plaintext of the invitation.
    pub invitation: String,
    /// Whether any number of receivers may use it.
    pub multi_use: bool,
    /// The connection that was made or used again.
    pub connection_id: Option<String>,
    /// The thread of the attached request that is answered.
    pub attach_thread_id: Option<String>,
    /// The identifier of the message that asks to use a connection again.
    pub reuse_msg_id: Option<String>,
}

/// Who an agent is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OobRole {
    /// It invites.
    Sender,
    /// It was invited.
    Receiver,
}

/// Where an invitation stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum OobState {
    /// The sender waits for an answer, or the receiver for the acceptance of its reuse.
    #[serde(rename = "await-response/1")]
    AwaitResponse,
    /// The receiver prepares its answer.
    #[serde(rename = "prepare-response/1")]
    PrepareResponse,
    /// The sender did not accept that a connection is used again; a new one can be made.
    #[serde(rename = "reuse-not-accepted/1")]
    ReuseNotAccepted,
    /// The sender accepted it.
    #[serde(rename = "reuse-accepted/1")]
    ReuseAccepted,
    /// The invitation led to something else, which goes on by itself.
    #[serde(rename = "done/1")]
    Done,
}

/// What moves an invitation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OobKind {
    /// The invitation.
    Invitation,
    /// `handshake-reuse`.
    Reuse,
    /// `handshake-reuse-accepted`.
    ReuseAccepted,
    /// A message of another protocol, in a thread below the invitation.
    Answer,
    /// `problem_report`.
    Report,
}

impl OobState {
    /// Every state.
    pub const ALL: [Self; 5] = [
        Self::AwaitResponse,
        Self::PrepareResponse,
        Self::ReuseNotAccepted,
        Self::ReuseAccepted,
        Self::Done,
    ];

    /// The state's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AwaitResponse => "await-response",
            Self::PrepareResponse => "prepare-response",
            Self::ReuseNotAccepted => "reuse-not-accepted",
            Self::ReuseAccepted => "reuse-accepted",
            Self::Done => "done",
        }
    }
}

/// The table of states (RFC 0434, "States", "States Reference"), for an invitation that one may use. The sender of one
/// that many may use stays in `await-response`.
pub fn next(role: OobRole, from: Option<OobState>, moved: Move<OobKind>) -> Option<OobState> {
    use OobKind::{Answer, Invitation, Report, Reuse, ReuseAccepted};
    use OobRole::{Receiver, Sender};
    use OobState as S;
    Some(match (role, from, moved) {
        (Sender, None, Sends(Invitation)) => S::AwaitResponse,
        (Sender, Some(S::AwaitResponse), Receives(Answer | Reuse)) => S::Done,
        (Receiver, None, Receives(Invitation)) => S::PrepareResponse,
        (Receiver, Some(S::PrepareResponse), Sends(Reuse)) => S::AwaitResponse,
        (Receiver, Some(S::AwaitResponse), Receives(ReuseAccepted)) => S::ReuseAccepted,
        (Receiver, Some(S::AwaitResponse), Receives(Report)) => S::ReuseNotAccepted,
        (
            Receiver,
            Some(S::PrepareResponse | S::ReuseNotAccepted | S::ReuseAccepted),
            Sends(Answer),
        ) => S::Done,
        _ => return None,
    })
}
