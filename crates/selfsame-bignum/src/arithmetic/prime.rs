//! Primes: testing them, finding them in a range, and finding safe ones.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        reason = "integers of any size do not overflow, small ones are dealt with first, and no small prime is zero"
    )
)]

use std::sync::OnceLock;

use dashu_int::{IBig, UBig, ops::BitTest};
use zeroize::Zeroizing;

use super::{
    Base, Element, Term,
    eight::{EIGHT, Eight},
    engine::{Engine, Path},
    limbs, power,
    two::power_of_two,
};
use crate::random::Random;

/// Rounds for a number from another party: each lets a composite pass with a probability of 1/4 at most.
const ROUNDS: usize = 64;
/// Rounds for a candidate of our own, after one to the base 2. Of the random odd numbers of 600 bits that pass five
/// rounds fewer than one in 2^80 is composite (Damgård, Landrock and Pomerance 1993). That is proven for numbers from
/// the whole length, and e comes from a short range of it, so there are sixteen. They run only for the last candidate,
/// eight at a time, and cost little.
const OWN_ROUNDS: usize = 16;
/// The limit of the small primes.
const SMALL: usize = 1 << 19;
/// The number of candidates in one sieve.
const WINDOW: usize = 1 << 16;

/// Tests of primes and searches for them.
#[derive(Clone, Copy)]
pub struct Primes {
    hash: fn(&[u8]) -> [u8; 32],
}

impl Primes {
    /// Takes the hash function that makes the bases of a test from the tested number. It must be cryptographic, such as
    /// SHA-256: otherwise an attacker could choose a composite number that passes with its own bases.
    pub const fn new(hash: fn(&[u8]) -> [u8; 32]) -> Self {
        Self { hash }
    }

    /// Whether the number is prime. Even a malicious composite passes with a probability below 2^-128. Variable time.
    pub fn is_prime(&self, number: &UBig) -> bool {
        if *number < UBig::from(4_u8) {
            return *number > UBig::ONE;
        }
        for prime in small_primes().iter().take(256) {
            if (number % *prime) == 0 {
                return *number == UBig::from(*prime);
            }
        }
        number.bit(0) && self.passes(number, ROUNDS)
    }

    /// A prime p of `bits` bits, the two highest of them 1, for which h = (p-1)/2 is prime too, and 3 modulo 4; `bits` is
    /// at least 9. With such an h, square roots modulo it take one power.
    pub fn safe_prime(&self, bits: usize, random: &mut Random) -> UBig {
        let length = bits.max(9).saturating_sub(1);
        loop {
            let mut start = Zeroizing::new(random.integer(length));
            start.set_bit(0);
            start.set_bit(1);
            start.set_bit(length.saturating_sub(1));
            start.set_bit(length.saturating_sub(2));
            if let Some(whole) = self.first_safe_prime(&start, Step::Four) {
                return whole;
            }
        }
    }

    /// The first safe prime 2h + 1 for an h from the odd number `start` on, of its length and within one sieve.
    pub fn safe_prime_from(&self, start: &UBig) -> Option<UBig> {
        self.first_safe_prime(start, Step::Two)
    }

    /// A prime from `start` up to, and not including, `end`; there must be one, and `end` must be above 3.
    ///
    /// All odd primes of the range are equally likely: every candidate is drawn anew, as the published library draws e ("a
    /// random prime", AnonCreds v1.0, "The Credential Signature"). Going on from one random number to the next prime would
    /// be faster, but would prefer primes that follow long gaps.
    pub fn prime_in_range(&self, start: &UBig, end: &UBig, random: &mut Random) -> UBig {
        let mut first = start.clone();
        first.set_bit(0);
        // The candidates are first + 2k for k below this.
        let count = if *end > first {
            (end - &first + UBig::ONE) >> 1
        } else {
            UBig::ONE
        };
        let bits = (&count - UBig::ONE).bit_len();
        let divisors = Divisors::new(&first);
        let mut draw = || {
            loop {
                let place = random.integer(bits);
                if place < count && !divisors.rule_out(&place) {
                    return &first + (place << 1);
                }
            }
        };
        loop {
            let some = [(); EIGHT].map(|()| draw());
            let mut probable = probable(&some);
            if let Some(prime) = probable.find(|candidate| self.passes(candidate, OWN_ROUNDS)) {
                return prime.clone();
            }
        }
    }

