//! A measurement, not a test: ours and the published implementation in turn.
//! `cargo test --release -p selfsame-bignum pairing_speed -- --ignored --nocapture`
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "it measures and prints"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use amcl::bn254::ecp::ECP;
use amcl::bn254::ecp2::ECP2;
use amcl::bn254::fp12::FP12;
use amcl::bn254::pair::{ate, fexp, g1mul, g2mul, gtpow};

use super::super::group::Point;
use super::super::tails::tests::sum_of;
use super::super::{G1, G2, Gt, Prepared, Scalar, pair, pair_prepared, pair_product};
use super::oracle::big;

/// Prints the fastest time of each, measured in turn, and their ratio.
fn compare<A, B>(name: &str, mut ours: impl FnMut() -> A, mut theirs: impl FnMut() -> B) {
    let mut times = (Vec::new(), Vec::new());
    for _ in 0..25 {
        times.0.push(time(&mut ours));
        times.1.push(time(&mut theirs));
    }
    let fastest =
        |times: Vec<Duration>| times.iter().min().map_or(0.0, Duration::as_secs_f64) * 1e6;
    let (ours, theirs) = (fastest(times.0), fastest(times.1));
    println!(
        "{name:24} {ours:9.1} µs  {theirs:9.1} µs  {:5.1} times",
        theirs / ours
    );
}

fn time<T>(run: &mut impl FnMut() -> T) -> Duration {
    let runs = 20;
    let start = Instant::now();
    for _ in 0..runs {
        black_box(run());
    }
    start.elapsed() / runs
}

/// The same points on both sides.
struct Inputs {
    scalar: Scalar,
    p: G1,
    q: G2,
    e: Gt,
    their_p: ECP,
    their_q: ECP2,
    their_e: FP12,
}

impl Inputs {
    fn new() -> Self {
        let scalar = Scalar::from_be_bytes_reduced(&[0xA7; 32]);
        let (p, q) = (G1::generator().mul(&scalar), G2::generator().mul(&scalar));
        let their_p = g1mul(&ECP::generator(), &mut big(&scalar));
        let their_q = g2mul(&ECP2::generator(), &big(&scalar));
        Self {
            e: pair(&p, &q),
            their_e: fexp(&ate(&their_q, &their_p)),
            scalar,
            p,
            q,
            their_p,
            their_q,
        }
    }

    fn pairings(&self) {
        let their_pair = || fexp(&ate(black_box(&self.their_q), black_box(&self.their_p)));
        let (p, q) = (self.p, self.q);
        compare("pairing", || pair(black_box(&p), &q), their_pair);
        let prepared = Prepared::new(&q);
        let ours = || pair_prepared(&[(black_box(p), &prepared)]);
        compare("pairing, prepared", ours, their_pair);
        let four = [(p, q); 4];
        let ours = || pair_product(black_box(&four));
        compare("product of 4 pairings", ours, || {
            [(); 4].map(|()| their_pair())
        });
    }

    fn multiples(&self) {
        let (p, q, e, scalar) = (&self.p, &self.q, &self.e, &self.scalar);
        let number = big(scalar);
        let g1 = || g1mul(black_box(&self.their_p), &mut big(scalar));
        let g2 = || g2mul(black_box(&self.their_q), &number);
        let gt = || gtpow(black_box(&self.their_e), &number);
        compare("G1 mul, secret", || black_box(p).mul(scalar), g1);
        compare("G1 mul, public", || black_box(p).mul_public(scalar), g1);
        compare("G2 mul, secret", || black_box(q).mul(scalar), g2);
        compare("GT pow", || black_box(e).pow(scalar), gt);
    }

    fn sums(&self) {
        let terms: Vec<_> = (1..=16u64)
            .map(|i| (self.p, self.scalar.mul(&Scalar::from(i))))
            .collect();
        let borrowed: Vec<_> = terms.iter().map(|(p, a)| (p.0, a)).collect();
        let ours = || G1(Point::sum(black_box(&borrowed)));
        let mut numbers: Vec<_> = terms.iter().map(|(_, scalar)| big(scalar)).collect();
        let theirs = || {
            let mut sum = ECP::new();
            for number in &mut numbers {
                sum.add(&g1mul(black_box(&self.their_p), number));
            }
            sum
        };
        compare("sum of 16 multiples, G1", ours, theirs);
        let tails = vec![self.q.to_bytes(); 1_000];
        let ours = || sum_of(black_box(&tails));
        let theirs = || {
            let mut sum = ECP2::new();
            for tail in &tails {
                sum.add(&ECP2::frombytes(black_box(tail)));
            }
            sum
        };
        compare("sum of 1000 tails", ours, theirs);
    }

    fn reading(&self) {
        let bytes = self.q.to_bytes();
        let ours = || sum_of([black_box(&bytes)]);
        compare("G2 read and check", ours, || ECP2::frombytes(&bytes));
        let text = self.e.to_text();
        let ours = || Gt::from_text(black_box(&text));
        compare("GT read and check", ours, || FP12::from_hex(text.clone()));
    }
}

#[test]
#[ignore = "a measurement"]
fn pairing_speed() {
    let inputs = Inputs::new();
    println!("{:24} {:>12}  {:>12}", "", "ours", "amcl 0.2");
    inputs.pairings();
    inputs.multiples();
    inputs.sums();
    inputs.reading();
}
