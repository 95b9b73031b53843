//! Integers modulo n for the Camenisch-Lysyanskaya mathematics: products, powers, primes, and secret integers.

#[cfg(target_arch = "x86_64")]
mod adx;
mod comb;
mod crt;
mod eight;
mod engine;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod jacobi;
mod limbs;
mod modulus;
mod points;
mod portable;
mod power;
mod prime;
mod program;
mod secret;
mod secret_power;
#[cfg(test)]
mod trace;
mod two;

pub(crate) use comb::FixedBase;
pub(crate) use crt::PrivateModulus;
#[cfg(test)]
pub(crate) use engine::{Path, products};
pub use engine::{force_adx, force_portable, uses_adx, uses_ifma};
pub(crate) use jacobi::jacobi;
pub(crate) use modulus::{Base, Element, Modulus, SecretTerm, Term};
pub(crate) use points::{EightSums, Field};
pub(crate) use prime::{is_prime, odd_primes, prime_in_range, safe_prime, safe_prime_from};
pub(crate) use secret::{Secret, Signed};

#[cfg(test)]
mod tests;
