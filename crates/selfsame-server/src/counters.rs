//! Counts events since the server started, for the start page: numbers only.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use selfsame_core::events::{Event, EventKind};
use serde::Serialize;
use tokio::sync::broadcast::{self, error::RecvError};

/// The counters.
#[derive(Clone, Default)]
pub struct Tallies(Arc<Counters>);

#[derive(Default)]
struct Counters {
    issued: AtomicU64,
    received: AtomicU64,
    presented: AtomicU64,
    status_changed: AtomicU64,
    anchored: AtomicU64,
}

/// The counters at one moment.
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

impl Tallies {
    /// Counts events until their source ends.
    pub async fn follow(self, mut events: broadcast::Receiver<Event>) {
        loop {
            match events.recv().await {
                Ok(event) => self.count(event.kind),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    }

    /// The counters now.
    pub fn now(&self) -> Tally {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Tally {
            issued: read(&self.0.issued),
            received: read(&self.0.received),
            presented: read(&self.0.presented),
            status_changed: read(&self.0.status_changed),
            anchored: read(&self.0.anchored),
        }
    }

    fn count(&self, kind: EventKind) {
        let counter = match kind {
            EventKind::Issued => &self.0.issued,
            EventKind::Received => &self.0.received,
            EventKind::Presented => &self.0.presented,
            EventKind::StatusChanged => &self.0.status_changed,
            EventKind::Anchored => &self.0.anchored,
            EventKind::Offered | EventKind::Verification => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}
