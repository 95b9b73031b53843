//! The registry's own face: genesis, checkpoint and entries for who wants to check it.

use axum::extract::{Path, State};
use axum::response::IntoResponse as _;
use http::header::CONTENT_TYPE;
use selfsame_app::view::registry::Found;
use selfsame_crypto::encoding::base64url_decode;
use selfsame_did::Did;

use super::open_to_all;
use crate::error::{Answer, Problem};
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

/// What became of an issuer's credential for one use, by the base64url digest in the credential.
pub async fn used(
    State(server): State<Server>,
    Path((issuer, digest)): Path<(String, String)>,
) -> Answer {
    let digest = base64url_decode(&digest).ok();
    let digest = digest.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
    let digest = digest.ok_or_else(|| Problem::bad_request("this is no digest"))?;
    let found = server.registry()?.used(&did(&issuer)?, &digest).await?;
    Ok(open_to_all(crate::api::json(&Found { found })?))
}

/// A delegation by its name among the issuer's, also once it has ended.
pub async fn delegation(
    State(server): State<Server>,
    Path((issuer, name)): Path<(String, String)>,
) -> Answer {
    let registry = server.registry()?;
    let found = registry.delegation(&did(&issuer)?, &name).await?;
    Ok(open_to_all(crate::api::json(&Found { found })?))
}

fn did(text: &str) -> Answer<Did> {
    Did::parse(text).map_err(|_| Problem::bad_request("this is no DID"))
}
