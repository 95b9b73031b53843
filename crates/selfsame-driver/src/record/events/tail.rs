//! The newest events, read once for all readers of this process.

use std::collections::VecDeque;
use std::time::Duration;

use selfsame_store::backend::StoredEvent;
use selfsame_store::{Store, StoreError};
use tokio::time::Instant;

use super::{Event, EventKind};

/// The number of events read at once. With the event of the cursor this is still a short read of the store.
pub(super) const PAGE: usize = 49;
/// The number of events in the tail.
const REMEMBERED: usize = 256;

/// An event as read; without content if only a newer release knows its kind.
#[derive(Clone)]
pub(super) struct ReadEvent {
    pub cursor: String,
    pub event: Option<Event>,
}

impl From<StoredEvent> for ReadEvent {
    fn from(stored: StoredEvent) -> Self {
        let cursor = stored.cursor();
        let kind = EventKind::named(&stored.place.kind);
        let event = kind.map(|kind| Event::new(kind, stored.place.id));
        Self { cursor, event }
    }
}

/// The oldest events after a cursor; `None` if it is unknown.
pub(super) async fn read_after(
    store: &Store,
    cursor: Option<&str>,
) -> Result<Option<Vec<ReadEvent>>, StoreError> {
    let page = store.events_after(cursor, PAGE).await?;
    Ok(page.map(|page| page.into_iter().map(ReadEvent::from).collect()))
}

/// The events last read, without a gap.
#[derive(Default)]
pub(super) struct EventTail {
    /// The cursor before the first of them.
    start: Option<String>,
    read: VecDeque<ReadEvent>,
    /// How often the readers had been woken when the store was last read.
    pub woken: u64,
    /// When that was.
    looked: Option<Instant>,
}

impl EventTail {
    /// How long ago the store was last read.
    pub fn age(&self) -> Duration {
        self.looked.map_or(Duration::MAX, |looked| looked.elapsed())
    }

    /// Reads what is new, and returns whether there was something. If it is far behind, it begins anew at the newest
    /// event; readers then read from the store what the tail leaves out.
    pub async fn read_on(&mut self, store: &Store) -> Result<bool, StoreError> {
        let end = self.read.back().map(|last| last.cursor.as_str());
        let end = end.or(self.start.as_deref());
        let new = read_after(store, end).await?;
        self.looked = Some(Instant::now());
        let found = new.as_ref().is_none_or(|new| !new.is_empty());
        match new {
            Some(new) if new.len() < PAGE => self.read.extend(new),
            _ => {
                self.start = store.newest_event().await?;
                self.read.clear();
            }
        }
        while self.read.len() > REMEMBERED {
            self.start = self.read.pop_front().map(|first| first.cursor);
        }
        Ok(found)
    }

    /// The events after a cursor, unless the tail does not reach back to it.
    pub fn after(&self, cursor: Option<&str>) -> Option<Vec<ReadEvent>> {
        let is_at = |read: &ReadEvent| Some(read.cursor.as_str()) == cursor;
        let from = match self.start.as_deref() == cursor {
            true => 0,
            false => self.read.iter().rposition(is_at)?.saturating_add(1),
        };
        Some(self.read.range(from..).cloned().collect())
    }
}
