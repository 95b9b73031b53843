//! Proofs of good moduli, and attempts to prove bad ones by their makers, who know all factors.

use dashu_int::fast_div::ConstDivisor;
use dashu_int::ops::{ExtendedGcd as _, Gcd as _};

use selfsame_crypto::{ctx::Ctx, time::UnixTime};

use super::*;
use crate::cl::{SafePrimes, generate};

/// A prime factor of a modulus with its multiplicity, and the odd primes whose product is the odd part of its group's
/// order.
#[derive(Clone)]
struct Factor {
    prime: UBig,
    multiplicity: usize,
    odd: Vec<UBig>,
}

/// A proof as far as the maker of the modulus can make it, and how many rounds of each part are answered.
struct Tried {
    modulus: Modulus,
    proof: SafePrimesProof,
    answered: [usize; 2],
}

fn random(label: &str) -> Random {
    crate::seed::stream(&Ctx::new(UnixTime(0), [3; 32]), label)
}

fn power(base: &UBig, exponent: &UBig, modulus: &UBig) -> UBig {
    let ring = ConstDivisor::new(modulus.clone());
    ring.reduce(base.clone()).pow(exponent).residue()
}

fn inverse(number: &UBig, modulus: &UBig) -> UBig {
    let (divisor, inverse, _) = (number % modulus).gcd_ext(modulus.clone());
    assert!(divisor.is_one());
    let modulus = IBig::from(modulus.clone());
    ((inverse % &modulus + &modulus) % modulus)
        .try_into()
        .unwrap()
}

/// The number that leaves these remainders modulo these numbers.
fn joined_rests(rests: &[(UBig, UBig)]) -> UBig {
    let (mut number, mut modulus) = (UBig::ZERO, UBig::ONE);
    for (rest, other) in rests {
        let missing = (rest + other - &number % other) % other;
        number += missing * inverse(&modulus, other) % other * &modulus;
        modulus *= other;
    }
    number
}

impl Factor {
    fn simple(prime: UBig, odd: Vec<UBig>) -> Self {
        Self {
            prime,
            multiplicity: 1,
            odd,
        }
    }

    fn safe(bits: usize, random: &mut Random) -> Self {
        let prime = PRIMES.safe_prime(bits, random);
        let half = &prime >> 1;
        Self::simple(prime, vec![half])
    }

    /// The first prime times·∏odd + 1 for odd primes of these lengths, all 3 modulo 4.
    fn of(times: u8, lengths: &[usize], random: &mut Random) -> Self {
        loop {
            let odd: Vec<UBig> = lengths.iter().map(|bits| prime(*bits, random)).collect();
            let product = odd.iter().fold(UBig::from(times), |all, one| all * one);
            let found = product + UBig::ONE;
            if PRIMES.is_prime(&found) {
                return Self::simple(found, odd);
            }
        }
    }

    fn modulus(&self) -> UBig {
        self.prime.pow(self.multiplicity)
    }

    fn order(&self) -> UBig {
        self.prime.pow(self.multiplicity - 1) * (&self.prime - UBig::ONE)
    }

    /// A root to this exponent, if there is one.
    fn root(&self, number: &UBig, exponent: &UBig) -> Option<UBig> {
        let modulus = self.modulus();
        let mut order = self.order();
        loop {
            let common = (&order).gcd(exponent);
            if common.is_one() {
                break;
            }
            order /= common;
        }
        let root = power(number, &inverse(exponent, &order), &modulus);
        (power(&root, exponent, &modulus) == number % &modulus).then_some(root)
    }
}

/// A prime of this length that is 3 modulo 4, with its highest two bits set.
fn prime(bits: usize, random: &mut Random) -> UBig {
    loop {
        let mut number = random.integer(bits);
        for bit in [0, 1, bits - 1, bits - 2] {
            number.set_bit(bit);
        }
        if PRIMES.is_prime(&number) {
            return number;
        }
    }
}

/// A square root modulo a product of different primes.
fn square_root(number: &UBig, primes: &[UBig]) -> Option<UBig> {
    let is_square = |prime: &UBig| power(number, &(prime >> 1), prime).is_one();
    if !primes.iter().all(is_square) {
        return None;
    }
    let roots: Vec<(UBig, UBig)> = primes
        .iter()
        .map(|prime| {
            assert_eq!(prime % 4_u8, 3);
            let exponent = (prime + UBig::ONE) >> 2;
            (power(number, &exponent, prime), prime.clone())
        })
        .collect();
    Some(joined_rests(&roots))
}

fn tried(factors: &[Factor]) -> Tried {
    tried_but(factors, &|_| (), &|_| ())
}

