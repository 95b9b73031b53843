//! What decoding accepts and what it refuses.

use dashu_int::ops::BitTest;
use proptest::prelude::*;

use super::super::fp2::Fp2;
use super::super::group::{Coordinate, Point};
use super::super::tails::tests::sum_of;
use super::super::{G1, G2, G2OrIdentity, Gt, Scalar, pair};
use super::{config, g1, g2};
use crate::Error;

fn reason<T: std::fmt::Debug>(result: Result<T, Error>) -> &'static str {
    match result {
        Err(Error::Malformed { why, .. }) => why,
        other => panic!("not refused as malformed: {other:?}"),
    }
}

/// A point of the twist that is not in G2: the order of the twist is n·(2p - n).
fn stray_point() -> G2 {
    (1u64..)
        .find_map(|x| {
            let x = Fp2::new([x, 0, 0, 0], [1, 0, 0, 0]);
            let b = Fp2::new([1, 0, 0, 0], [0; 4]).times_3b();
            let three = Fp2::ONE.triple().inverse();
            let y = square_root(&x.square().mul(&x).add(&b.mul(&three)))?;
            Some(G2(Point::affine(x, y)))
        })
        .expect("every second x has a point")
}

/// For p = 3 mod 4: Adj and Rodríguez-Henríquez, "Square root computation over even extension fields", algorithm 9.
fn square_root(a: &Fp2) -> Option<Fp2> {
    let quarter = [
        0xE9C0_0000_0000_0004,
        0x1848_4000_0000_0004,
        0x6E8D_1360_0000_0002,
        0x0948_D920_9000_0000,
    ];
    let power = |a: &Fp2, exponent: &[u64; 4]| {
        let bits = exponent
            .iter()
            .rev()
            .flat_map(|limb| (0..64).rev().map(move |i| limb >> i & 1));
        bits.fold(Fp2::ONE, |power, bit| {
            let square = power.square();
            if bit == 1 { square.mul(a) } else { square }
        })
    };
    let half = power(a, &quarter);
    let root = half.mul(a);
    let alpha = half.mul(&root);
    let minus_one = Fp2::ONE.neg();
    let root = if alpha == minus_one {
        Fp2::of(root.c1.neg(), root.c0)
    } else {
        let p_minus_1_half = [
            0xD380_0000_0000_0009,
            0x3090_8000_0000_0009,
            0xDD1A_26C0_0000_0004,
            0x1291_B241_2000_0000,
        ];
        power(&Fp2::ONE.add(&alpha), &p_minus_1_half).mul(&root)
    };
    (root.square() == *a).then_some(root)
}

#[test]
fn published_examples_are_read() {
    // From the tests of anoncreds-clsignatures 0.3.2.
    let p = "1 1D18E69FA5AA97421F4AEBE933B40264261C5440090222C6AC61FEBE2CFEAA04 \
             1 1461756FB88E41A2CB508A7057318CAFB551F4CD0C7051CBEC23DDFBC92248BC \
             1 095E45DDF417D05FB10933FFC63D474548B7FFFF7888802F07FFFFFF7D07A8A8";
    let p = G1::from_text(p).unwrap();
    let q = "1 1045C93522D11FB9EB69396032EEA008B857C7F8B3F2981C9917B1DFA8A00EC9 \
             1 01AD44557A4240BB570FB94B33746C272CF921F33B4910B111F1CA48FCE34FC2 \
             1 2265EAFAED9C22CD76C2FBD6FC3B88414B6B66FB4E31FCD1ED6AADE25A9D31EB \
             1 234B062F5159CB2E0782CFB75478E45D46EBF0F21E3CE7A2CD758687A73D5D08 \
             1 095E45DDF417D05FB10933FFC63D474548B7FFFF7888802F07FFFFFF7D07A8A8 \
             1 0000000000000000000000000000000000000000000000000000000000000000";
    let q = G2::from_text(q).unwrap();
    let e = pair(&p, &q);
    assert_eq!(Gt::from_text(&e.to_text()), Ok(e));
}

