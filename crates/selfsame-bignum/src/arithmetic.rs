//! Integers modulo n: products, powers, primes, and secret integers.

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

pub use comb::FixedBase;
pub use crt::{PrivateModulus, RootExponent};
#[cfg(test)]
pub(crate) use engine::Path;
pub use engine::{force_adx, force_portable, products, uses_adx, uses_ifma};
pub use jacobi::jacobi;
pub use modulus::{Base, Element, Modulus, SecretTerm, Term};
pub(crate) use points::{EightSums, Field};
pub use prime::{Primes, odd_primes};
pub use secret::{Secret, Signed};

#[cfg(test)]
mod tests;
