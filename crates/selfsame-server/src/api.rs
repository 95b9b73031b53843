//! The API: everything that the pages do, for programs. One file for each resource.

#![allow(unused_qualifications, reason = "the code that utoipa's macros write")]

pub mod dids;
pub mod instance;
pub mod issuer;
pub mod registry;
pub mod verifier;
pub mod wallet;

use axum::response::IntoResponse;
use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::Answer;

/// A list without pagination.
#[derive(Serialize, ToSchema)]
pub struct Items<T> {
    /// The entries.
    pub items: Vec<T>,
}

/// A JSON response.
pub fn json<T: Serialize>(body: &T) -> Answer {
    Ok(axum::Json(body).into_response())
}

/// A JSON response for a resource that was created.
pub fn created<T: Serialize>(body: &T) -> Answer {
    Ok((StatusCode::CREATED, axum::Json(body)).into_response())
}

/// A response without a body, after success.
pub fn done() -> Answer {
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Pagination of a list.
#[derive(serde::Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(
    dead_code,
    reason = "describes `selfsame_driver::paging::Paging`, which is what handlers take"
)]
pub struct Page {
    /// The `next` of the previous page; absent for the first page.
    after: Option<String>,
    /// Maximum number of entries; 50 by default, 200 at most.
    #[param(minimum = 1)]
    limit: Option<usize>,
}
