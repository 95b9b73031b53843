//! Sums of many points of y² = x³ + 1 - i over F_p², eight side by side, for p of 254 bits: the tails of revocation.
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, unused_mut, reason = "other processors have no eight sums")
)]

use super::engine::Path;
use super::field::{Affine, DIGITS, Field, Number, Sums, digits};
use super::lane::Lane;

#[cfg(target_arch = "x86_64")]
use super::ifma;

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

/// The number of digits below 2^52, the highest below 2^48.
const fn limbs(&[a, b, c, d, e]: &[u64; DIGITS]) -> Number {
    [
        a | b << 52,
        b >> 12 | c << 40,
        c >> 24 | d << 28,
        d >> 36 | e << 16,
    ]
}