    /// Like `safe_prime_from`, for the h of these steps only.
    fn first_safe_prime(&self, start: &UBig, step: Step) -> Option<UBig> {
        let length = start.bit_len();
        let mut halves = survivors(start, step).take_while(|half| half.bit_len() == length);
        loop {
            // One of them may be half of a factor.
            let some: Zeroizing<Vec<UBig>> = Zeroizing::new(halves.by_ref().take(EIGHT).collect());
            if some.is_empty() {
                return None;
            }
            let mut probable = probable(&some);
            if let Some(whole) = probable.find_map(|half| self.safe_prime_of(half)) {
                return Some(whole);
            }
        }
    }

    /// The safe prime 2h + 1, for an h that may be prime.
    ///
    /// Once h is prime, one power proves 2h + 1 prime (Pocklington 1914): if 2^(2h) is 1 modulo it, and it has no divisor
    /// in common with 2² - 1. So only h needs rounds.
    fn safe_prime_of(&self, half: &UBig) -> Option<UBig> {
        let mut whole = Zeroizing::new((half << 1) + UBig::ONE);
        let proven = &*whole % 3_u8 != 0 && passes_base_two(&whole);
        (proven && self.passes(half, OWN_ROUNDS)).then(|| std::mem::take(&mut *whole))
    }

    /// `rounds` rounds of Miller and Rabin's test of an odd number. An attacker cannot choose the number to fit the bases.
    fn passes(&self, number: &UBig, rounds: usize) -> bool {
        if *number < UBig::from(5_u8) {
            return *number == UBig::from(3_u8);
        }
        let bytes = number.to_be_bytes();
        (0..rounds).step_by(EIGHT).all(|round| {
            let count = rounds.saturating_sub(round).min(EIGHT);
            let bases: Vec<UBig> = (round..round.saturating_add(count))
                .map(|round| self.base(&bytes, round, number))
                .collect();
            let rounds: Vec<(&UBig, &UBig)> = bases.iter().map(|base| (number, base)).collect();
            agree(&rounds).into_iter().all(|agrees| agrees)
        })
    }

    /// A base from 2 to number - 2 that depends on the whole number, so that an attacker cannot choose a number to fit it.
    fn base(&self, bytes: &[u8], round: usize, number: &UBig) -> UBig {
        let mut wide = Vec::new();
        for part in 0..=bytes.len().wrapping_div(32) {
            let mut text = (round as u64).to_be_bytes().to_vec();
            text.extend_from_slice(&part.to_be_bytes());
            text.extend_from_slice(bytes);
            wide.extend_from_slice(&(self.hash)(&text));
        }
        UBig::from_be_bytes(&wide) % (number - UBig::from(3_u8)) + UBig::from(2_u8)
    }
}

/// The difference between successive candidates.
#[derive(Clone, Copy)]
enum Step {
    Two = 2,
    Four = 4,
}

/// Trial division of candidates first + 2k by small primes, before any other test.
struct Divisors {
    /// `first` modulo the product of each group of small primes.
    first: Vec<u64>,
}

/// Dividing by a larger prime costs more than the tests that it saves.
const LARGEST_DIVISOR: u32 = 3_000;

impl Divisors {
    fn new(first: &UBig) -> Self {
        // No small prime may be as large as a candidate.
        let small = first.bit_len() < 24;
        let limit = if small { 0 } else { LARGEST_DIVISOR };
        Self {
            first: groups(limit)
                .map(|group| first % group.modulus.value)
                .collect(),
        }
    }

