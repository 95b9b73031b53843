//! Owns: the transaction log and the state tree with their proofs, signed notes and checkpoints, the validators that
//! sign them, and the verification of reads. Does not own: the meaning of transactions and objects, private keys,
//! storage, fetching.
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

pub mod checkpoint;
pub mod client;
pub mod entries;
mod error;
pub mod kept;
pub mod log;
pub mod note;
pub mod read;
pub mod reads;
pub mod tree;
pub mod validators;
pub mod witness;

pub use error::ProofError;
pub use selfsame_cbor::deterministic as cbor;
