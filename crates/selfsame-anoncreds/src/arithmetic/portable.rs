//! Montgomery products on 64-bit limbs, for any processor.
#![cfg_attr(
    not(test),
    expect(
        clippy::indexing_slicing,
        reason = "the arrays are as long as their type says, and every index is below that"
    )
)]

use super::{
    engine::{Lane, MOST_LANES, PICKS},
    limbs::{mask, multiply_add},
};

/// The most limbs a residue can have: 4,160 bits and two to spare.
const MOST: usize = 66;

/// A modulus as this path wants it.
pub(super) struct Limbs<'a> {
    pub(super) modulus: &'a [Lane],
    pub(super) negated_inverse: u64,
    pub(super) count: usize,
}

/// `acc` becomes acc·x/R mod n, or acc²/R mod n without an `x`.
pub(super) fn product(n: &Limbs<'_>, acc: &mut [Lane], x: Option<&[Lane]>) {
    // The lengths that AnonCreds uses get loops of a known length: 597 (the prime e), 1,025, 2,050 and 3,072 bits.
    match n.count {
        10 => sized::<10>(n, acc, x),
        17 => sized::<17>(n, acc, x),
        33 => sized::<33>(n, acc, x),
        49 => sized::<49>(n, acc, x),
        _ => sized::<MOST>(n, acc, x),
    }
}

/// A product on arrays of `L` limbs, of which `n.count` count.
fn sized<const L: usize>(n: &Limbs<'_>, acc: &mut [Lane], x: Option<&[Lane]>) {
    let count = if L == MOST { n.count.min(MOST) } else { L };
    let modulus: [u64; L] = unpack(n.modulus);
    let left: [u64; L] = unpack(acc);
    // A square by halves and a reduction apart was tried: it is 6 % slower than this, which does both in one pass.
    let mut result = match x {
        Some(x) => multiply(&modulus, n.negated_inverse, &left, &unpack(x), count),
        None => multiply(&modulus, n.negated_inverse, &left, &left, count),
    };
    for (digit, limb) in acc.iter_mut().flat_map(|lane| &mut lane.0).zip(&result) {
        *digit = *limb;
    }
    zeroize::Zeroize::zeroize(&mut result);
}

fn unpack<const L: usize>(lanes: &[Lane]) -> [u64; L] {
    let mut out = [0; L];
    for (limb, digit) in out.iter_mut().zip(lanes.iter().flat_map(|lane| lane.0)) {
        *limb = digit;
    }
    out
}

/// Row by row: one limb of `x` times `a`, and as much of `n` as makes the lowest limb zero, which then falls off.
/// With a < 2n and 4n < R no row exceeds a + n, so nothing is carried out of the top.
#[inline(always)]
fn multiply<const L: usize>(
    n: &[u64; L],
    inverse: u64,
    a: &[u64; L],
    x: &[u64; L],
    count: usize,
) -> [u64; L] {
    let mut t = [0_u64; L];
    for digit in &x[..count] {
        let (low, mut carry) = multiply_add(t[0], a[0], *digit, 0);
        let quotient = low.wrapping_mul(inverse);
        let (_, mut reduced) = multiply_add(low, n[0], quotient, 0);
        for j in 1..count {
            let sum;
            (sum, carry) = multiply_add(t[j], a[j], *digit, carry);
            (t[j.wrapping_sub(1)], reduced) = multiply_add(sum, n[j], quotient, reduced);
        }
        t[count.wrapping_sub(1)] = carry.wrapping_add(reduced);
    }
    t
}

/// Reads every row and keeps those that are picked, one after the other in `out`.
pub(super) fn scan(lanes: usize, table: &[Lane], picks: &[u64; PICKS], out: &mut [Lane]) {
    let mut kept = [[Lane::default(); MOST_LANES]; PICKS];
    for (number, row) in (0_u64..).zip(table.chunks_exact(lanes)) {
        #[cfg(test)]
        super::trace::row(table, row);
        for (kept, pick) in kept.iter_mut().zip(picks) {
            let select = mask(is_equal(*pick, number));
            for (slot, lane) in kept.iter_mut().zip(row) {
                for (slot, digit) in slot.0.iter_mut().zip(lane.0) {
                    *slot |= digit & select;
                }
            }
        }
    }
    for (place, kept) in out.chunks_exact_mut(lanes).zip(&kept) {
        place.copy_from_slice(&kept[..lanes]);
    }
    zeroize::Zeroize::zeroize(kept.as_flattened_mut());
}

/// 1 if the numbers are equal, 0 if not, without a branch.
fn is_equal(a: u64, b: u64) -> u64 {
    let difference = a ^ b;
    1 ^ (difference | difference.wrapping_neg()).wrapping_shr(63)
}
