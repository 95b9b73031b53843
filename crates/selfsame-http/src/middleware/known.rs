//! Pages are sent only to those who do not have them already (RFC 9110 §13.1.2): crawlers come back often.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, ETAG, VARY};
use http::{HeaderValue, Method, StatusCode};
use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::sha256;

use crate::error::Problem;
use crate::negotiation::is_known;

/// Maximum number of bytes of a page. A part of the site map has some megabytes.
const PAGE_MAX: usize = 16 << 20;

/// Answers with the page, or says that the reader has it.
pub async fn unless_known(request: Request, next: Next) -> Response {
    let (method, asked) = (request.method().clone(), request.headers().clone());
    let response = next.run(request).await;
    if response.status() != StatusCode::OK || !matches!(method, Method::GET | Method::HEAD) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(page) = to_bytes(body, PAGE_MAX).await else {
        return Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal").into_response();
    };
    let etag = format!("\"{}\"", base64url_encode(&sha256(&page)));
    let is_known = is_known(&asked, &etag);
    let cached = HeaderValue::from_static("no-cache");
    parts.headers.entry(CACHE_CONTROL).or_insert(cached);
    // Those who are signed in see who they are.
    parts
        .headers
        .insert(VARY, HeaderValue::from_static("cookie"));
    parts
        .headers
        .extend(HeaderValue::try_from(etag).ok().map(|etag| (ETAG, etag)));
    let body = match is_known {
        true => {
            parts.status = StatusCode::NOT_MODIFIED;
            Body::empty()
        }
        false => Body::from(page),
    };
    Response::from_parts(parts, body)
}
