//! Montgomery products on 64-bit limbs, for any processor.
//!
//! Speed depends on how a row, one limb times all others, is added up. Carried from limb to limb (`multiply_add`), a
//! product of two limbs takes four additions. Here eight products are made first and then added in two runs, the lower
//! halves to the upper ones and both to the sum so far: two additions each, by the processor's additions with carry.
#![cfg_attr(
    not(test),
    expect(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        reason = "indexes count limbs, of which the arrays have as many as their types say, and no index exceeds that"
    )
)]

use std::sync::atomic::{Ordering, compiler_fence};

use zeroize::Zeroize;

use super::{
    lane::{Lane, MOST_LANES, PICKS},
    limbs::{high, mask, multiply_add},
};

/// The most limbs a residue can have: 4,160 bits and two to spare.
pub(super) const MOST: usize = 66;

/// Limbs of a lane.
pub(super) const EIGHT: usize = 8;

/// A modulus in the form of this path.
pub(super) struct Limbs<'a> {
    pub(super) modulus: &'a [Lane],
    pub(super) negated_inverse: u64,
    pub(super) count: usize,
}

/// How eight limbs are multiplied by one.
pub(super) trait Rows {
    /// Computes `t += a·digit + carry` and returns the carry out.
    fn eight(t: &mut [u64; EIGHT], a: &[u64; EIGHT], digit: u64, carry: u64) -> u64;
}

/// In plain Rust.
pub(super) struct Plain;

/// Replaces `acc` by acc·x/R mod n, or acc²/R mod n without an `x`: below 2n, if 4n < R and both factors are below 2n.
pub(super) fn product<R: Rows>(n: &Limbs<'_>, acc: &mut [Lane], x: Option<&[Lane]>) {
    // The lengths that AnonCreds uses get loops of a known length: 597 (the prime e), 1,025, 2,050 and 3,072 bits.
    match n.count {
        10 => product_sized::<R, 10, 20>(n, acc, x),
        17 => product_sized::<R, 17, 34>(n, acc, x),
        33 => product_sized::<R, 33, 66>(n, acc, x),
        49 => product_sized::<R, 49, 98>(n, acc, x),
        _ => product_sized::<R, MOST, { 2 * MOST }>(n, acc, x),
    }
}

/// Replaces `acc` by acc²/R mod n, for any n below R: below R, if acc is.
pub(super) fn square_below_radix<R: Rows>(n: &Limbs<'_>, acc: &mut [Lane]) {
    match n.count {
        10 => square_sized::<R, 10, 20>(n, acc),
        16 => square_sized::<R, 16, 32>(n, acc),
        _ => square_sized::<R, MOST, { 2 * MOST }>(n, acc),
    }
}

/// Replaces `acc` by acc·2^shift/2^64 mod n for a shift below 64, for any n below R: below R, if acc is.
pub(super) fn shift_below_radix<R: Rows>(n: &Limbs<'_>, acc: &mut [Lane], shift: u32) {
    let mut t = [0_u64; MOST + 1];
    let mut below = 0;
    for (place, slot) in t[..=n.count].iter_mut().enumerate() {
        let limb = acc
            .get(place / EIGHT)
            .map_or(0, |lane| lane.0[place % EIGHT]);
        *slot = high((u128::from(limb) << 64 | u128::from(below)) << shift);
        below = limb;
    }
    let over = reduce::<R>(n, 1, &mut t);
    leave_below_radix(n, acc, &mut t[1..=n.count], over);
}

/// A product on arrays of `L` limbs and of twice that, `W`; `n.count` limbs of them are in use.
fn product_sized<R: Rows, const L: usize, const W: usize>(
    n: &Limbs<'_>,
    acc: &mut [Lane],
    x: Option<&[Lane]>,
) {
    let n = n.sized::<L>();
    let mut t = [0_u64; W];
    match x {
        Some(x) => multiply::<R>(acc, x, &n, &mut t),
        None => {
            square::<R>(&n, acc, &mut t);
            reduce::<R>(&n, n.count, &mut t);
        }
    }
    leave(acc, &mut t[n.count..2 * n.count]);
}

