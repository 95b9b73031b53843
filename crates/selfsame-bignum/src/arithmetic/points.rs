//! Sums of many points of y² = x³ + 1 - i over F_p², eight side by side, for p of 254 bits: the tails of revocation.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        reason = "constants of one field, computed when this is compiled"
    )
)]
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, unused_mut, reason = "other processors have no eight sums")
)]

use super::engine::{Lane, Path};

#[cfg(target_arch = "x86_64")]
use super::ifma;

/// A number in four limbs, the lowest first.
pub(crate) type Number = [u64; 4];
/// Digits of a number.
const DIGITS: usize = 5;
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
    one: [u64; DIGITS],
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

/// Eight sums of points. The additions are complete, so any points may be added to each other, except infinity.
pub(crate) struct EightSums {
    field: &'static Field,
    sums: Sums,
}

impl EightSums {
    /// Eight empty sums; `None` if the path does not support them.
    pub(crate) fn new(field: &'static Field) -> Option<Self> {
        if Path::best() != Path::Ifma {
            return None;
        }
        let mut sums = Sums::default();
        let [_, [y, _], _] = &mut sums;
        for (lane, digit) in y.iter_mut().zip(field.one) {
            *lane = Lane([digit; 8]);
        }
        Some(Self { field, sums })
    }

    /// Adds one point to each of the sums, for every eight of them: both parts of x and both parts of y, each below p.
    /// Returns the points left over from the last eight.
    #[must_use]
    pub(crate) fn add<'a>(&mut self, points: &'a [[Number; 4]]) -> &'a [[Number; 4]] {
        let (eights, rest) = points.as_chunks();
        for some in eights.chunks(AT_ONCE) {
            let mut lanes = [Affine::default(); AT_ONCE];
            for (lanes, eight) in lanes.iter_mut().zip(some) {
                spread(lanes, eight);
            }
            let lanes = lanes.get(..some.len()).unwrap_or_default();
            #[cfg(target_arch = "x86_64")]
            ifma::add_points(self.field, &mut self.sums, lanes);
            #[cfg(not(target_arch = "x86_64"))]
            let _ = lanes;
        }
        rest
    }

    /// The sums: both parts of x, y and z, homogeneous, each a number below 2^256.
    pub(crate) fn finish(mut self) -> [[Number; 6]; 8] {
        #[cfg(target_arch = "x86_64")]
        ifma::leave_points(self.field, &mut self.sums);
        let mut found = [[Number::default(); 6]; 8];
        for (part, lanes) in self.sums.as_flattened().iter().enumerate() {
            for (place, sum) in found.iter_mut().enumerate() {
                let digits = lanes.map(|lane| lane.0.get(place).copied().unwrap_or(0));
                if let Some(number) = sum.get_mut(part) {
                    *number = limbs(&digits);
                }
            }
        }
        found
    }
}

/// Points in groups of eight, to be added to the sums: 20 kB.
const AT_ONCE: usize = 16;

/// Puts the digits of eight points side by side.
fn spread(lanes: &mut Affine, points: &[[Number; 4]; 8]) {
    for (place, point) in points.iter().enumerate() {
        for (lanes, number) in lanes.as_flattened_mut().iter_mut().zip(point) {
            for (lane, digit) in lanes.iter_mut().zip(digits(number)) {
                if let Some(slot) = lane.0.get_mut(place) {
                    *slot = digit;
                }
            }
        }
    }
}

const fn digits(&[a, b, c, d]: &Number) -> [u64; DIGITS] {
    [
        a & MASK,
        (a >> 52 | b << 12) & MASK,
        (b >> 40 | c << 24) & MASK,
        (c >> 28 | d << 36) & MASK,
        d >> 16,
    ]
}

/// The number of digits below 2^52, the highest below 2^48.
const fn limbs(&[a, b, c, d, e]: &[u64; DIGITS]) -> Number {
    [
        a | b << 52,
        b >> 12 | c << 40,
        c >> 24 | d << 28,
        d >> 36 | e << 16,
    ]
}
