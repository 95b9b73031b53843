//! The documents of `did:web` identifiers that this instance hosts.

use axum::extract::State;
use selfsame_core::dids::HOSTED;
use selfsame_http::error::Handled;
use selfsame_http::extract::Path;
use selfsame_http::response::document;

use crate::instance::{Instance, RolesHere};

const DID_DOCUMENT: &str = "application/did";

/// The issuer's document, which is the only one of an organisation that has one identity for both roles.
pub async fn issuer(RolesHere(roles): RolesHere) -> Handled {
    document(DID_DOCUMENT, &roles.identity()?.document()?)
}

/// The verifier's document.
pub async fn verifier(RolesHere(roles): RolesHere) -> Handled {
    document(DID_DOCUMENT, &roles.verifier()?.identity().document()?)
}

/// The document of a DID that the operator made.
pub async fn named(State(instance): State<Instance>, Path(name): Path<String>) -> Handled {
    let path = format!("{HOSTED}/{name}");
    document(DID_DOCUMENT, &instance.dids().document(&path).await?)
}
