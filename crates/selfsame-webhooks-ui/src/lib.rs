//! The addresses of webhooks.
//!
//! Owns: the addresses, their parameters and forms, which use cases each calls. Does not own: who may use an address,
//! HTML, and how events are sent.

mod api;
mod here;
mod pages;
pub mod routes;

pub use here::WebhooksHere;
