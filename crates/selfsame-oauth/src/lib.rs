//! Owns: what OAuth 2.0 defines for issuers of credentials and OpenID providers alike: forms, grants, authentication of
//! clients, PKCE, proofs of possession, request objects, server metadata, error bodies.
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

pub mod client;
pub mod details;
pub mod dpop;
pub mod error;
pub mod form;
pub mod grant;
pub mod introspection;
pub mod jwt;
pub mod metadata;
pub mod pkce;
pub mod request_object;
pub mod scope;
pub mod secret;
pub mod spent;
pub mod token;

pub use details::AuthorizationDetail;
pub use error::{Code, Error, ErrorBody};
pub use form::{Form, FormError};
pub use metadata::ServerMetadata;
pub use scope::ScopeSet;
pub use token::{TokenRequest, TokenResponse};
