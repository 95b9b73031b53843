//! Powers modulo n, primes, secret integers, and the pairing of AnonCreds' revocation.
//!
//! Owns: Montgomery products on the path that suits the processor, powers of public and of secret exponents, roots by
//! secret factors, primes and safe primes, integers whose value affects no time, the random numbers that they are made
//! of, and in [`pairing`] the curve, its groups and the text of their elements.
//!
//! Does not own: what the numbers are for. Keys, signatures, proofs and messages are in selfsame-anoncreds.
//!
//! # Secrets
//!
//! A [`Secret`] has a width, which is public, and a value, which is not. Operations on it take the same steps and touch
//! the same memory for all values of one width, on every path; so do the operations of [`pairing`] for all scalars.
//! Secrets are wiped when they are dropped, and so are the factors of a [`PrivateModulus`].
//!
//! The time of these depends on the numbers: [`Primes`], [`jacobi`], inverses of residues, and the conversions
//! [`Secret::from_public`] and [`Secret::reveal`].
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
mod error;
pub mod pairing;
mod random;
#[cfg(test)]
mod testing;

pub use arithmetic::{
    Base, Element, FixedBase, Modulus, Primes, PrivateModulus, RootExponent, Secret, SecretTerm,
    Signed, Term, force_adx, force_portable, jacobi, odd_primes, products, uses_adx, uses_ifma,
};
pub use error::Error;
pub use random::Random;
