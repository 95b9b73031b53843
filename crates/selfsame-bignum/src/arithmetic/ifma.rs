//! Montgomery products on 52-bit digits, eight at once: one of the two modules with processor-specific code.
//!
//! Squares have no code of their own. Code that left out the products of two digits that come twice, lane by lane, a
//! fifth of all, gave equal results and took 1.027 ± 0.002 times as long alone and 1.027 ± 0.004 times as long two at
//! once (AMD EPYC of family 26, 2,050 bits, both in turn in one run, 4,001 rounds; distance of the quartiles). What
//! limits a product is that each quotient waits for the last: two at once take 269 ns, one alone 222 ns.
#![expect(
    unsafe_code,
    reason = "vector loads, stores and the call into code for one kind of processor have no safe form"
)]
#![allow(
    clippy::needless_range_loop,
    reason = "several arrays of one length are walked at once, and the plain loop is what becomes registers"
)]
#![cfg_attr(
    not(test),
    expect(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        reason = "indexes count to the length that the arrays' types have, and shifts to the bits of one mask"
    )
)]

mod twist;

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_alignr_epi64, _mm512_and_si512, _mm512_broadcastq_epi64,
    _mm512_castsi512_si128, _mm512_cmpeq_epi64_mask, _mm512_cmpgt_epu64_mask, _mm512_load_si512,
    _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_mask_mov_epi64, _mm512_mask_sub_epi64,
    _mm512_maskz_srli_epi64, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srli_epi64,
    _mm512_store_si512,
};

use super::field::{Affine, Field, Sums};
use super::lane::{Factors, Lane, PICKS};

const DIGIT: i64 = (1 << 52) - 1;

/// Whether this processor has the features that this module needs.
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512ifma")
}

/// Calls `$function::<V>` for the number of lanes of a residue.
macro_rules! by_lanes {
    ($lanes:expr, $function:ident, $($argument:expr),*) => {
        match $lanes {
            1 => $function::<1>($($argument),*),
            2 => $function::<2>($($argument),*),
            3 => $function::<3>($($argument),*),
            4 => $function::<4>($($argument),*),
            5 => $function::<5>($($argument),*),
            6 => $function::<6>($($argument),*),
            7 => $function::<7>($($argument),*),
            8 => $function::<8>($($argument),*),
            9 => $function::<9>($($argument),*),
            10 => $function::<10>($($argument),*),
            11 => $function::<11>($($argument),*),
            lanes => unreachable!("a modulus has 1 to 11 lanes, not {lanes}"),
        }
    };
}

/// Replaces `acc` by acc·x/R mod n, or by acc²/R mod n without an `x`.
pub(super) fn product(n: &[Lane], inverse: u64, acc: &mut [Lane], x: Option<&[Lane]>) {
    // SAFETY: an engine takes this path only where `is_available` says that the processor has both features.
    unsafe { by_lanes!(n.len(), product_sized, n, inverse, acc, x) }
}

/// Two independent products at once, so that each hides the other's latency.
pub(super) fn pair(n: &[Lane], inverse: u64, first: Factors<'_>, second: Factors<'_>) {
    // SAFETY: an engine takes this path only where `is_available` says that the processor has both features.
    unsafe { by_lanes!(n.len(), pair_sized, n, inverse, first, second) }
}

/// Reads every row of the table and copies the picked ones to `out`, one after the other.
pub(super) fn scan(lanes: usize, table: &[Lane], picks: &[u64; PICKS], out: &mut [Lane]) {
    // SAFETY: an engine takes this path only where `is_available` says that the processor has both features.
    unsafe { by_lanes!(lanes, scan_sized, table, picks, out) }
}

/// Eight products, each modulo its own number: a lane holds one digit of all eight.
pub(super) fn eight(n: &[Lane], inverse: &Lane, acc: &mut [Lane], x: Option<&[Lane]>) {
    // SAFETY: callers with eight moduli side by side have checked `is_available` before.
    unsafe {
        match n.len() {
            12 => eight_sized::<12>(n, inverse, acc, x),
            20 => eight_sized::<20>(n, inverse, acc, x),
            digits => unreachable!("eight numbers have 12 or 20 digits, not {digits}"),
        }
    }
}

/// Adds a point to each of eight sums, for every eight points.
pub(super) fn add_points(field: &Field, sums: &mut Sums, points: &[Affine]) {
    // SAFETY: callers with eight sums side by side have checked `is_available` before.
    unsafe { twist::add(field, sums, points) }
}

