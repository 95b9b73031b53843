//! Server-sent events that end when the server stops.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt as _};

use crate::server::Server;

/// How often a comment is sent, so that connections and proxies do not time out.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// A stream of events as a response.
pub fn respond(server: &Server, events: impl Stream<Item = Event> + Send + 'static) -> Response {
    let events = events.map(Ok::<_, Infallible>).take_until(server.stopped());
    Sse::new(events)
        .keep_alive(KeepAlive::new().interval(HEARTBEAT))
        .into_response()
}
