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

use super::{
    Base, Element, Term,
    engine::{Engine, Path},
    limbs, power,
};
use crate::random::Random;

/// Rounds for a number that somebody else chose: each lets a composite pass with a chance of 1/4 at most.
const ROUNDS: u64 = 64;
/// Rounds for a candidate of our own at random, of which far fewer composites pass (Damgård, Landrock and Pomerance 1993).
const OWN_ROUNDS: u64 = 16;
/// Small primes are those below this.
const SMALL: usize = 1 << 19;
/// Candidates in one sieve, each two above the one before.
const WINDOW: usize = 1 << 16;

/// Whether the number is prime; a composite passes with a chance below 2^-128, whoever chose it. Variable time.
pub(crate) fn is_prime(number: &UBig) -> bool {
    if *number < UBig::from(4_u8) {
        return *number > UBig::ONE;
    }
    for prime in small_primes().iter().take(256) {
        if (number % *prime) == 0 {
            return *number == UBig::from(*prime);
        }
    }
    number.bit(0) && passes(number, ROUNDS)
}

/// A prime p of `bits` bits, the two highest of them 1, for which (p-1)/2 is prime too; `bits` is 6 at least.
pub(crate) fn safe_prime(bits: usize, random: &mut Random) -> UBig {
    let length = bits.max(6).saturating_sub(1);
    loop {
        let mut start = random.integer(length);
        start.set_bit(0);
        start.set_bit(length.saturating_sub(1));
        start.set_bit(length.saturating_sub(2));
        let found = survivors(&start, &[Condition::Itself, Condition::TwiceAndOne])
            .take_while(|half| half.bit_len() == length)
            .find(|half| {
                let whole = (half << 1) + UBig::ONE;
                passes(half, 1)
                    && passes(&whole, 1)
                    && passes(half, OWN_ROUNDS)
                    && passes(&whole, OWN_ROUNDS)
            });
        if let Some(half) = found {
            return (half << 1) + UBig::ONE;
        }
    }
}

/// A prime from `start` up to, and not including, `end`; there must be one, and `end` must be above 2.
pub(crate) fn prime_in_range(start: &UBig, end: &UBig, random: &mut Random) -> UBig {
    let width = if end > start { end - start } else { UBig::ONE };
    loop {
        let mut first = start + random.below(&width);
        if !first.bit(0) {
            first += UBig::ONE;
        }
        let found = survivors(&first, &[Condition::Itself])
            .take_while(|candidate| candidate < end)
            .find(|candidate| {
                *candidate > UBig::ONE && passes(candidate, 1) && passes(candidate, OWN_ROUNDS)
            });
        if let Some(prime) = found {
            return prime;
        }
    }
}

/// What a small prime must not divide.
#[derive(Clone, Copy)]
enum Condition {
    Itself,
    TwiceAndOne,
}

