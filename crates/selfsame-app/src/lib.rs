//! Use cases: load, gather, step, one commit, calls, events.
//!
//! Owns: what an issuer, a wallet, a verifier and their operator can do, in terms of the protocols below
//! and of the store and network beside it. Does not own: status codes, HTML, terminals, SQL, sockets.

mod app;
pub mod backup;
mod certificate;
pub mod config;
pub mod dids;
pub mod events;
mod fetches;
mod gather;
mod identity;
pub mod issuer;
mod machine;
pub mod node;
pub mod operator;
mod parties;
mod record_cache;
mod refusal;
pub mod resolver;
mod shared;
pub mod templates;
pub mod tls;
mod trust;
mod uses;
pub mod verifier;
pub mod view;
pub mod wallet;

pub use app::{App, Parts};