/// As `product_sized`.
fn square_sized<R: Rows, const L: usize, const W: usize>(n: &Limbs<'_>, acc: &mut [Lane]) {
    let n = n.sized::<L>();
    let mut t = [0_u64; W];
    square::<R>(&n, acc, &mut t);
    let over = reduce::<R>(&n, n.count, &mut t);
    leave_below_radix(&n, acc, &mut t[n.count..2 * n.count], over);
}

impl Limbs<'_> {
    /// The product for a length that the compiler knows, so that it leaves out the loops over lanes.
    #[inline(always)]
    fn sized<const L: usize>(&self) -> Self {
        let count = if L == MOST { self.count.min(MOST) } else { L };
        Self {
            modulus: &self.modulus[..count.div_ceil(EIGHT)],
            count,
            ..*self
        }
    }
}

/// Subtracts n from a number above R, which exceeds R by one R at most.
#[inline(always)]
fn leave_below_radix(n: &Limbs<'_>, acc: &mut [Lane], result: &mut [u64], over: bool) {
    let select = mask(u64::from(over));
    let mut borrow = false;
    for (eight, lane) in result.chunks_mut(EIGHT).zip(n.modulus) {
        for (slot, limb) in eight.iter_mut().zip(&lane.0) {
            (*slot, borrow) = slot.borrowing_sub(limb & select, borrow);
        }
    }
    leave(acc, result);
}

/// Copies the limbs to their destination and wipes them here; the limbs below them are already zero.
#[inline(always)]
fn leave(acc: &mut [Lane], result: &mut [u64]) {
    for (lane, eight) in acc.iter_mut().zip(result.chunks(EIGHT)) {
        lane.0[..eight.len()].copy_from_slice(eight);
    }
    result.zeroize();
}

/// Row by row: one limb of `x` times `a`, plus the multiple of `n` that makes the lowest limb zero, where the next row
/// begins. With a < 2n and 4n < R no row exceeds a + n, so nothing is carried out of the top.
#[inline(always)]
fn multiply<R: Rows>(a: &[Lane], x: &[Lane], n: &Limbs<'_>, t: &mut [u64]) {
    let count = n.count;
    let a = &a[..n.modulus.len()];
    for place in 0..count {
        let digit = x[place / EIGHT].0[place % EIGHT];
        let window = &mut t[place..place + count];
        let carry = row::<R>(window, a, digit);
        let quotient = window[0].wrapping_mul(n.negated_inverse);
        let reduced = row::<R>(window, n.modulus, quotient);
        t[place + count] = carry.wrapping_add(reduced);
    }
}

/// The square of a: each product of two different limbs computed once and doubled, and the squares of the limbs.
#[inline(always)]
fn square<R: Rows>(n: &Limbs<'_>, a: &[Lane], t: &mut [u64]) {
    let count = n.count;
    let a = &a[..n.modulus.len()];
    for (lane, t) in a.iter().zip(t[..2 * count].chunks_mut(2 * EIGHT)) {
        triangle(&lane.0[..t.len() / 2], t);
    }
    let (mut over, mut end) = (false, count);
    for (block, lane) in a.iter().enumerate() {
        let above = (block + 1) * EIGHT;
        if above >= count {
            break;
        }
        for (place, digit) in (block * EIGHT..above).zip(lane.0) {
            let carry = row::<R>(&mut t[place + above..place + count], &a[block + 1..], digit);
            (t[end], over) = t[end].carrying_add(carry, over);
            end += 1;
        }
    }
    for slot in &mut t[end..2 * count] {
        (*slot, over) = slot.carrying_add(0, over);
    }
    let (mut bit, mut carry) = (0, false);
    for (place, [low, high]) in t[..2 * count].as_chunks_mut().0.iter_mut().enumerate() {
        let digit = a[place / EIGHT].0[place % EIGHT];
        let own = multiply_add(0, digit, digit, 0);
        let doubled = (*low << 1 | bit, *high << 1 | *low >> 63);
        bit = *high >> 63;
        (*low, carry) = doubled.0.carrying_add(own.0, carry);
        (*high, carry) = doubled.1.carrying_add(own.1, carry);
    }
}

