//! What watches over the process: is it alive, is it ready, how is it doing.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{CONTENT_TYPE, RETRY_AFTER};

use crate::server::Server;

/// Where it asks: the addresses that are answered when there is no room for others.
pub const PATHS: [&str; 3] = ["/livez", "/readyz", "/metrics"];

/// Answers as long as the process can answer at all.
pub async fn live() -> &'static str {
    "alive\n"
}

/// Whether requests would be served now.
pub async fn ready(State(server): State<Server>) -> Response {
    if server.app().is_ready() {
        "ready\n".into_response()
    } else {
        (
            StatusCode::SERVICE_UNAVAILABLE,
            [(RETRY_AFTER, "1")],
            "starting\n",
        )
            .into_response()
    }
}

/// The figures, in Prometheus' text form.
pub async fn metrics(State(server): State<Server>) -> Response {
    server.figures().note(server.app()).await;
    (
        [(CONTENT_TYPE, "text/plain; version=0.0.4")],
        server.figures().render(),
    )
        .into_response()
}
