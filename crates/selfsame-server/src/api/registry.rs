//! `/api/registry`: how far the registry has come, and writing to it.

use axum::extract::State;
use selfsame_app::view::registry::RegistryStatus;

use super::json;
use crate::error::Answer;
use crate::server::Server;

/// How far the registry has come.
#[utoipa::path(get, path = "/api/registry/status", tag = "registry", responses((status = 200, body = RegistryStatus)))]
pub async fn status(State(server): State<Server>) -> Answer {
    json(&server.registry()?.status().await?)
}
