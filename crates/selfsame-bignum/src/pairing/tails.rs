//! Owns sums of tails: thousands of points of G2 from a tails file, eight at once if the processor supports it.

use super::Error;
use super::affine::{self, Affine};
use super::fp::FieldOrder;
use super::fp2::Fp2;
use super::g2::{G2, NOT_ON_CURVE, coordinates, read_numbers};
use super::group::Point;
use super::montgomery::{Limbs, Prime, power_of_two};
use crate::arithmetic::{EightSums, Field};

/// A sum of tails.
///
/// Only the sum of the tails is checked to be a point of the twist and in G2, not each tail, which makes the check far
/// cheaper. This suffices whatever the file contains: a holder accepts a sum ω only if e(g_i, accumulator) = z·e(g, ω),
/// and since ω is in G2 and the pairing has no kernel there, this has one solution. So an accepted witness is the right
/// one, no matter from which tails it came, and reveals nothing about them. A file with bad points can only make the
/// check fail, for all holders or for some. A file of good points that are not the right ones can do that too, and no
/// check of points would find it; its author, the issuer, can refuse or revoke anyway. Points off the curve do no other
/// harm: additions have no case that fails, no secret is multiplied with them, and which points are added depends only
/// on public lists and on the holder's own index.
pub struct TailSum {
    sum: Point<Fp2>,
    eight: Option<EightSums>,
    waiting: Vec<[Limbs; 4]>,
}

/// Tails that are read before they are added: 64 kB without the eight sums, which need fewer.
const AT_ONCE: usize = 512;
const AT_ONCE_BY_EIGHT: usize = 128;

static FIELD: Field = Field::new(
    FieldOrder::P,
    [
        power_of_two(260, &FieldOrder::P),
        power_of_two(520, &FieldOrder::P),
    ],
    FieldOrder::NEGATIVE_INVERSE,
);

impl TailSum {
    /// An empty sum.
    pub fn empty() -> Self {
        Self::with(EightSums::new(&FIELD))
    }

    fn with(eight: Option<EightSums>) -> Self {
        let room = if eight.is_some() {
            AT_ONCE_BY_EIGHT
        } else {
            AT_ONCE
        };
        Self {
            sum: Point::IDENTITY,
            eight,
            waiting: Vec::with_capacity(room),
        }
    }

    /// Adds a tail in the form of a tails file.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a coordinate that is not below p.
    pub fn add(&mut self, tail: &[u8; G2::BYTES]) -> Result<(), Error> {
        if self.waiting.len() == self.waiting.capacity() {
            self.flush();
        }
        self.waiting.push(read_numbers(tail)?);
        Ok(())
    }

    /// The sum.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the sum is not in G2, because some tail is not.
    pub fn finish(mut self) -> Result<G2, Error> {
        self.flush();
        if let Some(eight) = self.eight {
            for [x0, x1, y0, y1, z0, z1] in eight.finish() {
                self.sum = self.sum.add(&Point {
                    x: Fp2::new(x0, x1),
                    y: Fp2::new(y0, y1),
                    z: Fp2::new(z0, z1),
                });
            }
        }
        if !self.sum.is_on_curve() {
            return Err(NOT_ON_CURVE);
        }
        G2(self.sum).in_group()
    }

    fn flush(&mut self) {
        let rest = match &mut self.eight {
            Some(eight) => eight.add(&self.waiting),
            None => &self.waiting,
        };
        let points = rest.iter().map(coordinates);
        let points = points.map(|[x, y]| Affine { x, y });
        self.sum = self.sum.add(&affine::sum(points.collect()));
        self.waiting.clear();
    }
}

#[cfg(test)]
pub(super) mod tests;
