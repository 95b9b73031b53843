//! TLS 1.3 (RFC 8446) with X.509, DIDs and verifiable credentials: two state machines, without input, output or clock.
//!
//! Owns: the wire format of TLS 1.3 and of the identity messages, the key schedule, record protection, the states of
//! client and server, and the rules for accepting an identity.
//!
//! Does not own: sockets (adaptors are separate), resolution of DIDs (a `HandshakeNeed` that the driver answers with evidence),
//! cryptographic primitives (from rustls' provider, used only in `provider`). The library draws the randomness of key
//! shares and signatures itself; all other randomness comes in through `Ctx`.
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

mod alert;
mod client;
pub mod codec;
mod config;
mod connection;
mod core;
mod digest;
mod error;
pub mod evidence;
mod handshake;
pub mod identity;
mod named;
pub mod profile;
mod provider;
mod record_layer;
pub mod resumption;
mod schedule;
mod server;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod transcript;

pub use crate::core::{Limits, Slots};
pub use alert::{Alert, Refusal};
pub use config::{ClientAuth, ClientConfig, Config, ServerConfig};
pub use connection::Connection;
pub use error::{ConfigError, Error};
pub use evidence::{HandshakeEvidence, HandshakeNeed};
pub use named::{Group, Scheme, Suite, VcFormat};
pub use provider::SigningKey;
