//! Computes y of a P-256 point from x. aws-lc does this with general big-number arithmetic, several times as slowly.
//! aws-lc still receives each point found here in full, and refuses it if it is not on the curve.

use crate::wide::{Wide, product, repeated, sum};

/// A field element, in Montgomery form unless stated otherwise.
type Element = Wide;

/// 2^256 - 2^224 + 2^192 + 2^96 - 1 (SP 800-186 §3.2.1.3).
const PRIME: Element = [u64::MAX, 0xffff_ffff, 0, 0xffff_ffff_0000_0001];
/// 2^512 modulo the prime: multiplying by it converts a number to Montgomery form. Not in Montgomery form.
const INTO: Element = [
    3,
    0xffff_fffb_ffff_ffff,
    0xffff_ffff_ffff_fffe,
    0x4_ffff_fffd,
];
/// The curve's b. Not in Montgomery form.
const B: Element = [
    0x3bce_3c3e_27d2_604b,
    0x651d_06b0_cc53_b0f6,
    0xb3eb_bd55_7698_86bc,
    0x5ac6_35d8_aa3a_93e7,
];

/// A candidate for y with the requested parity: y² = x³ - 3x + b if there is such a point.
pub(super) fn candidate(x: &[u8; 32], is_odd: bool) -> [u8; 32] {
    let x = multiply(&read(x), &INTO);
    let b = multiply(&B, &INTO);
    let cube = multiply(&square(&x), &x);
    let three = add(&add(&x, &x), &x);
    let right = add(&subtract(&cube, &three), &b);
    let y = divided(root(&right), &[0; 4]);
    let has_parity = (y[0] & 1 == 1) == is_odd;
    write(&match has_parity {
        true => y,
        false => subtract(&[0; 4], &y),
    })
}

/// The square root of a square: the number to the power (p + 1) / 4 = 2^254 - 2^222 + 2^190 + 2^94, as the prime is 3
/// modulo 4.
fn root(square: &Element) -> Element {
    let mut ones = *square;
    // An exponent of 32 one bits: each step doubles their number.
    for count in [1_u32, 2, 4, 8, 16] {
        ones = multiply(&squared(ones, count), &ones);
    }
    let power = multiply(&squared(ones, 32), square);
    let power = multiply(&squared(power, 96), square);
    squared(power, 94)
}

fn squared(number: Element, times: u32) -> Element {
    repeated(number, times, square)
}

/// The Montgomery product: a times b, divided by 2^256.
fn multiply(a: &Element, b: &Element) -> Element {
    let (lower, upper) = product(a, b);
    divided(lower, &upper)
}

/// The Montgomery square: the square divided by 2^256. Products off the diagonal occur twice and are computed once.
fn square(number: &Element) -> Element {
    let [a0, a1, a2, a3] = *number;
    let (t1, carry) = a0.carrying_mul(a1, 0);
    let (t2, carry) = a0.carrying_mul(a2, carry);
    let (t3, t4) = a0.carrying_mul(a3, carry);
    let (t3, carry) = a1.carrying_mul_add(a2, t3, 0);
    let (t4, t5) = a1.carrying_mul_add(a3, t4, carry);
    let (t5, t6) = a2.carrying_mul_add(a3, t5, 0);
    let twice = |limb: u64, below: u64| limb << 1 | below >> 63;
    let (d0, h0) = a0.carrying_mul(a0, 0);
    let (d1, h1) = a1.carrying_mul(a1, 0);
    let (d2, h2) = a2.carrying_mul(a2, 0);
    let (d3, h3) = a3.carrying_mul(a3, 0);
    let (s1, carry) = h0.carrying_add(t1 << 1, false);
    let (s2, carry) = d1.carrying_add(twice(t2, t1), carry);
    let (s3, carry) = h1.carrying_add(twice(t3, t2), carry);
    let (s4, carry) = d2.carrying_add(twice(t4, t3), carry);
    let (s5, carry) = h2.carrying_add(twice(t5, t4), carry);
    let (s6, carry) = d3.carrying_add(twice(t6, t5), carry);
    // The square of a number below 2^256 is below 2^512.
    let (s7, _) = h3.carrying_add(t6 >> 63, carry);
    divided([d0, s1, s2, s3], &[s4, s5, s6, s7])
}

