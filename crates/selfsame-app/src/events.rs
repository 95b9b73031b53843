//! What happens in this process, for pages that show it live.

use serde::Serialize;
use tokio::sync::broadcast;

/// Something that happened; holds nothing personal.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// The id of what it happened to, in the records of the role that owns it.
    pub id: String,
}

/// What can happen.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// An offer was made.
    Offered,
    /// A credential was issued.
    Issued,
    /// A credential's status changed.
    StatusChanged,
    /// A wallet took a credential.
    Received,
    /// A wallet answered a verifier.
    Presented,
    /// A verifier's request changed its state.
    Verification,
    /// The registry took a transaction.
    Anchored,
}

/// The channel of events; slow readers lose the oldest.
#[derive(Debug)]
pub struct Events {
    sender: broadcast::Sender<Event>,
}

impl Default for Events {
    fn default() -> Self {
        Self {
            sender: broadcast::channel(256).0,
        }
    }
}

impl Events {
    /// Tells all who listen.
    pub fn tell(&self, kind: EventKind, id: impl Into<String>) {
        // Nobody listening is no error.
        let _ = self.sender.send(Event {
            kind,
            id: id.into(),
        });
    }

    /// Listens from now on.
    #[must_use]
    pub fn listen(&self) -> broadcast::Receiver<Event> {
        self.sender.subscribe()
    }
}
