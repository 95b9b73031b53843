//! Every path agrees with dashu, for all lengths of moduli and at the edges.

use super::*;

/// Residues, some of which are as large or as small as possible.
fn residues(modulus: &Modulus, random: &mut Random) -> Vec<UBig> {
    let n = modulus.value();
    vec![
        UBig::ONE,
        n - UBig::ONE,
        n >> 1,
        UBig::ONE << (modulus.bits() - 1),
        random.below(n),
        random.below(n),
    ]
}

fn check(n: &UBig, random: &mut Random) {
    for path in paths() {
        let modulus = Modulus::on(path, n).expect("a modulus");
        let numbers = residues(&modulus, random);
        let elements: Vec<Element> = numbers
            .iter()
            .map(|x| modulus.element(x).expect("a residue"))
            .collect();
        for (a, x) in elements.iter().zip(&numbers) {
            assert_eq!(&modulus.integer(a), x, "{modulus:?}");
            // Squares of squares are of residues anywhere below 2n.
            let square = modulus.square(a);
            assert_eq!(modulus.integer(&square), x * x % n, "{modulus:?}");
            assert_eq!(
                modulus.integer(&modulus.square(&square)),
                x.pow(4) % n,
                "{modulus:?}"
            );
            for (b, y) in elements.iter().zip(&numbers) {
                let product = modulus.product(a, b);
                assert_eq!(modulus.integer(&product), x * y % n, "{modulus:?}");
                assert_eq!(
                    modulus.integer(&modulus.product(&product, &square)),
                    x * x % n * x * y % n,
                    "{modulus:?}"
                );
                let (mut one, mut other) = (product.clone(), square.clone());
                modulus.engine().pair(
                    lane::Factors::new(one.lanes_mut(), Some(b.lanes())),
                    lane::Factors::new(other.lanes_mut(), None),
                );
                assert_eq!(modulus.integer(&one), x * y % n * y % n, "{modulus:?}");
                assert_eq!(modulus.integer(&other), x.pow(4) % n, "{modulus:?}");
            }
        }
    }
}

