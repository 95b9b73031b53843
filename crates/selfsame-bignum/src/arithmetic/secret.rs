//! Secret integers: of a fixed width, computed with in constant time, wiped when dropped.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        reason = "integers of any size do not overflow"
    )
)]

use std::fmt;

use dashu_int::{IBig, UBig, ops::BitTest};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::limbs;
use crate::random::Random;

/// A secret integer of a declared width, not negative and below 2^bits: the type of secret exponents.
///
/// The width is public and determines the time of every operation; the value does not affect it. The representation is
/// a little-endian two's complement number with at least one bit more than the width.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Secret {
    limbs: Vec<u64>,
    bits: usize,
}

/// A secret integer that may be negative, below 2^bits in magnitude. It cannot be an exponent.
#[derive(Clone, Debug)]
pub struct Signed(Secret);

impl Secret {
    /// A number that is not secret, or no longer secret, with a width of `bits`; a longer number widens it.
    pub fn from_public(number: &UBig, bits: usize) -> Self {
        let bits = bits.max(number.bit_len());
        Self {
            limbs: limbs::from_integer(number, limb_count(bits)),
            bits,
        }
    }

    /// A non-negative number from its big-endian bytes. Its width is `bits`, or that of the bytes if there are more of
    /// them than `bits` fill. The caller ensures that a number in exactly that many bytes is below 2^bits.
    pub fn from_be_bytes(bytes: &[u8], bits: usize) -> Self {
        let bits = if bytes.len() > bits.div_ceil(8) {
            bytes.len().saturating_mul(8)
        } else {
            bits
        };
        let mut reversed = zeroize::Zeroizing::new(bytes.to_vec());
        reversed.reverse();
        Self {
            limbs: limbs::from_le_bytes(&reversed, limb_count(bits)),
            bits,
        }
    }

    /// The non-negative number of these limbs, `bits` wide.
    pub(super) fn from_limbs(limbs: &[u64], bits: usize) -> Self {
        Self::zero(bits).with_low(limbs)
    }

    /// The declared width: the magnitude is below 2^bits.
    #[inline]
    pub(crate) fn bits(&self) -> usize {
        self.bits
    }

    /// The limbs, two's complement, least significant first.
    pub(super) fn limbs(&self) -> &[u64] {
        &self.limbs
    }

    /// The sum, one bit wider than the wider of the two.
    pub fn add(&self, other: &Self) -> Self {
        let mut sum = self.widened(self.bits.max(other.bits).saturating_add(1));
        let other = other.widened(sum.bits);
        limbs::add_masked(&mut sum.limbs, &other.limbs, u64::MAX);
        sum
    }

    /// The difference, one bit wider than the wider of the two.
    pub fn sub(&self, other: &Self) -> Signed {
        let mut difference = self.widened(self.bits.max(other.bits).saturating_add(1));
        let other = other.widened(difference.bits);
        limbs::subtract_masked(&mut difference.limbs, &other.limbs, u64::MAX);
        Signed(difference)
    }

    /// The product, whose width is the sum of both widths.
    pub fn mul(&self, other: &Self) -> Self {
        let (left, right) = (self.magnitude(), other.magnitude());
        let mut product = Self::zero(self.bits.saturating_add(other.bits));
        limbs::multiply(&mut product.limbs, &left.limbs, &right.limbs);
        limbs::negate_masked(&mut product.limbs, self.sign() ^ other.sign());
        product
    }

    /// The product with a public number, whose width is the sum of both widths.
    pub fn mul_public(&self, factor: &UBig) -> Self {
        self.mul(&Self::from_public(factor, factor.bit_len()))
    }

    /// The number itself, when it becomes public (a response of a proof) or is written down for its owner.
    pub fn reveal(&self) -> IBig {
        let magnitude = IBig::from(limbs::to_integer(&self.magnitude().limbs));
        if self.sign() == 0 {
            magnitude
        } else {
            -magnitude
        }
    }

    fn zero(bits: usize) -> Self {
        Self {
            limbs: vec![0; limb_count(bits)],
            bits,
        }
    }

    fn with_low(mut self, low: &[u64]) -> Self {
        for (slot, limb) in self.limbs.iter_mut().zip(low) {
            *slot = *limb;
        }
        self
    }

    /// All ones if the number is negative, zero if not.
    fn sign(&self) -> u64 {
        limbs::mask(self.limbs.last().map_or(0, |limb| limb.wrapping_shr(63)))
    }

    fn magnitude(&self) -> Self {
        let mut magnitude = self.clone();
        limbs::negate_masked(&mut magnitude.limbs, self.sign());
        magnitude
    }

