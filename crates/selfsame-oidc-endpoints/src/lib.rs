//! The endpoints of the OpenID provider: what clients and browsers call.
//!
//! Owns: the addresses and their descriptions, headers, cookies, and how a response gets to a client. Does not own: what
//! a request means, which is a use case's; the pages of a sign-in; who may call an address.

pub mod browser;
mod elsewhere;
mod form_post;
mod here;
pub mod operator;
pub mod provider;
pub mod registration;
pub mod routes;
pub mod wallet_rules;

pub use here::ProviderHere;
