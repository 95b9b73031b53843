//! The messages of trust ping.

use selfsame_didcomm::Message;
use selfsame_didcomm::message::Semver;
use serde::{Deserialize, Serialize};

use crate::wire::{self, Unreadable, Vocabulary};

/// A message of trust ping.
#[derive(Clone, Debug, PartialEq)]
pub enum TrustPingMessage {
    /// `ping`.
    Ping(Ping),
    /// `ping_response`.
    Response(PingResponse),
}

/// The question.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Ping {
    /// A word for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Whether an answer is wanted. If it is not, there must be none (RFC 0048, "Messages").
    #[serde(default = "yes")]
    pub response_requested: bool,
}

/// The answer.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct PingResponse {
    /// A word for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

const fn yes() -> bool {
    true
}

impl Default for Ping {
    fn default() -> Self {
        Self {
            comment: None,
            response_requested: true,
        }
    }
}

impl Vocabulary for TrustPingMessage {
    const PROTOCOL: &'static str = "trust_ping";
    const VERSIONS: &'static [Semver] = &[Semver::new(1, 0)];
    const ADOPTS: bool = false;

    fn read(message: &Message) -> Result<Self, Unreadable> {
        match message.kind.name.as_str() {
            "ping" => wire::body(message).map(Self::Ping),
            // Some agents write it with a hyphen.
            "ping_response" | "ping-response" => wire::body(message).map(Self::Response),
            _ => Err(Unreadable::Name),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Ping(_) => "ping",
            Self::Response(_) => "ping_response",
        }
    }

    fn write(&self, message: &mut Message) {
        match self {
            Self::Ping(ping) => wire::put_body(message, ping),
            Self::Response(response) => wire::put_body(message, response),
        }
    }
}
