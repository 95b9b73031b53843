//! Agreement with the published implementation, bit for bit where bytes are hashed.

use amcl::bn254::big::BIG;
use amcl::bn254::ecp::ECP;
use amcl::bn254::ecp2::ECP2;
use amcl::bn254::fp12::FP12;
use amcl::bn254::pair::{ate, ate2, fexp, g1mul, g2mul, gtpow};
use amcl::bn254::rom::CURVE_ORDER;
use proptest::prelude::*;

use super::super::{G1, G2, G2OrIdentity, Gt, Scalar, pair, pair_product};
use super::{config, scalar};

pub(super) fn big(scalar: &Scalar) -> BIG {
    BIG::frombytes(&scalar.to_be_bytes())
}

pub(super) fn g1_bytes(point: &ECP) -> Vec<u8> {
    let mut bytes = vec![0; 128];
    point.tobytes(&mut bytes, false);
    bytes
}

fn g2_bytes(point: &ECP2) -> Vec<u8> {
    let mut bytes = vec![0; 128];
    point.tobytes(&mut bytes);
    bytes
}

fn gt_bytes(element: &FP12) -> Vec<u8> {
    let mut bytes = vec![0; 512];
    let mut element = *element;
    element.tobytes(&mut bytes);
    bytes
}

/// The pairing as `Pair::pair` computes it.
fn their_pair(p: &ECP, q: &ECP2) -> FP12 {
    let mut element = fexp(&ate(q, p));
    element.reduce();
    element
}

proptest! {
    #![proptest_config(config(12))]

    #[test]
    fn multiples_powers_and_pairings_are_those_of_the_published_implementation(
        a in scalar(),
        b in scalar(),
        c in scalar(),
    ) {
        // The published implementation has many forms of infinity, some not reduced, and pairings with it that mean
        // nothing.
        prop_assume!(!a.is_zero() && !b.is_zero());
        let p = g1mul(&ECP::generator(), &mut big(&a));
        let our_p = G1::generator().mul(&a);
        prop_assert_eq!(our_p.to_bytes().to_vec(), g1_bytes(&p));
        let q = g2mul(&ECP2::generator(), &big(&b));
        let our_q = G2::generator().mul(&b);
        prop_assert_eq!(our_q.to_bytes().to_vec(), g2_bytes(&q));
        let e = their_pair(&p, &q);
        let our_e = pair(&our_p, &our_q);
        prop_assert_eq!(our_e.to_bytes().to_vec(), gt_bytes(&e));
        prop_assert_eq!(our_e.pow(&c).to_bytes().to_vec(), gt_bytes(&gtpow(&e, &big(&c))));
        let mut inverse = e;
        inverse.conj();
        prop_assert_eq!(our_e.inverse().to_bytes().to_vec(), gt_bytes(&inverse));
    }

    #[test]
    fn the_product_of_two_pairings_is_that_of_the_published_implementation(
        a in scalar(),
        b in scalar(),
    ) {
        prop_assume!(!a.is_zero() && !b.is_zero());
        let (g, h) = (ECP::generator(), ECP2::generator());
        let p = g1mul(&g, &mut big(&a));
        let q = g2mul(&h, &big(&b));
        let mut e = fexp(&ate2(&q, &g, &h, &p));
        e.reduce();
        let (our_g, our_h) = (G1::generator(), G2::generator());
        let ours = pair_product(&[(our_g, our_h.mul(&b)), (our_g.mul(&a), our_h)]);
        prop_assert_eq!(ours.to_bytes().to_vec(), gt_bytes(&e));
    }

    #[test]
    fn texts_cross_in_both_directions(a in scalar(), b in scalar()) {
        prop_assume!(!a.is_zero() && !b.is_zero());
        let p = g1mul(&ECP::generator(), &mut big(&a));
        let our_p = G1::generator().mul(&a);
        // The published text is neither reduced nor affine.
        prop_assert_eq!(G1::from_text(&p.to_hex()), Ok(our_p));
        prop_assert!(ECP::from_hex(our_p.to_text()) == p);
        let q = g2mul(&ECP2::generator(), &big(&b));
        let mut minus_q = q;
        minus_q.neg();
        let our_q = G2::generator().mul(&b);
        prop_assert_eq!(G2::from_text(&q.to_hex()), Ok(our_q));
        prop_assert_eq!(G2::from_text(&minus_q.to_hex()), Ok(our_q.neg()));
        prop_assert!(ECP2::from_hex(our_q.to_text()) == q);
        let e = their_pair(&p, &q);
        let our_e = pair(&our_p, &our_q);
        prop_assert_eq!(Gt::from_text(&e.to_hex()), Ok(our_e));
        let mut inverse = e;
        inverse.conj();
        prop_assert_eq!(Gt::from_text(&inverse.to_hex()), Ok(our_e.inverse()));
        prop_assert!(FP12::from_hex(our_e.to_text()) == e);
        let mut number = big(&a);
        prop_assert_eq!(a.to_text(), number.to_hex());
        prop_assert_eq!(Scalar::from_text(&number.to_hex()), Ok(a));
    }

    #[test]
    fn scalars_are_reduced_as_in_the_published_implementation(
        bytes in proptest::array::uniform32(any::<u8>()),
        a in scalar(),
    ) {
        let order = BIG::new_ints(&CURVE_ORDER);
        let mut number = BIG::frombytes(&bytes);
        number.rmod(&order);
        number.norm();
        let ours = Scalar::from_be_bytes_reduced(&bytes);
        prop_assert_eq!(ours.to_text(), number.to_hex());
        let mut product = BIG::modmul(&number, &big(&a), &order);
        prop_assert_eq!(ours.mul(&a).to_text(), product.to_hex());
        if let Some(inverse) = ours.inverse() {
            number.invmodp(&order);
            prop_assert_eq!(inverse.to_text(), number.to_hex());
        }
    }
}

#[test]
fn infinity_is_hashed_and_written_as_in_the_published_implementation() {
    let mut p = ECP::new();
    p.inf();
    assert_eq!(G1::identity().to_bytes().to_vec(), g1_bytes(&p));
    let mut q = ECP2::new();
    q.inf();
    assert_eq!(G2::identity().to_bytes().to_vec(), g2_bytes(&q));
    assert_eq!(G2::from_text_or_identity(&q.to_hex()), Ok(G2::identity()));
    assert!(ECP2::from_hex(G2OrIdentity(G2::identity()).0.to_text()).is_infinity());
    let e = their_pair(&ECP::generator(), &q);
    assert_eq!(
        pair(&G1::generator(), &G2::identity()).to_bytes().to_vec(),
        gt_bytes(&e)
    );
}
