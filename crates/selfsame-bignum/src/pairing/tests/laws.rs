//! Laws that hold in every representation.

use proptest::prelude::*;

use super::super::affine::{self, Affine, invert_all};
use super::super::counters::counts;
use super::super::fp::Fp;
use super::super::fp2::Fp2;
use super::super::fp6::Fp6;
use super::super::fp12::Fp12;
use super::super::group::Point;
use super::super::{G1, G2, Gt, Prepared, Scalar, pair, pair_prepared, pair_product};
use super::{config, g1, g2, scalar};

fn fp() -> impl Strategy<Value = Fp> {
    let any = proptest::array::uniform4(any::<u64>()).prop_map(Fp::new);
    prop_oneof![
        4 => any,
        1 => (0u64..3).prop_map(|small| Fp::new([small, 0, 0, 0])),
        1 => (0u64..3).prop_map(|small| Fp::new([small, 0, 0, 0]).neg()),
    ]
}

fn fp2() -> impl Strategy<Value = Fp2> {
    (fp(), fp()).prop_map(|(c0, c1)| Fp2::of(c0, c1))
}

fn fp6() -> impl Strategy<Value = Fp6> {
    (fp2(), fp2(), fp2()).prop_map(|(c0, c1, c2)| Fp6::of(c0, c1, c2))
}

fn fp12() -> impl Strategy<Value = Fp12> {
    (fp6(), fp6()).prop_map(|(c0, c1)| Fp12::of(c0, c1))
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn the_prime_field_is_a_field(a in fp(), b in fp(), c in fp()) {
        prop_assert_eq!(a.add(&b), b.add(&a));
        prop_assert_eq!(a.mul(&b), b.mul(&a));
        prop_assert_eq!(a.mul(&b.add(&c)), a.mul(&b).add(&a.mul(&c)));
        prop_assert_eq!(a.mul(&b).mul(&c), a.mul(&b.mul(&c)));
        prop_assert_eq!(a.square(), a.mul(&a));
        prop_assert_eq!(a.sub(&b).add(&b), a);
        prop_assert_eq!(a.halve().double(), a);
        prop_assert_eq!(Fp::new(a.number()), a);
        prop_assert_eq!(Fp::from_be_bytes(&a.to_be_bytes()), Some(a));
        if a != Fp::ZERO {
            prop_assert_eq!(a.mul(&a.inverse()), Fp::ONE);
        }
    }

    #[test]
    fn all_inverses_at_once_are_the_inverses(mut numbers in prop::collection::vec(fp(), 0..6)) {
        let single: Vec<Fp> = numbers.iter().map(Fp::inverse).collect();
        invert_all(&mut numbers);
        prop_assert_eq!(numbers, single);
    }

    #[test]
    fn the_quadratic_extension_is_a_field(a in fp2(), b in fp2(), c in fp2()) {
        prop_assert_eq!(a.mul(&b.add(&c)), a.mul(&b).add(&a.mul(&c)));
        prop_assert_eq!(a.mul(&b).mul(&c), a.mul(&b.mul(&c)));
        prop_assert_eq!(a.square(), a.mul(&a));
        prop_assert_eq!(a.times_xi(), a.mul(&Fp2::of(Fp::ONE, Fp::ONE)));
        let product = Fp2::of(
            a.c0.mul(&b.c0).sub(&a.c1.mul(&b.c1)),
            a.c0.mul(&b.c1).add(&a.c1.mul(&b.c0)),
        );
        prop_assert_eq!(a.mul(&b), product);
        if a != Fp2::ZERO {
            prop_assert_eq!(a.mul(&a.inverse()), Fp2::ONE);
        }
    }

    #[test]
    fn the_twelfth_extension_is_a_field(a in fp12(), b in fp12(), c in fp12()) {
        prop_assert_eq!(a.mul(&b).mul(&c), a.mul(&b.mul(&c)));
        prop_assert_eq!(a.square(), a.mul(&a));
        prop_assert_eq!(a.frobenius().mul(&b.frobenius()), a.mul(&b).frobenius());
        let twelve = (0..12).fold(a, |power, _| power.frobenius());
        prop_assert_eq!(twelve, a);
        let six = (0..6).fold(a, |power, _| power.frobenius());
        prop_assert_eq!(six, a.conjugate());
        if a != Fp12::of(Fp6::ZERO, Fp6::ZERO) {
            prop_assert_eq!(a.mul(&a.inverse()), Fp12::ONE);
        }
    }

    #[test]
    fn a_line_is_multiplied_like_any_element(f in fp12(), a in fp2(), b in fp2(), c in fp2()) {
        let line = Fp12::of(Fp6::of(a, Fp2::ZERO, Fp2::ZERO), Fp6::of(b, c, Fp2::ZERO));
        prop_assert_eq!(f.mul_line(&a, &b, &c), f.mul(&line));
    }

    #[test]
    fn scalars_are_a_field(a in scalar(), b in scalar(), c in scalar()) {
        prop_assert_eq!(a.mul(&b.add(&c)), a.mul(&b).add(&a.mul(&c)));
        prop_assert_eq!(a.sub(&b), a.add(&b.neg()));
        prop_assert_eq!(a.power(3), a.mul(&a).mul(&a));
        match a.inverse() {
            Some(inverse) => prop_assert_eq!(a.mul(&inverse), Scalar::one()),
            None => prop_assert!(a.is_zero()),
        }
    }

    #[test]
    fn bytes_of_any_length_are_reduced_modulo_the_order(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let number = dashu_int::UBig::from_be_bytes(&bytes);
        let scalar = Scalar::from_be_bytes_reduced(&bytes);
        prop_assert_eq!(scalar.reveal(), &number % Scalar::order());
        prop_assert_eq!(Scalar::from_public(&number), scalar);
    }
}