/// Like `tried`, with roots of the first part, or of the second, changed before anything is computed from them.
fn tried_but(
    factors: &[Factor],
    of_numbers: &dyn Fn(&mut [UBig]),
    of_exponents: &dyn Fn(&mut [UBig]),
) -> Tried {
    let n = factors.iter().fold(UBig::ONE, |n, one| n * one.modulus());
    let mut odd: Vec<UBig> = factors.iter().flat_map(|one| one.odd.clone()).collect();
    odd.sort();
    odd.dedup();
    let order = odd.iter().fold(UBig::ONE, |all, one| all * one);
    let (w, b) = (of_both_kinds(&n).unwrap(), of_both_kinds(&order).unwrap());
    let modulus = Modulus::new(&n).unwrap();
    let mut answered = [0, 0];

    let rounds = unknown(&n, w).into_iter().zip(exponents(&n));
    let mut found: Vec<UBig> = rounds
        .map(|(number, exponent)| {
            let other = &number * w % &n;
            let all = [&n - &number, &n - &other, number, other];
            let root = all.iter().find_map(|number| {
                let roots = factors.iter().map(|factor| {
                    let root = factor.root(number, &exponent)?;
                    Some((root, factor.modulus()))
                });
                Some(joined_rests(&roots.collect::<Option<Vec<_>>>()?))
            });
            answered[0] += usize::from(root.is_some());
            root.unwrap_or(UBig::ONE)
        })
        .collect();
    of_numbers(&mut found);
    let roots = joined(&found, &n);

    let mut random = random("tried");
    let masks: Vec<UBig> = (0..ROUNDS).map(|_| random.below(&order)).collect();
    let exponents: Vec<IBig> = masks.iter().cloned().map(IBig::from).collect();
    let commitments = powers(&modulus, &bases(&modulus), &exponents).unwrap();
    let c = challenge(&n, NonSquares { w, b }, &roots, &commitments);
    let (mut squares, mut classes) = (Vec::new(), Vec::new());
    for (k, mask) in summands(&c, &n).into_iter().zip(masks) {
        let x = (k + mask) % &order;
        let divided = &x * inverse(&UBig::from(b), &order) % &order;
        let all = [&x, &(&order - &x), &divided, &(&order - &divided)].map(UBig::clone);
        let found = (0..4_u8).zip(&all).find_map(|(class, number)| {
            let root = square_root(number, &odd)?;
            Some((class, root))
        });
        answered[1] += usize::from(found.is_some());
        let (class, root) = found.unwrap_or((0, UBig::ONE));
        classes.push(class);
        squares.push(root);
    }
    of_exponents(&mut squares);
    let proof = SafePrimesProof {
        w,
        b,
        c,
        roots: Text(base64url_encode(&roots)),
        squares: Text(base64url_encode(&joined(&squares, &n))),
        classes: Text(base64url_encode(&classes)),
    };
    Tried {
        modulus,
        proof,
        answered,
    }
}

/// Whether the first part holds, and whether the whole proof does.
fn passes(tried: &Tried) -> [bool; 2] {
    let n = tried.modulus.value();
    let length = n.bit_len().div_ceil(8);
    let roots = numbers(&tried.proof.roots.bytes(length).unwrap(), length);
    [
        check_roots(&tried.modulus, tried.proof.w, &roots).is_ok(),
        tried.proof.check(&tried.modulus).is_ok(),
    ]
}

#[test]
fn who_knows_the_factors_proves_two_safe_primes() {
    let mut random = random("two safe primes");
    let both = [(); 2].map(|()| Factor::safe(260, &mut random));
    let tried = tried(&both);
    assert_eq!(tried.answered, [ROUNDS; 2]);
    assert_eq!(passes(&tried), [true, true]);

    // The prover of keys does so too, without the calculations of this test.
    let private = PrivateModulus::new(&both[0].prime, &both[1].prime).unwrap();
    let halves = PrimaryPrivateKey {
        p: both[0].odd[0].clone(),
        q: both[1].odd[0].clone(),
    };
    let proof = SafePrimesProof::prove(&private, &halves, &mut random);
    let proof = proof.unwrap().unwrap();
    // Exactly one of each number's roots is a square.
    assert_eq!(proof.w, tried.proof.w);
    assert_eq!(proof.check(&tried.modulus), Ok(()));
    let again = serde_json::to_value(&proof).unwrap();
    let again: SafePrimesProof = serde_json::from_value(again).unwrap();
    assert_eq!(again, proof);
    assert_eq!(again.digest(), proof.digest());
    let classes = proof.classes.bytes(1).unwrap();
    for class in 0..4 {
        assert!(classes.iter().filter(|other| **other == class).count() > 10);
    }
}

