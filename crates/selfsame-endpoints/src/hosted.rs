//! The documents of `did:web` identifiers, and the logs of `did:webvh` identifiers, that this instance hosts.

use axum::extract::State;
use selfsame_core::dids::HOSTED;
use selfsame_http::error::Handled;
use selfsame_http::extract::Path;
use selfsame_http::response::{document, ready};
use serde_json::json;

use crate::instance::{Instance, RolesHere};

const DID_DOCUMENT: &str = "application/did";
const LOG: &str = "text/jsonl";
const WITNESSES: &str = "application/json";

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

/// The log of a DID that the operator made.
pub async fn log(State(instance): State<Instance>, Path(name): Path<String>) -> Handled {
    let text = instance.dids().log(&format!("{HOSTED}/{name}")).await?;
    Ok(ready(LOG, &text.into_bytes().into()))
}

/// The proofs of the log's witnesses. Logs that are made here name no witnesses, so there are none.
pub async fn witnesses(State(instance): State<Instance>, Path(name): Path<String>) -> Handled {
    instance.dids().log(&format!("{HOSTED}/{name}")).await?;
    document(WITNESSES, &json!([]))
}