/// The products of two different limbs out of eight at most, written over zeros.
#[inline(always)]
fn triangle(a: &[u64], t: &mut [u64]) {
    for (place, digit) in a.iter().enumerate() {
        let mut carry = 0;
        for other in place + 1..a.len() {
            let slot = &mut t[place + other];
            (*slot, carry) = multiply_add(*slot, *digit, a[other], carry);
        }
        t[place + a.len()] = carry;
    }
}

/// For each of the `rows` lowest limbs of `t`, adds the multiple of `n` that makes it zero; returns the carry out.
#[inline(always)]
fn reduce<R: Rows>(n: &Limbs<'_>, rows: usize, t: &mut [u64]) -> bool {
    let count = n.count;
    let mut over = false;
    for place in 0..rows {
        let window = &mut t[place..place + count];
        let quotient = window[0].wrapping_mul(n.negated_inverse);
        let carry = row::<R>(window, n.modulus, quotient);
        (t[place + count], over) = t[place + count].carrying_add(carry, over);
    }
    over
}

/// Computes `t += a·digit` over the length of `t` and returns the carry out.
#[inline(always)]
fn row<R: Rows>(t: &mut [u64], a: &[Lane], digit: u64) -> u64 {
    // The first four lanes are written out, because a loop would cost a quarter more.
    let (t, a, carry) = lane::<R>(t, a, digit, 0);
    let (t, a, carry) = lane::<R>(t, a, digit, carry);
    let (t, a, carry) = lane::<R>(t, a, digit, carry);
    let (mut t, mut a, mut carry) = lane::<R>(t, a, digit, carry);
    while t.len() >= EIGHT {
        (t, a, carry) = lane::<R>(t, a, digit, carry);
    }
    for (slot, limb) in t.iter_mut().zip(a.iter().flat_map(|lane| &lane.0)) {
        (*slot, carry) = multiply_add(*slot, *limb, digit, carry);
    }
    carry
}

/// One lane of a row, if there is a whole one; returns the rest of the row and the carry into it.
#[inline(always)]
fn lane<'t, 'a, R: Rows>(
    t: &'t mut [u64],
    a: &'a [Lane],
    digit: u64,
    carry: u64,
) -> (&'t mut [u64], &'a [Lane], u64) {
    if t.len() < EIGHT {
        return (t, a, carry);
    }
    match (t.split_first_chunk_mut(), a.split_first()) {
        (Some((t, above)), Some((lane, a))) => (above, a, R::eight(t, &lane.0, digit, carry)),
        _ => (&mut [], &[], carry),
    }
}

impl Rows for Plain {
    #[inline(always)]
    fn eight(t: &mut [u64; EIGHT], a: &[u64; EIGHT], digit: u64, carry: u64) -> u64 {
        // Keeps the compiler from starting the products of the next lane, for which it has no registers.
        compiler_fence(Ordering::SeqCst);
        let (mut low, mut high) = ([0; EIGHT], [0; EIGHT]);
        for j in 0..EIGHT {
            (low[j], high[j]) = multiply_add(0, a[j], digit, 0);
        }
        let mut over;
        (low[0], over) = low[0].carrying_add(carry, false);
        for j in 1..EIGHT {
            (low[j], over) = low[j].carrying_add(high[j - 1], over);
        }
        // The upper half of a product is never all ones, and the whole sum fits.
        let top = high[EIGHT - 1].wrapping_add(u64::from(over));
        over = false;
        for j in 0..EIGHT {
            (t[j], over) = t[j].carrying_add(low[j], over);
        }
        top.wrapping_add(u64::from(over))
    }
}

/// Reads every row and copies the picked ones to `out`, one after the other.
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
    Zeroize::zeroize(kept.as_flattened_mut());
}

/// 1 if the numbers are equal, 0 if not, without a branch.
fn is_equal(a: u64, b: u64) -> u64 {
    let difference = a ^ b;
    1 ^ (difference | difference.wrapping_neg()).wrapping_shr(63)
}
