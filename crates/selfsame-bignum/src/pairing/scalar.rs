//! Owns scalars: integers modulo the order of the groups, n = 36u^4 + 36u^3 + 18u^2 + 6u + 1. They may be secret.

use std::fmt;

use dashu_int::UBig;
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use super::montgomery::{Limbs, Prime, Residue, subtract};
use super::{Error, wire};

/// n, the order of G1, G2 and GT.
#[derive(Clone, Copy)]
pub(super) struct GroupOrder;

impl Prime for GroupOrder {
    const P: Limbs = [
        0xA100_0000_0000_000D,
        0xFF9F_8000_0000_0010,
        0xBA34_4D80_0000_0007,
        0x2523_6482_4000_0001,
    ];
}

const NOT_BELOW: Error = Error::Malformed {
    what: wire::SCALAR,
    why: "it is not below the order",
};

/// An integer modulo the group order; constant time, wiped when dropped.
#[derive(Clone)]
pub struct Scalar(Residue<GroupOrder>);

impl Scalar {
    /// Bytes of a scalar.
    #[cfg(test)]
    pub(crate) const BYTES: usize = 32;

    /// The number 0.
    #[inline]
    pub fn zero() -> Self {
        Self(Residue::ZERO)
    }

    /// The number 1.
    #[inline]
    pub fn one() -> Self {
        Self(Residue::ONE)
    }

    /// The order of the groups.
    #[cfg(test)]
    pub(crate) fn order() -> UBig {
        let mut bytes = Vec::with_capacity(Self::BYTES);
        for limb in GroupOrder::P {
            bytes.extend_from_slice(&limb.to_le_bytes());
        }
        UBig::from_le_bytes(&bytes)
    }

    /// A scalar from 64 uniformly random bytes: the bias is below 2^-250.
    pub fn from_random_bytes(bytes: &[u8; 64]) -> Self {
        Self::from_be_bytes_reduced(bytes)
    }

    /// A big-endian number of any length, modulo the order.
    pub fn from_be_bytes_reduced(bytes: &[u8]) -> Self {
        let head = bytes.len().checked_rem(16).unwrap_or(0);
        let (head, tail) = bytes.split_at_checked(head).unwrap_or((bytes, &[]));
        let mut sum = Residue::ZERO;
        let base = Residue::new([0, 0, 1, 0]);
        for digit in [head].into_iter().chain(tail.chunks_exact(16)) {
            let mut limbs = [0u64; 4];
            let number = digit
                .iter()
                .fold(0u128, |number, byte| number << 8 | u128::from(*byte));
            limbs[0] = number as u64;
            limbs[1] = (number >> 64) as u64;
            sum = sum.mul(&base).add(&Residue::new(limbs));
        }
        Self(sum)
    }

    /// 32 big-endian bytes.
    pub fn to_be_bytes(&self) -> [u8; 32] {
        self.0.to_be_bytes()
    }

    /// Reads 32 big-endian bytes.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a number that is not below the order.
    pub fn from_be_bytes(bytes: &[u8; 32]) -> Result<Self, Error> {
        let number = Residue::from_be_bytes(bytes);
        number.map(Self).ok_or(NOT_BELOW)
    }

    /// A public integer modulo the order; variable time.
    pub fn from_public(number: &UBig) -> Self {
        Self::from_be_bytes_reduced(&number.to_be_bytes())
    }

    /// The integer as a public number; variable time.
    #[cfg(test)]
    pub(crate) fn reveal(&self) -> UBig {
        UBig::from_be_bytes(&self.to_be_bytes())
    }

    /// The sum modulo the order.
    #[inline]
    pub fn add(&self, other: &Self) -> Self {
        Self(self.0.add(&other.0))
    }

    /// The difference modulo the order.
    #[inline]
    pub fn sub(&self, other: &Self) -> Self {
        Self(self.0.sub(&other.0))
    }

    /// The product modulo the order.
    #[inline]
    pub fn mul(&self, other: &Self) -> Self {
        Self(self.0.mul(&other.0))
    }

    /// The number with the opposite sign, modulo the order.
    #[inline]
    pub fn neg(&self) -> Self {
        Self(self.0.neg())
    }

    /// 1/x; `None` for zero.
    pub fn inverse(&self) -> Option<Self> {
        (!self.is_zero()).then(|| Self(self.0.inverse()))
    }

    /// x to the power of a public exponent.
    pub fn power(&self, exponent: u64) -> Self {
        Self(self.0.power(&[exponent, 0, 0, 0]))
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.0.is_zero().into()
    }

    /// The text of published data: 64 hexadecimal digits.
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::with_capacity(64);
        wire::write_hexadecimal(&mut text, &self.to_be_bytes());
        text
    }

    /// Reads the text of published data; the number must be below the order.
    pub(crate) fn from_text(text: &str) -> Result<Self, Error> {
        let (limbs, high) = wire::read_hexadecimal(text, wire::SCALAR)?;
        if high != 0 || !subtract(&limbs, &GroupOrder::P).1 {
            return Err(NOT_BELOW);
        }
        Ok(Self(Residue::new(limbs)))
    }

    /// The number below the order in limbs.
    pub(super) fn limbs(&self) -> Limbs {
        self.0.number()
    }
}

impl From<u64> for Scalar {
    fn from(number: u64) -> Self {
        Self(Residue::new([number, 0, 0, 0]))
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.0.limbs().ct_eq(other.0.limbs()).into()
    }
}

impl Eq for Scalar {}

impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scalar(..)")
    }
}

impl Drop for Scalar {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}
