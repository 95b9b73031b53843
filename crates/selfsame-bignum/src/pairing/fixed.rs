//! Owns tables of the multiples of fixed points, so that a multiple needs only additions, and of the powers of fixed
//! elements of GT.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use super::affine::{Affine, invert_all};
use super::fp::Fp;
use super::fp2::Fp2;
use super::fp12::Fp12;
use super::g1::G1;
use super::g2::G2;
use super::group::{Coordinate, Point, look_up};
use super::gt::Gt;
use super::montgomery::Limbs;
use super::scalar::Scalar;

/// A point of G1 that is multiplied repeatedly: with a table of 52 kB once that pays.
pub struct FixedG1 {
    point: G1,
    multiples: Multiples<Fp>,
}

/// A point of G2 that is multiplied repeatedly: with a table of 104 kB once that pays.
pub struct FixedG2 {
    point: G2,
    multiples: Multiples<Fp2>,
}

impl FixedG1 {
    /// Takes the point without building a table.
    pub fn new(point: &G1) -> Self {
        Self {
            point: *point,
            multiples: Multiples::default(),
        }
    }

    /// The multiple by a secret scalar, in constant time.
    pub fn mul(&self, scalar: &Scalar) -> G1 {
        match self.multiples.table(&self.point.0) {
            Some(table) => G1(table.mul_secret(scalar)),
            None => self.point.mul(scalar),
        }
    }

    /// Builds the table now.
    pub fn prepare(&self) {
        self.multiples.build(&self.point.0);
    }

    /// The multiple by a public scalar.
    pub fn mul_public(&self, scalar: &Scalar) -> G1 {
        match self.multiples.table(&self.point.0) {
            Some(table) => G1(table.mul_public(scalar)),
            None => self.point.mul_public(scalar),
        }
    }
}

impl FixedG2 {
    /// Takes the point without building a table.
    pub fn new(point: &G2) -> Self {
        Self {
            point: *point,
            multiples: Multiples::default(),
        }
    }

    /// Builds the table now.
    pub fn prepare(&self) {
        self.multiples.build(&self.point.0);
    }

    /// The multiple by a secret scalar, in constant time.
    pub fn mul(&self, scalar: &Scalar) -> G2 {
        match self.multiples.table(&self.point.0) {
            Some(table) => G2(table.mul_secret(scalar)),
            None => self.point.mul(scalar),
        }
    }
}

/// A table that is built for the third multiplication. Building it takes as long as five multiplications without it, so
/// a key that is used once, with each of its points multiplied once or twice, is faster without.
struct Multiples<F> {
    without: AtomicU8,
    table: OnceLock<Table<F>>,
}

const MOST_WITHOUT: u8 = 2;

impl<F> Default for Multiples<F> {
    fn default() -> Self {
        Self {
            without: AtomicU8::new(0),
            table: OnceLock::new(),
        }
    }
}

impl<F: Coordinate> Multiples<F> {
    /// Counts a multiplication. Whether there is a table depends only on their number, never on a scalar.
    fn table(&self, point: &Point<F>) -> Option<&Table<F>> {
        if self.table.get().is_none() {
            let once_more = |without: u8| without.checked_add(1).filter(|n| *n <= MOST_WITHOUT);
            let relaxed = Ordering::Relaxed;
            if (self.without.fetch_update(relaxed, relaxed, once_more)).is_ok() {
                return None;
            }
        }
        Some(self.build(point))
    }

    fn build(&self, point: &Point<F>) -> &Table<F> {
        self.table.get_or_init(|| Table::new(point))
    }
}

/// For every five bits of a scalar, lowest first, the multiples 1 to 16 of the point at that place. Digits are signed.
#[derive(Clone)]
pub(super) struct Table<F>(Vec<[Affine<F>; HEIGHT]>);

/// Multiples in a window.
const HEIGHT: usize = 16;
/// Windows of five bits in a scalar; the last one has four, so that the carry into it stays in it.
const WINDOWS: usize = 51;