/// The candidates start, start + 2, … that no small prime rules out; `start` is odd.
fn survivors(start: &UBig, conditions: &[Condition]) -> impl Iterator<Item = UBig> {
    // More small primes pay for longer numbers, whose tests cost more; none may reach the candidates themselves.
    let bits = start.bit_len();
    let squared = bits.saturating_mul(bits);
    let (limit, window) = match conditions {
        _ if bits < 24 => (0, WINDOW),
        [_] => (squared.wrapping_div(16), WINDOW / 16),
        _ => (squared.wrapping_div(2), WINDOW),
    };
    let mut ruled_out = vec![false; window];
    let primes = small_primes().iter().skip(1);
    for prime in primes.take_while(|prime| (**prime as usize) < limit) {
        let prime = u64::from(*prime);
        let rest = start % prime;
        for condition in conditions {
            // start + 2i is 0, or (prime - 1)/2, modulo the prime.
            let wanted = match condition {
                Condition::Itself => 0,
                Condition::TwiceAndOne => (prime - 1) / 2,
            };
            let distance = (wanted + prime - rest) % prime;
            let first = if distance.is_multiple_of(2) {
                distance
            } else {
                distance + prime
            } / 2;
            let (first, step) = (
                usize::try_from(first).unwrap_or(0),
                usize::try_from(prime).unwrap_or(1),
            );
            ruled_out
                .iter_mut()
                .skip(first)
                .step_by(step)
                .for_each(|place| *place = true);
        }
    }
    let start = start.clone();
    ruled_out
        .into_iter()
        .enumerate()
        .filter(|(_, ruled_out)| !ruled_out)
        .map(move |(place, _)| &start + UBig::from(place) * UBig::from(2_u8))
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

/// Rounds of Miller and Rabin's test of an odd number above 3; the first of a single round has the base 2.
fn passes(number: &UBig, rounds: u64) -> bool {
    if *number < UBig::from(5_u8) {
        return *number == UBig::from(3_u8);
    }
    let engine = Engine::new(Path::best(), number);
    let less = number - UBig::ONE;
    let twos = less.trailing_zeros().unwrap_or(0);
    let exponent = IBig::from(&less >> twos);
    let minus_one = limbs::from_integer(&less, engine.limb_count());
    let bytes = number.to_be_bytes();
    let mut round = 0;
    while round < rounds {
        let count = if rounds == 1 { 1 } else { 2 };
        let bases: Vec<Element> = (round..round.saturating_add(count))
            .map(|round| {
                let base = if rounds == 1 {
                    UBig::from(2_u8)
                } else {
                    base(&bytes, round, number)
                };
                Element::from_lanes(&engine.enter(&limbs::from_integer(&base, engine.limb_count())))
            })
            .collect();
        if !bases_agree(&engine, &bases, &exponent, (&minus_one, twos)) {
            return false;
        }
        round = round.saturating_add(count);
    }
    true
}

/// Whether for each base the power is 1, or becomes -1 by fewer than `twos` squarings.
fn bases_agree(
    engine: &Engine,
    bases: &[Element],
    exponent: &IBig,
    (minus_one, twos): (&[u64], usize),
) -> bool {
    let terms: Vec<[Term<'_>; 1]> = bases
        .iter()
        .map(|base| {
            [Term {
                base: Base::Variable(base),
                exponent,
            }]
        })
        .collect();
    let groups: Vec<&[Term<'_>]> = terms.iter().map(<[_; 1]>::as_slice).collect();
    power::quotients(engine, &groups).iter().all(|power| {
        let mut residue = power.above.lanes().to_vec();
        let number = engine.leave(&residue);
        if number.first() == Some(&1) && number.iter().skip(1).all(|limb| *limb == 0) {
            return true;
        }
        let mut number = number;
        for _ in 1..twos {
            if number == minus_one {
                return true;
            }
            engine.product(&mut residue, None);
            number = engine.leave(&residue);
        }
        number == minus_one
    })
}

/// A base from 2 to number - 2 that depends on the whole number, so that nobody can choose a number for its bases.
fn base(bytes: &[u8], round: u64, number: &UBig) -> UBig {
    let mut wide = Vec::new();
    for part in 0..=bytes.len().wrapping_div(32) {
        let mut text = round.to_be_bytes().to_vec();
        text.extend_from_slice(&part.to_be_bytes());
        text.extend_from_slice(bytes);
        wide.extend_from_slice(&selfsame_crypto::hash::sha256(&text));
    }
    UBig::from_be_bytes(&wide) % (number - UBig::from(3_u8)) + UBig::from(2_u8)
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::{ctx::Ctx, time::UnixTime};

    use super::*;

    fn random() -> Random {
        Random::new(&Ctx::new(UnixTime(0), [9; 32]), "primes")
    }

    #[test]
    fn small_numbers_are_told_apart_as_a_sieve_does() {
        let mut sieve = vec![true; 5000];
        sieve[..2].fill(false);
        for i in 2..5000 {
            (2 * i..5000).step_by(i).for_each(|j| sieve[j] = false);
        }
        for (number, prime) in sieve.into_iter().enumerate() {
            assert_eq!(is_prime(&UBig::from(number)), prime, "{number}");
            if number % 2 == 1 && number > 4 {
                assert_eq!(passes(&UBig::from(number), ROUNDS), prime, "{number}");
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
            assert!(!is_prime(&composite) && !passes(&composite, ROUNDS));
        }
        assert!(is_prime(&UBig::ones(521)));
        assert!(!is_prime(&UBig::ones(523)));
        assert!(!is_prime(&(UBig::ones(521) * UBig::ones(607))));
    }

    #[test]
    fn safe_primes_have_their_length_and_both_halves_are_prime() {
        for bits in [6, 12, 24, 25, 64, 160, 320] {
            let prime = safe_prime(bits, &mut random());
            assert_eq!(prime.bit_len(), bits);
            assert!(is_prime(&prime) && is_prime(&((prime - UBig::ONE) >> 1)));
        }
    }

    #[test]
    fn a_prime_in_a_range_stays_in_it() {
        let start = UBig::ONE << 596;
        let end = &start + (UBig::ONE << 119);
        let prime = prime_in_range(&start, &end, &mut random());
        assert!(prime >= start && prime < end && is_prime(&prime));
        let [ninety, hundred] = [90_u8, 100].map(UBig::from);
        assert_eq!(
            prime_in_range(&ninety, &hundred, &mut random()),
            UBig::from(97_u8)
        );
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
        let single: Vec<UBig> = survivors(&start, &[Condition::Itself]).collect();
        assert!(single.iter().all(|number| !divided(number)));
        let near = || (0..2_000_u32).map(|i| &start + UBig::from(2 * i));
        assert!(near().filter(is_prime).all(|prime| single.contains(&prime)));
        let both: Vec<UBig> =
            survivors(&start, &[Condition::Itself, Condition::TwiceAndOne]).collect();
        let whole = |half: &UBig| half * UBig::from(2_u8) + UBig::ONE;
        assert!(
            both.iter()
                .all(|half| !divided(half) && !divided(&whole(half)))
        );
        let pairs = near().filter(|half| is_prime(half) && is_prime(&whole(half)));
        assert!(pairs.into_iter().all(|half| both.contains(&half)));
    }
}