proptest! {
    #![proptest_config(config(24))]

    #[test]
    fn multiples_in_g1_are_linear(p in g1(), a in scalar(), b in scalar()) {
        prop_assert_eq!(p.mul(&a).add(&p.mul(&b)), p.mul(&a.add(&b)));
        prop_assert_eq!(p.mul(&a).mul(&b), p.mul(&a.mul(&b)));
        prop_assert_eq!(p.mul(&a), p.mul_public(&a));
        prop_assert_eq!(p.sub(&p), G1::identity());
        prop_assert_eq!(p.mul(&a).neg(), p.mul(&a.neg()));
        prop_assert!(p.mul(&a).0.is_on_curve());
    }

    #[test]
    fn multiples_in_g2_are_linear(p in g2(), a in scalar(), b in scalar()) {
        prop_assert_eq!(p.mul(&a).add(&p.mul(&b)), p.mul(&a.add(&b)));
        prop_assert_eq!(p.mul(&a).mul(&b), p.mul(&a.mul(&b)));
        prop_assert_eq!(p.sub(&p), G2::identity());
        prop_assert!(p.mul(&a).0.is_on_curve());
    }

    #[test]
    fn a_sum_of_multiples_is_the_sum_of_the_multiples(
        terms in prop::collection::vec((scalar(), scalar()), 0..12),
    ) {
        let g1: Vec<_> = terms.iter().map(|(p, a)| (G1::generator().mul(p), a)).collect();
        let g2: Vec<_> = terms.iter().map(|(p, a)| (G2::generator().mul(p), a)).collect();
        let sum = g1.iter().fold(G1::identity(), |sum, (p, a)| sum.add(&p.mul(a)));
        let terms: Vec<_> = g1.iter().map(|(p, a)| (p.0, *a)).collect();
        prop_assert_eq!(Point::sum(&terms), sum.0);
        let sum = g2.iter().fold(G2::identity(), |sum, (p, a)| sum.add(&p.mul(a)));
        let terms: Vec<_> = g2.iter().map(|(p, a)| (p.0, *a)).collect();
        prop_assert_eq!(Point::sum(&terms), sum.0);
    }

    #[test]
    fn the_pairing_is_bilinear(a in scalar(), b in scalar()) {
        let (p, q) = (G1::generator(), G2::generator());
        let power = pair(&p, &q).pow(&a.mul(&b));
        prop_assert_eq!(pair(&p.mul(&a), &q.mul(&b)), power);
        prop_assert_eq!(pair(&p, &q).pow(&a).pow(&b), power);
        prop_assert_eq!(pair(&p.mul(&a.neg()), &q.mul(&b)), power.inverse());
    }

    #[test]
    fn a_product_of_pairings_is_the_product_of_the_pairings(
        pairs in prop::collection::vec((g1(), g2()), 0..5),
    ) {
        let product = pairs.iter().fold(Gt::one(), |product, (p, q)| product.mul(&pair(p, q)));
        prop_assert_eq!(pair_product(&pairs), product);
        let prepared: Vec<_> = pairs.iter().map(|(p, q)| (*p, Prepared::new(q))).collect();
        let borrowed: Vec<_> = prepared.iter().map(|(p, q)| (*p, q)).collect();
        prop_assert_eq!(pair_prepared(&borrowed), product);
    }
}

proptest! {
    #![proptest_config(config(24))]

    #[test]
    fn a_sum_of_affine_points_is_the_sum_of_the_points(
        // Few different scalars, so that equal and opposite points meet.
        scalars in prop::collection::vec(1u64..6, 0..80),
        negative in any::<u128>(),
    ) {
        let points: Vec<G1> = scalars.iter().zip(0u32..).map(|(scalar, i)| {
            let point = G1::generator().mul(&Scalar::from(*scalar));
            if negative >> i & 1 == 1 { point.neg() } else { point }
        }).collect();
        let affine = points.iter().map(|point| point.0.to_affine());
        let affine = affine.map(|(x, y)| Affine { x, y }).collect();
        let sum = points.iter().fold(G1::identity(), |sum, point| sum.add(point));
        prop_assert_eq!(G1(affine::sum(affine)), sum);
    }
}

#[test]
fn the_pairing_is_not_degenerate_and_its_values_are_of_the_groups_order() {
    let e = pair(&G1::generator(), &G2::generator());
    assert!(!e.is_one());
    assert_eq!(e.pow(&Scalar::one().neg()).mul(&e), Gt::one());
    assert_eq!(e.pow(&Scalar::one().neg()), e.inverse());
}

#[test]
fn infinity_pairs_to_one() {
    let (p, q) = (G1::generator(), G2::generator());
    assert!(pair(&G1::identity(), &q).is_one());
    assert!(pair(&p, &G2::identity()).is_one());
}

#[test]
fn a_product_of_many_pairings_takes_one_final_power() {
    let pairs = [(G1::generator(), G2::generator()); 4];
    let before = counts();
    pair_product(&pairs);
    let after = counts();
    assert_eq!(after.miller_loops - before.miller_loops, 4);
    assert_eq!(after.final_powers - before.final_powers, 1);
}
