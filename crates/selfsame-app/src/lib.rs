//! Use cases: load, gather, step, commit, effects.
//!
//! Owns: what an issuer, a wallet, a verifier, a registry and their operator can do, in terms of the protocols below
//! and of the store and network beside it. Does not own: status codes, HTML, terminals, SQL, sockets.

mod accounts;
mod app;
mod at_hand;
mod certificate;
pub mod clock;
pub mod config;
pub mod copies;
pub mod dids;
pub mod error;
pub mod events;
mod fetches;
mod gather;
mod identity;
pub mod issuer;
pub mod keys;
mod listing;
pub mod node;
pub mod operator;
mod outbox;
mod parties;
mod record;
pub mod registry;
pub mod resolver;
mod room;
mod shared;
pub mod templates;
pub mod tls;
mod trust;
pub mod verifier;
pub mod view;
pub mod wallet;
mod work;

pub use app::{App, Parts};
pub use error::{Error, ErrorKind, Result};
