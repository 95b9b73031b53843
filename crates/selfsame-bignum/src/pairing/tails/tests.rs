//! Sums of tails on both paths, and refused tails.

use super::super::Scalar;
use super::*;

/// The sum of these tails.
pub(in super::super) fn sum_of<'a>(
    tails: impl IntoIterator<Item = &'a [u8; G2::BYTES]>,
) -> Result<G2, Error> {
    let mut sum = TailSum::empty();
    tails.into_iter().try_for_each(|tail| sum.add(tail))?;
    sum.finish()
}

fn sum(eight: bool, points: &[G2]) -> Result<G2, Error> {
    let mut sum = TailSum::with(eight.then(|| EightSums::new(&FIELD)).flatten());
    points
        .iter()
        .try_for_each(|point| sum.add(&point.to_bytes()))?;
    sum.finish()
}

#[test]
fn sums_of_any_length_are_those_of_one_addition_after_the_other() {
    let g = G2::generator();
    let points: Vec<G2> = (1..1200_u64)
        .map(|number| g.mul(&Scalar::from(number.wrapping_mul(0x9E37_79B9_7F4A_7C15))))
        .collect();
    for length in [0, 1, 7, 8, 9, 16, 127, 128, 129, 511, 513, 1199] {
        let points = &points[..length];
        let expected = points
            .iter()
            .fold(G2::identity(), |sum, point| sum.add(point));
        assert_eq!(sum(false, points), Ok(expected));
        assert_eq!(sum(true, points), Ok(expected));
    }
}

#[test]
fn equal_and_opposite_points_in_one_sum_are_added_rightly() {
    let g = G2::generator();
    let three = g.add(&g).add(&g);
    // The points 1, 9, 17 … are added in one of the eight sums.
    for second in [g, g.neg(), three, three.neg()] {
        let points: Vec<G2> = [[g; 8], [second; 8], [g.neg(); 8]].concat();
        let expected = points
            .iter()
            .fold(G2::identity(), |sum, point| sum.add(point));
        assert_eq!(sum(false, &points), Ok(expected));
        assert_eq!(sum(true, &points), Ok(expected));
    }
}

#[test]
fn points_off_the_curve_or_out_of_range_are_refused_in_the_sum() {
    let mut bytes = G2::generator().to_bytes();
    bytes[127] ^= 1;
    for eight in [false, true] {
        for count in [1, 8, 64] {
            let mut sum = TailSum::with(eight.then(|| EightSums::new(&FIELD)).flatten());
            (0..count).for_each(|_| sum.add(&bytes).unwrap());
            assert!(sum.finish().is_err());
        }
    }
    assert!(TailSum::empty().add(&[0xFF; 128]).is_err());
}