    /// The number with a width of `bits`; the width never shrinks.
    fn widened(&self, bits: usize) -> Self {
        let mut wide = Vec::with_capacity(limb_count(bits).max(self.limbs.len()));
        wide.extend_from_slice(&self.limbs);
        wide.resize(limb_count(bits).max(self.limbs.len()), self.sign());
        Self { limbs: wide, bits }
    }
}

impl Signed {
    /// The number, or its negation.
    pub fn of(magnitude: Secret, negative: bool) -> Self {
        let mut number = magnitude;
        limbs::negate_masked(&mut number.limbs, limbs::mask(u64::from(negative)));
        Self(number)
    }

    /// The operation of the same name on [`Secret`].
    pub fn add(&self, other: &Secret) -> Self {
        Self(self.0.add(other))
    }

    /// The operation of the same name on [`Secret`].
    pub fn sub(&self, other: &Secret) -> Self {
        self.0.sub(other)
    }

    /// The operation of the same name on [`Secret`].
    pub fn mul_public(&self, factor: &UBig) -> Self {
        Self(self.0.mul_public(factor))
    }

    /// The operation of the same name on [`Secret`].
    pub fn reveal(&self) -> IBig {
        self.0.reveal()
    }
}

impl From<Secret> for Signed {
    fn from(secret: Secret) -> Self {
        Self(secret)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({} bits)", self.bits)
    }
}

/// The number of limbs for a magnitude of `bits` bits and the sign.
fn limb_count(bits: usize) -> usize {
    bits.wrapping_div(64).saturating_add(1)
}

impl Random {
    /// A uniformly distributed secret number of at most `bits` bits.
    pub fn secret(&mut self, bits: usize) -> Secret {
        Secret::from_be_bytes(&self.bytes(bits), bits)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number() -> impl Strategy<Value = (Vec<u8>, bool)> {
        (prop::collection::vec(any::<u8>(), 0..90), any::<bool>())
    }

    /// The digits and their value; negative ones are made by subtraction from zero.
    fn both((bytes, negative): &(Vec<u8>, bool)) -> (Secret, IBig) {
        let secret = Secret::from_be_bytes(bytes, 8 * bytes.len());
        let value = IBig::from(UBig::from_be_bytes(bytes));
        if *negative {
            (Secret::from_public(&UBig::ZERO, 0).sub(&secret).0, -value)
        } else {
            (secret, value)
        }
    }

    proptest! {
        #[test]
        fn sums_differences_and_products_are_those_of_integers(a in number(), b in number()) {
            let ((a, x), (b, y)) = (both(&a), both(&b));
            prop_assert_eq!(a.reveal(), x.clone());
            prop_assert_eq!(a.add(&b).reveal(), &x + &y);
            prop_assert_eq!(a.sub(&b).reveal(), &x - &y);
            prop_assert_eq!(a.mul(&b).reveal(), &x * &y);
            let factor = UBig::from_be_bytes(&[7, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
            prop_assert_eq!(a.mul_public(&factor).reveal(), &x * IBig::from(factor));
            prop_assert!(a.mul(&b).reveal().bit_len() <= a.mul(&b).bits() + 1);
        }
    }

    #[test]
    fn the_width_depends_on_widths_alone() {
        let (zero, ones) = (
            Secret::from_public(&UBig::ZERO, 600),
            Secret::from_public(&UBig::ones(600), 600),
        );
        for (a, b) in [(&zero, &ones), (&ones, &ones), (&zero, &zero)] {
            assert_eq!(a.add(b).bits(), 601);
            assert_eq!(a.sub(b).0.bits(), 601);
            assert_eq!(a.mul(b).bits(), 1200);
        }
    }

    #[test]
    fn a_number_below_zero_is_no_exponent_and_is_revealed_with_its_sign() {
        let seven = Secret::from_public(&UBig::from(7_u8), 20);
        for (negative, seven_signed) in [(true, -7), (false, 7)] {
            let signed = Signed::of(seven.clone(), negative);
            assert_eq!(signed.reveal(), IBig::from(seven_signed));
            assert_eq!(
                signed.mul_public(&UBig::from(3_u8)).reveal(),
                IBig::from(3 * seven_signed)
            );
            assert_eq!(
                signed.add(&seven).sub(&seven).reveal(),
                IBig::from(seven_signed)
            );
        }
    }

    #[test]
    fn longer_numbers_widen_and_are_never_cut() {
        assert_eq!(Secret::from_public(&UBig::ones(70), 5).bits(), 70);
        let bytes = [255; 9];
        assert_eq!(
            Secret::from_be_bytes(&bytes, 70).reveal(),
            IBig::from(UBig::ones(72))
        );
        assert_eq!(Secret::from_be_bytes(&bytes, 8).bits(), 72);
    }

    #[test]
    fn debug_output_shows_the_width_alone() {
        let secret = Secret::from_public(&UBig::from(77_u8), 128);
        assert_eq!(format!("{secret:?}"), "Secret(128 bits)");
    }
}
