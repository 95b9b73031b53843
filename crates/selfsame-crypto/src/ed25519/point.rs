//! Whether 32 bytes are a point of Ed25519's curve, and the same point on the curve of X25519. aws-lc checks this only when it verifies a signature, and then
//! reports just a wrong signature. A registry has to know it before it stores a key for ever. No secrets here.

use crate::wide::{Wide, product, repeated, sum};

/// A number modulo the prime, not necessarily reduced.
type FieldElement = Wide;

/// 2^255 - 19. Twice this prime is its greatest multiple below 2^256.
const PRIME: FieldElement = [0xffff_ffff_ffff_ffed, u64::MAX, u64::MAX, u64::MAX >> 1];
/// -1.
const MINUS_ONE: FieldElement = [0xffff_ffff_ffff_ffec, u64::MAX, u64::MAX, u64::MAX >> 1];
/// The curve's d, -121665/121666 (RFC 8032 §5.1).
const D: FieldElement = [
    0x75eb_4dca_1359_78a3,
    0x0070_0a4d_4141_d8ab,
    0x8cc7_4079_7779_e898,
    0x5203_6cee_2b6f_fe73,
];
const ONE: FieldElement = [1, 0, 0, 0];
/// 2^256 modulo the prime.
const FOLD: u64 = 38;

/// Whether there is an x for this y (little endian, without the sign of x): x² = (y² - 1) / (dy² + 1) (RFC 8032
/// §5.1.3). A fraction is a square if numerator times denominator is one. Not called with y = 1 or y = -1, whose points
/// are of small order.
pub(super) fn has_x(y: &[u8; 32]) -> bool {
    let read = read(y);
    let square = multiply(&read, &read);
    let above = add(&square, &MINUS_ONE);
    let below = add(&multiply(&D, &square), &ONE);
    is_one(&half_power(&multiply(&above, &below)))
}

/// The u of the point with this y on the curve of X25519, little endian: (1 + y) / (1 - y) (RFC 7748 §4.1). Not called
/// with y = 1, whose u would be infinite.
pub(super) fn to_u(y: &[u8; 32]) -> [u8; 32] {
    let y = read(y);
    let above = add(&ONE, &y);
    let below = add(&ONE, &multiply(&MINUS_ONE, &y));
    let reduced = reduced(multiply(&above, &inverse(&below)));
    let mut bytes = [0; 32];
    for (eight, limb) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(reduced) {
        *eight = limb.to_le_bytes();
    }
    bytes
}

fn read(y: &[u8; 32]) -> FieldElement {
    let mut read = [0; 4];
    let eights = y.as_chunks::<8>().0.iter();
    for (limb, eight) in read.iter_mut().zip(eights) {
        *limb = u64::from_le_bytes(*eight);
    }
    read
}

/// The least number that is congruent. Below 2^256 the prime fits twice.
fn reduced(number: FieldElement) -> FieldElement {
    // Adding 2^256 - p takes the prime away, if the sum exceeds 2^256.
    const MINUS_PRIME: FieldElement = [19, 0, 0, 1 << 63];
    let once = |number| match sum(&number, &MINUS_PRIME) {
        (less, true) => less,
        (_, false) => number,
    };
    once(once(number))
}

/// The number to the power p - 2 = 2^255 - 21: its inverse.
fn inverse(number: &FieldElement) -> FieldElement {
    // The last five bits of the exponent are 01011.
    let two = squared(*number, 1);
    let eight = squared(two, 2);
    let eleven = multiply(&multiply(&eight, &two), number);
    multiply(&squared(ones_250(number), 5), &eleven)
}

/// The number to the power (p - 1) / 2 = 2^254 - 10, which is 1 for squares (Euler's criterion).
fn half_power(number: &FieldElement) -> FieldElement {
    // The last four bits of the exponent are 0110.
    let six = multiply(&squared(*number, 2), &squared(*number, 1));
    multiply(&squared(ones_250(number), 4), &six)
}

/// The number to the power 2^250 - 1.
fn ones_250(number: &FieldElement) -> FieldElement {
    // `ones_n` is the power with n one bits as exponent; each is computed from earlier ones.
    let ones_2 = multiply(&squared(*number, 1), number);
    let ones_4 = multiply(&squared(ones_2, 2), &ones_2);
    let ones_5 = multiply(&squared(ones_4, 1), number);
    let ones_10 = multiply(&squared(ones_5, 5), &ones_5);
    let ones_20 = multiply(&squared(ones_10, 10), &ones_10);
    let ones_40 = multiply(&squared(ones_20, 20), &ones_20);
    let ones_50 = multiply(&squared(ones_40, 10), &ones_10);
    let ones_100 = multiply(&squared(ones_50, 50), &ones_50);
    let ones_200 = multiply(&squared(ones_100, 100), &ones_100);
    multiply(&squared(ones_200, 50), &ones_50)
}

