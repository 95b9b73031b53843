//! Use cases: load, gather, step, commit, effects.
//!
//! Owns: what an issuer, a wallet, a verifier, a registry and their operator can do, in terms of the
//! protocols below and the store and network beside it. Does not own: status codes, HTML, terminals,
//! SQL, sockets.

pub mod error;
pub mod view;

pub use error::{Error, ErrorKind, Result};
