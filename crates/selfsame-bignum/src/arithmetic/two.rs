//! Powers of two modulo an odd number of any length, for the primality test to the base 2.
//!
//! Products with the base are shifts, so only squarings cost. And since half of a safe prime fills its limbs (1,024
//! bits), residues may be anywhere below R here, with no limb to spare. Variable time, like all primality tests here.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        reason = "integers of any size do not overflow, and no modulus is zero"
    )
)]

use dashu_int::{UBig, ops::BitTest};

#[cfg(target_arch = "x86_64")]
use super::adx::Adx;
use super::{
    engine::{Path, count_products},
    lane::Lane,
    limbs,
    portable::{self, Limbs, MOST, Plain, Rows},
};

/// Bits of an exponent for one shift.
const WINDOW: usize = 6;
/// The bits of an exponent that the initial division handles.
const FIRST: usize = 9;

/// 2^exponent mod n for an odd n above 1; `None` for an n that is too long. A path without such squarings uses those of
/// the 64-bit limbs.
pub(super) fn power_of_two(path: Path, n: &UBig, exponent: &UBig) -> Option<UBig> {
    match path {
        #[cfg(target_arch = "x86_64")]
        Path::Adx => power::<Adx>(n, exponent),
        _ => power::<Plain>(n, exponent),
    }
}

/// A shift also divides by 2^64, so its digit of the exponent lies between -64 and -1. The product count is that of the
/// squarings.
fn power<R: Rows>(n: &UBig, exponent: &UBig) -> Option<UBig> {
    let count = n.bit_len().div_ceil(limbs::BITS);
    if count > MOST {
        return None;
    }
    let own = limbs::from_integer(n, count);
    let modulus = lanes(&own);
    let n_limbs = Limbs {
        modulus: &modulus,
        negated_inverse: limbs::negated_inverse(own.first().copied().unwrap_or(1)),
        count,
    };
    let windows = exponent.bit_len().saturating_sub(FIRST).div_ceil(WINDOW);
    let length = windows.saturating_mul(WINDOW);
    // 64 for each window, which the window's shift subtracts again.
    let added = ((UBig::ONE << length) - UBig::ONE) / UBig::from(63_u8) * UBig::from(64_u8);
    let (digits, top) = (exponent + added).split_bits(length);
    let digits = limbs::from_integer(&digits, length.div_ceil(limbs::BITS));
    let radix = count.saturating_mul(limbs::BITS);
    let first = (UBig::ONE << usize::try_from(top).ok()?.saturating_add(radix)) % n;
    let mut power = lanes(&limbs::from_integer(&first, count));
    for window in (0..windows).rev() {
        (0..WINDOW).for_each(|_| portable::square_below_radix::<R>(&n_limbs, &mut power));
        let shift = limbs::bits(&digits, window.saturating_mul(WINDOW), WINDOW);
        portable::shift_below_radix::<R>(&n_limbs, &mut power, u32::try_from(shift).ok()?);
    }
    count_products(length);
    // Shifts by zero bits divide R out.
    (0..count).for_each(|_| portable::shift_below_radix::<R>(&n_limbs, &mut power, 0));
    let all: Vec<u64> = power.iter().flat_map(|lane| lane.0).take(count).collect();
    Some(limbs::to_integer(&all) % n)
}

fn lanes(limbs: &[u64]) -> Vec<Lane> {
    let mut lanes = vec![Lane::default(); limbs.len().div_ceil(8)];
    for (lane, eight) in lanes.iter_mut().zip(limbs.chunks(8)) {
        for (slot, limb) in lane.0.iter_mut().zip(eight) {
            *slot = *limb;
        }
    }
    lanes
}

#[cfg(test)]
mod tests {
    use dashu_int::fast_div::ConstDivisor;
    use proptest::prelude::*;

    use super::*;
    use crate::arithmetic::engine::products;

    fn expected(n: &UBig, exponent: &UBig) -> UBig {
        let ring = ConstDivisor::new(n.clone());
        ring.reduce(UBig::from(2_u8)).pow(exponent).residue()
    }

    #[test]
    fn powers_of_two_are_right_for_moduli_at_the_edges_of_limbs() {
        for bits in [
            2, 3, 6, 63, 64, 65, 511, 512, 513, 597, 640, 1_023, 1_024, 1_025, 2_050, 4_224,
        ] {
            let lowest = (UBig::ONE << (bits - 1)) + UBig::ONE;
            for n in [UBig::ones(bits), lowest] {
                let less = &n - UBig::ONE;
                for exponent in [
                    UBig::ZERO,
                    UBig::ONE,
                    UBig::from(1_000_u32),
                    &less >> 1,
                    less,
                ] {
                    for path in Path::available() {
                        let found =
                            power_of_two(path, &n, &exponent).expect("a length that it has");
                        assert_eq!(found, expected(&n, &exponent), "{path:?} {n} {exponent}");
                    }
                }
            }
        }
        assert!(power_of_two(Path::Portable, &UBig::ones(4_225), &UBig::ONE).is_none());
    }

    #[test]
    fn a_test_of_a_candidate_costs_a_squaring_for_each_bit_of_it() {
        for path in Path::available() {
            let before = products();
            power_of_two(path, &UBig::ones(1_024), &UBig::ones(1_023))
                .expect("a length that it has");
            assert_eq!(products() - before, 1_014);
        }
    }

    proptest! {
        #[test]
        fn powers_of_two_are_those_of_the_integers(
            modulus in prop::collection::vec(any::<u8>(), 1..300),
            exponent in prop::collection::vec(any::<u8>(), 0..140),
        ) {
            let mut n = UBig::from_le_bytes(&modulus);
            n.set_bit(0);
            n.set_bit(1);
            let exponent = UBig::from_le_bytes(&exponent);
            let expected = expected(&n, &exponent);
            for path in Path::available() {
                prop_assert_eq!(power_of_two(path, &n, &exponent), Some(expected.clone()));
            }
        }
    }
}
