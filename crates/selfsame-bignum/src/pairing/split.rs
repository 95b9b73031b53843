//! Owns the splitting of a scalar over the powers of an endomorphism, so that a multiple takes half or a quarter of the
//! doublings; constant time.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "constants of the curve; the bounds of sums stand beside them"
)]

use subtle::Choice;
use zeroize::Zeroize;

use super::montgomery::{Limbs, widening_multiply};
use super::powers::MINUS_U;
use super::scalar::Scalar;

/// u, the curve's parameter.
const U: i128 = -(MINUS_U as i128);

/// A short basis of the vectors (a, b) with a + b·λ = 0 mod n, where λ·(x, y) = (β·x, y) in G1.
const BASIS_G1: [[i128; 2]; 2] = [
    [6 * U * U + 2 * U, -(2 * U + 1)],
    [2 * U + 1, 6 * U * U + 4 * U + 1],
];

/// A short basis of such vectors (a, b, c, d) for the p-th power in G2 and GT (Galbraith and Scott, Pairing 2008).
const BASIS_G2: [[i128; 4]; 4] = [
    [U + 1, U, U, -2 * U],
    [2 * U + 1, -U, -(U + 1), -U],
    [2 * U, 2 * U + 1, 2 * U + 1, 2 * U + 1],
    [U - 1, 4 * U + 2, -2 * U + 1, U - 1],
];

/// One coordinate of (1, 0, …) in a basis, times 2^256 and rounded.
struct Coefficient {
    magnitude: Limbs,
    negative: bool,
}

const COEFFICIENTS_G1: [Coefficient; 2] = [
    Coefficient {
        magnitude: [0xC0EB_31FF_36BF_3358, 0xA01F_AB7E_04A0_17B9, 2, 0],
        negative: false,
    },
    Coefficient {
        magnitude: [0x7937_CA68_8A6B_4905, 3, 0, 0],
        negative: true,
    },
];

const COEFFICIENTS_G2: [Coefficient; 4] = [
    Coefficient {
        magnitude: [0xB09F_E7FD_F43B_A998, 0xE00A_8E7F_56E0_07E5, 0, 0],
        negative: false,
    },
    Coefficient {
        magnitude: [
            0x01E5_FD39_97D4_1CB2,
            0xDA75_DB2D_A3D6_8851,
            0x52AF_F56A_8054_ABF9,
            1,
        ],
        negative: true,
    },
    Coefficient {
        magnitude: [
            0x5F40_F136_EE84_E09C,
            0xED3A_ED96_D1EB_4429,
            0xA957_FAB5_402A_55FC,
            0,
        ],
        negative: true,
    },
    Coefficient {
        magnitude: [0x29D7_B266_7EA6_F29D, 0xE00A_8E7F_56E0_07E9, 0, 0],
        negative: true,
    },
];

/// Bits of a digit, sign included.
pub(super) const DIGIT_BITS: usize = 4;
/// The number of multiples that digits refer to: 0 to 8 times.
pub(super) const MULTIPLES: usize = 9;

/// `PARTS` small numbers in signed digits from -8 to 7, the lowest first; wiped when dropped.
pub(super) struct Digits<const PARTS: usize, const DIGITS: usize>([[i8; DIGITS]; PARTS]);

/// For G1: two numbers below 2^126.
pub(super) type DigitsG1 = Digits<2, 32>;
/// For G2 and GT: four numbers below 2^64.
pub(super) type DigitsG2 = Digits<4, 17>;

impl From<&Scalar> for DigitsG1 {
    fn from(scalar: &Scalar) -> Self {
        Self::new(split(scalar, &COEFFICIENTS_G1, &BASIS_G1))
    }
}

impl From<&Scalar> for DigitsG2 {
    fn from(scalar: &Scalar) -> Self {
        Self::new(split(scalar, &COEFFICIENTS_G2, &BASIS_G2))
    }
}

impl<const PARTS: usize, const DIGITS: usize> Digits<PARTS, DIGITS> {
    /// Negative numbers get negative digits, since two's complement shifts towards minus infinity.
    fn new(parts: [i128; PARTS]) -> Self {
        Self(parts.map(|mut part| {
            [(); DIGITS].map(|()| {
                // The low four bits, less 16 if the highest of them is set, which carries into the rest.
                let digit = ((part & 15) ^ 8) - 8;
                part = (part - digit) >> DIGIT_BITS;
                digit as i8
            })
        }))
    }

