//! `/api/dids`: the instance's own DIDs.

use axum::extract::State;
use selfsame_core::view::{InstanceDid, NewDid};
use selfsame_driver::paging::{Listing, Paging};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{created, json};
use crate::error::Handled;
use crate::extract::{Json, Path, Query};
use crate::server::Server;

/// A change to a DID: a new key replaces the current one.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Rotation {}

/// Makes a DID. A DID of the registry is anchored there before the response.
#[utoipa::path(post, path = "/api/dids", operation_id = "dids_create", tag = "dids", request_body = NewDid, responses((status = 201, body = InstanceDid)))]
pub async fn create(State(server): State<Server>, Json(new): Json<NewDid>) -> Handled {
    created(&server.app().dids().create(&new).await?)
}

/// The instance's DIDs.
#[utoipa::path(get, path = "/api/dids", operation_id = "dids_list", tag = "dids", params(super::Page), responses((status = 200, body = Listing<InstanceDid>)))]
pub async fn list(State(server): State<Server>, Query(paging): Query<Paging>) -> Handled {
    json(&server.app().dids().list(&paging).await?)
}

/// Rotates a DID's key.
#[utoipa::path(put, path = "/api/dids/{did}", operation_id = "dids_rotate", tag = "dids", params(("did" = String, Path)), request_body = Rotation, responses((status = 200, body = InstanceDid)))]
pub async fn rotate(
    State(server): State<Server>,
    Path(did): Path<String>,
    Json(Rotation {}): Json<Rotation>,
) -> Handled {
    json(&server.app().dids().rotate(&did).await?)
}

/// Deactivates a DID permanently.
#[utoipa::path(delete, path = "/api/dids/{did}", operation_id = "dids_deactivate", tag = "dids", params(("did" = String, Path)), responses((status = 200, body = InstanceDid)))]
pub async fn deactivate(State(server): State<Server>, Path(did): Path<String>) -> Handled {
    json(&server.app().dids().deactivate(&did).await?)
}
