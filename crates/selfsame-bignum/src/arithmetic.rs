//! Integers modulo n: products, powers, primes, and secret integers.

#[cfg(target_arch = "x86_64")]
mod adx;
mod comb;
mod crt;
mod eight;
mod engine;
mod field;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod jacobi;
mod lane;
mod limbs;
mod list;
mod modulus;
mod points;
mod portable;
mod power;
mod prime;
mod program;
mod secret;
mod secret_power;
mod term;
#[cfg(test)]
mod trace;
mod two;

pub use comb::FixedBase;
pub use crt::{PrivateModulus, RootExponent};
#[cfg(test)]
pub(crate) use engine::Path;
pub use engine::{force_adx, force_portable, products, uses_adx, uses_ifma};
pub(crate) use field::Field;
pub use jacobi::jacobi;
pub use modulus::{Element, Modulus};
pub(crate) use points::EightSums;
pub use prime::{Primes, odd_primes};
pub use secret::{Secret, Signed};
pub use term::{Base, SecretTerm, Term};

#[cfg(test)]
mod tests;
