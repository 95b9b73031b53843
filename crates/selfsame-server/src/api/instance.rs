//! `/api/status`: how this instance is.

use axum::extract::State;
use selfsame_app::view::instance::InstanceStatus;

use super::json;
use crate::error::Answer;
use crate::server::Server;

/// How this instance is.
#[utoipa::path(get, path = "/api/status", tag = "instance", responses((status = 200, body = InstanceStatus)))]
pub async fn status(State(server): State<Server>) -> Answer {
    json(&server.app().status().await?)
}
