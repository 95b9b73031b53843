//! What is loaded into a book at once: longer than other JSON, and with more members.

use axum::extract::{FromRequest, Request};
use selfsame_crypto::json::{self, Limits};
use selfsame_http::error::Problem;
use selfsame_http::extract::{Json, Raw, is_kind};
use serde::de::DeserializeOwned;

/// The largest body, in bytes: a thousand rows of some kilobytes.
pub const LOAD_MAX: usize = 4 << 20;

/// Its limits.
const LIMITS: Limits = Limits {
    max_bytes: LOAD_MAX,
    max_depth: 32,
    max_members: 200_000,
};

/// The JSON of a load.
pub(crate) struct Loaded<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Loaded<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        if !is_kind(request.headers(), "application/json") {
            // It is refused as elsewhere.
            let other = Json::from_request(request, state).await;
            return other.map(|Json(load)| Self(load));
        }
        let Raw(body) = Raw::from_request(request, state).await?;
        json::parse_as(&body, &LIMITS)
            .map(Self)
            .map_err(|error| Problem::bad_request("body-invalid").with("detail", &error))
    }
}
