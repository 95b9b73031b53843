//! All of the arithmetic, compared with dashu's integers.

mod constant_time;
mod paths;
mod speed;

use dashu_int::{IBig, UBig, fast_div::ConstDivisor, ops::BitTest};
use proptest::prelude::*;

use super::*;
use crate::random::Random;
use crate::testing::{PRIMES, stream};

/// The paths that this processor has.
fn paths() -> Vec<Path> {
    Path::available().collect()
}

fn random(label: &str) -> Random {
    stream(3, label)
}

/// An odd number of exactly `bits` bits.
fn odd(bits: usize, random: &mut Random) -> UBig {
    let mut number = random.integer(bits);
    number.set_bit(0);
    number.set_bit(bits - 1);
    number
}

fn element(modulus: &Modulus, random: &mut Random) -> Element {
    let number = random.below(&(modulus.value() - UBig::ONE)) + UBig::ONE;
    modulus.element(&number).expect("a residue")
}

/// base^exponent, computed by dashu alone.
fn power(modulus: &Modulus, base: &Element, exponent: &IBig) -> UBig {
    let ring = ConstDivisor::new(modulus.value().clone());
    let (sign, magnitude) = exponent.clone().into_parts();
    let base = ring.reduce(modulus.integer(base));
    match sign {
        dashu_int::Sign::Positive => base.pow(&magnitude).residue(),
        dashu_int::Sign::Negative => base.inv().expect("coprime").pow(&magnitude).residue(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn powers_of_several_bases_are_the_product_of_single_powers(
        seed in any::<u64>(), bits in 512_usize..2_200, lengths in prop::collection::vec((0_usize..900, any::<bool>(), any::<bool>()), 1..5),
    ) {
        let mut random = random(&seed.to_string());
        let path = paths()[random.integer(8).bit_len() % paths().len()];
        let modulus = Modulus::on(path, &odd(bits, &mut random)).expect("a modulus");
        let bases: Vec<Element> = lengths.iter().map(|_| element(&modulus, &mut random)).collect();
        let fixed: Vec<FixedBase> = bases.iter().map(|base| FixedBase::new(&modulus, base, 600)).collect();
        let exponents: Vec<UBig> = lengths.iter().map(|(bits, ..)| random.integer(*bits)).collect();
        let mut terms = Vec::new();
        let mut wanted = UBig::ONE;
        let signed: Vec<IBig> = exponents.iter().zip(&lengths).zip(&bases).map(|((exponent, (_, negative, _)), base)| {
            let coprime = modulus.inverse(base).is_ok();
            if *negative && coprime { -IBig::from(exponent.clone()) } else { IBig::from(exponent.clone()) }
        }).collect();
        for (place, (_, _, fix)) in lengths.iter().enumerate() {
            let base = if *fix { Base::Fixed(&fixed[place]) } else { Base::Variable(&bases[place]) };
            terms.push(Term { base, exponent: &signed[place] });
            wanted = wanted * power(&modulus, &bases[place], &signed[place]) % modulus.value();
        }
        prop_assert_eq!(modulus.integer(&modulus.power(&terms).expect("coprime")), wanted);

        let secrets: Vec<Secret> = exponents.iter().zip(&lengths).map(|(exponent, (bits, ..))| Secret::from_public(exponent, *bits)).collect();
        let terms: Vec<SecretTerm<'_>> = terms.iter().zip(&secrets).map(|(term, exponent)| SecretTerm { base: term.base, exponent }).collect();
        let wanted = exponents.iter().zip(&bases).fold(UBig::ONE, |product, (exponent, base)| {
            product * power(&modulus, base, &IBig::from(exponent.clone())) % modulus.value()
        });
        prop_assert_eq!(modulus.integer(&modulus.secret_power(&terms)), wanted);
    }
}

#[test]
fn a_modulus_is_odd_and_neither_short_nor_long() {
    let one = UBig::ONE;
    assert!(Modulus::new(&((&one << 511) + &one)).is_ok());
    assert!(Modulus::new(&UBig::ones(511)).is_err());
    assert!(Modulus::new(&(&one << 2049)).is_err());
    assert!(Modulus::new(&UBig::ones(4_160)).is_ok());
    assert!(Modulus::new(&UBig::ones(4_161)).is_err());
}

#[test]
fn a_residue_is_above_zero_and_below_the_modulus() {
    let modulus = Modulus::new(&UBig::ones(521)).expect("a modulus");
    assert!(modulus.element(&UBig::ZERO).is_err());
    assert!(modulus.element(&UBig::ones(521)).is_err());
    let most = UBig::ones(521) - UBig::ONE;
    assert_eq!(
        modulus.integer(&modulus.element(&most).expect("a residue")),
        most
    );
    assert_eq!(modulus.integer(&modulus.one()), UBig::ONE);
}

#[test]
fn inverses_undo_and_a_common_divisor_is_refused() {
    let mut random = random("inverses");
    let modulus = Modulus::new(&UBig::ones(521)).expect("a modulus");
    let elements: Vec<Element> = (0..5).map(|_| element(&modulus, &mut random)).collect();
    let inverses = modulus.inverse_all(&elements).expect("a prime modulus");
    for (element, inverse) in elements.iter().zip(&inverses) {
        assert!(modulus.integer(&modulus.product(element, inverse)).is_one());
        assert_eq!(
            modulus.integer(&modulus.inverse(element).expect("coprime")),
            modulus.integer(inverse)
        );
    }
    assert!(modulus.inverse_all(&[]).expect("nothing").is_empty());
    let modulus = Modulus::new(&(UBig::ones(521) * UBig::from(7_u8))).expect("a modulus");
    let bad = modulus.element(&UBig::from(7_u8)).expect("a residue");
    assert!(modulus.inverse(&bad).is_err());
    assert!(modulus.inverse_all(&[modulus.one(), bad.clone()]).is_err());
    let minus = IBig::from(-3);
    assert!(
        modulus
            .power(&[Term {
                base: Base::Variable(&bad),
                exponent: &minus
            }])
            .is_err()
    );
}

/// The number that is congruent to this one modulo q, and to -1 times this one modulo p.
fn negative_by_one_factor(number: &UBig, (p, q): (&UBig, &UBig)) -> UBig {
    let divisor = ConstDivisor::new(p.clone());
    let inverse = divisor
        .reduce(q.clone())
        .inv()
        .expect("two primes")
        .residue();
    let modulus = p * q;
    let twice = UBig::from(2_u8) * number * q * inverse % &modulus;
    (number + &modulus - twice) % modulus
}

#[test]
fn roots_of_squares_undo_powers_and_nothing_else_has_one() {
    let mut random = random("roots");
    let (p, q) = (
        PRIMES.safe_prime(260, &mut random),
        PRIMES.safe_prime(260, &mut random),
    );
    for (path, length) in paths()
        .into_iter()
        .flat_map(|path| [(path, 40), (path, 300), (path, 1_200)])
    {
        let private = PrivateModulus::on(path, &p, &q).expect("two primes");
        let modulus = private.modulus();
        let start = UBig::ONE << length;
        let e = PRIMES.prime_in_range(&start, &(&start + &start), &mut random);
        for _ in 0..4 {
            let base = element(modulus, &mut random);
            // For a square, this is the power that the published implementation computes.
            let order = ((&p - UBig::ONE) >> 1) * ((&q - UBig::ONE) >> 1);
            let inverse = ConstDivisor::new(order)
                .reduce(e.clone())
                .inv()
                .expect("coprime")
                .residue();
            let square = modulus.square(&base);
            let exponent = IBig::from(e.clone());
            // -1 is not a square modulo either factor, so its product with a square is not one; nor is a number that is
            // a square modulo p alone.
            let negative = modulus.value() - modulus.integer(&square);
            let by_q_alone = negative_by_one_factor(&modulus.integer(&square), (&p, &q));
            for none in [negative, by_q_alone] {
                let none = modulus.element(&none).expect("coprime");
                assert!(private.power_inverse_exponent(&none, &e).is_err());
            }
            let root = private
                .power_inverse_exponent(&square, &e)
                .expect("coprime");
            assert_eq!(
                modulus.integer(&root),
                power(modulus, &square, &IBig::from(inverse))
            );
            assert_eq!(power(modulus, &root, &exponent), modulus.integer(&square));
            let exponent = random.secret(700);
            assert_eq!(
                modulus.integer(&private.power(&base, &exponent)),
                power(modulus, &base, &exponent.reveal())
            );
        }
    }
}

#[test]
fn exponents_without_a_root_and_factors_that_are_not_two_primes_are_refused() {
    let mut random = random("refused");
    let (p, q) = (
        PRIMES.safe_prime(260, &mut random),
        PRIMES.safe_prime(260, &mut random),
    );
    let private = PrivateModulus::new(&p, &q).expect("two primes");
    let one = private.modulus().one();
    let half = (&p - UBig::ONE) >> 1;
    for e in [
        UBig::ZERO,
        UBig::ONE,
        UBig::from(2_u8),
        UBig::from(65_535_u32),
        half,
        p.clone() * &q,
    ] {
        assert!(private.power_inverse_exponent(&one, &e).is_err(), "{e}");
    }
    assert!(PrivateModulus::new(&p, &p).is_err());
    assert!(PrivateModulus::new(&p, &(&q * UBig::from(4_u8))).is_err());
    let composite = odd(260, &mut random);
    assert!(!PRIMES.is_prime(&composite) && PrivateModulus::new(&composite, &q).is_err());
}