proptest! {
    #![proptest_config(config(24))]

    #[test]
    fn what_is_written_is_read_again(p in g1(), q in g2()) {
        if !p.is_identity() {
            prop_assert_eq!(G1::from_text(&p.to_text()), Ok(p));
        }
        prop_assert_eq!(G2::from_text_or_identity(&q.to_text()), Ok(q));
        if !q.is_identity() {
            prop_assert_eq!(G2::from_text(&q.to_text()), Ok(q));
            prop_assert_eq!(sum_of([&q.to_bytes()]), Ok(q));
        }
        let json = serde_json::to_string(&(p.neg(), G2OrIdentity(q))).unwrap();
        if !p.is_identity() {
            prop_assert_eq!(
                serde_json::from_str::<(G1, G2OrIdentity)>(&json).unwrap(),
                (p.neg(), G2OrIdentity(q))
            );
        }
    }

    #[test]
    fn reading_any_text_never_panics(text in "[0-9a-fA-F ]{0,500}") {
        // Nearly all of it is refused; text that is read must also survive writing and reading again.
        if let Ok(point) = G1::from_text(&text) {
            prop_assert_eq!(G1::from_text(&point.to_text()), Ok(point));
        }
        if let Ok(scalar) = Scalar::from_text(&text) {
            prop_assert_eq!(Scalar::from_text(&scalar.to_text()), Ok(scalar));
        }
        prop_assert!(G2::from_text(&text).is_err());
        prop_assert!(Gt::from_text(&text).is_err());
    }

    #[test]
    fn a_changed_coordinate_is_off_the_curve(q in g2(), place in 0usize..128, bit in 0u8..8) {
        prop_assume!(!q.is_identity());
        let mut bytes = q.to_bytes();
        bytes[place] ^= 1 << bit;
        prop_assert!(sum_of([&bytes]).is_err());
    }
}

#[test]
fn infinity_is_read_only_where_it_may_be() {
    let p = G1::identity().to_text();
    assert_eq!(reason(G1::from_text(&p)), "it is the point at infinity");
    let q = G2::identity().to_text();
    assert_eq!(reason(G2::from_text(&q)), "it is the point at infinity");
    assert_eq!(G2::from_text_or_identity(&q), Ok(G2::identity()));
    let json = serde_json::to_string(&q).unwrap();
    assert!(serde_json::from_str::<G2>(&json).is_err());
    let read: G2OrIdentity = serde_json::from_str(&json).unwrap();
    assert!(read.0.is_identity());
    let zeros = "1 0 1 0 1 0 1 0 1 0 1 0";
    assert_eq!(
        reason(G2::from_text_or_identity(zeros)),
        "it is not on the curve"
    );
}

#[test]
fn a_point_of_the_twist_outside_the_group_is_refused() {
    let stray = stray_point();
    assert!(stray.0.is_on_curve());
    // By doubling and adding alone, because `mul` is for points of the group.
    let order = Scalar::order();
    let multiple = (0..order.bit_len()).rev().fold(G2::identity(), |sum, i| {
        let double = sum.add(&sum);
        if order.bit(i) {
            double.add(&stray)
        } else {
            double
        }
    });
    assert!(!multiple.is_identity());
    assert_eq!(
        reason(G2::from_text(&stray.to_text())),
        "it is not in the group"
    );
    assert_eq!(
        reason(sum_of([&stray.to_bytes()])),
        "it is not in the group"
    );
    let good = G2::generator().to_bytes();
    let sum = sum_of([&good, &stray.to_bytes()]);
    assert_eq!(reason(sum), "it is not in the group");
}

#[test]
fn tails_are_added_as_points() {
    let q = G2::generator();
    let tails: Vec<_> = (1..20)
        .map(|i| q.mul(&Scalar::from(i)).to_bytes())
        .collect();
    assert_eq!(sum_of(&tails), Ok(q.mul(&Scalar::from(190))));
    assert_eq!(sum_of([]), Ok(G2::identity()));
    let doubled = [q.to_bytes(), q.to_bytes(), q.neg().to_bytes()];
    assert_eq!(sum_of(&doubled), Ok(q));
}

proptest! {
    #![proptest_config(config(16))]

    #[test]
    fn points_and_scalars_are_read_from_the_bytes_that_are_written(
        one in g1(),
        two in g2(),
        scalar in super::scalar(),
    ) {
        let read = G1::from_bytes(&one.to_bytes());
        prop_assert_eq!(read.ok(), Some(one).filter(|one| !one.is_identity()));
        prop_assert_eq!(G2OrIdentity::from_bytes(&two.to_bytes()), Ok(G2OrIdentity(two)));
        prop_assert_eq!(Scalar::from_be_bytes(&scalar.to_be_bytes()), Ok(scalar));
    }
}

