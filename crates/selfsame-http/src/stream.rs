//! Server-sent events that end when the server stops.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt as _};
use http::HeaderMap;

/// How often a comment is sent, so that connections and proxies do not time out.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// A stream of events as a response. It ends when `stopped` is done.
pub fn respond(
    stopped: impl Future<Output = ()> + Send + 'static,
    events: impl Stream<Item = Event> + Send + 'static,
) -> Response {
    let events = events.map(Ok::<_, Infallible>).take_until(stopped);
    Sse::new(events)
        .keep_alive(KeepAlive::new().interval(HEARTBEAT))
        .into_response()
}

/// The id of the event that the client saw last, if it resumes a stream (HTML §9.2.4).
pub fn last_seen(headers: &HeaderMap) -> Option<&str> {
    headers.get("last-event-id")?.to_str().ok()
}
