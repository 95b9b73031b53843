//! Owns GT: the elements of order n of F_p¹², the values of pairings.

use subtle::ConditionallySelectable;

use super::Error;
use super::fp2::Fp2;
use super::fp12::Fp12;
use super::group::look_up;
use super::powers::power_minus_u;
use super::scalar::Scalar;
use super::split::{DIGIT_BITS, DigitsG2, MULTIPLES};
use super::wire;

/// An element of GT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gt(pub(super) Fp12);

impl Gt {
    /// Bytes of an element where it is hashed.
    pub const BYTES: usize = 512;

    #[cfg(test)]
    pub(crate) fn one() -> Self {
        Self(Fp12::ONE)
    }

    /// Whether this is the neutral element.
    pub fn is_one(&self) -> bool {
        self.0 == Fp12::ONE
    }

    /// The product of two elements.
    pub fn mul(&self, other: &Self) -> Self {
        Self(self.0.mul(&other.0))
    }

    #[cfg(test)]
    pub(crate) fn inverse(&self) -> Self {
        Self(self.0.conjugate())
    }

    /// The power by a secret scalar, in constant time.
    pub(crate) fn pow(&self, scalar: &Scalar) -> Self {
        let digits = DigitsG2::from(scalar);
        let powers = self.powers();
        let mut product = Fp12::ONE;
        for place in (0..17).rev() {
            product = (0..DIGIT_BITS).fold(product, |product, _| product.cyclotomic_square());
            // Horner's rule in the p-th power.
            let digit = (0..4).rev().fold(None, |product: Option<Fp12>, part| {
                let (magnitude, negative) = digits.digit(part, place);
                let mut power = look_up(&powers, magnitude);
                power.c1.conditional_assign(&power.c1.neg(), negative);
                Some(product.map_or(power, |product| product.frobenius().mul(&power)))
            });
            product = digit.map_or(product, |digit| product.mul(&digit));
        }
        Self(product)
    }

    /// The power by a public scalar.
    pub fn pow_public(&self, scalar: &Scalar) -> Self {
        self.pow(scalar)
    }

    fn powers(&self) -> [Fp12; MULTIPLES] {
        let mut next = Fp12::ONE;
        [(); MULTIPLES].map(|()| {
            let this = next;
            next = this.mul(&self.0);
            this
        })
    }

    /// The bytes that the published implementation hashes, in its order: 384 big-endian bytes and 128 zeros.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let numbers = self.0.published_order();
        let numbers = numbers.iter().flat_map(|part| [part.c0, part.c1]);
        for (chunk, number) in bytes.chunks_exact_mut(32).zip(numbers) {
            chunk.copy_from_slice(&number.to_be_bytes());
        }
        bytes
    }

    /// The text of published data: twelve numbers in Montgomery form.
    pub(crate) fn to_text(self) -> String {
        let parts = self.0.published_order();
        wire::write(parts.iter().flat_map(|part| [part.c0, part.c1]))
    }

    /// Reads the text of published data and checks that the element's order is n.
    pub(crate) fn from_text(text: &str) -> Result<Self, Error> {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = wire::read::<12>(text, wire::GT)?;
        let parts = [(a, b), (c, d), (e, f), (g, h), (i, j), (k, l)];
        let parts = parts.map(|(c0, c1)| Fp2::of(c0, c1));
        let element = Self(Fp12::from_published_order(parts));
        if !element.is_in_group() {
            return Err(wire::refuse(wire::GT, "it is not of the group's order"));
        }
        Ok(element)
    }

    /// Checks that the powers by p⁴ - p² + 1 and then by n = p - 6u² are 1.
    fn is_in_group(&self) -> bool {
        let p = self.0.frobenius();
        let p2 = p.frobenius();
        let p4 = p2.frobenius().frobenius();
        if self.0.mul(&p4) != p2 || self.0.c0 == super::fp6::Fp6::ZERO {
            return false;
        }
        let u2 = power_minus_u(&power_minus_u(&self.0));
        let u4 = u2.cyclotomic_square();
        p == u4.mul(&u2).cyclotomic_square()
    }
}
