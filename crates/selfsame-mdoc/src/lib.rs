//! Owns: documents of ISO/IEC 18013-5 (issue, hold, present), and the verdicts on them.
//! Does not own: CBOR, keys, status lists, the OpenID protocols, and any kind of I/O; a verification is given all that
//! it needs.
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

pub mod certificate;
mod cose_keys;
pub mod device;
pub mod digest;
pub mod elements;
mod error;
pub mod held;
pub mod issue;
pub mod json;
pub mod present;
pub mod response;
pub mod security;
pub mod transcript;
pub mod verify;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use error::MdocError;

use selfsame_cbor::CborLimits;

/// Bounds on a document: 512 KiB, 16 levels, 16,384 items.
pub const LIMITS: CborLimits = CborLimits {
    bytes: 512 * 1024,
    depth: 16,
    items: 16_384,
};
/// Namespaces of one document.
pub const NAMESPACES_MAX: usize = 16;
/// Elements of one namespace, decoys included.
pub const ELEMENTS_MAX: usize = 512;
