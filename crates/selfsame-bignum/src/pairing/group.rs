//! Owns points of y² = x³ + b over F_p and F_p² in homogeneous coordinates: complete addition, multiples, sums.

use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use super::fp::Fp;
use super::fp2::Fp2;
use super::scalar::Scalar;
use super::split::{DigitsG1, DigitsG2};

/// The field that a curve's coordinates are in.
pub(super) trait Coordinate: Copy + Eq + ConditionallySelectable {
    const ZERO: Self;
    const ONE: Self;
    fn add(&self, other: &Self) -> Self;
    fn sub(&self, other: &Self) -> Self;
    fn neg(&self) -> Self;
    fn mul(&self, other: &Self) -> Self;
    fn square(&self) -> Self;
    fn inverse(&self) -> Self;
    fn is_zero(&self) -> Choice;
    /// The product with three times the curve's b.
    fn times_3b(&self) -> Self;
    fn double(&self) -> Self {
        self.add(self)
    }

    /// A scalar in digits over the powers of the endomorphism.
    type Digits: for<'a> From<&'a Scalar>;
    /// The number of powers, and of digits for each.
    const PARTS: usize;
    const DIGITS: usize;
    fn digit(digits: &Self::Digits, part: usize, place: usize) -> (u8, Choice);
    /// The endomorphism that the digits are for, cheap to compute for a point of the group.
    fn endomorphism(point: &Point<Self>) -> Point<Self>;
}

/// The curve over F_p: b = 2.
impl Coordinate for Fp {
    const ZERO: Self = Self::ZERO;
    const ONE: Self = Self::ONE;

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        self.add(other)
    }
    #[inline(always)]
    fn sub(&self, other: &Self) -> Self {
        self.sub(other)
    }
    #[inline(always)]
    fn neg(&self) -> Self {
        self.neg()
    }
    #[inline(always)]
    fn mul(&self, other: &Self) -> Self {
        self.mul(other)
    }
    #[inline(always)]
    fn square(&self) -> Self {
        self.square()
    }
    fn inverse(&self) -> Self {
        self.inverse()
    }
    #[inline(always)]
    fn is_zero(&self) -> Choice {
        self.is_zero()
    }
    #[inline(always)]
    fn times_3b(&self) -> Self {
        let double = self.double();
        double.double().add(&double)
    }

    type Digits = DigitsG1;
    const PARTS: usize = 2;
    const DIGITS: usize = 32;
    fn digit(digits: &DigitsG1, part: usize, place: usize) -> (u8, Choice) {
        digits.digit(part, place)
    }
    /// (β·x, y) for a cube root of unity β.
    fn endomorphism(point: &Point<Self>) -> Point<Self> {
        Point {
            x: point.x.mul(&CUBE_ROOT),
            ..*point
        }
    }
}

const CUBE_ROOT: Fp = Fp::new([
    0xCD80_0000_0000_0007,
    0x4909_0000_0000_0006,
    0x49B3_6240_0000_0002,
    0,
]);

/// The twist over F_p²: b = 2/ξ = 1 - i.
impl Coordinate for Fp2 {
    const ZERO: Self = Self::ZERO;
    const ONE: Self = Self::ONE;

    #[inline(always)]
    fn add(&self, other: &Self) -> Self {
        self.add(other)
    }
    #[inline(always)]
    fn sub(&self, other: &Self) -> Self {
        self.sub(other)
    }
    #[inline(always)]
    fn neg(&self) -> Self {
        self.neg()
    }
    #[inline(always)]
    fn mul(&self, other: &Self) -> Self {
        self.mul(other)
    }
    #[inline(always)]
    fn square(&self) -> Self {
        self.square()
    }
    fn inverse(&self) -> Self {
        self.inverse()
    }
    #[inline(always)]
    fn is_zero(&self) -> Choice {
        self.is_zero()
    }
    #[inline(always)]
    fn times_3b(&self) -> Self {
        Self::of(self.c0.add(&self.c1), self.c1.sub(&self.c0)).triple()
    }

    type Digits = DigitsG2;
    const PARTS: usize = 4;
    const DIGITS: usize = 17;
    fn digit(digits: &DigitsG2, part: usize, place: usize) -> (u8, Choice) {
        digits.digit(part, place)
    }
    fn endomorphism(point: &Point<Self>) -> Point<Self> {
        point.frobenius()
    }
}

/// The point (x/z, y/z), or the point at infinity (0 : y : 0).
#[derive(Clone, Copy, Debug)]
pub(super) struct Point<F> {
    pub(super) x: F,
    pub(super) y: F,
    pub(super) z: F,
}

impl<F: Coordinate> Point<F> {
    pub(super) const IDENTITY: Self = Self {
        x: F::ZERO,
        y: F::ONE,
        z: F::ZERO,
    };

    pub(super) const fn affine(x: F, y: F) -> Self {
        Self { x, y, z: F::ONE }
    }

    /// Checks y²z = x³ + b·z³, times three, and that not all coordinates are zero.
    pub(super) fn is_on_curve(&self) -> bool {
        let left = self.y.square().mul(&self.z);
        let cube = self.x.square().mul(&self.x);
        let difference = left.sub(&cube);
        let tripled = difference.double().add(&difference);
        let right = self.z.square().mul(&self.z).times_3b();
        let vanishes = self.y.is_zero() & self.z.is_zero();
        tripled == right && !bool::from(vanishes)
    }

