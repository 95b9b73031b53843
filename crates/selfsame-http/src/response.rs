//! Responses that many handlers give.

use std::sync::Arc;

use axum::body::Bytes;
use axum::response::{IntoResponse as _, Response};
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE, ETAG};
use http::{HeaderMap, HeaderValue, StatusCode};
use selfsame_catalogue::{Language, tell};
use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::sha256;
use selfsame_driver::{Error, Reasons};
use serde::Serialize;

use crate::error::Handled;
use crate::negotiation::is_known;

/// Cache lifetime of public documents, in seconds.
const DOCUMENT_AGE: &str = "public, max-age=300";

/// A JSON response, as handlers return it.
pub fn json<T: Serialize>(body: &T) -> Handled {
    Ok(axum::Json(body).into_response())
}

/// A JSON response, with sentences in the places of reasons.
pub fn told<T: Reasons + Serialize>(mut body: T) -> Handled {
    for reason in body.reasons() {
        tell(Language::English, reason);
    }
    json(&body)
}

/// A JSON response for a resource that was created.
pub fn created<T: Serialize>(body: &T) -> Handled {
    Ok((StatusCode::CREATED, axum::Json(body)).into_response())
}

/// A response without a body, after success.
pub fn done() -> Handled {
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// A public document that changes seldom, readable from any page.
///
/// # Errors
/// If it cannot be serialised.
pub fn document<T: Serialize>(content_type: &'static str, body: &T) -> Handled {
    let body = serde_json::to_vec(body).map_err(Error::internal)?;
    Ok(ready(content_type, &body.into()))
}

/// Like [`document`], for bytes that are kept in the form in which they are served.
pub fn ready(content_type: &'static str, body: &Arc<[u8]>) -> Response {
    let about = [(CONTENT_TYPE, content_type), (CACHE_CONTROL, DOCUMENT_AGE)];
    let body = Bytes::from_owner(body.clone());
    open_to_all((about, body).into_response())
}

/// A JSON response for anyone that can change at any time, and is sent only to those who do not have it already
/// (RFC 9110 §13.1.2).
///
/// # Errors
/// If it cannot be serialised.
pub fn revisited<T: Serialize>(headers: &HeaderMap, body: &T) -> Handled {
    let body = serde_json::to_vec(body).map_err(Error::internal)?;
    let etag = format!("\"{}\"", base64url_encode(&sha256(&body)));
    let about = [(CACHE_CONTROL, "no-cache".to_owned()), (ETAG, etag.clone())];
    let response = match is_known(headers, &etag) {
        true => (StatusCode::NOT_MODIFIED, about).into_response(),
        false => ([(CONTENT_TYPE, "application/json")], about, body).into_response(),
    };
    Ok(open_to_all(response))
}

/// Allows scripts of any origin to read what anyone may fetch.
pub fn open_to_all(mut response: Response) -> Response {
    response
        .headers_mut()
        .insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}
