//! Events: what happened, told in the commit of the change and read by cursor.
//!
//! The store keeps them. A commit of this process wakes its readers at once; each second one of them looks for events
//! of other processes. All readers share one tail, so that a new event is read from the store once.

mod tail;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::Result;
use selfsame_store::{Batch, Committed, Store, StoreError};
use selfsame_traces::{ToldTraces, TraceContext};
use serde::Serialize;
use tokio::sync::{Mutex, watch};
use tokio::time::timeout;

use tail::{EventTail, ReadEvent};

/// How often a reader looks for events of other processes.
const LOOKED_EVERY: Duration = Duration::from_secs(1);

/// Something that happened; holds no personal data.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Event {
    /// The kind of event.
    pub kind: EventKind,
    /// The id of the record concerned, in the role that owns it.
    pub id: String,
}

impl Event {
    /// An event of this kind about a record.
    pub fn new(kind: EventKind, id: impl Into<String>) -> Self {
        Self {
            kind,
            id: id.into(),
        }
    }

    /// Adds the event to a batch, under the batch's tenant.
    pub fn told_in(&self, batch: Batch) -> Batch {
        batch.event(self.kind.into(), &self.id)
    }
}

/// The kinds of events.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(into = "&'static str")]
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
    /// An Aries agent has something to tell its controllers; `id` is the notice's.
    AgentNotice,
    /// An envelope waits for a peer of an Aries agent; `id` is the mailbox's.
    EnvelopeQueued,
    /// A wallet said that it keeps a credential.
    WalletAccepted,
    /// A wallet said that the person did not want a credential.
    WalletDeleted,
    /// A wallet said that it could not keep a credential.
    WalletFailed,
    /// A wallet asked for a credential that needs an approval.
    ApprovalNeeded,
    /// A request for a credential was approved.
    ApprovalGiven,
    /// A request for a credential was refused.
    ApprovalRefused,
}

impl EventKind {
    /// All kinds, in the order of the enum.
    pub const ALL: [Self; 15] = [
        Self::Offered,
        Self::Issued,
        Self::StatusChanged,
        Self::Received,
        Self::Presented,
        Self::Verification,
        Self::Anchored,
        Self::AgentNotice,
        Self::EnvelopeQueued,
        Self::WalletAccepted,
        Self::WalletDeleted,
        Self::WalletFailed,
        Self::ApprovalNeeded,
        Self::ApprovalGiven,
        Self::ApprovalRefused,
    ];

    /// The kind of this name; `None` for one that only a newer release knows.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let is_named = |kind: &Self| <&str>::from(*kind) == name;
        Self::ALL.into_iter().find(is_named)
    }
}

/// The name of a kind, as it is stored and sent.
impl From<EventKind> for &'static str {
    fn from(kind: EventKind) -> Self {
        match kind {
            EventKind::Offered => "offered",
            EventKind::Issued => "issued",
            EventKind::StatusChanged => "status_changed",
            EventKind::Received => "received",
            EventKind::Presented => "presented",
            EventKind::Verification => "verification",
            EventKind::Anchored => "anchored",
            EventKind::AgentNotice => "agent_notice",
            EventKind::EnvelopeQueued => "envelope_queued",
            EventKind::WalletAccepted => "wallet_accepted",
            EventKind::WalletDeleted => "wallet_deleted",
            EventKind::WalletFailed => "wallet_failed",
            EventKind::ApprovalNeeded => "approval_needed",
            EventKind::ApprovalGiven => "approval_given",
            EventKind::ApprovalRefused => "approval_refused",
        }
    }
}

/// The events of an instance. Clones are the same.
#[derive(Clone)]
pub struct Events(Arc<EventLog>);

struct EventLog {
    store: Store,
    /// How many events of each kind this process told.
    told: [AtomicU64; EventKind::ALL.len()],
    /// Counts the times that something was there to be read: a commit of this process, or what one reader found.
    woken: watch::Sender<u64>,
    tail: Mutex<EventTail>,
    traces: ToldTraces,
}

