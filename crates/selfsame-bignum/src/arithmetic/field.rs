//! The constants of a field of 254 bits, and its elements and points, eight side by side.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        reason = "constants of one field, computed when this is compiled"
    )
)]
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, reason = "other processors have no eight sums")
)]

use super::lane::Lane;

/// A number in four limbs, the lowest first.
pub(crate) type Number = [u64; 4];
/// Digits of a number.
pub(super) const DIGITS: usize = 5;
const WIDTH: u32 = 52;
const MASK: u64 = (1 << WIDTH) - 1;

/// Eight elements of F_p², digit by digit: the real parts, then the imaginary ones.
type Eight = [[Lane; DIGITS]; 2];
/// x and y of eight points.
pub(super) type Affine = [Eight; 2];
/// x, y and z of eight sums, in Montgomery form for R = 2^260.
pub(super) type Sums = [Eight; 3];

/// The constants of the field.
pub(crate) struct Field {
    pub(super) p: [u64; DIGITS],
    /// R² mod p.
    pub(super) square: [u64; DIGITS],
    /// R mod p.
    pub(super) one: [u64; DIGITS],
    /// -1/p modulo 2^52, and some higher bits.
    pub(super) negated_inverse: u64,
    /// R/p, rounded down or one below that.
    pub(super) reciprocal: u64,
}

impl Field {
    /// From p between 2^253 and 2^254, 2^260 and 2^520 modulo p, and -1/p modulo 2^64.
    pub(crate) const fn new(p: Number, [one, square]: [Number; 2], negated_inverse: u64) -> Self {
        let p = digits(&p);
        Self {
            reciprocal: (1 << WIDTH) / (p[DIGITS - 1] + 1),
            p,
            square: digits(&square),
            one: digits(&one),
            negated_inverse,
        }
    }
}

#[inline]
pub(super) const fn digits(&[a, b, c, d]: &Number) -> [u64; DIGITS] {
    [
        a & MASK,
        (a >> 52 | b << 12) & MASK,
        (b >> 40 | c << 24) & MASK,
        (c >> 28 | d << 36) & MASK,
        d >> 16,
    ]
}
