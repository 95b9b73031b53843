//! The specifications' endpoints, for other wallets, issuers, verifiers and resolvers.

pub mod hosted;
pub mod issuer;
pub mod registry;
pub mod resolver;
pub mod verifier;
pub mod von_network;

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE};
use serde::Serialize;

use crate::error::Answer;

/// Cache lifetime of public documents, in seconds.
const DOCUMENT_AGE: &str = "public, max-age=300";

/// A public document that changes seldom, readable from any page.
fn document<T: Serialize>(content_type: &'static str, body: &T) -> Answer {
    let body = serde_json::to_vec(body).map_err(selfsame_driver::Error::internal)?;
    Ok(ready(content_type, &body.into()))
}

/// Like [`document`], for bytes that are kept in the form in which they are served.
fn ready(content_type: &'static str, body: &Arc<[u8]>) -> Response {
    let about = [(CONTENT_TYPE, content_type), (CACHE_CONTROL, DOCUMENT_AGE)];
    let body = axum::body::Bytes::from_owner(body.clone());
    open_to_all((about, body).into_response())
}

/// Allows scripts of any origin to read what anyone may fetch.
fn open_to_all(mut response: Response) -> Response {
    response
        .headers_mut()
        .insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}
