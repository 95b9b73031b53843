//! The start page: the trust triangle, live.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use axum::response::sse::Event;
use futures_util::StreamExt as _;
use futures_util::stream::iter;
use selfsame_core::events::EventKind;
use serde_json::json;
use tokio_stream::wrappers::BroadcastStream;

use super::Frame;
use crate::counters::Tally;
use crate::error::Handled;
use crate::server::Server;
use crate::stream;

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage {
    frame: Frame,
    tally: Tally,
}

/// The page.
pub async fn page(State(server): State<Server>, frame: Frame) -> Handled {
    super::html(&HomePage {
        frame: frame.titled("Start"),
        tally: server.tallies().now(),
    })
}

/// Events as kinds and numbers, without names or ids. The numbers are sent at once, for pages that reconnect after a
/// while.
pub async fn events(State(server): State<Server>) -> Response {
    let tallies = server.tallies().clone();
    let told = BroadcastStream::new(server.app().events().listen());
    let first = tell(None, tallies.now());
    let later = told.filter_map(move |event| {
        let told = event
            .ok()
            .and_then(|event| tell(Some(event.kind), tallies.now()));
        async move { told }
    });
    stream::respond(server.stopped(), iter(first).chain(later))
}

fn tell(kind: Option<EventKind>, tally: Tally) -> Option<Event> {
    Event::default()
        .event("tally")
        .json_data(json!({ "kind": kind, "tally": tally }))
        .ok()
}