    /// Whether one of the primes divides first + 2·place.
    fn rule_out(&self, place: &UBig) -> bool {
        let mut groups = self.first.iter().zip(groups(LARGEST_DIVISOR));
        groups.any(|(first, group)| {
            // Three times the product is below 2^63.
            let residue = first + 2 * (place % group.modulus.value);
            let mut primes = group.primes.iter();
            primes.any(|prime| residue.is_multiple_of(u64::from(*prime)))
        })
    }
}

/// The candidates h = start, start + step, … where no small prime divides h or 2h + 1; `start` is odd.
fn survivors(start: &UBig, step: Step) -> impl Iterator<Item = UBig> {
    // Longer numbers, whose tests cost more, justify more small primes; none may be as large as a candidate.
    let bits = start.bit_len();
    let limit = if bits < 24 {
        0
    } else {
        u32::try_from(bits.saturating_mul(bits).wrapping_div(2)).unwrap_or(u32::MAX)
    };
    let mut ruled_out = vec![false; WINDOW];
    let limbs = Zeroizing::new(limbs::from_integer(start, bits.div_ceil(limbs::BITS)));
    for group in groups(limit) {
        let rest = group.modulus.rest(&limbs);
        for prime in group.primes {
            let prime = u64::from(*prime);
            rule_out(&mut ruled_out, prime, step, rest % prime);
        }
    }
    let start = Zeroizing::new(start.clone());
    ruled_out
        .into_iter()
        .enumerate()
        .filter(|(_, ruled_out)| !ruled_out)
        .map(move |(place, _)| &*start + UBig::from(place) * UBig::from(step as u8))
}

/// Rules out the places i where h = start + step·i is 0, or (prime - 1)/2, modulo the prime: it divides h or 2h + 1.
fn rule_out(ruled_out: &mut [bool], prime: u64, step: Step, start: u64) {
    let half = |number: u64| match number.is_multiple_of(2) {
        true => number / 2,
        false => (number + prime) / 2,
    };
    for wanted in [0, prime / 2] {
        let below = if wanted < start { prime } else { 0 };
        let distance = wanted + below - start;
        let place = match step {
            Step::Two => half(distance),
            Step::Four => half(half(distance)),
        };
        let first = usize::try_from(place).unwrap_or(usize::MAX);
        let step = usize::try_from(prime).unwrap_or(usize::MAX);
        let places = ruled_out.iter_mut().skip(first).step_by(step);
        places.for_each(|place| *place = true);
    }
}

/// Some odd primes in order, and their product: one division of a long number serves all of them.
struct Group {
    modulus: &'static Product,
    primes: &'static [u32],
}

/// A product of odd primes below 2^61, with constants to divide by it (Montgomery).
struct Product {
    value: u64,
    negated_inverse: u64,
    /// 2^64 and 2^128 modulo the product.
    once: u64,
    twice: u64,
}

impl Product {
    fn new(value: u64) -> Self {
        let square = |number: u64| {
            let wide = u128::from(number) * u128::from(number);
            limbs::low(wide % u128::from(value))
        };
        let once = square(1 << 32);
        Self {
            value,
            negated_inverse: limbs::negated_inverse(value),
            once,
            twice: square(once),
        }
    }

    /// A number below 2^63 that is congruent to the number of these limbs modulo the product.
    fn rest(&self, number: &[u64]) -> u64 {
        number.iter().rev().fold(0, |rest, limb| {
            // rest·2^64 + limb, both times 2^64, which the next line divides out. All sums stay below 2^127.
            let sum = u128::from(rest) * u128::from(self.twice)
                + u128::from(*limb) * u128::from(self.once);
            let quotient = limbs::low(sum).wrapping_mul(self.negated_inverse);
            limbs::high(sum + u128::from(quotient) * u128::from(self.value))
        })
    }
}

