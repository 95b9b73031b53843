//! Little-endian 64-bit limbs. Every operation takes equal time for all values of one length.

use dashu_int::UBig;

/// Bits of a limb.
pub(super) const BITS: usize = 64;

/// `a + b·c + carry`, as its low and high limb; it cannot overflow.
#[inline(always)]
pub(super) fn multiply_add(a: u64, b: u64, c: u64, carry: u64) -> (u64, u64) {
    let sum = u128::from(b)
        .wrapping_mul(u128::from(c))
        .wrapping_add(u128::from(a))
        .wrapping_add(u128::from(carry));
    (low(sum), high(sum))
}

/// `a + b + carry`, as its limb and the carry out.
#[inline(always)]
pub(super) fn add_carry(a: u64, b: u64, carry: u64) -> (u64, u64) {
    let sum = u128::from(a)
        .wrapping_add(u128::from(b))
        .wrapping_add(u128::from(carry));
    (low(sum), high(sum))
}

/// `a - b - borrow`, as its limb and the borrow out (0 or 1).
#[inline(always)]
pub(super) fn sub_borrow(a: u64, b: u64, borrow: u64) -> (u64, u64) {
    let difference = u128::from(a)
        .wrapping_sub(u128::from(b))
        .wrapping_sub(u128::from(borrow));
    (low(difference), high(difference) & 1)
}

/// The low 64 bits.
#[inline(always)]
pub(super) fn low(wide: u128) -> u64 {
    wide as u64
}

/// The high 64 bits.
#[inline(always)]
pub(super) fn high(wide: u128) -> u64 {
    wide.wrapping_shr(64) as u64
}

/// All ones if `bit` is 1, zero if it is 0.
#[inline(always)]
pub(super) fn mask(bit: u64) -> u64 {
    std::hint::black_box(0_u64.wrapping_sub(bit))
}

/// `out += a·b`; `out` has room for both and for its own carry.
pub(super) fn multiply(out: &mut [u64], a: &[u64], b: &[u64]) {
    for (place, digit) in b.iter().enumerate() {
        let mut carry = 0;
        let mut row = out.iter_mut().skip(place);
        for limb in a {
            if let Some(slot) = row.next() {
                (*slot, carry) = multiply_add(*slot, *limb, *digit, carry);
            }
        }
        for slot in row {
            (*slot, carry) = add_carry(*slot, carry, 0);
        }
    }
}

/// `out -= b` where `select` is all ones, nothing where it is zero; returns the borrow out.
pub(super) fn subtract_masked(out: &mut [u64], b: &[u64], select: u64) -> u64 {
    let mut borrow = 0;
    let padded = b.iter().copied().chain(std::iter::repeat(0));
    for (slot, limb) in out.iter_mut().zip(padded) {
        (*slot, borrow) = sub_borrow(*slot, limb & select, borrow);
    }
    borrow
}

/// `out += b` where `select` is all ones, nothing where it is zero; returns the carry out.
pub(super) fn add_masked(out: &mut [u64], b: &[u64], select: u64) -> u64 {
    let mut carry = 0;
    let padded = b.iter().copied().chain(std::iter::repeat(0));
    for (slot, limb) in out.iter_mut().zip(padded) {
        (*slot, carry) = add_carry(*slot, limb & select, carry);
    }
    carry
}

/// Negates a two's complement number where `select` is all ones.
pub(super) fn negate_masked(out: &mut [u64], select: u64) {
    let mut carry = select & 1;
    for slot in out {
        (*slot, carry) = add_carry(*slot ^ select, 0, carry);
    }
}

/// 2^bits mod n for an n of `length` bits, at most `bits`, in constant time in n: by doubling.
pub(super) fn power_of_two(n: &[u64], length: usize, bits: usize) -> Vec<u64> {
    let top = length.saturating_sub(1);
    let mut power = vec![0_u64; n.len().saturating_add(1)];
    if let Some(limb) = power.get_mut(top.wrapping_div(64)) {
        *limb = 1_u64.wrapping_shl(u32::try_from(top.wrapping_rem(64)).unwrap_or(0));
    }
    for _ in top..bits {
        let mut carry = 0;
        for limb in &mut power {
            (*limb, carry) = (limb.wrapping_shl(1) | carry, limb.wrapping_shr(63));
        }
        let borrow = subtract_masked(&mut power, n, u64::MAX);
        add_masked(&mut power, n, mask(borrow));
    }
    power
}

/// `width` bits of a number from bit `start` on, at most 64; zero above its limbs.
pub(super) fn bits(number: &[u64], start: usize, width: usize) -> u64 {
    let (place, shift) = (start.wrapping_div(64), start.wrapping_rem(64));
    let limb = |place: usize| u128::from(number.get(place).copied().unwrap_or(0));
    let wide = limb(place) | (limb(place.wrapping_add(1)) << 64);
    let spare = u32::try_from(64_usize.saturating_sub(width)).unwrap_or(0);
    low(wide >> shift) & u64::MAX.wrapping_shr(spare)
}

/// -1/n modulo 2^64 for an odd n.
pub(super) fn negated_inverse(n: u64) -> u64 {
    // Newton's iteration doubles the number of correct bits; an odd n is its own inverse modulo 8.
    let mut inverse = n;
    for _ in 0..5 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(n.wrapping_mul(inverse)));
    }
    inverse.wrapping_neg()
}

/// The `count` lowest limbs of a public number; higher ones are cut off.
pub(super) fn from_integer(number: &UBig, count: usize) -> Vec<u64> {
    from_le_bytes(&number.to_le_bytes(), count)
}

/// The `count` lowest limbs of a number in little-endian bytes; higher ones are cut off.
pub(super) fn from_le_bytes(bytes: &[u8], count: usize) -> Vec<u64> {
    let mut limbs = Vec::with_capacity(count);
    limbs.extend(bytes.chunks(8).take(count).map(|chunk| {
        chunk
            .iter()
            .rev()
            .fold(0_u64, |limb, byte| limb.wrapping_shl(8) | u64::from(*byte))
    }));
    limbs.resize(count, 0);
    limbs
}

/// The public number of these limbs.
pub(super) fn to_integer(limbs: &[u64]) -> UBig {
    let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
    UBig::from_le_bytes(&bytes)
}