#[test]
fn no_other_modulus_passes_the_first_part() {
    let mut random = random("other moduli");
    let mut safe = |bits| Factor::safe(bits, &mut random);
    let three = vec![safe(180), safe(180), safe(180)];
    let mut square = vec![safe(180), safe(180)];
    square[0].multiplicity = 2;
    let itself = square[0].prime.clone();
    square[0].odd.push(itself);
    let good = safe(260);
    let one_of_four = vec![Factor::of(4, &[258], &mut random), good.clone()];
    let small = vec![Factor::of(6, &[258], &mut random), good.clone()];
    let shared = prime(20, &mut random);
    let with_shared = |random: &mut Random| loop {
        let odd = vec![shared.clone(), prime(240, random)];
        let found = &odd[0] * &odd[1] * 2_u8 + UBig::ONE;
        if PRIMES.is_prime(&found) {
            return Factor::simple(found, odd);
        }
    };
    let common = vec![with_shared(&mut random), with_shared(&mut random)];
    for (what, factors, answered) in [
        ("three primes", three, 40..90),
        ("a square", square, 110..118),
        ("1 modulo 4", one_of_four, 40..90),
        ("3 divides p - 1", small, 55..100),
        ("one divisor of p - 1 and q - 1", common, 110..118),
    ] {
        let tried = tried(&factors);
        assert!(
            answered.contains(&tried.answered[0]),
            "{what}: {:?}",
            tried.answered
        );
        assert_eq!(passes(&tried), [false, false], "{what}");
    }
}

#[test]
fn a_half_of_a_factor_with_two_large_primes_passes_the_first_part_and_not_the_second() {
    let mut random = random("two large primes");
    let factors = [
        Factor::of(2, &[130, 130], &mut random),
        Factor::safe(261, &mut random),
    ];
    let tried = tried(&factors);
    assert_eq!(tried.answered[0], ROUNDS);
    assert!(
        (40..90).contains(&tried.answered[1]),
        "{:?}",
        tried.answered
    );
    assert_eq!(passes(&tried), [true, false]);
}

/// p - 1 and q - 1 are products of small primes above 4,096, as in the tests of an issuer that takes logarithms.
#[test]
fn factors_made_for_taking_logarithms_do_not_pass_the_second_part() {
    let mut random = random("smooth");
    let mut smooth = || Factor::of(2, &[18; 15], &mut random);
    let tried = tried(&[smooth(), smooth()]);
    assert_eq!(tried.answered, [ROUNDS, 0]);
    assert_eq!(passes(&tried), [true, false]);
}

#[test]
fn a_prime_and_a_product_with_a_small_factor_are_no_moduli() {
    let mut random = random("no moduli");
    let both = [(); 2].map(|()| Factor::safe(260, &mut random));
    let tried = tried(&both);
    let refused = Err(Error::Issuer(
        "the modulus of the key is no product of two primes",
    ));
    let n = tried.modulus.value();
    let mut small = n - n % 4_093_u16;
    if !small.bit(0) {
        small -= 4_093_u16;
    }
    let mut prime = n.clone();
    while !PRIMES.is_prime(&prime) {
        prime += 2_u8;
    }
    for number in [small, prime] {
        let modulus = Modulus::new(&number).unwrap();
        assert_eq!(tried.proof.check(&modulus), refused);
    }
}

