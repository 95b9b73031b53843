//! Measurements, run by hand: `cargo test --release -p selfsame-anoncreds speed -- --ignored --nocapture`.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a measurement, run by hand, that prints times"
)]

use std::hint::black_box;
use std::time::Instant;

use selfsame_bignum::pairing::{FixedGt, Prepared, pair_prepared};

use super::*;

fn least(what: &str, times: u32, mut run: impl FnMut()) {
    let least = (0..times)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .min();
    println!("{what}: {:?}", least.unwrap());
}

#[test]
#[ignore = "prints times; compares nothing"]
fn speed() {
    let mut random = random(9);
    let issuer = Issuer::new(1000, &mut random);
    let state = issuer
        .at_registry()
        .initial(IssuedAtStart::ByDefault)
        .unwrap();
    let list = RevocationList::new(1000, IssuedAtStart::ByDefault).unwrap();
    let held = flow::issue(&issuer, 3, &state, &mut random);
    let holding = Holding {
        key: &issuer.key,
        accumulator: &state,
        signature: &held.signature,
        witness: &held.witness,
    };
    let mask = Scalar::from_random_bytes(&[7; 64]);
    least("commit", 50, || {
        black_box(Commitment::new(&holding, &mask, &mut random));
    });
    let commitment = Commitment::new(&holding, &mask, &mut random);
    let challenge = challenge(&commitment.t_values());
    let proof = commitment.respond(&challenge);
    let registry = RegistryData {
        key: &issuer.key,
        registry: &issuer.registry,
        accumulator: &state,
    };
    least("verify", 50, || {
        black_box(proof.t_values(&registry, &challenge, &mask).unwrap());
    });
    let context = held
        .signature
        .witness_context(&issuer.key, &issuer.registry, &state);
    let tails = issuer.tails();
    least("witness of 1000", 20, || {
        black_box(Witness::build(&context, &list, &tails).unwrap());
    });
    least("issue and process", 20, || {
        black_box(flow::issue(&issuer, 3, &state, &mut random));
    });
    least("tails of 1000", 2, || {
        black_box(
            issuer
                .at_registry()
                .tails()
                .unwrap()
                .map(|tail| tail[0])
                .max(),
        );
    });
    least("first accumulator of 1000", 20, || {
        black_box(
            issuer
                .at_registry()
                .initial(IssuedAtStart::ByDefault)
                .unwrap(),
        );
    });
    let changes = Changes::revoke([5, 9, 80, 300, 999]).unwrap();
    least("revoke 5", 20, || {
        black_box(issuer.at_registry().update(&state, &changes).unwrap());
    });
    parts(&issuer);
}

/// Measures the parts of a proof.
fn parts(issuer: &Issuer) {
    let [x, mask] = [7, 9].map(|byte| Scalar::from_random_bytes(&[byte; 64]));
    let key = issuer.key.multiples();
    least("fixed G1", 200, || {
        black_box(key.g.mul(&x));
    });
    least("fixed G1, public", 200, || {
        black_box(key.g.mul_public(&x));
    });
    least("fixed G2", 200, || {
        black_box(key.h_cap.mul(&x));
    });
    let powers = issuer.key.powers();
    least("two fixed powers", 200, || {
        black_box(FixedGt::product(&[
            (&powers.htilde_u, &x),
            (&powers.g_h_cap, &mask),
        ]));
    });
    let point = key.g.mul(&x);
    let lines = issuer.key.lines();
    for pairs in 1..4 {
        let pairs: Vec<_> = [&lines.h_cap, &lines.u, &lines.y][..pairs]
            .iter()
            .map(|q| (point, *q))
            .collect();
        least("pairs", 200, || {
            black_box(pair_prepared(&pairs));
        });
    }
    least("prepare", 200, || {
        black_box(Prepared::new(&issuer.key.public().u));
    });
}