/// The odd primes below a limit, and below `SMALL`, in groups.
fn groups(limit: u32) -> impl Iterator<Item = Group> {
    static ENDS: OnceLock<Vec<(Product, usize)>> = OnceLock::new();
    let all = small_primes();
    let groups = ENDS.get_or_init(|| {
        let mut groups: Vec<(u64, usize)> = Vec::new();
        for (place, prime) in all.iter().enumerate().skip(1) {
            let prime = u64::from(*prime);
            match groups.last_mut() {
                Some((product, end)) if *product < (1 << 61) / prime => {
                    (*product, *end) = (*product * prime, place + 1);
                }
                _ => groups.push((prime, place + 1)),
            }
        }
        let groups = groups.into_iter();
        groups
            .map(|(product, end)| (Product::new(product), end))
            .collect()
    });
    let mut begin = 1;
    groups.iter().map_while(move |(modulus, end)| {
        let primes = all.get(std::mem::replace(&mut begin, *end)..*end)?;
        let primes = primes.get(..primes.partition_point(|prime| *prime < limit))?;
        (!primes.is_empty()).then_some(Group { modulus, primes })
    })
}

/// The odd primes below `limit`, which is 2^19 at most.
pub fn odd_primes(limit: u32) -> impl Iterator<Item = u32> {
    let odd = small_primes().iter().copied().skip(1);
    odd.take_while(move |prime| *prime < limit)
}

fn small_primes() -> &'static [u32] {
    static PRIMES: OnceLock<Vec<u32>> = OnceLock::new();
    PRIMES.get_or_init(|| {
        let mut composite = vec![false; SMALL];
        let mut primes = Vec::new();
        for number in 2..SMALL {
            if !composite.get(number).copied().unwrap_or(true) {
                primes.extend(u32::try_from(number));
                let multiples = composite.iter_mut().skip(number.saturating_mul(number));
                multiples.step_by(number).for_each(|place| *place = true);
            }
        }
        primes
    })
}

/// The odd numbers that pass one round of Miller and Rabin's test to the base 2, in their order. Eight are tested at
/// once where that is possible; otherwise each is tested when it is requested.
fn probable(numbers: &[UBig]) -> Box<dyn Iterator<Item = &UBig> + '_> {
    if Path::best() != Path::Ifma {
        return Box::new(numbers.iter().filter(|number| passes_base_two(number)));
    }
    let two = UBig::from(2_u8);
    let rounds: Vec<(&UBig, &UBig)> = numbers.iter().map(|number| (number, &two)).collect();
    let both = numbers.iter().zip(agree(&rounds));
    Box::new(both.filter_map(|(number, agrees)| agrees.then_some(number)))
}

/// One round to the base 2, which needs only squarings.
fn passes_base_two(number: &UBig) -> bool {
    let exponent = odd_part(number);
    match power_of_two(Path::best(), number, &exponent) {
        Some(power) => becomes_one(number, power),
        None => becomes_one(number, power_of(number, &UBig::from(2_u8), &exponent)),
    }
}

/// One round for each odd number above 1 and its base, eight at once where possible: whether, for number - 1 = d·2^t,
/// base^d is 1, or becomes -1 by fewer than t squarings.
fn agree(rounds: &[(&UBig, &UBig)]) -> Vec<bool> {
    let mut agree = Vec::with_capacity(rounds.len());
    for rounds in rounds.chunks(EIGHT) {
        let (numbers, bases): (Vec<&UBig>, Vec<&UBig>) = rounds.iter().copied().unzip();
        let exponents: Vec<UBig> = numbers.iter().map(|number| odd_part(number)).collect();
        let powers = match Eight::new(Path::best(), &numbers) {
            Some(eight) => eight.powers(&bases, &exponents),
            None => rounds
                .iter()
                .zip(&exponents)
                .map(|((number, base), exponent)| power_of(number, base, exponent))
                .collect(),
        };
        let pairs = numbers.iter().zip(powers);
        agree.extend(pairs.map(|(number, power)| becomes_one(number, power)));
    }
    agree
}

