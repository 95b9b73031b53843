//! The events, read by cursor.

use super::Store;
use crate::backend::StoredEvent;
use crate::error::Result;
use crate::record::{MAX_PAGE, Window};

impl StoredEvent {
    /// The cursor of the events after this one. It can't be guessed.
    pub fn cursor(&self) -> String {
        format!("{}-{}", self.seq, self.stamp)
    }
}

/// A cursor, parsed.
struct EventCursor {
    seq: u64,
    stamp: u64,
}

impl EventCursor {
    fn parse(cursor: &str) -> Option<Self> {
        let (seq, stamp) = cursor.split_once('-')?;
        let (seq, stamp) = (seq.parse().ok()?, stamp.parse().ok()?);
        Some(Self { seq, stamp })
    }

    fn is_of(&self, event: &StoredEvent) -> bool {
        (self.seq, self.stamp) == (event.seq, event.stamp)
    }
}

impl Store {
    /// The oldest events after this cursor, or from the beginning; empty until an event follows. `None` if the event of
    /// the cursor is not kept any more, or never was: the reader has missed events, and begins anew.
    pub async fn events_after(
        &self,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<Option<Vec<StoredEvent>>> {
        let limit = limit.min(MAX_PAGE);
        let Some(cursor) = cursor else {
            let events = self.oldest_events(limit).await?;
            let is_whole = events.first().is_none_or(|first| first.seq == 1);
            return Ok(is_whole.then_some(events));
        };
        let Some(cursor) = EventCursor::parse(cursor) else {
            return Ok(None);
        };
        // The event of the cursor is read too, since its position alone does not identify it.
        let window = Window {
            after: Some(cursor.seq.saturating_sub(1)),
            limit: limit.saturating_add(1),
            newest_first: false,
        };
        let mut events = self.0.backend.events(window).await?.into_iter();
        let known = events.next().is_some_and(|first| cursor.is_of(&first));
        Ok(known.then(|| events.collect()))
    }

    /// The oldest events that are kept, whatever was removed before them.
    pub async fn oldest_events(&self, limit: usize) -> Result<Vec<StoredEvent>> {
        let oldest = Window {
            after: None,
            limit: limit.min(MAX_PAGE),
            newest_first: false,
        };
        self.0.backend.events(oldest).await
    }

    /// The cursor of the newest event: a reader at this cursor has seen all events. `None` before the first event.
    pub async fn newest_event(&self) -> Result<Option<String>> {
        let newest = Window {
            after: None,
            limit: 1,
            newest_first: true,
        };
        let newest = self.0.backend.events(newest).await?;
        Ok(newest.first().map(StoredEvent::cursor))
    }
}
