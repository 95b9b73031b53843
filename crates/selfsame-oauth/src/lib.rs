//! Owns: OAuth 2.0 messages as the credential protocols use them: forms, token requests and responses, server metadata,
//! error bodies.
//! Does not own: whether a code or token is valid, state, HTTP, and any kind of I/O.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

pub mod details;
pub mod error;
pub mod form;
pub mod metadata;
pub mod secret;
pub mod token;

pub use details::AuthorizationDetail;
pub use error::{Code, Error, ErrorBody};
pub use form::{Form, FormError};
pub use metadata::ServerMetadata;
pub use token::{TokenRequest, TokenResponse};
