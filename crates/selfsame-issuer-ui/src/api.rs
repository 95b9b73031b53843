//! `/api/issuer/applications`: applications for credentials that need others.

#![allow(unused_qualifications, reason = "the code that utoipa's macros write")]

use selfsame_applications::view::{FilledApplication, NewApplication, ShownApplication};
use selfsame_driver::paging::{Listing, Paging};
use selfsame_http::error::Handled;
use selfsame_http::extract::{Json, Path, Query};
use selfsame_http::listing::Page;
use selfsame_http::response::{created, told};
use selfsame_openid::view::issuer::Offer;

use crate::here::IssuerHere;

/// Begins an application: the wallet is asked for the credentials that the new one needs.
#[utoipa::path(post, path = "/api/issuer/applications", operation_id = "issuer_begin_application", tag = "issuer", request_body = NewApplication, responses((status = 201, body = ShownApplication)))]
pub async fn begin(here: IssuerHere, Json(new): Json<NewApplication>) -> Handled {
    created(&here.applications.begin(&new).await?)
}

/// The applications, newest first.
#[utoipa::path(get, path = "/api/issuer/applications", operation_id = "issuer_list_applications", tag = "issuer", params(Page), responses((status = 200, body = Listing<ShownApplication>)))]
pub async fn list(here: IssuerHere, Query(paging): Query<Paging>) -> Handled {
    told(here.applications.list(&paging).await?)
}

/// One application: what was proven, what is missing, and what the form is filled with.
#[utoipa::path(get, path = "/api/issuer/applications/{id}", operation_id = "issuer_get_application", tag = "issuer", params(("id" = String, Path)), responses((status = 200, body = ShownApplication)))]
pub async fn one(here: IssuerHere, Path(id): Path<String>) -> Handled {
    told(here.applications.one(&id).await?)
}

/// Makes the offer of an application, once. What was proven is verified again; claims that were proven can't be changed.
#[utoipa::path(post, path = "/api/issuer/applications/{id}/offer", operation_id = "issuer_offer_application", tag = "issuer", params(("id" = String, Path)), request_body = FilledApplication, responses((status = 201, body = Offer)))]
pub async fn offer(
    here: IssuerHere,
    Path(id): Path<String>,
    Json(form): Json<FilledApplication>,
) -> Handled {
    created(&here.applications.offer(&id, &form).await?)
}
