//! Events in this process, for pages that show them live.

use serde::Serialize;
use tokio::sync::broadcast;

/// Something that happened; holds no personal data.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    /// The kind of event.
    pub kind: EventKind,
    /// The id of the record concerned, in the role that owns it.
    pub id: String,
}

/// The kinds of events.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// An offer was created.
    Offered,
    /// A credential was issued.
    Issued,
    /// A credential's status changed.
    StatusChanged,
    /// A wallet received a credential.
    Received,
    /// A wallet answered a verifier's request.
    Presented,
    /// The state of a verifier's request changed.
    Verification,
    /// The registry accepted a transaction.
    Anchored,
}

/// The channel of events; slow readers miss the oldest.
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
    /// Sends an event to all listeners.
    pub fn tell(&self, kind: EventKind, id: impl Into<String>) {
        // Having no listener is not an error.
        let _ = self.sender.send(Event {
            kind,
            id: id.into(),
        });
    }

    /// A receiver of all events from now on.
    #[must_use]
    pub fn listen(&self) -> broadcast::Receiver<Event> {
        self.sender.subscribe()
    }
}
