//! OpenID Connect as a provider speaks it: clients, authorization requests, codes, tokens, claims, logout.
//!
//! Owns: what a request and a token mean, and what is refused. Does not own: how a person proves who they are, records,
//! pages, HTTP.
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

mod factor;
mod response_mode;

pub use factor::FactorKind;
pub use response_mode::ResponseMode;