#[test]
fn bytes_that_are_no_point_are_refused() {
    let identity = G2::identity();
    let read = G2OrIdentity::from_bytes(&identity.to_bytes());
    assert_eq!(read, Ok(G2OrIdentity(identity)));
    assert!(G1::from_bytes(&G1::identity().to_bytes()).is_err());
    let stray = G2OrIdentity::from_bytes(&stray_point().to_bytes());
    assert_eq!(reason(stray), "it is not in the group");
    let good = G1::generator().to_bytes();
    for (place, byte) in [(0, 2), (1, 0xFF), (64, 0xAA), (65, 1), (127, 1)] {
        let mut bytes = good;
        bytes[place] = byte;
        assert!(G1::from_bytes(&bytes).is_err(), "{place}");
    }
    let mut bytes = G2::generator().to_bytes();
    bytes[127] ^= 1;
    assert_eq!(
        reason(G2OrIdentity::from_bytes(&bytes)),
        "it is not on the curve"
    );
    let mut order = Scalar::one().neg().to_be_bytes();
    order[31] = 0x0D;
    assert_eq!(
        reason(Scalar::from_be_bytes(&order)),
        "it is not below the order"
    );
}

#[test]
fn coordinates_above_the_modulus_are_refused_in_bytes() {
    let mut bytes = G2::generator().to_bytes();
    bytes[0] |= 0x80;
    assert_eq!(
        reason(sum_of([&bytes])),
        "a coordinate is not below the modulus"
    );
}

#[test]
fn texts_of_the_wrong_shape_are_refused() {
    let good = G1::generator().to_text();
    let cases = [
        (String::new(), "it has too few numbers"),
        (
            good.replacen("1 ", "", 1),
            "a number is empty or longer than 280 bits",
        ),
        (format!("{good} 1 00"), "it has too many numbers"),
        (
            good.replacen("1 ", "0 ", 1),
            "an excess is not a positive number",
        ),
        (
            good.replacen("1 ", "-1 ", 1),
            "an excess is not a positive number",
        ),
        (
            good.replacen("1 ", "4294967296 ", 1),
            "an excess is not a positive number",
        ),
        (good.replacen("1 ", "1 G", 1), "a number is not hexadecimal"),
        (
            good.replacen("1 ", "1 00000000", 1),
            "a number is empty or longer than 280 bits",
        ),
        (good.replacen("1 ", "1 1", 1), "it is not on the curve"),
    ];
    for (text, why) in cases.iter().skip(2).chain(&cases[..1]) {
        assert_eq!(reason(G1::from_text(text)), *why, "{text}");
    }
    assert!(G1::from_text(&cases[1].0).is_err());
}

#[test]
fn a_scalar_not_below_the_order_is_refused() {
    let mut order = Scalar::one().neg().to_text();
    assert!(Scalar::from_text(&order).is_ok());
    order.replace_range(63.., "D");
    assert_eq!(
        reason(Scalar::from_text(&order)),
        "it is not below the order"
    );
    let long = format!("1{}", "0".repeat(64));
    assert_eq!(
        reason(Scalar::from_text(&long)),
        "it is not below the order"
    );
}

#[test]
fn an_element_of_another_order_is_refused() {
    let e = pair(&G1::generator(), &G2::generator());
    let text = e.to_text();
    let swapped: Vec<&str> = text.split(' ').collect();
    let mut swapped = swapped;
    swapped.swap(1, 3);
    assert_eq!(
        reason(Gt::from_text(&swapped.join(" "))),
        "it is not of the group's order"
    );
    // In the cyclotomic subgroup, of order p⁴ - p² + 1, which is n times a cofactor.
    let f = super::super::fp12::Fp12::of(e.0.c0.times_v(), e.0.c1);
    let f = f.conjugate().mul(&f.inverse());
    let f = Gt(f.frobenius().frobenius().mul(&f));
    assert_eq!(
        reason(Gt::from_text(&f.to_text())),
        "it is not of the group's order"
    );
    let zero = "1 0 ".repeat(12);
    assert!(Gt::from_text(&zero).is_err());
    assert_eq!(Gt::from_text(&Gt::one().to_text()), Ok(Gt::one()));
}

#[test]
fn a_secret_scalar_is_not_printed() {
    assert_eq!(format!("{:?}", Scalar::from(42)), "Scalar(..)");
}
