//! The interfaces of eSignet and of its mock identity system.
//!
//! Owns: their addresses, envelopes, codes, the double submission against cross-site requests, the hash of a sign-in's
//! details. Does not own: what a sign-in means (selfsame-sign-in), who knows people (selfsame-identity), limits of
//! requests.

mod authorization;
mod clients;
mod codes;
pub mod csrf;
mod details;
pub mod details_hash;
mod door;
pub mod envelope;
mod factors;
mod linked;
pub mod mock;
mod oauth;
pub mod routes;

pub use clients::ClientRequest;
pub use details::DetailsRequest;
pub use door::{BASE, ClientManager, EsignetDoor, EsignetHere, EsignetSettings, is_managing};
pub use factors::AuthChallenge;
pub use mock::MockDoor;

#[cfg(test)]
mod tests;
