//! The registry's own face: genesis, checkpoint and entries for who wants to check it.

use axum::extract::State;
use axum::response::IntoResponse as _;
use http::header::CONTENT_TYPE;

use super::open_to_all;
use crate::error::Answer;
use crate::server::Server;

/// The genesis, whose digest is the network's name.
pub async fn genesis(State(server): State<Server>) -> Answer {
    let genesis = server.registry()?.genesis().await?;
    Ok(open_to_all(
        ([(CONTENT_TYPE, "application/cbor")], genesis).into_response(),
    ))
}

/// The signed checkpoint, a C2SP note.
pub async fn checkpoint(State(server): State<Server>) -> Answer {
    let checkpoint = server.registry()?.status().await?.checkpoint;
    Ok(open_to_all(
        ([(CONTENT_TYPE, "text/plain; charset=utf-8")], checkpoint).into_response(),
    ))
}
