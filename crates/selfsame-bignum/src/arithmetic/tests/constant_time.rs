//! Two secrets lead to accesses of equal locations in equal order, on every path.

use super::*;
use trace::{Touch, traced};

const WIDTHS: [usize; 4] = [300, 456, 900, 64];

/// The accesses of one run over secrets of equal widths: with a table, a table too short, and two bases without one.
fn touches(
    modulus: &Modulus,
    bases: &[Element],
    fixed: &[FixedBase],
    secrets: &[UBig],
) -> Vec<Touch> {
    let secrets: Vec<Secret> = secrets
        .iter()
        .zip(WIDTHS)
        .map(|(secret, bits)| Secret::from_public(secret, bits))
        .collect();
    let bases = [
        Base::Fixed(&fixed[0]),
        Base::Variable(&bases[1]),
        Base::Fixed(&fixed[1]),
        Base::Variable(&bases[3]),
    ];
    let terms: Vec<SecretTerm<'_>> = bases
        .into_iter()
        .zip(&secrets)
        .map(|(base, exponent)| SecretTerm { base, exponent })
        .collect();
    traced(|| {
        modulus.secret_powers(&[&terms[..2], &terms[1..], &terms[..1]]);
    })
}

#[test]
fn secrets_of_one_width_touch_the_same_places_in_the_same_order_on_every_path() {
    let mut random = random("trace");
    for path in paths() {
        let modulus = Modulus::on(path, &odd(2_050, &mut random)).expect("a modulus");
        let bases: Vec<Element> = (0..4).map(|_| element(&modulus, &mut random)).collect();
        let fixed = [
            FixedBase::new(&modulus, &bases[0], 300),
            FixedBase::new(&modulus, &bases[2], 600),
        ];
        let zeros = touches(
            &modulus,
            &bases,
            &fixed,
            &[UBig::ZERO, UBig::ZERO, UBig::ZERO, UBig::ZERO],
        );
        assert!(zeros.iter().filter(|touch| touch.0 == "row").count() > 10_000);
        let ones = touches(&modulus, &bases, &fixed, &WIDTHS.map(UBig::ones));
        assert!(zeros == ones, "{path:?}");
        for _ in 0..4 {
            let others = touches(
                &modulus,
                &bases,
                &fixed,
                &WIDTHS.map(|bits| random.integer(bits)),
            );
            assert!(zeros == others, "{path:?}");
        }
    }
}

#[test]
fn every_scan_reads_its_whole_table() {
    let mut random = random("whole");
    for path in paths() {
        let modulus = Modulus::on(path, &odd(600, &mut random)).expect("a modulus");
        let base = element(&modulus, &mut random);
        let fixed = FixedBase::new(&modulus, &base, 64);
        let exponent = random.secret(64);
        let touches = traced(|| {
            modulus.secret_power(&[SecretTerm {
                base: Base::Fixed(&fixed),
                exponent: &exponent,
            }]);
        });
        let row = modulus.engine().lanes() * size_of::<lane::Lane>();
        for (place, scan) in touches
            .iter()
            .enumerate()
            .filter(|(_, touch)| touch.0 == "scan")
        {
            let rows = &touches[place + 1..=place + 256];
            assert!(
                rows.iter()
                    .enumerate()
                    .all(|(number, touch)| touch.0 == "row" && touch.1 == number * row),
                "{scan:?}"
            );
        }
        assert_eq!(
            touches.iter().filter(|touch| touch.0 == "row").count(),
            256 * 2
        );
    }
}

#[test]
fn the_trace_would_show_a_difference_for_it_shows_that_of_public_exponents() {
    let mut random = random("control");
    for path in paths() {
        let modulus = Modulus::on(path, &odd(600, &mut random)).expect("a modulus");
        let base = element(&modulus, &mut random);
        let fixed = FixedBase::new(&modulus, &base, 64);
        let [one, other] = [3_u64 << 62, 5 << 61].map(|exponent| {
            let exponent = IBig::from(exponent);
            traced(|| {
                modulus
                    .power(&[Term {
                        base: Base::Fixed(&fixed),
                        exponent: &exponent,
                    }])
                    .expect("coprime");
            })
        });
        assert!(one != other);
    }
}
