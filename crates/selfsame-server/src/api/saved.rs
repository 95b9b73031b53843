//! `/api/verifier/saved-requests`: what a verifier asks for, as data.

use selfsame_asked::definition::RequestDefinition;
use selfsame_asked::shown::RequestCheck;
use selfsame_driver::paging::{Listing, Paging, part};
use selfsame_openid::view::saved::{RequestOpening, SavedRequest};
use selfsame_openid::view::verifier::VerificationRequest;
use serde::Deserialize;
use utoipa::IntoParams;

use super::{created, done, json, told};
use crate::error::Handled;
use crate::extract::{Json, Path, Query};
use crate::here::Here;

/// Which version the caller has seen.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SeenVersion {
    /// The version that the change is based on; 409 if there is a newer one. Without a version, the
    /// request replaces the present one, whatever its version, or is saved as a new one.
    version: Option<u64>,
}

/// The saved requests.
#[utoipa::path(get, path = "/api/verifier/saved-requests", operation_id = "verifier_list_saved", tag = "verifier", params(super::Page), responses((status = 200, body = Listing<SavedRequest>)))]
pub async fn list(server: Here, Query(paging): Query<Paging>) -> Handled {
    let saved = server.saved()?.list().await?;
    json(&part(saved, &paging, |one| one.definition.name.clone())?)
}

/// Saves a new request.
#[utoipa::path(post, path = "/api/verifier/saved-requests", operation_id = "verifier_save_new", tag = "verifier", request_body = RequestDefinition, responses((status = 201, body = SavedRequest)))]
pub async fn create(server: Here, Json(new): Json<RequestDefinition>) -> Handled {
    created(&server.saved()?.create(&new).await?)
}

/// Checks a request without saving it: the DCQL query, what the person who is asked is shown, and which sample cards
/// answer it.
#[utoipa::path(post, path = "/api/verifier/saved-requests/check", operation_id = "verifier_check_saved", tag = "verifier", request_body = RequestDefinition, responses((status = 200, body = RequestCheck)))]
pub async fn check(server: Here, Json(new): Json<RequestDefinition>) -> Handled {
    told(server.saved()?.check(&new).await?)
}

/// One saved request.
#[utoipa::path(get, path = "/api/verifier/saved-requests/{name}", operation_id = "verifier_get_saved", tag = "verifier", params(("name" = String, Path)), responses((status = 200, body = SavedRequest)))]
pub async fn one(server: Here, Path(name): Path<String>) -> Handled {
    json(&server.saved()?.one(&name).await?)
}

/// Replaces a saved request, or saves a new one. Requests that were opened before stay as they are.
#[utoipa::path(put, path = "/api/verifier/saved-requests/{name}", operation_id = "verifier_replace_saved", tag = "verifier", params(("name" = String, Path), SeenVersion), request_body = RequestDefinition, responses((status = 200, body = SavedRequest)))]
pub async fn replace(
    server: Here,
    Path(name): Path<String>,
    Query(SeenVersion { version }): Query<SeenVersion>,
    Json(new): Json<RequestDefinition>,
) -> Handled {
    json(&server.saved()?.replace(&name, &new, version).await?)
}

/// Deletes a saved request. Requests that were opened before stay as they are.
#[utoipa::path(delete, path = "/api/verifier/saved-requests/{name}", operation_id = "verifier_delete_saved", tag = "verifier", params(("name" = String, Path)), responses((status = 204)))]
pub async fn delete(server: Here, Path(name): Path<String>) -> Handled {
    server.saved()?.delete(&name).await?;
    done()
}

/// Creates a request from a saved one.
#[utoipa::path(post, path = "/api/verifier/saved-requests/{name}/open", operation_id = "verifier_open_saved", tag = "verifier", params(("name" = String, Path)), request_body = RequestOpening, responses((status = 201, body = VerificationRequest)))]
pub async fn open(
    server: Here,
    Path(name): Path<String>,
    Json(opening): Json<RequestOpening>,
) -> Handled {
    created(&server.saved()?.open(&name, &opening).await?)
}
