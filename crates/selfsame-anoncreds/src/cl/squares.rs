//! Four squares: every natural number is a sum of four (Lagrange).

/// Numbers whose squares add up to `number`, the largest first but for the order of the last two.
///
/// The first root is the largest for which the rest is a sum of three squares (Legendre: not 4^a·(8b + 7)); the second
/// the largest for which the rest is a sum of two, which are found by trying. Exact for every `u32`.
pub(crate) fn four_squares(number: u32) -> [u32; 4] {
    let number = u64::from(number);
    descending(number)
        .filter(|(_, rest)| is_sum_of_three(*rest))
        .find_map(|(first, rest)| three_squares(rest).map(|[b, c, d]| [first, b, c, d]))
        .map_or([0; 4], |roots| {
            roots.map(|root| u32::try_from(root).unwrap_or_default())
        })
}

/// All roots from the largest whose square is at most `number` down to zero, with what is left.
fn descending(number: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..=number.isqrt())
        .rev()
        .map(move |root| (root, number.saturating_sub(root.saturating_mul(root))))
}

fn is_sum_of_three(number: u64) -> bool {
    let fours = number.trailing_zeros() & !1;
    number == 0 || number.wrapping_shr(fours) & 7 != 7
}

fn three_squares(number: u64) -> Option<[u64; 3]> {
    descending(number).find_map(|(first, rest)| two_squares(rest).map(|[b, c]| [first, b, c]))
}

fn two_squares(number: u64) -> Option<[u64; 2]> {
    descending(number)
        .take_while(|(root, rest)| root.saturating_mul(*root) >= *rest)
        .find(|(_, rest)| {
            let root = rest.isqrt();
            root.saturating_mul(root) == *rest
        })
        .map(|(root, rest)| [root, rest.isqrt()])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn holds(number: u32) {
        let sum: u64 = four_squares(number)
            .map(|root| u64::from(root) * u64::from(root))
            .iter()
            .sum();
        assert_eq!(sum, u64::from(number));
    }

    #[test]
    fn the_roots_of_small_and_of_the_hardest_numbers_add_up() {
        (0..20_000).for_each(holds);
        (0..=15).for_each(|fours| holds(7_u32.wrapping_shl(2 * fours)));
        let largest = [u32::MAX, u32::MAX - 1, 1 << 31, i32::MAX.unsigned_abs()];
        largest.into_iter().for_each(holds);
    }

    proptest! {
        #[test]
        fn the_roots_of_any_number_add_up(number: u32) {
            holds(number);
        }
    }
}