#[test]
fn products_are_right_for_moduli_at_the_edge_of_a_digit_a_lane_and_all_they_may_be() {
    let mut random = random("edges");
    for bits in [
        512, 513, 574, 575, 638, 639, 830, 831, 1024, 1025, 1086, 1087, 2048, 2050, 2078, 2079,
        2110, 2111, 3072, 3120, 4096, 4158, 4160,
    ] {
        check(&odd(bits, &mut random), &mut random);
        check(&UBig::ones(bits), &mut random);
        check(&((UBig::ONE << (bits - 1)) + UBig::ONE), &mut random);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn products_are_right_for_any_modulus(seed in any::<u64>(), bits in 512_usize..=4_160) {
        let mut random = random(&seed.to_string());
        check(&odd(bits, &mut random), &mut random);
    }

    #[test]
    fn a_scan_finds_the_rows_it_is_asked_for(picks in any::<[u8; 4]>(), seed in any::<u64>(), bits in 512_usize..=4_160) {
        let n = odd(bits, &mut random(&seed.to_string()));
        for path in paths() {
            let modulus = Modulus::on(path, &n).expect("a modulus");
            let lanes = modulus.engine().lanes();
            let table: Vec<lane::Lane> = (0..256 * lanes as u64).map(|i| lane::Lane([i * 1_000_003 + seed % 1000; 8])).collect();
            let mut out = vec![lane::Lane::default(); 4 * lanes];
            modulus.engine().scan(&table, &picks.map(u64::from), &mut out);
            for (found, pick) in out.chunks(lanes).zip(picks) {
                let wanted = &table[usize::from(pick) * lanes..][..lanes];
                prop_assert!(found.iter().zip(wanted).all(|(a, b)| a.0 == b.0));
            }
        }
    }
}

#[test]
fn several_products_of_powers_at_once_are_those_of_one_by_one() {
    let mut random = random("several");
    for path in paths() {
        let modulus = Modulus::on(path, &UBig::ones(1_279)).expect("a modulus, and a prime");
        let bases: Vec<Element> = (0..4).map(|_| element(&modulus, &mut random)).collect();
        let fixed = FixedBase::new_all(&modulus, &[(&bases[0], 300), (&bases[1], 700)]);
        let alone = FixedBase::new(&modulus, &bases[1], 700);
        assert_eq!(fixed[1].bytes(), alone.bytes());
        let numbers = [200, 900, 64, 0, 300].map(|bits| IBig::from(random.integer(bits)));
        let negative = -numbers[2].clone();
        let term = |base, exponent| Term { base, exponent };
        let groups: [&[Term<'_>]; 5] = [
            &[
                term(Base::Fixed(&fixed[0]), &numbers[0]),
                term(Base::Variable(&bases[2]), &negative),
            ],
            &[],
            &[
                term(Base::Fixed(&fixed[1]), &numbers[1]),
                term(Base::Variable(&bases[3]), &numbers[3]),
            ],
            &[
                term(Base::Variable(&bases[2]), &negative),
                term(Base::Fixed(&alone), &negative),
            ],
            &[
                term(Base::Variable(&bases[2]), &numbers[4]),
                term(Base::Variable(&bases[3]), &numbers[1]),
            ],
        ];
        let together = modulus.powers(&groups).expect("coprime");
        for (terms, together) in groups.iter().zip(&together) {
            let wanted = terms.iter().fold(UBig::ONE, |product, term| {
                let base = match term.base {
                    Base::Fixed(fixed) => fixed.base(),
                    Base::Variable(base) => base,
                };
                product * power(&modulus, base, term.exponent) % modulus.value()
            });
            assert_eq!(modulus.integer(together), wanted);
        }
    }
}

#[test]
fn any_number_of_equal_products_of_powers_comes_to_its_end() {
    let mut random = random("equal");
    for path in paths() {
        let modulus = Modulus::on(path, &UBig::ones(1_279)).expect("a modulus, and a prime");
        let base = element(&modulus, &mut random);
        let exponent = IBig::from(random.integer(200));
        let wanted = power(&modulus, &base, &exponent);
        let secret = Secret::from_public(&exponent.clone().into_parts().1, 200);
        for count in 1..8 {
            let term = [Term {
                base: Base::Variable(&base),
                exponent: &exponent,
            }];
            let secret_term = [SecretTerm {
                base: Base::Variable(&base),
                exponent: &secret,
            }];
            let public = modulus.powers(&vec![&term[..]; count]).expect("coprime");
            let hidden = modulus.secret_powers(&vec![&secret_term[..]; count]);
            assert_eq!((public.len(), hidden.len()), (count, count));
            for found in public.iter().chain(&hidden) {
                assert_eq!(modulus.integer(found), wanted, "{count} at once");
            }
        }
    }
}

#[test]
fn tables_of_a_credential_definition_keep_within_their_memory() {
    let mut random = random("memory");
    let modulus = Modulus::new(&odd(2_050, &mut random)).expect("a modulus");
    let base = element(&modulus, &mut random);
    // Z, 1/Z, S, Rctxt, R for the link secret and for five attributes.
    let bits = [900, 900, 3_100, 2_500, 850, 850, 850, 850, 850, 850];
    let bases: Vec<(&Element, usize)> = bits.iter().map(|bits| (&base, *bits)).collect();
    let bytes: usize = FixedBase::new_all(&modulus, &bases)
        .iter()
        .map(FixedBase::bytes)
        .sum();
    assert!(bytes <= 6_400_000, "{bytes} bytes");
}

#[test]
fn the_number_of_products_of_a_power_stays_what_it_is() {
    let mut random = random("counts");
    let modulus = Modulus::new(&odd(2_050, &mut random)).expect("a modulus");
    let base = element(&modulus, &mut random);
    let fixed = FixedBase::new(&modulus, &base, 3_060);
    let count = |work: &dyn Fn()| {
        let before = products();
        work();
        products() - before
    };
    let (long, short) = (random.secret(3_060), random.secret(456));
    let (public_long, public_short) = (long.reveal(), short.reveal());
    let public = |base, exponent| {
        count(&|| {
            modulus.power(&[Term { base, exponent }]).expect("coprime");
        })
    };
    let secret = |base, exponent| {
        count(&|| {
            modulus.secret_power(&[SecretTerm { base, exponent }]);
        })
    };
    assert!(public(Base::Fixed(&fixed), &public_long) <= 414);
    assert!(public(Base::Variable(&base), &public_short) <= 455 + 16 + 86);
    assert_eq!(secret(Base::Fixed(&fixed), &long), 414);
    assert_eq!(secret(Base::Variable(&base), &short), 455 + 30 + 92);
    assert_eq!(
        secret(
            Base::Variable(&base),
            &Secret::from_public(&UBig::ZERO, 456)
        ),
        455 + 30 + 92
    );
}