fn squared(number: FieldElement, times: u32) -> FieldElement {
    repeated(number, times, |number| multiply(number, number))
}

fn multiply(a: &FieldElement, b: &FieldElement) -> FieldElement {
    let ([l0, l1, l2, l3], [h0, h1, h2, h3]) = product(a, b);
    let (s0, carry) = h0.carrying_mul_add(FOLD, l0, 0);
    let (s1, carry) = h1.carrying_mul_add(FOLD, l1, carry);
    let (s2, carry) = h2.carrying_mul_add(FOLD, l2, carry);
    let (s3, carry) = h3.carrying_mul_add(FOLD, l3, carry);
    // The carry is at most 38 times 2^256.
    folded([s0, s1, s2, s3], carry.wrapping_mul(FOLD))
}

fn add(a: &FieldElement, b: &FieldElement) -> FieldElement {
    let (number, carry) = sum(a, b);
    folded(number, if carry { FOLD } else { 0 })
}

/// Adds `more` to the number. If the sum exceeds 2^256, the rest is so small that adding 38 cannot overflow.
fn folded([n0, n1, n2, n3]: FieldElement, more: u64) -> FieldElement {
    let (s0, carry) = n0.carrying_add(more, false);
    let (s1, carry) = n1.carrying_add(0, carry);
    let (s2, carry) = n2.carrying_add(0, carry);
    let (s3, carry) = n3.carrying_add(0, carry);
    [s0.wrapping_add(if carry { FOLD } else { 0 }), s1, s2, s3]
}

/// Whether the number is congruent to 1: 1, or 1 plus a multiple of the prime.
fn is_one(number: &FieldElement) -> bool {
    let once = add(&PRIME, &ONE);
    let twice = add(&once, &PRIME);
    [ONE, once, twice].contains(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{KeyType, PrivateKey, PublicKey};

    fn small(y: u8) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[0] = y;
        bytes
    }

    #[test]
    fn small_numbers_are_points_or_not_as_the_curve_has_it() {
        // Computed from the curve's equation with integer arithmetic.
        let none = [2, 7, 8, 11, 12, 13, 17, 20, 22];
        let found: Vec<u8> = (2..30).filter(|y| !has_x(&small(*y))).collect();
        assert_eq!(found, none);
    }

    #[test]
    fn the_base_point_and_every_key_that_is_made_are_points() {
        // RFC 8032 §5.1: the base point's y is 4/5.
        let mut base = [0x66; 32];
        base[0] = 0x58;
        assert!(has_x(&base));
        for _ in 0..200 {
            let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
            assert!(key.public().is_point());
        }
    }

    #[test]
    fn a_key_that_is_no_point_is_found_with_either_sign() {
        let mut bytes = small(2);
        for sign in [0, 0x80] {
            bytes[31] = sign;
            let key = PublicKey::from_raw(KeyType::Ed25519, &bytes).unwrap();
            assert!(!key.is_point());
        }
        // Keys of other types are known to be points once they are parsed.
        let key = PrivateKey::generate(KeyType::P256).unwrap();
        assert!(key.public().is_point());
    }

    #[test]
    fn the_base_points_are_one_point() {
        let mut base = [0x66; 32];
        base[0] = 0x58;
        assert_eq!(to_u(&base), small(9));
        // y = -1 is the point of order two, whose u is 0.
        let mut minus_one = [0xff; 32];
        (minus_one[0], minus_one[31]) = (0xec, 0x7f);
        assert_eq!(to_u(&minus_one), [0; 32]);
    }

    proptest! {
        #[test]
        fn a_number_times_its_inverse_is_one(x in any::<[u64; 4]>()) {
            prop_assume!(reduced(x) != [0; 4]);
            prop_assert!(is_one(&multiply(&x, &inverse(&x))));
            prop_assert!(is_one(&add(&reduced(x), &add(&ONE, &multiply(&MINUS_ONE, &x)))));
            let (less, below) = sum(&reduced(x), &[19, 0, 0, 1 << 63]);
            prop_assert!(!below, "{less:?}");
        }

        #[test]
        fn exactly_the_squares_have_the_power_one(x in any::<[u64; 4]>()) {
            let square = multiply(&x, &x);
            prop_assert!(is_one(&half_power(&square)) || square == [0; 4]);
            // 2 is not a square modulo this prime, so twice a square is not a square.
            let twice = add(&square, &square);
            prop_assert!(!is_one(&half_power(&twice)));
            // The product does not depend on which representative of a number is multiplied.
            let (a, b) = (multiply(&add(&x, &PRIME), &D), multiply(&x, &D));
            let difference = add(&a, &multiply(&MINUS_ONE, &b));
            prop_assert!(is_one(&add(&difference, &ONE)));
        }
    }
}
