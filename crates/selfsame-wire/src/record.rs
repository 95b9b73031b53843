//! A recorded flow: its messages in their order, within bounds.

use selfsame_crypto::time::UnixTime;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::parties::{FlowKind, WireParty};

/// A message between two parties, without what is secret.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct RecordedMessage {
    /// What it is called.
    pub name: String,
    /// Who sent it.
    pub from: WireParty,
    /// Who got it.
    pub to: WireParty,
    /// The paragraph that it follows.
    pub by: String,
    /// The method and the pattern of the address; of an answer, the status.
    pub head: String,
    /// When it was sent, RFC 3339.
    pub at: String,
    /// How long an answer took, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// How long it was, in bytes, without headers.
    pub bytes: usize,
    /// What it says. Secrets are digests, claims are lengths.
    #[schema(value_type = Object)]
    pub content: Value,
}

/// A flow with its messages.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct RecordedFlow {
    /// Its identifier, which opens nothing.
    pub id: String,
    /// What it is about.
    pub kind: FlowKind,
    /// When it began, RFC 3339.
    pub began: String,
    /// Its messages in their order.
    pub messages: Vec<RecordedMessage>,
    /// How many further messages were left out, because the flow has as many as are kept.
    #[serde(default)]
    pub left_out: usize,
}

/// A flow in a list.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct RecordedSummary {
    /// Its identifier.
    pub id: String,
    /// What it is about.
    pub kind: FlowKind,
    /// When it began, RFC 3339.
    pub began: String,
    /// What its last message is called.
    pub last: String,
    /// How many messages it has.
    pub messages: usize,
}

/// Whether flows are recorded.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct WireSwitch {
    /// Whether they are.
    pub is_on: bool,
    /// Until when, RFC 3339; absent if they are not recorded.
    #[serde(default)]
    pub until: Option<String>,
}

impl RecordedFlow {
    /// A flow without messages.
    pub(crate) fn new(id: String, kind: FlowKind, began: UnixTime) -> Self {
        Self {
            id,
            kind,
            began: began.rfc3339(),
            messages: Vec::new(),
            left_out: 0,
        }
    }

    /// The flow in a list.
    pub(crate) fn summary(&self) -> RecordedSummary {
        let last = self.messages.last().map(|last| last.name.clone());
        RecordedSummary {
            id: self.id.clone(),
            kind: self.kind,
            began: self.began.clone(),
            last: last.unwrap_or_default(),
            messages: self.messages.len(),
        }
    }
}
