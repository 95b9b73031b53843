//! Endpoints for the process's supervisor: liveness, readiness, metrics.

use std::time::Duration;

use axum::extract::{Extension, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use selfsame_app::figures;
use selfsame_http::supervision;

use crate::auth;
use crate::error::{Handled, Problem};
use crate::peer::Peer;
use crate::server::Server;

/// Time limit for looking up metrics.
const NOTING: Duration = Duration::from_secs(2);

/// Liveness: the process responds, and if `[health] listen` is set, its event loops turn.
pub async fn live(State(server): State<Server>) -> Response {
    supervision::live(server.pulse())
}

/// Readiness: whether requests would be served now.
pub async fn ready(State(server): State<Server>) -> Response {
    let wanting = match server.app().is_ready() {
        false if server.app().is_damaged() => Some("the registry's ledger is damaged\n"),
        false => Some("starting\n"),
        true if !server.app().has_records().await => Some("the database does not answer\n"),
        true if server.app().has_room().await => None,
        true => Some("the disk is full\n"),
    };
    supervision::ready(wanting)
}

/// The metrics, only for this machine and for the operator: they reveal how much is done here, and of what.
pub async fn metrics(
    State(server): State<Server>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
) -> Handled {
    if peer.is_here() || auth::is_operator(&server, &headers).await? {
        return Ok(figures(State(server)).await);
    }
    Err(Problem::new(StatusCode::UNAUTHORIZED, "metrics-private"))
}

/// The metrics, in Prometheus' text format.
pub async fn figures(State(server): State<Server>) -> Response {
    // Metrics that can't be looked up now are left out.
    let noted = tokio::time::timeout(NOTING, figures::note(server.app()));
    let _noted_or_late = noted.await;
    server.figures().response()
}
