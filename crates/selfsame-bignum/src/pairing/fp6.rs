//! Owns F_p⁶ = F_p²\[v\] with v³ = ξ = 1 + i.

use subtle::{Choice, ConditionallySelectable};

use super::fp2::Fp2;

/// c0 + c1·v + c2·v².
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fp6 {
    pub(super) c0: Fp2,
    pub(super) c1: Fp2,
    pub(super) c2: Fp2,
}

impl Fp6 {
    pub(super) const ZERO: Self = Self::of(Fp2::ZERO, Fp2::ZERO, Fp2::ZERO);
    pub(super) const ONE: Self = Self::of(Fp2::ONE, Fp2::ZERO, Fp2::ZERO);

    pub(super) const fn of(c0: Fp2, c1: Fp2, c2: Fp2) -> Self {
        Self { c0, c1, c2 }
    }

    #[inline]
    pub(super) fn add(&self, other: &Self) -> Self {
        Self::of(
            self.c0.add(&other.c0),
            self.c1.add(&other.c1),
            self.c2.add(&other.c2),
        )
    }

    #[inline]
    pub(super) fn sub(&self, other: &Self) -> Self {
        Self::of(
            self.c0.sub(&other.c0),
            self.c1.sub(&other.c1),
            self.c2.sub(&other.c2),
        )
    }

    #[inline]
    pub(super) fn double(&self) -> Self {
        self.add(self)
    }

    #[inline]
    pub(super) fn neg(&self) -> Self {
        Self::of(self.c0.neg(), self.c1.neg(), self.c2.neg())
    }

    /// By Karatsuba: six products in F_p².
    #[inline]
    pub(super) fn mul(&self, other: &Self) -> Self {
        let (a, b) = (self, other);
        let v0 = a.c0.mul(&b.c0);
        let v1 = a.c1.mul(&b.c1);
        let v2 = a.c2.mul(&b.c2);
        let cross12 = a.c1.add(&a.c2).mul(&b.c1.add(&b.c2)).sub(&v1).sub(&v2);
        let cross01 = a.c0.add(&a.c1).mul(&b.c0.add(&b.c1)).sub(&v0).sub(&v1);
        let cross02 = a.c0.add(&a.c2).mul(&b.c0.add(&b.c2)).sub(&v0).sub(&v2);
        Self::of(
            v0.add(&cross12.times_xi()),
            cross01.add(&v2.times_xi()),
            cross02.add(&v1),
        )
    }

    /// The product with b0 + b1·v: five products in F_p².
    #[inline]
    pub(super) fn mul_sparse(&self, b0: &Fp2, b1: &Fp2) -> Self {
        let v0 = self.c0.mul(b0);
        let v1 = self.c1.mul(b1);
        let c0 = self.c2.mul(b1).times_xi().add(&v0);
        let cross = self.c0.add(&self.c1).mul(&b0.add(b1)).sub(&v0).sub(&v1);
        let c2 = self.c2.mul(b0).add(&v1);
        Self::of(c0, cross, c2)
    }

    #[inline]
    pub(super) fn scale(&self, factor: &Fp2) -> Self {
        Self::of(
            self.c0.mul(factor),
            self.c1.mul(factor),
            self.c2.mul(factor),
        )
    }

    #[inline]
    pub(super) fn times_v(&self) -> Self {
        Self::of(self.c2.times_xi(), self.c0, self.c1)
    }

    /// 1/x by its norm to F_p²; 0 for 0.
    pub(super) fn inverse(&self) -> Self {
        let a = self.c0.square().sub(&self.c1.mul(&self.c2).times_xi());
        let b = self.c2.square().times_xi().sub(&self.c0.mul(&self.c1));
        let c = self.c1.square().sub(&self.c0.mul(&self.c2));
        let v = self.c2.mul(&b).add(&self.c1.mul(&c)).times_xi();
        let norm = v.add(&self.c0.mul(&a)).inverse();
        Self::of(a.mul(&norm), b.mul(&norm), c.mul(&norm))
    }
}

impl ConditionallySelectable for Fp6 {
    #[inline]
    fn conditional_select(a: &Self, b: &Self, choice: Choice) -> Self {
        Self::of(
            Fp2::conditional_select(&a.c0, &b.c0, choice),
            Fp2::conditional_select(&a.c1, &b.c1, choice),
            Fp2::conditional_select(&a.c2, &b.c2, choice),
        )
    }
}
