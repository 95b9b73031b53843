//! Four squares: every natural number is a sum of four (Lagrange).

/// The number of steps of every search, whatever its number: more than the longest search needs.
const STEPS: u32 = 8_192;

/// Numbers whose squares add up to `number`, in descending order except for the last two.
///
/// A predicate hides this number, so the search must not reveal it by its time. Factors of four are taken out first,
/// since there would be few sums of four squares with them; every search takes [`STEPS`] steps, and every step does the
/// same work, whether or not a sum has been found. Exact for every `u32`.
pub(crate) fn four_squares(number: u32) -> [u32; 4] {
    let halvings = match number {
        0 => 0,
        _ => number.trailing_zeros() / 2,
    };
    let mut search = Search::new(number.wrapping_shr(halvings.saturating_mul(2)).into());
    (0..STEPS).for_each(|_| search.step());
    search.found.map(|root| {
        u32::try_from(root)
            .unwrap_or_default()
            .wrapping_shl(halvings)
    })
}

/// A search, which continues after it has found a sum.
///
/// The first root is the largest that leaves a number with many sums of three squares: not 4a, which has as few as a,
/// nor 8a + 7, which has none (Legendre). The second goes down from the largest possible value. The third and the
/// fourth approach each other, from the largest value that their squares' sum allows and from zero, until they meet.
struct Search {
    first: u64,
    /// The number left for three roots.
    rest: u64,
    second: u64,
    /// The number left for two roots.
    pair: u64,
    /// The largest third root. It is raised, step by step, while its square fits into `pair`, which only grows.
    top: u64,
    third: u64,
    fourth: u64,
    is_found: bool,
    found: [u64; 4],
}

impl Search {
    fn new(number: u64) -> Self {
        let (first, rest) = (0..=number.isqrt())
            .rev()
            .map(|root| (root, less_square(number, root)))
            .find(|(_, rest)| rest & 3 != 0 && rest & 7 != 7)
            .unwrap_or_default();
        Self::below(first, rest)
    }

    /// The search for three roots of `rest`, after the first root.
    fn below(first: u64, rest: u64) -> Self {
        let second = rest.isqrt();
        Self {
            first,
            rest,
            second,
            pair: less_square(rest, second),
            top: 0,
            third: 0,
            fourth: 0,
            is_found: false,
            found: [0; 4],
        }
    }

    /// Raises the largest third root, or tries one pair and goes on to the next. Differences are selected without a
    /// branch.
    fn step(&mut self) {
        let raised = self.top.wrapping_add(1);
        let is_raised = square(raised) <= self.pair;
        let sum = square(self.third).wrapping_add(square(self.fourth));
        let hits = !is_raised & (sum == self.pair) & !self.is_found;
        let roots = [self.first, self.second, self.third, self.fourth];
        for (found, root) in self.found.iter_mut().zip(roots) {
            *found = choose(hits, root, *found);
        }
        self.is_found |= hits;

        let is_large = sum >= self.pair;
        let fourth = self.fourth.wrapping_add(u64::from(!is_large));
        // One more than the next third root, which may be below zero.
        let above = self.third.wrapping_add(u64::from(!is_large));
        let have_met = above <= fourth;
        let goes_down = !is_raised & have_met & (self.second > 0);
        self.second = self.second.wrapping_sub(u64::from(goes_down));
        self.pair = less_square(self.rest, self.second);
        self.top = choose(is_raised, raised, self.top);
        let begins = is_raised | have_met;
        self.third = choose(begins, self.top, above.wrapping_sub(1));
        self.fourth = choose(begins, 0, fourth);
    }
}

fn square(root: u64) -> u64 {
    root.wrapping_mul(root)
}

fn less_square(number: u64, root: u64) -> u64 {
    number.wrapping_sub(square(root))
}

/// Selects one of the two values without a branch.
fn choose(condition: bool, then: u64, otherwise: u64) -> u64 {
    let mask = u64::from(condition).wrapping_neg();
    otherwise ^ (mask & (then ^ otherwise))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

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

    /// The time of one search, in nanoseconds.
    #[expect(clippy::disallowed_methods, reason = "the time is what is tested")]
    fn time(number: u32) -> u128 {
        let start = Instant::now();
        std::hint::black_box(four_squares(std::hint::black_box(number)));
        start.elapsed().as_nanos()
    }

    /// Whether the fastest searches for two numbers take about the same time. The runs take turns, and go on for longer
    /// on a busy machine: its pauses end, but a search that depends on its number stays slower.
    fn take_the_same_time(number: u32, usual: u32) -> bool {
        let (mut own, mut other) = (u128::MAX, u128::MAX);
        (0..5_000).any(|run| {
            own = own.min(time(number));
            other = other.min(time(usual));
            run >= 20 && own < 2 * other && other < 2 * own
        })
    }

    #[test]
    fn the_search_takes_as_long_for_the_worst_numbers_as_for_any_other() {
        let worst = (0..=14).flat_map(|fours| [3_u32, 6, 7, 11, 14, 15].map(|m| m << (2 * fours)));
        for number in worst.chain([0, 1, 2, 252, u32::MAX]) {
            assert!(take_the_same_time(number, 1_987_654_303), "{number}");
        }
    }

    #[test]
    fn the_steps_suffice_for_the_numbers_that_need_most() {
        let hardest = [226_573, 3_927_222_689, 4_172_862_521];
        for number in (0..20_000)
            .chain(u32::MAX - 20_000..=u32::MAX)
            .chain(hardest)
        {
            let roots = four_squares(number);
            let sum: u64 = roots.iter().map(|root| square(u64::from(*root))).sum();
            assert_eq!(sum, u64::from(number), "{number}");
        }
    }

    /// A first root leaves a rest of at most this size: of two consecutive roots, at least one leaves a number that is
    /// a sum of three squares.
    const HIGHEST_REST: u64 = 1 << 18;

    #[test]
    fn the_steps_suffice_for_every_rest_that_a_first_root_leaves() {
        for rest in (0..=HIGHEST_REST).filter(|rest| rest & 3 != 0 && rest & 7 != 7) {
            let mut search = Search::below(0, rest);
            let steps = (0..STEPS).find(|_| {
                search.step();
                search.is_found
            });
            assert!(steps.is_some(), "{rest}");
            let sum: u64 = search.found.into_iter().map(square).sum();
            assert_eq!(sum, rest);
        }
    }

    #[test]
    fn no_first_root_leaves_a_higher_rest() {
        for root in 1..=u64::from(u16::MAX) {
            let next = square(root + 1);
            for number in next.saturating_sub(8).max(1)..next {
                let rest = Search::new(number).rest;
                assert!(number & 3 == 0 || rest <= HIGHEST_REST, "{number}: {rest}");
            }
        }
    }

    proptest! {
        #[test]
        fn the_roots_of_any_number_add_up(number: u32) {
            holds(number);
        }
    }
}
