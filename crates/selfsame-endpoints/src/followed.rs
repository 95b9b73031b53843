//! Streams of events that a client resumes where it was, by the id of the event that it saw last.

use axum::response::sse::Event;
use http::HeaderMap;
use selfsame_core::events::{EventReader, Events};
use selfsame_http::error::Handled;
use selfsame_http::stream::last_seen;

/// The events that a client follows.
pub struct Followed {
    /// Reads them.
    pub reader: EventReader,
    /// Whether the client has seen all events before those read now. Otherwise it begins anew.
    pub is_resumed: bool,
}

impl Followed {
    /// The events after the one that the client saw last, or those from now on.
    pub async fn by(events: &Events, headers: &HeaderMap) -> Handled<Self> {
        let resumed = match last_seen(headers) {
            Some(cursor) => events.resume(cursor).await?,
            None => None,
        };
        let is_resumed = resumed.is_some();
        let reader = match resumed {
            Some(reader) => reader,
            None => events.reader().await?,
        };
        Ok(Self { reader, is_resumed })
    }
}

/// A message with the id by which a client resumes after what was read so far.
pub fn identified(reader: &EventReader) -> Event {
    match reader.cursor() {
        Some(cursor) => Event::default().id(cursor),
        None => Event::default(),
    }
}
