//! Extractors: those of the kernel, the owner of a wallet, and who works for an organisation.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::StatusCode;
use http::request::Parts;
use selfsame_core::organisation::OrganisationName;
use selfsame_endpoints::called;
use selfsame_operators::Authority;
use selfsame_wallet::view::Person;

pub use selfsame_http::extract::{Form, Json, Path, Query, Raw, UploadedFile, is_kind};

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

/// Someone who works for the organisation whose address was called.
pub struct Working {
    /// Who, with which rights.
    pub authority: Arc<Authority>,
    /// The organisation.
    pub organisation: OrganisationName,
}

impl Working {
    /// The same person or program, about another organisation.
    pub fn of(self, organisation: OrganisationName) -> Self {
        Self {
            organisation,
            ..self
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Working {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let organisation = called::organisation(&parts.extensions);
        match parts.extensions.get::<Seat>().and_then(Seat::authority) {
            Some(authority) => Ok(Self {
                authority: authority.clone(),
                organisation,
            }),
            None => Err(Problem::new(
                StatusCode::UNAUTHORIZED,
                "operator-token-needed",
            )),
        }
    }
}
