//! Owns: CBOR in its deterministic form and as others write it, its diagnostic notation, the messages of COSE as bytes.
//! Does not own: keys, signatures, and what an item means.
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

pub mod cose;
pub mod deterministic;
pub mod diagnostic;
mod float;
pub mod tree;

pub use tree::{Cbor, CborError, CborKind, CborLimits, CborPair};