impl<F: Coordinate> Table<F> {
    pub(super) fn new(point: &Point<F>) -> Self {
        let mut base = *point;
        let mut multiples = Vec::with_capacity(WINDOWS.saturating_mul(HEIGHT));
        for _ in 0..WINDOWS {
            let mut multiple = base;
            for _ in 1..HEIGHT {
                multiples.push(multiple);
                multiple = multiple.add(&base);
            }
            multiples.push(multiple);
            base = multiple.double();
        }
        Self(affine(&multiples).as_chunks().0.to_vec())
    }

    pub(super) fn mul_secret(&self, scalar: &Scalar) -> Point<F> {
        let digits = Zeroizing::new(signed_digits(&scalar.limbs()));
        let windows = self.0.iter().zip(digits.iter());
        windows.fold(
            Point::IDENTITY,
            |sum, (multiples, (magnitude, negative))| {
                let Affine { x, mut y } = look_up(multiples, magnitude.wrapping_sub(1));
                y.conditional_assign(&y.neg(), Choice::from(*negative));
                let next = sum.add_affine(&x, &y);
                Point::conditional_select(&next, &sum, magnitude.ct_eq(&0))
            },
        )
    }

    fn mul_public(&self, scalar: &Scalar) -> Point<F> {
        let windows = self.0.iter().zip(signed_digits(&scalar.limbs()));
        windows.fold(
            Point::IDENTITY,
            |sum, (multiples, (magnitude, negative))| {
                let place = usize::from(magnitude).checked_sub(1);
                match place.and_then(|place| multiples.get(place)) {
                    Some(Affine { x, y }) if negative == 1 => sum.add_affine(x, &y.neg()),
                    Some(Affine { x, y }) => sum.add_affine(x, y),
                    None => sum,
                }
            },
        )
    }
}

/// Magnitude up to 16 and sign, 1 for negative, of each five bits, the lowest first.
fn signed_digits(limbs: &Limbs) -> [(u8, u8); WINDOWS] {
    let [a, b, c, d] = *limbs;
    let (mut low, mut high) = (
        u128::from(a) | u128::from(b) << 64,
        u128::from(c) | u128::from(d) << 64,
    );
    let mut carry = 0;
    [(); WINDOWS].map(|()| {
        let digit = (low as u8 & 31).wrapping_add(carry); // at most 32
        low = low >> 5 | high << 123;
        high >>= 5;
        carry = 16_u8.wrapping_sub(digit) >> 7; // above 16
        let mask = 0_u8.wrapping_sub(carry);
        (digit ^ (digit ^ 32_u8.wrapping_sub(digit)) & mask, carry)
    })
}

/// The points, none of them the point at infinity, with one inversion.
fn affine<F: Coordinate>(points: &[Point<F>]) -> Vec<Affine<F>> {
    let mut inverses: Vec<F> = points.iter().map(|point| point.z).collect();
    invert_all(&mut inverses);
    points
        .iter()
        .zip(&inverses)
        .map(|(point, inverse)| Affine {
            x: point.x.mul(inverse),
            y: point.y.mul(inverse),
        })
        .collect()
}

impl<F: Coordinate> ConditionallySelectable for Affine<F> {
    #[inline]
    fn conditional_select(a: &Self, b: &Self, choice: Choice) -> Self {
        Self {
            x: F::conditional_select(&a.x, &b.x, choice),
            y: F::conditional_select(&a.y, &b.y, choice),
        }
    }
}

/// A comb over an element of GT: all products of it and its powers by 2^64, 2^128 and 2^192; 6 kB.
#[derive(Clone)]
pub struct FixedGt([Fp12; 16]);