    pub(super) fn is_identity(&self) -> Choice {
        self.z.is_zero()
    }

    /// Complete addition: Renes, Costello and Batina, EUROCRYPT 2016, algorithm 7.
    #[inline]
    pub(super) fn add(&self, other: &Self) -> Self {
        let (p, q) = (self, other);
        let xx = p.x.mul(&q.x);
        let yy = p.y.mul(&q.y);
        let zz = p.z.mul(&q.z);
        let xy = p.x.add(&p.y).mul(&q.x.add(&q.y)).sub(&xx.add(&yy));
        let yz = p.y.add(&p.z).mul(&q.y.add(&q.z)).sub(&yy.add(&zz));
        let xz = p.x.add(&p.z).mul(&q.x.add(&q.z)).sub(&xx.add(&zz));
        Self::finish_addition(&xx, &yy, &zz.times_3b(), [&xy, &yz, &xz])
    }

    /// Complete addition of an affine point other than the point at infinity (Renes, Costello and Batina, algorithm 8).
    #[inline]
    pub(super) fn add_affine(&self, x: &F, y: &F) -> Self {
        let xx = self.x.mul(x);
        let yy = self.y.mul(y);
        let xy = self.x.add(&self.y).mul(&x.add(y)).sub(&xx.add(&yy));
        let yz = y.mul(&self.z).add(&self.y);
        let xz = x.mul(&self.z).add(&self.x);
        Self::finish_addition(&xx, &yy, &self.z.times_3b(), [&xy, &yz, &xz])
    }

    /// From x1x2, y1y2, 3b·z1z2, and x1y2 + x2y1, y1z2 + y2z1, x1z2 + x2z1.
    #[inline(always)]
    fn finish_addition(xx: &F, yy: &F, bzz: &F, [xy, yz, xz]: [&F; 3]) -> Self {
        let xxx = xx.double().add(xx);
        let sum = yy.add(bzz);
        let difference = yy.sub(bzz);
        let bxz = xz.times_3b();
        Self {
            x: xy.mul(&difference).sub(&yz.mul(&bxz)),
            y: bxz.mul(&xxx).add(&difference.mul(&sum)),
            z: xxx.mul(xy).add(&yz.mul(&sum)),
        }
    }

    /// Complete doubling (Renes, Costello and Batina, algorithm 9).
    #[inline]
    pub(super) fn double(&self) -> Self {
        let yy = self.y.square();
        let yy8 = yy.double().double().double();
        let bzz = self.z.square().times_3b();
        let yz = self.y.mul(&self.z);
        let difference = yy.sub(&bzz.double().add(&bzz));
        let xy = self.x.mul(&self.y);
        Self {
            x: difference.mul(&xy).double(),
            y: difference.mul(&yy.add(&bzz)).add(&bzz.mul(&yy8)),
            z: yz.mul(&yy8),
        }
    }

    /// 2^count times the point, which is not infinity, in Jacobian coordinates, where doubling is cheapest (Lange
    /// 2009). On a curve of odd order no intermediate multiple is infinity either.
    pub(super) fn doubled(&self, count: u32) -> Self {
        let (mut x, mut y) = (self.x.mul(&self.z), self.y.mul(&self.z.square()));
        let mut z = self.z;
        for _ in 0..count {
            let xx = x.square();
            let yy = y.square();
            let yyyy = yy.square();
            let xyy2 = x.add(&yy).square().sub(&xx).sub(&yyyy).double();
            let slope = xx.double().add(&xx);
            z = y.mul(&z).double();
            x = slope.square().sub(&xyy2.double());
            y = slope.mul(&xyy2.sub(&x));
            y = y.sub(&yyyy.double().double().double());
        }
        Self {
            x: x.mul(&z),
            y,
            z: z.square().mul(&z),
        }
    }

    pub(super) fn neg(&self) -> Self {
        Self {
            y: self.y.neg(),
            ..*self
        }
    }

    /// x and y; both zero for the point at infinity.
    pub(super) fn to_affine(self) -> (F, F) {
        if self.z == F::ONE {
            return (self.x, self.y);
        }
        let inverse = self.z.inverse();
        (self.x.mul(&inverse), self.y.mul(&inverse))
    }
}

/// Reads every entry and keeps one.
pub(super) fn look_up<F: ConditionallySelectable, const N: usize>(table: &[F; N], index: u8) -> F {
    let mut found = table[0];
    for (entry, place) in table.iter().zip(0u8..) {
        found.conditional_assign(entry, place.ct_eq(&index));
    }
    found
}

impl<F: Coordinate> PartialEq for Point<F> {
    fn eq(&self, other: &Self) -> bool {
        let x = self.x.mul(&other.z) == other.x.mul(&self.z);
        let y = self.y.mul(&other.z) == other.y.mul(&self.z);
        x && y && bool::from(!(self.is_identity() ^ other.is_identity()))
    }
}

impl<F: Coordinate> Eq for Point<F> {}

impl<F: Coordinate> ConditionallySelectable for Point<F> {
    #[inline]
    fn conditional_select(a: &Self, b: &Self, choice: Choice) -> Self {
        Self {
            x: F::conditional_select(&a.x, &b.x, choice),
            y: F::conditional_select(&a.y, &b.y, choice),
            z: F::conditional_select(&a.z, &b.z, choice),
        }
    }
}
