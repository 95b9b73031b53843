//! The API: requests by browsers for the programs of verifiers, and for those of people.

#![allow(unused_qualifications, reason = "the code that utoipa's macros write")]

use selfsame_dc_api_role::view::BrowserProtocol;
use selfsame_dc_api_role::{BrowserRequests, PageMessage, browser_answer, browser_request};
use selfsame_http::error::Handled;
use selfsame_http::extract::{Json, Path, Query};
use selfsame_http::response::{json, told};
use selfsame_openid::view::verifier::VerificationStatus;
use selfsame_wallet::view::RequestPreview;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::here::{BrowserHere, WindowHere};

/// Which request to make for a browser.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct BrowserQuery {
    /// The protocol of the exchange; by default, a request whose client signs is signed.
    #[param(value_type = Option<BrowserProtocol>)]
    pub protocol: Option<String>,
}

/// What a page gives to `navigator.credentials.get` to ask by this request, as the member `digital`.
#[utoipa::path(get, path = "/api/verifier/requests/{id}/browser", operation_id = "verifier_get_browser_request", tag = "verifier", params(("id" = String, Path), BrowserQuery), responses((status = 200, body = BrowserRequests)))]
pub async fn request(
    here: BrowserHere,
    Path(id): Path<String>,
    Query(query): Query<BrowserQuery>,
) -> Handled {
    let protocol = query.protocol.as_deref();
    json(&browser_request(&here.verifier, &id, protocol).await?)
}

/// Takes the answer that a browser brought back to a page, whose origin is one of the verifier's.
#[utoipa::path(post, path = "/api/verifier/requests/{id}/browser", operation_id = "verifier_take_browser_answer", tag = "verifier", params(("id" = String, Path)), request_body = PageMessage, responses((status = 200, body = VerificationStatus)))]
pub async fn answer(
    here: BrowserHere,
    Path(id): Path<String>,
    Json(answer): Json<PageMessage>,
) -> Handled {
    browser_answer(&here.verifier, &id, &answer).await?;
    told(here.verifier.request(&id).await?)
}

/// Previews a request that a browser has brought from a page. The caller vouches for the origin. The answer to it has in
/// `returned` what goes back to that page.
#[utoipa::path(post, path = "/api/wallet/requests/browser", operation_id = "wallet_preview_browser_request", tag = "wallet", request_body = PageMessage, responses((status = 200, body = RequestPreview)))]
pub async fn preview(here: WindowHere, Json(request): Json<PageMessage>) -> Handled {
    json(&here.preview(&request).await?)
}