/// Converts the sums' coordinates to plain numbers.
pub(super) fn leave_points(field: &Field, sums: &mut Sums) {
    // SAFETY: callers with eight sums side by side have checked `is_available` before.
    unsafe { twist::leave(field, sums) }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn eight_sized<const D: usize>(n: &[Lane], inverse: &Lane, acc: &mut [Lane], x: Option<&[Lane]>) {
    let (n, a) = (load::<D>(n), load::<D>(acc));
    let x = match x {
        Some(x) => load::<D>(x),
        None => a,
    };
    let [inverse] = load::<1>(std::slice::from_ref(inverse));
    let zero = _mm512_setzero_si512();
    let mut t = [zero; D];
    // As in `step`, a digit gains less than 4·2^52 in each of at most 20 rows.
    for digit in x {
        for j in 0..D {
            t[j] = _mm512_madd52lo_epu64(t[j], a[j], digit);
        }
        let quotient = _mm512_madd52lo_epu64(zero, t[0], inverse);
        for j in 0..D {
            t[j] = _mm512_madd52lo_epu64(t[j], n[j], quotient);
        }
        let carry = _mm512_srli_epi64::<52>(t[0]);
        for j in 0..D {
            let above = if j + 1 < D { t[j + 1] } else { zero };
            let brought = _mm512_madd52hi_epu64(above, a[j], digit);
            t[j] = _mm512_madd52hi_epu64(brought, n[j], quotient);
        }
        t[0] = _mm512_add_epi64(t[0], carry);
    }
    let digit = _mm512_set1_epi64(DIGIT);
    let mut carry = zero;
    for j in 0..D {
        let sum = _mm512_add_epi64(t[j], carry);
        carry = _mm512_srli_epi64::<52>(sum);
        t[j] = _mm512_and_si512(sum, digit);
    }
    store(acc, t);
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn product_sized<const V: usize>(n: &[Lane], inverse: u64, acc: &mut [Lane], x: Option<&[Lane]>) {
    let (n, a) = (load::<V>(n), load::<V>(acc));
    let inverse = _mm512_set1_epi64(inverse.cast_signed());
    let x = sized::<V>(x.unwrap_or(acc));
    let mut t = begin(&a, x);
    for lane in 0..V {
        for place in 0..8 {
            t = step(t, &a, &n, digits(x, lane, place), inverse);
        }
    }
    store(acc, carried(t));
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn pair_sized<const V: usize>(n: &[Lane], inverse: u64, first: Factors<'_>, second: Factors<'_>) {
    let (n, a, b) = (load::<V>(n), load::<V>(first.acc), load::<V>(second.acc));
    let inverse = _mm512_set1_epi64(inverse.cast_signed());
    let x = sized::<V>(first.x.unwrap_or(first.acc));
    let y = sized::<V>(second.x.unwrap_or(second.acc));
    let (mut t, mut u) = (begin(&a, x), begin(&b, y));
    for lane in 0..V {
        for place in 0..8 {
            t = step(t, &a, &n, digits(x, lane, place), inverse);
            u = step(u, &b, &n, digits(y, lane, place), inverse);
        }
    }
    store(first.acc, carried(t));
    store(second.acc, carried(u));
}

/// The low halves of a times the first digit.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn begin<const V: usize>(a: &[__m512i; V], x: &[Lane; V]) -> [__m512i; V] {
    let digit = _mm512_set1_epi64(x[0].0[0].cast_signed());
    let zero = _mm512_setzero_si512();
    std::array::from_fn(|j| _mm512_madd52lo_epu64(zero, a[j], digit))
}

/// A digit and the next higher one, which is zero above the last.
#[inline]
fn digits<const V: usize>(x: &[Lane; V], lane: usize, place: usize) -> [u64; 2] {
    let next = if place < 7 {
        x[lane].0[place + 1]
    } else if lane + 1 < V {
        x[lane + 1].0[0]
    } else {
        0
    };
    [x[lane].0[place], next]
}

/// Adds the multiple of n that makes the lowest digit zero, drops that digit, and adds the high halves of a times the
/// digit and the low halves of a times the next digit. Only those two do not wait for the quotient.
///
/// A digit takes part in 8V steps at most and gains less than 4·2^52 in each: 2^61 for 11 lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn step<const V: usize>(
    mut t: [__m512i; V],
    a: &[__m512i; V],
    n: &[__m512i; V],
    digits: [u64; 2],
    inverse: __m512i,
) -> [__m512i; V] {
    let zero = _mm512_setzero_si512();
    let [digit, next] = digits.map(|digit| _mm512_set1_epi64(digit.cast_signed()));
    let quotient = _mm512_madd52lo_epu64(zero, t[0], inverse);
    let mut brought = [zero; V];
    for j in 0..V {
        let high = _mm512_madd52hi_epu64(zero, a[j], digit);
        brought[j] = _mm512_madd52lo_epu64(high, a[j], next);
    }
    let quotient = _mm512_broadcastq_epi64(_mm512_castsi512_si128(quotient));
    for j in 0..V {
        t[j] = _mm512_madd52lo_epu64(t[j], n[j], quotient);
        brought[j] = _mm512_madd52hi_epu64(brought[j], n[j], quotient);
    }
    brought[0] = _mm512_add_epi64(brought[0], _mm512_maskz_srli_epi64::<52>(1, t[0]));
    for j in 0..V {
        let above = if j + 1 < V { t[j + 1] } else { zero };
        t[j] = _mm512_add_epi64(_mm512_alignr_epi64::<1>(above, t[j]), brought[j]);
    }
    t
}

/// Brings every digit below 2^52 and carries the rest upwards.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn carried<const V: usize>(mut t: [__m512i; V]) -> [__m512i; V] {
    let digit = _mm512_set1_epi64(DIGIT);
    let mut below = _mm512_setzero_si512();
    let (mut overflows, mut full) = (0_u128, 0_u128);
    for j in 0..V {
        let carry = _mm512_srli_epi64::<52>(t[j]);
        let moved = _mm512_alignr_epi64::<7>(carry, below);
        t[j] = _mm512_add_epi64(_mm512_and_si512(t[j], digit), moved);
        below = carry;
        overflows |= u128::from(_mm512_cmpgt_epu64_mask(t[j], digit)) << (8 * j);
        full |= u128::from(_mm512_cmpeq_epi64_mask(t[j], digit)) << (8 * j);
    }
    // One bit for each digit: a carry runs through full digits exactly as it does through the ones of an integer.
    let carries = ((overflows << 1) + full) ^ full;
    let minus_one = _mm512_set1_epi64(-1);
    for j in 0..V {
        let mask = (carries >> (8 * j)) as u8;
        t[j] = _mm512_and_si512(_mm512_mask_sub_epi64(t[j], mask, t[j], minus_one), digit);
    }
    t
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn scan_sized<const V: usize>(table: &[Lane], picks: &[u64; PICKS], out: &mut [Lane]) {
    let mut kept = [[_mm512_setzero_si512(); V]; PICKS];
    let picks = picks.map(|pick| _mm512_set1_epi64(pick.cast_signed()));
    for (number, row) in (0_i64..).zip(table.chunks_exact(V)) {
        #[cfg(test)]
        super::trace::row(table, row);
        let number = _mm512_set1_epi64(number);
        let row = load::<V>(row);
        for (kept, pick) in kept.iter_mut().zip(picks) {
            let mask = _mm512_cmpeq_epi64_mask(pick, number);
            for j in 0..V {
                kept[j] = _mm512_mask_mov_epi64(kept[j], mask, row[j]);
            }
        }
    }
    for (place, kept) in out.chunks_exact_mut(V).zip(kept) {
        store(place, kept);
    }
}

/// The lanes of a residue, of which there are as many as its modulus has.
#[inline]
fn sized<const V: usize>(lanes: &[Lane]) -> &[Lane; V] {
    match lanes.first_chunk() {
        Some(lanes) => lanes,
        None => unreachable!("a residue has as many lanes as its modulus"),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn load<const V: usize>(lanes: &[Lane]) -> [__m512i; V] {
    let lanes = sized::<V>(lanes);
    // SAFETY: a lane is 64 bytes long and aligned to 64 bytes, and the reference keeps it readable.
    std::array::from_fn(|j| unsafe { _mm512_load_si512((&raw const lanes[j]).cast()) })
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn store<const V: usize>(out: &mut [Lane], vectors: [__m512i; V]) {
    for (lane, vector) in out.iter_mut().zip(vectors) {
        // SAFETY: a lane is 64 bytes long and aligned to 64 bytes, and the reference is the only one to it.
        unsafe { _mm512_store_si512((&raw mut *lane).cast(), vector) }
    }
}
