//! Extractors: those of the kernel, and the owner of a wallet.

use axum::extract::FromRequestParts;
use http::StatusCode;
use http::request::Parts;
use selfsame_wallet::view::Person;

pub use selfsame_http::extract::{Form, Json, Path, Query, Raw, is_kind};

use crate::auth::Seat;
use crate::error::Problem;

/// The person who owns the wallet.
pub struct Owner(pub Person);

impl<S: Send + Sync> FromRequestParts<S> for Owner {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        match parts.extensions.get::<Seat>() {
            Some(Seat::Person { person, .. }) => Ok(Self(person.clone())),
            _ => Err(Problem::new(
                StatusCode::UNAUTHORIZED,
                "wallet-sign-in-needed",
            )),
        }
    }
}
