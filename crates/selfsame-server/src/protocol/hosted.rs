//! The documents of `did:web` identifiers that this instance hosts.

use axum::extract::State;
use selfsame_core::dids::HOSTED;

use super::document;
use crate::error::Handled;
use crate::extract::Path;
use crate::here::Here;
use crate::server::Server;

const DID_DOCUMENT: &str = "application/did";

/// The issuer's document, which is the only one of an organisation that has one identity for both roles.
pub async fn issuer(server: Here) -> Handled {
    document(DID_DOCUMENT, &server.identity()?.document()?)
}

/// The verifier's document.
pub async fn verifier(server: Here) -> Handled {
    document(DID_DOCUMENT, &server.verifier()?.identity().document()?)
}

/// The document of a DID that the operator made.
pub async fn named(State(server): State<Server>, Path(name): Path<String>) -> Handled {
    let path = format!("{HOSTED}/{name}");
    document(DID_DOCUMENT, &server.app().dids().document(&path).await?)
}