impl FixedGt {
    /// Computes the powers; takes about as long as one power without them.
    pub fn new(element: &Gt) -> Self {
        let mut tooth = element.0;
        let mut products = vec![Fp12::ONE];
        for _ in 0..4 {
            let with_tooth: Vec<_> = products.iter().map(|product| product.mul(&tooth)).collect();
            products.extend(with_tooth);
            for _ in 0..64 {
                tooth = tooth.cyclotomic_square();
            }
        }
        let mut table = [Fp12::ONE; 16];
        for (entry, product) in table.iter_mut().zip(products) {
            *entry = product;
        }
        Self(table)
    }

    /// The product of powers by secret scalars, in constant time.
    pub fn product(terms: &[(&Self, &Scalar)]) -> Gt {
        let terms: Vec<_> = terms
            .iter()
            .map(|(table, scalar)| (&table.0, scalar.limbs()))
            .collect();
        let mut product = Fp12::ONE;
        for column in (0..64).rev() {
            product = product.cyclotomic_square();
            for (table, limbs) in &terms {
                let bit = |limb: u64| (limb >> column & 1) as u8;
                let [a, b, c, d] = limbs.map(bit);
                product = product.mul(&look_up(table, a | b << 1 | c << 2 | d << 3));
            }
        }
        Gt(product)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_of_fixed_points_are_those_of_the_points() {
        let (g1, g2) = (G1::generator(), G2::generator());
        let (fixed1, fixed2) = (FixedG1::new(&g1), FixedG2::new(&g2));
        let minus_one = Scalar::zero().sub(&Scalar::one());
        let random = Scalar::from_be_bytes_reduced(&[0x9D; 64]);
        let edges = [15_u64, 16, 17, 31, 32, 33, 1 << 63].map(Scalar::from);
        let scalars = [Scalar::zero(), Scalar::one(), minus_one, random];
        for scalar in scalars.into_iter().chain(edges) {
            assert_eq!(fixed1.mul(&scalar), g1.mul(&scalar));
            assert_eq!(fixed1.mul_public(&scalar), g1.mul(&scalar));
            assert_eq!(fixed2.mul(&scalar), g2.mul(&scalar));
        }
    }

    #[test]
    fn a_table_is_made_for_the_third_multiple() {
        let (g, three) = (G1::generator(), Scalar::from(3));
        let fixed = FixedG1::new(&g);
        for has_table in [false, false, true, true] {
            assert_eq!(fixed.mul(&three), g.add(&g).add(&g));
            assert_eq!(fixed.multiples.table.get().is_some(), has_table);
        }
    }

    #[test]
    fn signed_digits_add_up() {
        for limbs in [
            [0; 4],
            [u64::MAX, u64::MAX, u64::MAX, u64::MAX >> 2],
            [0x8421_0842_1084_2108; 4].map(|limb: u64| limb >> 2),
        ] {
            let mut rest = dashu_int::IBig::ZERO;
            for (magnitude, negative) in signed_digits(&limbs).into_iter().rev() {
                assert!(magnitude <= 16);
                let digit = if negative == 1 {
                    -i32::from(magnitude)
                } else {
                    magnitude.into()
                };
                rest = rest * 32 + digit;
            }
            let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
            assert_eq!(rest, dashu_int::UBig::from_le_bytes(&bytes).into());
        }
    }

    #[test]
    fn powers_of_fixed_elements_are_those_of_the_elements() {
        let a = super::super::pair(&G1::generator(), &G2::generator());
        let b = a.mul(&a).mul(&a);
        let fixed = [a, b].map(|element| FixedGt::new(&element));
        let minus_one = Scalar::zero().sub(&Scalar::one());
        let random = Scalar::from_be_bytes_reduced(&[0x9D; 64]);
        for scalar in [Scalar::zero(), Scalar::one(), minus_one, random.clone()] {
            let product = FixedGt::product(&[(&fixed[0], &scalar), (&fixed[1], &random)]);
            assert_eq!(product, a.pow(&scalar).mul(&b.pow(&random)));
        }
        assert_eq!(FixedGt::product(&[]), Gt::one());
    }
}
