//! What the process's supervisor asks: its addresses, and whether the event loops turn.

use axum::response::{IntoResponse as _, Response};
use http::StatusCode;

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
