//! What the process's supervisor asks: its addresses, whether the event loops turn, whether requests are served.

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use http::header::RETRY_AFTER;

use crate::pulse::Pulse;

/// The supervisor's addresses; they are served even when there is no room for others.
pub const PATHS: [&str; 3] = ["/livez", "/readyz", "/metrics"];

/// Liveness: the process responds, and its event loops turn.
pub fn live(pulse: &Pulse) -> Response {
    match pulse.standstill() {
        None => "alive\n".into_response(),
        Some(seconds) => {
            let standing = format!("an event loop has been stuck for {seconds} s\n");
            (StatusCode::SERVICE_UNAVAILABLE, standing).into_response()
        }
    }
}

/// Readiness: whether requests would be served now, or what is wanting.
pub fn ready(wanting: Option<&'static str>) -> Response {
    match wanting {
        None => "ready\n".into_response(),
        Some(wanting) => {
            let later = [(RETRY_AFTER, "1")];
            (StatusCode::SERVICE_UNAVAILABLE, later, wanting).into_response()
        }
    }
}
