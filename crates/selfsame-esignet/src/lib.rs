//! The interfaces of eSignet and of its mock identity system.
//!
//! Owns: their addresses, envelopes, codes, the double submission against cross-site requests, the hash of a sign-in's
//! details. Does not own: what a sign-in means (selfsame-sign-in), who knows people (selfsame-identity), limits of
//! requests.

pub mod csrf;
pub mod details_hash;
pub mod envelope;
pub mod mock;
pub mod routes;

pub use mock::MockDoor;
