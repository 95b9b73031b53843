//! `/api/issuer/approvals`: requests for credentials that need an approval.

#![allow(unused_qualifications, reason = "the code that utoipa's macros write")]

use selfsame_approvals::Decision;
use selfsame_approvals::view::{Approval, NewRefusal, WhichApprovals};
use selfsame_driver::paging::Listing;
use selfsame_http::error::Handled;
use selfsame_http::extract::{Json, Path, Query};
use selfsame_http::response::json;

use crate::here::IssuerHere;

/// The requests that wait for an approval, newest first, without what their credentials will say; with `state`, those in
/// another state.
#[utoipa::path(get, path = "/api/issuer/approvals", operation_id = "issuer_list_approvals", tag = "issuer", params(WhichApprovals), responses((status = 200, body = Listing<Approval>)))]
pub async fn list(here: IssuerHere, Query(which): Query<WhichApprovals>) -> Handled {
    json(&here.issuer()?.approvals().list(&which).await?)
}

/// One request: what the credential will say, and what has become of it.
#[utoipa::path(get, path = "/api/issuer/approvals/{id}", operation_id = "issuer_get_approval", tag = "issuer", params(("id" = String, Path)), responses((status = 200, body = Approval)))]
pub async fn one(here: IssuerHere, Path(id): Path<String>) -> Handled {
    json(&here.issuer()?.approvals().one(&id).await?)
}

/// Approves a request: the wallet gets the credential when it looks next. A request that was approved before stays so.
#[utoipa::path(post, path = "/api/issuer/approvals/{id}/approve", operation_id = "issuer_approve", tag = "issuer", params(("id" = String, Path)), responses((status = 200, body = Approval)))]
pub async fn approve(here: IssuerHere, Path(id): Path<String>) -> Handled {
    let approvals = here.issuer()?.approvals();
    json(&approvals.decide(&id, &Decision::Approve).await?)
}

/// Refuses a request: the wallet is told so when it looks next. The reason stays here.
#[utoipa::path(post, path = "/api/issuer/approvals/{id}/refuse", operation_id = "issuer_refuse", tag = "issuer", params(("id" = String, Path)), request_body = NewRefusal, responses((status = 200, body = Approval)))]
pub async fn refuse(
    here: IssuerHere,
    Path(id): Path<String>,
    Json(new): Json<NewRefusal>,
) -> Handled {
    let decision = Decision::refusal(new.reason.as_deref())?;
    json(&here.issuer()?.approvals().decide(&id, &decision).await?)
}
