//! The messages.

use selfsame_didcomm::Message;
use selfsame_didcomm::message::Semver;
use serde::{Deserialize, Serialize};

use crate::notification::{Ack, ProblemReport};
use crate::wire::{self, Unreadable, Vocabulary};

/// A message of the protocol. The agent discards those that are not authenticated (RFC 0794, "Rotate").
#[derive(Clone, Debug, PartialEq)]
pub enum RotateMessage {
    /// `rotate`.
    Rotate {
        /// The new DID.
        to_did: String,
    },
    /// `hangup`.
    Hangup,
    /// `ack`.
    Ack(Ack),
    /// `problem-report`.
    Report(ProblemReport),
}

#[derive(Deserialize, Serialize)]
struct RotateBody {
    to_did: String,
}

impl Vocabulary for RotateMessage {
    const PROTOCOL: &'static str = "did-rotate";
    const VERSIONS: &'static [Semver] = &[Semver::new(1, 0)];

    fn read(message: &Message) -> Result<Self, Unreadable> {
        match message.kind.name.as_str() {
            "rotate" => {
                let RotateBody { to_did } = wire::body(message)?;
                Ok(Self::Rotate { to_did })
            }
            "hangup" => Ok(Self::Hangup),
            "ack" => Ack::read(message).map(Self::Ack),
            _ if wire::is_report(&message.kind) => Ok(Self::Report(ProblemReport::read(message))),
            _ => Err(Unreadable::Name),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Rotate { .. } => "rotate",
            Self::Hangup => "hangup",
            Self::Ack(_) => "ack",
            Self::Report(_) => "problem-report",
        }
    }

    fn write(&self, message: &mut Message) {
        match self {
            Self::Rotate { to_did } => {
                let to_did = to_did.clone();
                wire::put_body(message, &RotateBody { to_did });
            }
            Self::Hangup => {}
            Self::Ack(ack) => ack.write(message),
            Self::Report(report) => report.write(message),
        }
    }
}
