//! Owns F_p² = F_p\[i\] with i² = -1.

use subtle::{Choice, ConditionallySelectable};

use super::fp::{FieldOrder, Fp};
use super::montgomery::{Limbs, Prime, add, multiply_twice, subtract};

/// c0 + c1·i.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fp2 {
    pub(super) c0: Fp,
    pub(super) c1: Fp,
}

impl Fp2 {
    pub(super) const ZERO: Self = Self::of(Fp::ZERO, Fp::ZERO);
    pub(super) const ONE: Self = Self::of(Fp::ONE, Fp::ZERO);

    pub(super) const fn of(c0: Fp, c1: Fp) -> Self {
        Self { c0, c1 }
    }

    pub(super) const fn new(c0: Limbs, c1: Limbs) -> Self {
        Self::of(Fp::new(c0), Fp::new(c1))
    }

    #[inline(always)]
    pub(super) const fn add(&self, other: &Self) -> Self {
        Self::of(self.c0.add(&other.c0), self.c1.add(&other.c1))
    }

    #[inline(always)]
    pub(super) const fn sub(&self, other: &Self) -> Self {
        Self::of(self.c0.sub(&other.c0), self.c1.sub(&other.c1))
    }

    #[inline(always)]
    pub(super) const fn double(&self) -> Self {
        self.add(self)
    }

    #[inline(always)]
    pub(super) const fn triple(&self) -> Self {
        self.double().add(self)
    }

    #[inline(always)]
    pub(super) const fn halve(&self) -> Self {
        Self::of(self.c0.halve(), self.c1.halve())
    }

    #[inline(always)]
    pub(super) const fn neg(&self) -> Self {
        Self::of(self.c0.neg(), self.c1.neg())
    }

    /// c0 - c1·i, which is the p-th power.
    #[inline(always)]
    pub(super) const fn conjugate(&self) -> Self {
        Self::of(self.c0, self.c1.neg())
    }

    /// Four products of limbs with two reductions; not by Karatsuba, whose sums cost more than the product it saves.
    /// Not inlined: eighteen copies would not fit the instruction cache.
    #[inline(never)]
    pub(super) const fn mul(&self, other: &Self) -> Self {
        let (a0, a1) = (self.c0.limbs(), self.c1.limbs());
        let (b0, b1) = (other.c0.limbs(), other.c1.limbs());
        let minus_b1 = subtract(&FieldOrder::P, b1).0;
        Self::of(
            Fp::from_montgomery(multiply_twice::<FieldOrder>(a0, b0, a1, &minus_b1)),
            Fp::from_montgomery(multiply_twice::<FieldOrder>(a0, b1, a1, b0)),
        )
    }

    /// (c0 + c1)(c0 - c1) + 2·c0·c1·i.
    #[inline(never)]
    pub(super) const fn square(&self) -> Self {
        // A left factor below 2p is reduced by the product.
        let sum = Fp::from_montgomery(add(self.c0.limbs(), self.c1.limbs()));
        let double = Fp::from_montgomery(add(self.c0.limbs(), self.c0.limbs()));
        Self::of(sum.mul(&self.c0.sub(&self.c1)), double.mul(&self.c1))
    }

    #[inline(always)]
    pub(super) const fn scale(&self, factor: &Fp) -> Self {
        Self::of(self.c0.mul(factor), self.c1.mul(factor))
    }

    /// The product with ξ = 1 + i, which has no square and no cube root.
    #[inline(always)]
    pub(super) const fn times_xi(&self) -> Self {
        Self::of(self.c0.sub(&self.c1), self.c0.add(&self.c1))
    }

    /// 1/x; 0 for 0.
    pub(super) fn inverse(&self) -> Self {
        let norm = self.c0.square().add(&self.c1.square());
        self.conjugate().scale(&norm.inverse())
    }

    pub(super) fn is_zero(&self) -> Choice {
        self.c0.is_zero() & self.c1.is_zero()
    }
}

impl ConditionallySelectable for Fp2 {
    #[inline(always)]
    fn conditional_select(a: &Self, b: &Self, choice: Choice) -> Self {
        Self::of(
            Fp::conditional_select(&a.c0, &b.c0, choice),
            Fp::conditional_select(&a.c1, &b.c1, choice),
        )
    }
}
