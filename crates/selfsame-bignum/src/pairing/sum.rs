//! Owns sums of multiples: Straus' method over split scalars, in constant time.

use super::group::{Coordinate, Point, look_up};
use super::scalar::Scalar;
use super::split::{DIGIT_BITS, MULTIPLES};

/// A point's multiples and the digits of its scalar.
struct Term<F: Coordinate> {
    multiples: [Point<F>; MULTIPLES],
    digits: F::Digits,
}

impl<F: Coordinate> Term<F> {
    fn new(point: &Point<F>, scalar: &Scalar) -> Self {
        let mut next = Point::IDENTITY;
        let multiples = [(); MULTIPLES].map(|()| {
            let this = next;
            next = this.add(point);
            this
        });
        let digits = scalar.into();
        Self { multiples, digits }
    }

    /// The multiple that a digit refers to; reads all multiples.
    #[inline]
    fn multiple(&self, part: usize, place: usize) -> Point<F> {
        let (magnitude, negative) = F::digit(&self.digits, part, place);
        let mut found = look_up(&self.multiples, magnitude);
        found.y.conditional_assign(&found.y.neg(), negative);
        found
    }
}

impl<F: Coordinate> Point<F> {
    pub(super) fn mul(&self, scalar: &Scalar) -> Self {
        Self::sum(&[(*self, scalar)])
    }

    /// Σ scalar·point, in constant time: the doublings and the endomorphisms are shared by all terms.
    pub(super) fn sum(terms: &[(Self, &Scalar)]) -> Self {
        let terms: Vec<Term<F>> = terms
            .iter()
            .map(|(point, scalar)| Term::new(point, scalar))
            .collect();
        let mut sum = Self::IDENTITY;
        for place in (0..F::DIGITS).rev() {
            sum = (0..DIGIT_BITS).fold(sum, |sum, _| sum.double());
            // Horner's rule in the endomorphism.
            let mut parts = (0..F::PARTS).rev().map(|part| {
                let mut multiples = terms.iter().map(|term| term.multiple(part, place));
                let first = multiples.next().unwrap_or(Self::IDENTITY);
                multiples.fold(first, |sum, multiple| sum.add(&multiple))
            });
            let highest = parts.next().unwrap_or(Self::IDENTITY);
            let digit = parts.fold(highest, |sum, part| F::endomorphism(&sum).add(&part));
            sum = sum.add(&digit);
        }
        sum
    }
}
