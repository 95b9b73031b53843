//! AnonCreds v1.0: credentials whose holder can reveal single attributes or prove predicates about them. Presentations
//! are unlinkable if the issuer made its key as specified, or proves that all bases of the key are powers of S.
//!
//! Owns: the data types and their JSON, the Camenisch-Lysyanskaya mathematics, and revocation by accumulator.
//!
//! Does not own: the arithmetic and the pairing under them (selfsame-bignum), where keys, credentials and tails files
//! are kept, how messages travel, and any input, output or clock.
//!
//! The checks are listed where they are made: the holder's checks of an issuer's key in [`holder`], the verifier's
//! checks of a proof in [`verifier`], the issuer's checks in [`issuer`], and all of revocation in [`cl::revocation`].
//!
//! # Secret exponents
//!
//! Operations with these exponents take the same steps and touch the same memory for all secrets of one width. The
//! exponents of revocation are listed in [`cl::revocation`].
//!
//! | who, when | secret exponents |
//! |---|---|
//! | issuer, a definition | the discrete logarithms of Z, Rctxt and every R to the base S, and the masks of their proofs; masks, roots and inverses of the proof of two safe primes |
//! | issuer, a credential | 1/e modulo the factors of the group's order, the mask of the signature's proof |
//! | holder, a request | v′, the link secret, their masks |
//! | holder, a new credential | v = v′ + v″, e, the link secret, the values |
//! | holder, a presentation | r and r·ẽ, the masks ẽ, ṽ, m̃₂ and those of all values that stay hidden |
//! | holder, a predicate | Δ and the roots of its four squares, all r, all masks |
//!
//! Five computations depend on a secret that is not an exponent, and their time varies with it: the search for primes;
//! which small number is a square modulo one of p' and q' alone, which an offer says; the issuer's product over v″ and
//! the values, all of which the holder is sent; which tail a witness leaves out; and the conversion of numbers to
//! decimal digits in messages and stored secrets.
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

pub mod cl;
pub mod definition;
mod error;
pub mod format;
pub mod holder;
pub mod issuer;
mod seed;
pub mod verdict;
pub mod verifier;

#[cfg(test)]
mod testing;

pub use error::Error;
pub use selfsame_bignum::{force_adx, force_portable, uses_adx, uses_ifma};
