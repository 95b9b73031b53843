//! Counts of the events that this process told since it started, for the start page: numbers only.

use selfsame_core::events::{EventKind, Events};
use serde::Serialize;

/// The counts at one moment.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Tally {
    /// Credentials issued.
    pub issued: u64,
    /// Credentials received by wallets here.
    pub received: u64,
    /// Presentations made by wallets here.
    pub presented: u64,
    /// Credentials suspended, reinstated or revoked.
    pub status_changed: u64,
    /// Transactions in the registry.
    pub anchored: u64,
}

impl Tally {
    /// The counts now.
    pub fn of(events: &Events) -> Self {
        Self {
            issued: events.count(EventKind::Issued),
            received: events.count(EventKind::Received),
            presented: events.count(EventKind::Presented),
            status_changed: events.count(EventKind::StatusChanged),
            anchored: events.count(EventKind::Anchored),
        }
    }
}