impl Events {
    /// The events in this store.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self(Arc::new(EventLog {
            store,
            told: Default::default(),
            woken: watch::Sender::new(0),
            tail: Mutex::default(),
            traces: ToldTraces::default(),
        }))
    }

    /// Commits a batch with the event it tells.
    ///
    /// # Errors
    /// The store's; then nothing is told.
    pub async fn commit(
        &self,
        batch: Batch,
        event: Event,
    ) -> std::result::Result<Committed, StoreError> {
        self.commit_all(batch, &[event]).await
    }

    /// Commits a batch with the events it tells.
    ///
    /// # Errors
    /// The store's; then nothing is told.
    pub async fn commit_all(
        &self,
        batch: Batch,
        events: &[Event],
    ) -> std::result::Result<Committed, StoreError> {
        let told = events
            .iter()
            .fold(batch, |batch, event| event.told_in(batch));
        let committed = self.0.store.commit(told).await?;
        self.told(events);
        Ok(committed)
    }

    /// Counts events that were just committed, and wakes the readers.
    pub fn told(&self, events: &[Event]) {
        for event in events {
            if let Some(count) = self.0.told.get(event.kind as usize) {
                count.fetch_add(1, Ordering::Relaxed);
            }
            self.0.traces.keep(event.kind.into(), &event.id);
        }
        if !events.is_empty() {
            self.wake();
        }
    }

    /// The span in which this process told an event, if it is recorded; once.
    pub fn take_trace(&self, kind: &str, id: &str) -> Option<TraceContext> {
        self.0.traces.take(kind, id)
    }

    /// Has the readers look for new events.
    pub fn wake(&self) {
        let count = |times: &mut u64| *times = times.wrapping_add(1);
        self.0.woken.send_modify(count);
    }

    /// How many events of this kind this process has told since it started.
    #[must_use]
    pub fn count(&self, kind: EventKind) -> u64 {
        let count = self.0.told.get(kind as usize);
        count.map_or(0, |count| count.load(Ordering::Relaxed))
    }

    /// Wakes at each commit of this process that tells an event. For readers that keep their own cursor.
    #[must_use]
    pub fn wakings(&self) -> watch::Receiver<u64> {
        self.0.woken.subscribe()
    }

    /// A reader of all events from now on.
    ///
    /// # Errors
    /// The store's.
    pub async fn reader(&self) -> Result<EventReader> {
        let newest = self.0.store.newest_event().await?;
        Ok(self.reader_after(newest))
    }

    /// A reader of the events after this cursor; `None` if it is unknown, or many events behind.
    ///
    /// # Errors
    /// The store's.
    pub async fn resume(&self, cursor: &str) -> Result<Option<EventReader>> {
        let behind = tail::read_after(&self.0.store, Some(cursor)).await?;
        let few = behind.filter(|behind| behind.len() < tail::PAGE);
        Ok(few.map(|few| EventReader {
            ahead: few.into(),
            ..self.reader_after(Some(cursor.to_owned()))
        }))
    }

    fn reader_after(&self, cursor: Option<String>) -> EventReader {
        EventReader {
            events: self.clone(),
            cursor,
            ahead: VecDeque::new(),
            woken: self.0.woken.subscribe(),
        }
    }

    /// The oldest events after a cursor; `None` if it is unknown. Looks into the store if the readers were woken since
    /// the last look, or if that is a second ago. What is found then is another process's, and the other readers are
    /// woken for it: however many readers there are, one of them looks.
    async fn after(
        &self,
        cursor: Option<&str>,
    ) -> std::result::Result<Option<Vec<ReadEvent>>, StoreError> {
        let mut tail = self.0.tail.lock().await;
        let woken = *self.0.woken.borrow();
        let is_woken = tail.woken != woken;
        if is_woken || tail.age() >= LOOKED_EVERY {
            let found = tail.read_on(&self.0.store).await?;
            tail.woken = woken;
            if found && !is_woken {
                self.wake();
            }
        }
        if let Some(read) = tail.after(cursor) {
            return Ok(Some(read));
        }
        drop(tail);
        tail::read_after(&self.0.store, cursor).await
    }
}

/// Reads events one after the other.
pub struct EventReader {
    events: Events,
    cursor: Option<String>,
    /// Events read and not yet given.
    ahead: VecDeque<ReadEvent>,
    woken: watch::Receiver<u64>,
}

impl EventReader {
    /// The cursor of the last event given, or of where the reader began; `None` before the first event of all.
    #[must_use]
    pub fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    /// Waits for the next event. `None` if some were removed before this reader came to them; it then continues with
    /// what happens from now on. If the wait is cancelled, no event is lost.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            while let Some(read) = self.ahead.pop_front() {
                self.cursor = Some(read.cursor);
                if read.event.is_some() {
                    return read.event;
                }
            }
            self.woken.borrow_and_update();
            match self.read().await {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => tracing::warn!(%error, "events can't be read"),
            }
            if self.ahead.is_empty() {
                // The sender lives as long as `events`, so this waits.
                drop(timeout(LOOKED_EVERY, self.woken.changed()).await);
            }
        }
    }

    /// Reads on; false if events were missed.
    async fn read(&mut self) -> std::result::Result<bool, StoreError> {
        if let Some(read) = self.events.after(self.cursor()).await? {
            self.ahead.extend(read);
            return Ok(true);
        }
        self.cursor = self.events.0.store.newest_event().await?;
        Ok(false)
    }
}

#[cfg(test)]
mod tests;
