//! The steps that every request passes before it reaches a handler.

pub mod admission;
pub mod budget;
pub mod door;
pub mod headers;
pub mod known;
pub mod observe;
mod trace;
pub mod turns;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use crate::origin::Origin;

/// Runs around every request. It is one layer, since each layer clones everything inside it.
pub async fn around(State(origin): State<Arc<Origin>>, request: Request, next: Next) -> Response {
    observe::request(request, async |request| {
        let mut response = match door::foreign_host(&origin, &request) {
            Some(refusal) => refusal,
            None => next.run(request).await,
        };
        headers::secure(&origin, &mut response);
        response
    })
    .await
}
