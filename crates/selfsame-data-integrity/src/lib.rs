//! Owns: Data Integrity proofs of W3C documents (VC Data Integrity 1.0): cryptosuites, canonical forms, sets and chains
//! of proofs.
//! Does not own: keys and DIDs, what a credential means, status lists, and any kind of I/O; a verification is given the
//! keys.
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

mod contexts;
mod create;
mod detached;
mod error;
mod expand;
mod hash;
pub mod jcs;
mod proof;
mod rdf;
mod rdfc;
mod secured;
mod suite;
pub mod vc;

#[cfg(test)]
mod tests;

pub use contexts::{Contexts, OwnContext};
pub use create::{UnsignedProof, prepare};
pub use detached::DetachedProof;
pub use error::{ChainError, IntegrityError, UnexpectedProof};
pub use expand::{check_dataset, expanded_types};
pub use proof::{ExpectedProof, IntegrityProof, ProofOptions, ProofPurpose};
pub use secured::Secured;
pub use suite::Cryptosuite;

use selfsame_crypto::json::Limits;

/// Bounds on a document: 512 KiB, 32 levels, 10,000 members.
pub const LIMITS: Limits = Limits {
    max_bytes: 512 * 1024,
    max_depth: 32,
    max_members: 10_000,
};
/// Proofs of one document.
pub const PROOFS_MAX: usize = 16;
/// Values of `domain`, and of `previousProof`.
pub const LIST_MAX: usize = 16;
