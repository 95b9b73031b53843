//! Measurements of products and powers, run by hand, optimised: `cargo test --release -p selfsame-bignum speed --
//! --ignored --nocapture`.
#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "figures for people, with the clock that they need"
)]

use std::time::Instant;

use super::*;

/// The least time of many, in microseconds.
fn least(repeat: usize, inner: usize, mut work: impl FnMut()) -> f64 {
    let one = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        for _ in 0..inner {
            work();
        }
        start.elapsed().as_secs_f64() * 1e6 / inner as f64
    };
    (0..repeat)
        .map(|_| one(&mut work))
        .fold(f64::INFINITY, f64::min)
}

#[test]
#[ignore = "prints figures; nothing to assert"]
fn speed_of_products_and_powers() {
    let mut random = random("speed");
    let n = odd(2_050, &mut random);
    for path in paths() {
        let modulus = Modulus::on(path, &n).expect("a modulus");
        println!("{modulus:?}");
        products_alone_and_in_pairs(&modulus, &mut random);
        let a = element(&modulus, &mut random);
        println!(
            "  table for 3,060 bits     {:8.1}",
            least(10, 1, || drop(FixedBase::new(&modulus, &a, 3_060)))
        );
        let fixed = FixedBase::new(&modulus, &a, 3_060);
        println!("  bytes of it              {:8}", fixed.bytes());
        let long = random.secret(3_060);
        let short = random.secret(596);
        let (public_long, public_short) = (long.reveal(), short.reveal());
        let public =
            |base, exponent| least(30, 4, || drop(modulus.power(&[Term { base, exponent }])));
        let secret = |base, exponent| {
            least(30, 4, || {
                drop(modulus.secret_power(&[SecretTerm { base, exponent }]))
            })
        };
        println!(
            "  fixed ^3,060 public      {:8.1}",
            public(Base::Fixed(&fixed), &public_long)
        );
        println!(
            "  fixed ^3,060 secret      {:8.1}",
            secret(Base::Fixed(&fixed), &long)
        );
        println!(
            "  variable ^596 public     {:8.1}",
            public(Base::Variable(&a), &public_short)
        );
        println!(
            "  variable ^596 secret     {:8.1}",
            secret(Base::Variable(&a), &short)
        );
        println!(
            "  inverse                  {:8.1}",
            least(30, 4, || drop(modulus.inverse(&a)))
        );
        println!(
            "  in and out               {:8.2}",
            least(30, 40, || drop(modulus.element(&modulus.integer(&a))))
        );
        println!(
            "  modulus                  {:8.2}",
            least(30, 40, || drop(Modulus::on(path, &n)))
        );
        equality_proof(&modulus, &mut random);
        roots(path, &mut random);
    }
}

fn products_alone_and_in_pairs(modulus: &Modulus, random: &mut Random) {
    let (a, b) = (element(modulus, random), element(modulus, random));
    let engine = modulus.engine();
    let (mut x, mut y) = (a.clone(), b.clone());
    println!(
        "  product alone            {:8.3}",
        least(40, 1000, || engine.product(x.lanes_mut(), Some(b.lanes())))
    );
    println!(
        "  square alone             {:8.3}",
        least(40, 1000, || engine.product(x.lanes_mut(), None))
    );
    println!(
        "  product, one of two      {:8.3}",
        least(40, 1000, || engine.pair(
            lane::Factors::new(x.lanes_mut(), Some(a.lanes())),
            lane::Factors::new(y.lanes_mut(), Some(b.lanes()))
        )) / 2.0
    );
    println!(
        "  square, one of two       {:8.3}",
        least(40, 1000, || engine.pair(
            lane::Factors::new(x.lanes_mut(), None),
            lane::Factors::new(y.lanes_mut(), None)
        )) / 2.0
    );
}

/// The T value of a proof with two revealed attributes: A'^456, four R^593, Rctxt^2432, S^3060, in variable and in
/// constant time.
fn equality_proof(modulus: &Modulus, random: &mut Random) {
    let bits = [593, 593, 593, 593, 2_432, 3_060];
    let bases: Vec<Element> = (0..7).map(|_| element(modulus, random)).collect();
    let sizes: Vec<(&Element, usize)> = bases.iter().skip(1).zip(bits).collect();
    let fixed = FixedBase::new_all(modulus, &sizes);
    let secrets: Vec<Secret> = [456]
        .into_iter()
        .chain(bits)
        .map(|bits| random.secret(bits))
        .collect();
    let public: Vec<IBig> = secrets.iter().map(Secret::reveal).collect();
    let all: Vec<Base<'_>> = std::iter::once(Base::Variable(&bases[0]))
        .chain(fixed.iter().map(Base::Fixed))
        .collect();
    let terms: Vec<Term<'_>> = all
        .iter()
        .zip(&public)
        .map(|(base, exponent)| Term {
            base: *base,
            exponent,
        })
        .collect();
    let secret_terms: Vec<SecretTerm<'_>> = all
        .iter()
        .zip(&secrets)
        .map(|(base, exponent)| SecretTerm {
            base: *base,
            exponent,
        })
        .collect();
    println!(
        "  T of two revealed public {:8.1}",
        least(20, 2, || drop(modulus.power(&terms)))
    );
    println!(
        "  T of two revealed secret {:8.1}",
        least(20, 2, || drop(modulus.secret_power(&secret_terms)))
    );
    println!(
        "  tables for it            {:8.1}",
        least(5, 1, || drop(FixedBase::new_all(modulus, &sizes)))
    );
}

/// Measures a signature's root, primes, and a whole key.
fn roots(path: Path, random: &mut Random) {
    let start = UBig::ONE << 596;
    let end = &start + (UBig::ONE << 119);
    let e = PRIMES.prime_in_range(&start, &end, random);
    println!(
        "  prime e (best path)      {:8.1}",
        least(20, 4, || drop(PRIMES.prime_in_range(&start, &end, random)))
    );
    println!(
        "  test of it (best path)   {:8.1}",
        least(10, 1, || assert!(PRIMES.is_prime(&e)))
    );
    let begun = Instant::now();
    let primes: Vec<UBig> = (0..8).map(|_| PRIMES.safe_prime(1_025, random)).collect();
    println!(
        "  safe prime, mean of 8    {:8.1} ms",
        begun.elapsed().as_secs_f64() * 1e3 / 8.0
    );
    println!(
        "  private modulus          {:8.1}",
        least(10, 1, || drop(PrivateModulus::on(
            path, &primes[0], &primes[1]
        )))
    );
    let private = PrivateModulus::on(path, &primes[0], &primes[1]).expect("two primes");
    let base = element(private.modulus(), random);
    println!(
        "  root                     {:8.1}",
        least(10, 1, || drop(private.power_inverse_exponent(&base, &e)))
    );
}
