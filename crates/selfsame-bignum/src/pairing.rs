//! Owns the pairing used for revocation: Beuchat's and Nogami's curve y² = x³ + 2 ("BN254" of the Apache Milagro
//! library, not alt_bn128), its groups G1, G2 and GT, and the forms of their elements in published data.
//!
//! `Scalar` may be secret: its arithmetic, `G1::mul`, `G2::mul` and `Gt::pow` take the same time and touch the same
//! addresses for all scalars. The time of functions called `public` may depend on their scalars, and so may the time of
//! decoding, equality with infinity, and a pairing with the point at infinity.
//!
//! Every value of these types is in its group: decoding checks that numbers are in range, that points are on the curve
//! and that elements have the group's order. Only [`G2OrIdentity`] accepts the point at infinity.

mod affine;
mod ate;
mod counters;
mod fixed;
mod fp;
mod fp12;
mod fp2;
mod fp6;
mod g1;
mod g2;
mod group;
mod gt;
mod montgomery;
mod powers;
mod scalar;
mod serde_text;
mod split;
mod sum;
mod tails;
mod wire;

use crate::Error;

pub use ate::{Prepared, pair, pair_prepared, pair_product};
pub use counters::{Counts, counts};
pub use fixed::{FixedG1, FixedG2, FixedGt};
pub use g1::G1;
pub use g2::G2;
pub use gt::Gt;
pub use scalar::Scalar;
pub use tails::TailSum;

/// A point of G2 where published data may have the point at infinity: the accumulator of a registry with no valid
/// credential, and a witness if there is no other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct G2OrIdentity(pub G2);

impl G2OrIdentity {
    /// Reads the bytes of published data, which are those of [`G2::to_bytes`].
    ///
    /// # Errors
    /// [`Error::Malformed`] for other bytes, and a point that is not in G2.
    pub fn from_bytes(bytes: &[u8; G2::BYTES]) -> Result<Self, Error> {
        G2::from_bytes_or_identity(bytes).map(Self)
    }
}

#[cfg(test)]
mod tests;
