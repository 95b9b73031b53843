//! Owns: attestations of wallets (OAuth 2.0 attestation-based client authentication, draft -07) and of their keys
//! (OpenID4VCI 1.0 Appendix D): made, judged, and the trust in those who make them.
//! Does not own: where keys are, whom an instance trusts, what was used before, HTTP, and any kind of I/O.
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

pub mod challenge;
pub mod client;
pub mod fault;
pub mod headers;
pub mod key;
pub mod made;
pub mod trust;

#[cfg(test)]
mod sample;

use selfsame_crypto::Algorithm;

/// The algorithms that attestations and proofs of possession may be signed with.
pub const ALGORITHMS: [Algorithm; 4] = [
    Algorithm::Es256,
    Algorithm::EdDsa,
    Algorithm::Es384,
    Algorithm::Ps256,
];

/// How far the clocks of attesters and wallets may differ, in seconds.
pub const LEEWAY: u64 = 60;
