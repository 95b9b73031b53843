//! The start page: the trust triangle, live.

use axum::extract::State;
use axum::response::sse::Event;
use futures_util::StreamExt as _;
use futures_util::stream::{iter, unfold};
use http::HeaderMap;
use selfsame_core::events::{EventKind, EventReader, Events};
use selfsame_pages::home::{HomePage, Tally};
use serde_json::json;

use super::Frame;
use crate::error::Handled;
use crate::server::Server;
use crate::stream;
use selfsame_endpoints::followed::{Followed, identified};

/// The page.
pub async fn page(State(server): State<Server>, frame: Frame) -> Handled {
    super::html(&HomePage {
        frame: frame.titled("Start"),
        tally: tally(server.app().events()),
    })
}

/// Events as kinds and numbers, without names or ids. The numbers are sent at once, for pages that reconnect after a
/// while, and again if events were missed. What happened since the client's last event follows, if it is not too much.
pub async fn events(State(server): State<Server>, headers: HeaderMap) -> Handled {
    let events = server.app().events().clone();
    let Followed { reader, .. } = Followed::by(&events, &headers).await?;
    let first = tell(None, &reader, &events);
    let later = unfold((reader, events), |(mut reader, events)| async move {
        let kind = reader.next().await.map(|event| event.kind);
        let told = tell(kind, &reader, &events);
        Some((told, (reader, events)))
    });
    let told = iter([first]).chain(later);
    Ok(stream::respond(server.stopped(), told))
}

fn tell(kind: Option<EventKind>, reader: &EventReader, events: &Events) -> Event {
    let tally = tally(events);
    identified(reader)
        .event("tally")
        .json_data(json!({ "kind": kind, "tally": tally }))
        .unwrap_or_default()
}

/// The counts now.
fn tally(events: &Events) -> Tally {
    Tally {
        issued: events.count(EventKind::Issued),
        received: events.count(EventKind::Received),
        presented: events.count(EventKind::Presented),
        status_changed: events.count(EventKind::StatusChanged),
        anchored: events.count(EventKind::Anchored),
    }
}
