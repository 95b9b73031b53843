//! What watches over the process: is it alive, is it ready, how is it doing.

use std::time::Duration;

use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, StatusCode};

use crate::auth;
use crate::error::{Answer, Problem};
use crate::peer::Peer;
use crate::server::Server;

/// How long what the figures look up may take.
const NOTING: Duration = Duration::from_secs(2);

/// Where it asks: the addresses that are answered when there is no room for others.
pub const PATHS: [&str; 3] = ["/livez", "/readyz", "/metrics"];

/// Whether the process is at work: it answers, and where `[health] listen` has it watched over, its event loops turn.
pub async fn live(State(server): State<Server>) -> Response {
    match server.pulse().standstill() {
        None => "alive\n".into_response(),
        Some(seconds) => {
            let standing = format!("an event loop has not turned for {seconds} s\n");
            (StatusCode::SERVICE_UNAVAILABLE, standing).into_response()
        }
    }
}

/// Whether requests would be served now.
pub async fn ready(State(server): State<Server>) -> Response {
    let wanting = match server.app().is_ready() {
        false if server.app().is_damaged() => "the registry's ledger is damaged\n",
        false => "starting\n",
        true if server.app().has_room().await => return "ready\n".into_response(),
        true => "the disk is full\n",
    };
    let later = [(RETRY_AFTER, "1")];
    (StatusCode::SERVICE_UNAVAILABLE, later, wanting).into_response()
}

/// The figures, for this machine and for the operator: they tell how much is done here, and of what.
pub async fn metrics(
    State(server): State<Server>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
) -> Answer {
    if peer.is_here() || auth::is_operator(&server, &headers).await? {
        return Ok(figures(State(server)).await);
    }
    let refusal = Problem::new(
        StatusCode::UNAUTHORIZED,
        "the figures are for the operator and for this machine",
    );
    Err(refusal.with_hint("send the operator's token, or ask at the address of [health] listen"))
}

/// The figures, in Prometheus' text form.
pub async fn figures(State(server): State<Server>) -> Response {
    // What has to be looked up is left out where it can't be had now.
    let noted = tokio::time::timeout(NOTING, server.figures().note(server.app()));
    let _noted_or_late = noted.await;
    (
        [(CONTENT_TYPE, "text/plain; version=0.0.4")],
        server.figures().render(),
    )
        .into_response()
}
