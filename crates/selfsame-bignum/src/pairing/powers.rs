//! Powers by the curve's parameter and by p.

use super::fp2::Fp2;
use super::fp12::{FROBENIUS_2, FROBENIUS_3, Fp12};

/// -u: the curve's parameter is negative.
pub(super) const MINUS_U: u64 = (1 << 62) + (1 << 55) + 1;

/// The p-th power of a point of the curve, in the twist's coordinates.
pub(super) fn frobenius(x: &Fp2, y: &Fp2) -> (Fp2, Fp2) {
    (
        x.conjugate().mul(&FROBENIUS_2),
        y.conjugate().mul(&FROBENIUS_3),
    )
}

/// The power of -u in the cyclotomic subgroup.
pub(super) fn power_minus_u(f: &Fp12) -> Fp12 {
    let mut power = *f;
    for i in (0..62).rev() {
        power = power.cyclotomic_square();
        if MINUS_U >> i & 1 == 1 {
            power = power.mul(f);
        }
    }
    power
}