/// The d of number - 1 = d·2^t, odd.
fn odd_part(number: &UBig) -> UBig {
    let less = number - UBig::ONE;
    &less >> less.trailing_zeros().unwrap_or(0)
}

/// base^exponent mod number.
fn power_of(number: &UBig, base: &UBig, exponent: &UBig) -> UBig {
    let engine = Engine::new(Path::best(), number);
    let base = engine.enter(&limbs::from_integer(&(base % number), engine.limb_count()));
    let base = Element::from_lanes(&base);
    let exponent = IBig::from(exponent.clone());
    let term = Term {
        base: Base::Variable(&base),
        exponent: &exponent,
    };
    let powers = power::quotients(&engine, &[&[term]]);
    powers.first().map_or(UBig::ZERO, |power| {
        limbs::to_integer(&engine.leave(power.above.lanes()))
    })
}

/// Whether base^d, for number - 1 = d·2^t, is 1, or becomes -1 by fewer than t squarings.
fn becomes_one(number: &UBig, mut power: UBig) -> bool {
    let less = number - UBig::ONE;
    if power.is_one() || power == less {
        return true;
    }
    (1..less.trailing_zeros().unwrap_or(0)).any(|_| {
        power = &power * &power % number;
        power == less
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{PRIMES, stream};

    fn random() -> Random {
        stream(9, "primes")
    }

    #[test]
    fn small_numbers_are_told_apart_as_a_sieve_does() {
        let mut sieve = vec![true; 5000];
        sieve[..2].fill(false);
        for i in 2..5000 {
            (2 * i..5000).step_by(i).for_each(|j| sieve[j] = false);
        }
        for (number, prime) in sieve.into_iter().enumerate() {
            assert_eq!(PRIMES.is_prime(&UBig::from(number)), prime, "{number}");
            if number % 2 == 1 && number > 4 {
                assert_eq!(
                    PRIMES.passes(&UBig::from(number), ROUNDS),
                    prime,
                    "{number}"
                );
            }
        }
    }

    #[test]
    fn carmichael_numbers_and_known_primes_are_told_apart() {
        for composite in [
            "561",
            "1729",
            "3825123056546413051",
            "318665857834031151167461",
            "3317044064679887385961981",
        ] {
            let composite: UBig = composite.parse().expect("a number");
            assert!(!PRIMES.is_prime(&composite) && !PRIMES.passes(&composite, ROUNDS));
        }
        assert!(PRIMES.is_prime(&UBig::ones(521)));
        assert!(!PRIMES.is_prime(&UBig::ones(523)));
        assert!(!PRIMES.is_prime(&(UBig::ones(521) * UBig::ones(607))));
    }

    #[test]
    fn safe_primes_have_their_length_and_both_halves_are_prime() {
        for bits in [9, 12, 24, 25, 64, 160, 320] {
            let prime = PRIMES.safe_prime(bits, &mut random());
            assert_eq!(prime.bit_len(), bits);
            let half = &prime >> 1;
            assert_eq!(&half % 4_u8, 3);
            assert!(PRIMES.is_prime(&prime) && PRIMES.is_prime(&half));
        }
    }

    #[test]
    fn a_prime_in_a_range_stays_in_it() {
        let start = UBig::ONE << 596;
        let end = &start + (UBig::ONE << 119);
        let prime = PRIMES.prime_in_range(&start, &end, &mut random());
        assert!(prime >= start && prime < end && PRIMES.is_prime(&prime));
        let [ninety, hundred] = [90_u8, 100].map(UBig::from);
        assert_eq!(
            PRIMES.prime_in_range(&ninety, &hundred, &mut random()),
            UBig::from(97_u8)
        );
    }

    #[test]
    fn every_prime_of_a_range_is_as_likely_as_another() {
        // The primes from 90 to 130 follow gaps of 1 to 14 numbers.
        let (start, end) = (UBig::from(90_u8), UBig::from(130_u8));
        let mut random = random();
        let mut seen = std::collections::BTreeMap::<UBig, u32>::new();
        for _ in 0..700 {
            *seen
                .entry(PRIMES.prime_in_range(&start, &end, &mut random))
                .or_default() += 1;
        }
        let primes: Vec<u32> = seen
            .keys()
            .map(|prime| u32::try_from(prime).unwrap())
            .collect();
        assert_eq!(primes, [97, 101, 103, 107, 109, 113, 127]);
        assert!(
            seen.values().all(|count| (60..140).contains(count)),
            "{seen:?}"
        );
    }

    #[test]
    fn eight_rounds_at_once_judge_as_one_alone() {
        let start = UBig::ONE << 596;
        let numbers: Vec<UBig> = (0..16_u32)
            .map(|place| &start + UBig::from(2 * place + 1))
            .chain([PRIMES.prime_in_range(&start, &(&start << 1), &mut random())])
            .collect();
        let two = UBig::from(2_u8);
        let rounds: Vec<(&UBig, &UBig)> = numbers.iter().map(|number| (number, &two)).collect();
        let alone = numbers
            .iter()
            .map(|number| becomes_one(number, power_of(number, &two, &odd_part(number))));
        let alone: Vec<bool> = alone.collect();
        let by_squarings: Vec<bool> = numbers.iter().map(passes_base_two).collect();
        assert_eq!(agree(&rounds), alone);
        assert_eq!(by_squarings, alone);
        assert_eq!(probable(&numbers).collect::<Vec<_>>(), [&numbers[16]]);
    }

    #[test]
    fn the_rest_of_a_long_number_is_right_for_every_small_prime() {
        let mut random = random();
        for bits in [1, 64, 65, 597, 1_024, 2_000] {
            for number in [random.integer(bits), UBig::ones(bits)] {
                let limbs = limbs::from_integer(&number, bits.div_ceil(64));
                for group in groups(u32::MAX) {
                    let rest = group.modulus.rest(&limbs);
                    assert!(rest < 1 << 63);
                    assert_eq!(rest % group.modulus.value, &number % group.modulus.value);
                }
            }
        }
        let all = groups(u32::MAX).flat_map(|group| group.primes);
        assert!(all.eq(small_primes().iter().skip(1)));
    }

    #[test]
    fn nothing_that_survives_has_a_small_divisor_and_no_prime_is_lost() {
        let divided = |number: &UBig| {
            small_primes()
                .iter()
                .take(25)
                .any(|prime| number % *prime == 0)
        };
        let start = (UBig::ONE << 40) + UBig::ONE;
        let near = || (0..2_000_u32).map(|i| &start + UBig::from(2 * i));
        let divisors = Divisors::new(&start);
        for (number, place) in near().zip(0_u32..) {
            let ruled_out = divisors.rule_out(&UBig::from(place));
            assert!(ruled_out || !divided(&number), "{number}");
            assert!(!(ruled_out && PRIMES.is_prime(&number)), "{number}");
        }
        let whole = |half: &UBig| half * UBig::from(2_u8) + UBig::ONE;
        for step in [Step::Two, Step::Four] {
            let both: Vec<UBig> = survivors(&start, step).collect();
            assert!(
                both.iter()
                    .all(|half| !divided(half) && !divided(&whole(half)))
            );
            let pairs = near().filter(|half| (half - &start) % (step as u8) == 0);
            let mut pairs =
                pairs.filter(|half| PRIMES.is_prime(half) && PRIMES.is_prime(&whole(half)));
            assert!(pairs.all(|half| both.contains(&half)));
        }
    }
}