#[test]
fn a_proof_with_any_part_changed_is_refused() {
    let mut random = random("changed");
    let [first, second] = [(); 2].map(|()| {
        let both = [(); 2].map(|()| Factor::safe(260, &mut random));
        tried(&both)
    });
    let check = |change: &dyn Fn(&mut SafePrimesProof)| {
        let mut proof = first.proof.clone();
        change(&mut proof);
        proof.check(&first.modulus)
    };
    assert_eq!(check(&|_| ()), Ok(()));
    assert_eq!(second.proof.check(&first.modulus), Err(NOT_HELD));
    let changed = |text: &Text, at: usize| {
        let mut bytes = base64url_decode(&text.0).unwrap();
        bytes[at] ^= 1;
        Text(base64url_encode(&bytes))
    };
    let numbers = [
        check(&|proof| proof.w += 2),
        check(&|proof| proof.w = 0),
        check(&|proof| proof.b = 1),
        check(&|proof| proof.b = 4_096),
        check(&|proof| proof.c += UBig::ONE),
        check(&|proof| proof.roots = changed(&proof.roots, 64)),
        check(&|proof| proof.roots = changed(&proof.roots, 127 * 65 + 64)),
        check(&|proof| proof.squares = changed(&proof.squares, 64)),
        check(&|proof| proof.squares = changed(&proof.squares, 127 * 65 + 64)),
        check(&|proof| proof.classes = changed(&proof.classes, 0)),
        check(&|proof| proof.classes = changed(&proof.classes, 127)),
        check(&|proof| std::mem::swap(&mut proof.roots, &mut proof.squares)),
        check(&|proof| proof.classes = Text(base64url_encode(&[4; ROUNDS]))),
    ];
    for (place, found) in numbers.into_iter().enumerate() {
        assert_eq!(found, Err(NOT_HELD), "{place}");
    }
    let lengths = [
        check(&|proof| proof.c = UBig::ONE << 256_usize),
        check(&|proof| proof.roots.0.clear()),
        check(&|proof| proof.squares.0.truncate(100)),
        check(&|proof| proof.classes.0.push('A')),
        check(&|proof| proof.classes.0.push('=')),
    ];
    for (place, found) in lengths.into_iter().enumerate() {
        assert_eq!(found, Err(ANOTHER_LENGTH), "{place}");
    }
}

/// The challenge is over these roots, so the change is not otherwise detected.
#[test]
fn a_wrong_root_or_one_not_below_the_modulus_is_refused_by_itself() {
    let mut random = random("one root");
    let both = [(); 2].map(|()| Factor::safe(260, &mut random));
    let n = &both[0].prime * &both[1].prime;
    let four_times_order = (&both[0].odd[0] * &both[1].odd[0]) << 2;
    for (place, number) in [(0, 1_u8), (20, 1), (127, 1), (127, 0)] {
        let change = |roots: &mut [UBig]| roots[place] = number.into();
        assert_eq!(passes(&tried_but(&both, &change, &|_| ())), [false; 2]);
    }
    let change = |roots: &mut [UBig]| roots[127] = n.clone();
    assert_eq!(passes(&tried_but(&both, &change, &|_| ())), [false; 2]);

    let change = |roots: &mut [UBig]| {
        let least = roots.iter_mut().min().unwrap();
        *least += &four_times_order;
        assert!(*least >= n && least.bit_len() == n.bit_len());
    };
    let tried = tried_but(&both, &|_| (), &change);
    assert_eq!(passes(&tried), [true, false]);
}

#[test]
fn a_proof_of_another_form_is_not_read() {
    let mut random = random("another form");
    let both = [(); 2].map(|()| Factor::safe(260, &mut random));
    let whole = serde_json::to_value(&tried(&both).proof).unwrap();
    let read = |member: &str, value: serde_json::Value| {
        let mut altered = whole.clone();
        altered[member] = value;
        serde_json::from_value::<SafePrimesProof>(altered)
    };
    assert!(read("w", 3.into()).is_ok());
    for (member, value) in [
        ("w", serde_json::json!(-3)),
        ("b", serde_json::json!(70_000)),
        ("c", serde_json::json!("01")),
        ("roots", serde_json::json!(null)),
        ("roots", serde_json::json!("A".repeat(LONGEST_TEXT + 1))),
        ("more", serde_json::json!("1")),
    ] {
        assert!(read(member, value).is_err(), "{member}");
    }
}

/// A key of the usual kind: 2,050 bits, with primes from the search.
#[test]
fn a_new_key_comes_with_the_proof_which_holders_remember() {
    let mut random = random("a new key");
    let primes = SafePrimes::search(&mut random);
    let made = generate(&["age".to_owned()].into(), &primes, &mut random).unwrap();
    let key = crate::cl::CredentialKey::new(&made.public).unwrap();
    key.check_correctness(&made.proof).unwrap();
    assert!(!key.safe_primes_are_proven());
    let begun = selfsame_bignum::products();
    key.check_safe_primes(&made.proof).unwrap();
    let first = selfsame_bignum::products() - begun;
    assert!(key.safe_primes_are_proven());
    key.check_safe_primes(&made.proof).unwrap();
    assert_eq!(selfsame_bignum::products() - begun, first);
    assert!(first < 900_000, "{first}");

    let mut altered = made.proof.clone();
    altered.safe_primes.as_mut().unwrap().b += 1;
    assert_eq!(key.check_safe_primes(&altered), Err(NOT_HELD));
    altered.safe_primes = None;
    let other = crate::cl::CredentialKey::new(&made.public).unwrap();
    other.check_safe_primes(&altered).unwrap();
    assert!(!other.safe_primes_are_proven());
}
