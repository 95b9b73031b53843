//! AnonCreds v1.0: credentials that prove a predicate or one attribute and let nobody link two presentations.
//!
//! Owns: the data types and their JSON, the Camenisch-Lysyanskaya mathematics, revocation by accumulator, and the
//! arithmetic under them.
//!
//! Does not own: where keys, credentials and tails files are kept, how messages travel, and any input, output or clock.
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

mod arithmetic;
pub mod batch;
pub mod cl;
pub mod definition;
mod error;
pub mod format;
pub mod holder;
pub mod issuer;
mod pairing;
pub mod question;
mod random;
mod seed;
pub mod verdict;
pub mod verifier;

#[cfg(test)]
mod testing;

pub use arithmetic::{force_adx, force_portable, uses_adx, uses_ifma};
pub use error::Error;
