//! The API: everything the pages do, for programs. One file for each resource.

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

/// A list that has no pages.
#[derive(Serialize, ToSchema)]
pub struct Items<T> {
    /// The entries.
    pub items: Vec<T>,
}

/// An answer as JSON.
pub fn json<T: Serialize>(body: &T) -> Answer {
    Ok(axum::Json(body).into_response())
}

/// Something that was made, as JSON.
pub fn created<T: Serialize>(body: &T) -> Answer {
    Ok((StatusCode::CREATED, axum::Json(body)).into_response())
}

/// Done, and nothing to say.
pub fn done() -> Answer {
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Where to go on in a list.
#[derive(serde::Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(
    dead_code,
    reason = "describes `selfsame_app::view::Paging`, which is what handlers take"
)]
pub struct Page {
    /// The `next` of the page before; absent for the first.
    after: Option<String>,
    /// At most so many entries; 50 unless told, 200 at most.
    #[param(minimum = 1)]
    limit: Option<usize>,
}
