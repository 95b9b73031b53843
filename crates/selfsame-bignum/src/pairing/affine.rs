//! Owns sums of many affine points, as tails are: one inversion for each layer of additions. For public points only,
//! because it branches on them.

use super::group::{Coordinate, Point};

/// Fewer points than this are added one by one, without an inversion.
const FEW: usize = 16;

/// A point that is not the point at infinity.
#[derive(Clone, Copy)]
pub(super) struct Affine<F> {
    pub(super) x: F,
    pub(super) y: F,
}

/// The sum of the points.
pub(super) fn sum<F: Coordinate>(mut points: Vec<Affine<F>>) -> Point<F> {
    while points.len() >= FEW {
        points = add_pairs(&points);
    }
    let infinity = Point::IDENTITY;
    points
        .iter()
        .fold(infinity, |sum, Affine { x, y }| sum.add_affine(x, y))
}

/// Adds the first point to the second, the third to the fourth and so on; pairs whose sum is infinity vanish.
fn add_pairs<F: Coordinate>(points: &[Affine<F>]) -> Vec<Affine<F>> {
    let (pairs, odd) = points.as_chunks::<2>();
    let slopes = pairs.iter().map(|[p, q]| slope(p, q));
    let (rises, mut runs): (Vec<F>, Vec<F>) = slopes.unzip();
    invert_all(&mut runs);
    let sums = pairs.iter().zip(rises.iter().zip(&runs));
    sums.filter(|(_, (_, inverse))| !bool::from(inverse.is_zero()))
        .map(|([p, q], (rise, inverse))| {
            let slope = rise.mul(inverse);
            let x = slope.square().sub(&p.x).sub(&q.x);
            let y = slope.mul(&p.x.sub(&x)).sub(&p.y);
            Affine { x, y }
        })
        .chain(odd.iter().copied())
        .collect()
}

/// Rise and run of the chord through two points, or of the tangent at one; the run is zero if their sum is infinity.
fn slope<F: Coordinate>(p: &Affine<F>, q: &Affine<F>) -> (F, F) {
    if p.x != q.x {
        return (q.y.sub(&p.y), q.x.sub(&p.x));
    }
    // With the same x, y is equal or opposite, and then their sum is zero. No point has y = 0: the orders are odd.
    let square = p.x.square();
    (square.double().add(&square), p.y.add(&q.y))
}

/// Inverts all in place with one inversion; zeros stay zero.
pub(super) fn invert_all<F: Coordinate>(numbers: &mut [F]) {
    let mut before = Vec::with_capacity(numbers.len());
    let mut product = F::ONE;
    for number in numbers.iter() {
        before.push(product);
        if !bool::from(number.is_zero()) {
            product = product.mul(number);
        }
    }
    let mut inverse = product.inverse();
    for (number, before) in numbers.iter_mut().zip(before).rev() {
        if !bool::from(number.is_zero()) {
            let rest = inverse.mul(number);
            *number = inverse.mul(&before);
            inverse = rest;
        }
    }
}
