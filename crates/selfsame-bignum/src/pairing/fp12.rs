//! Owns F_p¹² = F_p⁶\[w\] with w² = v, and the operations that are cheaper in its cyclotomic subgroup.

use subtle::{Choice, ConditionallySelectable};

use super::fp2::Fp2;
use super::fp6::Fp6;

/// ξ^((p-1)/6), so that w^p = FROBENIUS·w.
pub(super) const FROBENIUS: Fp2 = Fp2::new(
    [
        0xE17D_E6C0_6F2A_6DE9,
        0x8509_7492_4D3F_77C2,
        0xB649_9B50_A846_953F,
        0x1B37_7619_212E_7C8C,
    ],
    [
        0xC582_193F_90D5_922A,
        0xDC17_8B6D_B2C0_8850,
        0x03EA_B22F_57B9_6AC8,
        0x09EB_EE69_1ED1_8375,
    ],
);
/// Powers of `FROBENIUS`: the factors of v, w·v, v² and w·v² in the p-th power.
pub(super) const FROBENIUS_2: Fp2 = FROBENIUS.square();
pub(super) const FROBENIUS_3: Fp2 = FROBENIUS_2.mul(&FROBENIUS);
const FROBENIUS_4: Fp2 = FROBENIUS_2.square();
const FROBENIUS_5: Fp2 = FROBENIUS_4.mul(&FROBENIUS);

/// c0 + c1·w.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fp12 {
    pub(super) c0: Fp6,
    pub(super) c1: Fp6,
}

impl Fp12 {
    pub(super) const ONE: Self = Self::of(Fp6::ONE, Fp6::ZERO);

    pub(super) const fn of(c0: Fp6, c1: Fp6) -> Self {
        Self { c0, c1 }
    }

    #[inline]
    pub(super) fn mul(&self, other: &Self) -> Self {
        let v0 = self.c0.mul(&other.c0);
        let v1 = self.c1.mul(&other.c1);
        let cross = self.c0.add(&self.c1).mul(&other.c0.add(&other.c1));
        Self::of(v0.add(&v1.times_v()), cross.sub(&v0).sub(&v1))
    }

    /// (c0 + c1)(c0 + v·c1) = c0² + v·c1² + (1 + v)·c0·c1.
    #[inline]
    pub(super) fn square(&self) -> Self {
        let product = self.c0.mul(&self.c1);
        let sums = self.c0.add(&self.c1).mul(&self.c0.add(&self.c1.times_v()));
        Self::of(sums.sub(&product).sub(&product.times_v()), product.double())
    }

    /// The product with a + b·w + c·w·v, as a line through points of the twist is.
    #[inline]
    pub(super) fn mul_line(&self, a: &Fp2, b: &Fp2, c: &Fp2) -> Self {
        let v0 = self.c0.scale(a);
        let v1 = self.c1.mul_sparse(b, c);
        let cross = self.c0.add(&self.c1).mul_sparse(&a.add(b), c);
        Self::of(v0.add(&v1.times_v()), cross.sub(&v0).sub(&v1))
    }

    /// The p⁶-th power: in the cyclotomic subgroup the inverse.
    #[inline]
    pub(super) fn conjugate(&self) -> Self {
        Self::of(self.c0, self.c1.neg())
    }

    /// The p-th power.
    pub(super) fn frobenius(&self) -> Self {
        let (a, b) = (&self.c0, &self.c1);
        Self::of(
            Fp6::of(
                a.c0.conjugate(),
                a.c1.conjugate().mul(&FROBENIUS_2),
                a.c2.conjugate().mul(&FROBENIUS_4),
            ),
            Fp6::of(
                b.c0.conjugate().mul(&FROBENIUS),
                b.c1.conjugate().mul(&FROBENIUS_3),
                b.c2.conjugate().mul(&FROBENIUS_5),
            ),
        )
    }

    /// 1/x; 0 for 0.
    pub(super) fn inverse(&self) -> Self {
        let norm = self.c0.mul(&self.c0).sub(&self.c1.mul(&self.c1).times_v());
        let inverse = norm.inverse();
        Self::of(self.c0.mul(&inverse), self.c1.neg().mul(&inverse))
    }

    /// The square of an element of the cyclotomic subgroup (Granger and Scott, PKC 2010).
    #[inline]
    pub(super) fn cyclotomic_square(&self) -> Self {
        let (a, b) = (&self.c0, &self.c1);
        let (t0, t1) = square_in_fp4(&a.c0, &b.c1);
        let (t2, t3) = square_in_fp4(&b.c0, &a.c2);
        let (t4, t5) = square_in_fp4(&a.c1, &b.c2);
        // 3t - 2x and 3t + 2x.
        let less = |t: &Fp2, x: &Fp2| t.sub(x).double().add(t);
        let more = |t: &Fp2, x: &Fp2| t.add(x).double().add(t);
        Self::of(
            Fp6::of(less(&t0, &a.c0), less(&t2, &a.c1), less(&t4, &a.c2)),
            Fp6::of(
                more(&t5.times_xi(), &b.c0),
                more(&t1, &b.c1),
                more(&t3, &b.c2),
            ),
        )
    }

    /// The six coefficients in the order of published data: F_p⁴ = F_p²\[w³\] below F_p¹² = F_p⁴\[w\].
    pub(super) fn published_order(&self) -> [Fp2; 6] {
        let (a, b) = (&self.c0, &self.c1);
        [a.c0, b.c1, b.c0, a.c2, a.c1, b.c2]
    }

    /// From the coefficients in that order.
    pub(super) fn from_published_order(parts: [Fp2; 6]) -> Self {
        let [a, b, c, d, e, f] = parts;
        Self::of(Fp6::of(a, e, d), Fp6::of(c, b, f))
    }
}

/// (a + b·y)² for y² = ξ.
#[inline]
fn square_in_fp4(a: &Fp2, b: &Fp2) -> (Fp2, Fp2) {
    let product = a.mul(b);
    let sums = a.add(b).mul(&a.add(&b.times_xi()));
    (
        sums.sub(&product).sub(&product.times_xi()),
        product.double(),
    )
}

impl ConditionallySelectable for Fp12 {
    #[inline]
    fn conditional_select(a: &Self, b: &Self, choice: Choice) -> Self {
        Self::of(
            Fp6::conditional_select(&a.c0, &b.c0, choice),
            Fp6::conditional_select(&a.c1, &b.c1, choice),
        )
    }
}