    /// The digit of a part as a magnitude up to 8 and a sign; zero if there is no such digit.
    #[inline(always)]
    pub(super) fn digit(&self, part: usize, place: usize) -> (u8, Choice) {
        let digit = self.0.get(part).and_then(|digits| digits.get(place));
        let digit = digit.copied().unwrap_or(0);
        let sign = digit >> 7;
        let magnitude = (digit ^ sign).wrapping_sub(sign) as u8;
        (magnitude, Choice::from(sign as u8 & 1))
    }
}

impl<const PARTS: usize, const DIGITS: usize> Drop for Digits<PARTS, DIGITS> {
    fn drop(&mut self) {
        for part in &mut self.0 {
            part.zeroize();
        }
    }
}

/// (k, 0, …) minus a near vector of the lattice, by Babai's rounding with coefficients that are off by at most 1/8
/// before they are rounded. All sums end up small, so intermediate results may wrap.
fn split<const N: usize>(
    scalar: &Scalar,
    coefficients: &[Coefficient; N],
    basis: &[[i128; N]; N],
) -> [i128; N] {
    let number = scalar.limbs();
    let [low, high, ..] = number;
    let mut parts = [0i128; N];
    if let Some(first) = parts.first_mut() {
        *first = join(low, high);
    }
    for (coefficient, vector) in coefficients.iter().zip(basis) {
        let [_, _, _, half, low, high, ..] = widening_multiply(&number, &coefficient.magnitude);
        let rounded = join(low, high).wrapping_add(i128::from(half >> 63));
        for (part, entry) in parts.iter_mut().zip(vector) {
            let product = rounded.wrapping_mul(*entry);
            *part = if coefficient.negative {
                part.wrapping_add(product)
            } else {
                part.wrapping_sub(product)
            };
        }
    }
    parts
}

fn join(low: u64, high: u64) -> i128 {
    (u128::from(high) << 64 | u128::from(low)) as i128
}

#[cfg(test)]
mod tests {
    use dashu_int::{IBig, UBig};
    use proptest::prelude::*;

    use super::*;

    fn check<const N: usize>(
        scalar: &Scalar,
        parts: [i128; N],
        root: &IBig,
        bits: u32,
    ) -> Result<(), TestCaseError> {
        let order = IBig::from(Scalar::order());
        let sum = parts.iter().rev().fold(IBig::from(0), |sum, part| {
            prop_assert_part(*part, bits);
            sum * root + IBig::from(*part)
        });
        prop_assert_eq!((sum - IBig::from(scalar.reveal())) % order, IBig::from(0));
        Ok(())
    }

    fn prop_assert_part(part: i128, bits: u32) {
        assert!(
            part.unsigned_abs() >> bits == 0,
            "a part is longer than {bits} bits"
        );
    }

    proptest! {
        #[test]
        fn the_parts_are_short_and_make_the_scalar(scalar in super::super::tests::scalar()) {
            let u = IBig::from(U);
            let lambda = IBig::from(-18) * &u * &u - IBig::from(36) * &u * &u * &u
                - IBig::from(6) * &u - IBig::from(2);
            check(&scalar, split(&scalar, &COEFFICIENTS_G1, &BASIS_G1), &lambda, 126)?;
            let p = IBig::from(6) * &u * &u;
            check(&scalar, split(&scalar, &COEFFICIENTS_G2, &BASIS_G2), &p, 65)?;
        }

        #[test]
        fn the_digits_make_the_part(part in -(1i128 << 66)..1i128 << 66) {
            let digits = DigitsG2::new([part; 4]);
            let sum = (0..17).rev().fold(0i128, |sum, place| {
                let (magnitude, sign) = digits.digit(2, place);
                assert!(usize::from(magnitude) < MULTIPLES);
                let digit = i128::from(magnitude);
                sum * 16 + if sign.into() { -digit } else { digit }
            });
            prop_assert_eq!(sum, part);
        }
    }

    #[test]
    fn the_order_is_split_as_well_as_any_number() {
        let last = Scalar::from_public(&(Scalar::order() - UBig::from(1u8)));
        let parts = split(&last, &COEFFICIENTS_G1, &BASIS_G1);
        assert_eq!(parts, [-1, 0]);
    }
}