/// Montgomery reduction (Montgomery 1985): divides a number below 2^256 times the prime by 2^256. Four times, a
/// multiple of the prime is added that makes the lowest limb zero. The factor is that limb itself, as the prime is -1
/// modulo 2^64.
#[inline]
fn divided(lower: Element, upper: &Element) -> Element {
    let [.., top] = PRIME;
    let mut rest = lower;
    for _ in 0..4 {
        let [r0, r1, r2, r3] = rest;
        // The prime's lower two limbs plus one are 2^96.
        let (r1, carry) = r1.carrying_add(r0 << 32, false);
        let (r2, carry) = r2.carrying_add(r0 >> 32, carry);
        let (low, high) = r0.carrying_mul(top, 0);
        let (r3, carry) = r3.carrying_add(low, carry);
        // The upper half of a product is less than either factor.
        let r4 = high.wrapping_add(u64::from(carry));
        rest = [r1, r2, r3, r4];
    }
    let (number, carry) = sum(&rest, upper);
    reduced(number, carry)
}

fn add(a: &Element, b: &Element) -> Element {
    let (number, carry) = sum(a, b);
    reduced(number, carry)
}

fn subtract(a: &Element, b: &Element) -> Element {
    let (difference, borrow) = raw_subtract(a, b);
    match borrow {
        true => sum(&difference, &PRIME).0,
        false => difference,
    }
}

/// Reduces a number below twice the prime. `carry` stands for 2^256.
fn reduced(number: Element, carry: bool) -> Element {
    let (less, borrow) = raw_subtract(&number, &PRIME);
    match carry || !borrow {
        true => less,
        false => number,
    }
}

fn raw_subtract([a0, a1, a2, a3]: &Element, [b0, b1, b2, b3]: &Element) -> (Element, bool) {
    let (d0, borrow) = a0.borrowing_sub(*b0, false);
    let (d1, borrow) = a1.borrowing_sub(*b1, borrow);
    let (d2, borrow) = a2.borrowing_sub(*b2, borrow);
    let (d3, borrow) = a3.borrowing_sub(*b3, borrow);
    ([d0, d1, d2, d3], borrow)
}

/// Reads 32 big-endian bytes.
fn read(bytes: &[u8; 32]) -> Element {
    let mut limbs = [0; 4];
    let eights = bytes.as_chunks::<8>().0.iter().rev();
    for (limb, eight) in limbs.iter_mut().zip(eights) {
        *limb = u64::from_be_bytes(*eight);
    }
    limbs
}

fn write(limbs: &Element) -> [u8; 32] {
    let mut bytes = [0; 32];
    let eights = bytes.as_chunks_mut::<8>().0.iter_mut().rev();
    for (eight, limb) in eights.zip(limbs) {
        *eight = limb.to_be_bytes();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
    use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, ParsedPublicKey};
    use proptest::prelude::*;

    use crate::p256::CURVE;
    use crate::{KeyType, PrivateKey, PublicKey};

    /// The point as aws-lc decompresses it.
    fn theirs(point: &[u8]) -> Option<Vec<u8>> {
        let parsed = ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).ok()?;
        let spki: PublicKeyX509Der<'_> = parsed.as_der().ok()?;
        Some(spki.as_ref().strip_prefix(CURVE.spki_prefix)?.to_vec())
    }

    fn ours(point: &[u8]) -> Option<Vec<u8>> {
        let key = PublicKey::from_raw(KeyType::P256, point).ok()?;
        Some(key.bytes().to_vec())
    }

    /// Values of x at and near the ends of the field, where carries and borrows propagate furthest.
    #[test]
    fn points_at_the_ends_of_the_field_are_found_or_refused_as_by_aws_lc() {
        let prime = super::write(&super::PRIME);
        let mut accepted = 0;
        for by in 0..=255_u8 {
            let mut small = [0; 32];
            small[31] = by;
            let mut large = prime;
            // The last byte of the prime is 255: these are the largest numbers below it, and the prime itself.
            large[31] -= by;
            let mut high = [255; 32];
            high[31] = by;
            for (sign, x) in [2, 3]
                .into_iter()
                .flat_map(|sign| [small, large, high].map(|x| (sign, x)))
            {
                let point = [&[sign][..], &x].concat();
                assert_eq!(ours(&point), theirs(&point), "{point:02x?}");
                accepted += usize::from(ours(&point).is_some());
            }
        }
        // About half of all numbers are the x of a point; each such x has two points.
        assert!((300..700).contains(&accepted), "{accepted}");
    }

    #[test]
    fn a_key_is_found_from_its_compressed_form() {
        for _ in 0..20 {
            let key = PrivateKey::generate(KeyType::P256).unwrap();
            let key = key.public();
            let compressed = CURVE.compress(key.bytes());
            assert_eq!(ours(&compressed).as_deref(), Some(key.bytes()));
        }
    }

    proptest! {
        #[test]
        fn any_number_is_the_x_of_the_point_that_aws_lc_finds_or_of_none(x in any::<[u8; 32]>(), sign in 2..=3_u8) {
            let point = [&[sign][..], &x].concat();
            prop_assert_eq!(ours(&point), theirs(&point));
        }
    }
}
