//! The specifications' endpoints, for other wallets, issuers, verifiers and resolvers.

pub mod hosted;
pub mod issuer;
pub mod registry;
pub mod resolver;
pub mod verifier;
pub mod von_network;

use selfsame_http::response::{document, open_to_all, ready};
