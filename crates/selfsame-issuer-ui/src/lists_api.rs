//! `/api/issuer/lists`: lists of people who all get an offer.

#![allow(unused_qualifications, reason = "the code that utoipa's macros write")]

use selfsame_driver::paging::{Listing, Paging};
use selfsame_http::error::Handled;
use selfsame_http::extract::{Json, Path, Query, Raw};
use selfsame_http::listing::Page;
use selfsame_http::response::{created, told};
use selfsame_issuing_lists::FilePortion;
use selfsame_issuing_lists::view::{IssuingList, ListResult, NewIssuingList};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::here::IssuerHere;

/// Where a portion stands in its file.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PortionPlace {
    /// The number of bytes before it.
    from: u64,
}

/// Begins a list. Its file is sent next, in portions.
#[utoipa::path(post, path = "/api/issuer/lists", operation_id = "issuer_begin_list", tag = "issuer", request_body = NewIssuingList, responses((status = 201, body = IssuingList)))]
pub async fn begin(here: IssuerHere, Json(new): Json<NewIssuingList>) -> Handled {
    created(&here.lists.create(&here.roles, &new).await?)
}

/// The lists, newest first.
#[utoipa::path(get, path = "/api/issuer/lists", operation_id = "issuer_list_lists", tag = "issuer", params(Page), responses((status = 200, body = Listing<IssuingList>)))]
pub async fn list(here: IssuerHere, Query(paging): Query<Paging>) -> Handled {
    told(here.lists.list(&here.roles, &paging).await?)
}

/// One list: its progress, and the first faults of its file.
#[utoipa::path(get, path = "/api/issuer/lists/{id}", operation_id = "issuer_get_list", tag = "issuer", params(("id" = String, Path)), responses((status = 200, body = IssuingList)))]
pub async fn one(here: IssuerHere, Path(id): Path<String>) -> Handled {
    told(here.lists.one(&here.roles, &id).await?)
}

/// Receives the next portion of a file, which may end anywhere, and checks the rows in it. A portion that was received
/// already changes nothing.
#[utoipa::path(post, path = "/api/issuer/lists/{id}/file", operation_id = "issuer_send_list", tag = "issuer", params(("id" = String, Path), PortionPlace), request_body(content = String, content_type = "application/octet-stream"), responses((status = 200, body = IssuingList)))]
pub async fn receive(
    here: IssuerHere,
    Path(id): Path<String>,
    Query(place): Query<PortionPlace>,
    Raw(bytes): Raw,
) -> Handled {
    let portion = FilePortion {
        from: place.from,
        bytes: bytes.to_vec(),
    };
    told(here.lists.receive(&here.roles, &id, portion).await?)
}

/// Judges a list whose file was sent whole. Nothing is offered yet.
#[utoipa::path(post, path = "/api/issuer/lists/{id}/check", operation_id = "issuer_check_list", tag = "issuer", params(("id" = String, Path)), responses((status = 200, body = IssuingList)))]
pub async fn check(here: IssuerHere, Path(id): Path<String>) -> Handled {
    told(here.lists.check(&here.roles, &id).await?)
}

/// Makes an offer for each row from now on; none if the file has a fault.
#[utoipa::path(post, path = "/api/issuer/lists/{id}/issue", operation_id = "issuer_issue_list", tag = "issuer", params(("id" = String, Path)), responses((status = 200, body = IssuingList)))]
pub async fn issue(here: IssuerHere, Path(id): Path<String>) -> Handled {
    told(here.lists.issue(&here.roles, &id).await?)
}

/// Ends a list. Offers that were made stand.
#[utoipa::path(post, path = "/api/issuer/lists/{id}/cancel", operation_id = "issuer_cancel_list", tag = "issuer", params(("id" = String, Path)), responses((status = 200, body = IssuingList)))]
pub async fn cancel(here: IssuerHere, Path(id): Path<String>) -> Handled {
    told(here.lists.cancel(&here.roles, &id).await?)
}

/// What came of each row, in their order.
#[utoipa::path(get, path = "/api/issuer/lists/{id}/results", operation_id = "issuer_list_results", tag = "issuer", params(("id" = String, Path), Page), responses((status = 200, body = Listing<ListResult>)))]
pub async fn results(
    here: IssuerHere,
    Path(id): Path<String>,
    Query(paging): Query<Paging>,
) -> Handled {
    told(here.lists.results(&here.roles, &id, &paging).await?)
}
