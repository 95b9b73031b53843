//! `/api/status` and `/api/copies`: how this instance is, and copies of it.

use axum::extract::State;
use selfsame_app::view::instance::{CopyMade, InstanceStatus, SignInLink};
use selfsame_app::{Error, ErrorKind};

use super::json;
use crate::error::Answer;
use crate::server::Server;

/// How this instance is.
#[utoipa::path(get, path = "/api/status", tag = "instance", responses((status = 200, body = InstanceStatus)))]
pub async fn status(State(server): State<Server>) -> Answer {
    json(&server.app().status().await?)
}

/// Makes a copy of all that this instance keeps, while it runs. The master key is not part of it.
#[utoipa::path(post, path = "/api/copies", tag = "instance", responses((status = 200, body = CopyMade)))]
pub async fn copy(State(server): State<Server>) -> Answer {
    let copies = server
        .copies()
        .ok_or_else(|| Error::new(ErrorKind::NotFound, "this instance has no place for copies"))?;
    let directory = server.app().copy(copies).await?;
    json(&CopyMade {
        directory: directory.display().to_string(),
    })
}

/// Makes a link that signs the operator's browser in: good once, for ten minutes.
#[utoipa::path(post, path = "/api/operator/links", tag = "instance", responses((status = 200, body = SignInLink)))]
pub async fn link(State(server): State<Server>) -> Answer {
    json(&server.app().operator().link().await?)
}
