//! OpenID Connect as a provider speaks it: clients, authorization requests, tokens, claims, logout.
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

pub mod acr;
pub mod claims;
mod factor;
pub mod locales;
mod member;
pub mod prompt;
pub mod provider;
pub mod redirect;
pub mod registration;
pub mod relying_party;
pub mod request;
mod response_mode;
pub mod rules;
pub mod subject;
pub mod token;
pub mod userinfo;

pub use acr::AcrTable;
pub use factor::FactorKind;
pub use registration::ClientRegistration;
pub use relying_party::RelyingParty;
pub use request::{AuthorizationRequest, RequestRefusal};
pub use response_mode::ResponseMode;
pub use rules::{Preset, ProviderRules};
