//! Measurements of each operation, run by hand: `cargo test -p selfsame-anoncreds -- --ignored speed --nocapture`.
#![expect(
    clippy::disallowed_macros,
    clippy::too_many_lines,
    reason = "figures for people, one operation after the other"
)]

use std::collections::BTreeMap;
#[allow(clippy::disallowed_types, reason = "a measurement")]
use std::time::Instant;

use selfsame_bignum::products;

use super::parties::{CredentialDefinition, Issuance, Side, random, read, values};
use super::presenting::{nonce, predicate, request};
use super::*;

#[allow(clippy::disallowed_methods, reason = "a measurement")]
fn measure(name: &str, mut operation: impl FnMut()) {
    operation();
    let mut best = f64::MAX;
    let before = products();
    for _ in 0..20 {
        let start = Instant::now();
        operation();
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!(
        "{name:24} {:8.3} ms {:7} products",
        best * 1e3,
        (products() - before) / 20
    );
}

#[test]
#[ignore = "a measurement, not a test"]
fn speed() {
    let definition = CredentialDefinition::sample("legacy");
    let json: BTreeMap<String, String> = definition
        .attributes()
        .into_iter()
        .zip([
            "28",
            "99",
            "170",
            "4444444444444444444444444444444444444444",
            "5",
        ])
        .map(|(name, value)| (name, value.to_owned()))
        .collect();
    let mut issuance = Issuance::new("4711", &json, "speed");
    issuance.request(Side::Ours, &definition).unwrap();
    issuance.issue(Side::Ours, &definition).unwrap();
    let unprocessed: CredentialSignature = read(&issuance.signature).unwrap();
    let key = definition.key();
    measure("key, cold", || drop(definition.key()));
    measure("tables", || definition.key().prepare());
    let correctness = read(&definition.correctness).unwrap();
    measure("key correctness, cold", || {
        definition.key().check_correctness(&correctness).unwrap()
    });
    key.check_correctness(&correctness).unwrap();
    key.prepare();
    println!("key and tables: at most {} bytes", key.bytes());
    let link_secret = LinkSecret::from_decimal("4711").unwrap();
    let offer: Nonce = read(&issuance.offer_nonce).unwrap();
    let mut source = random("speed");
    measure("request", || {
        drop(blind(&key, &link_secret, &offer, None, &mut source).unwrap())
    });
    let issuer = IssuerKey::new(&key, &read(&definition.private).unwrap()).unwrap();
    let values = values(&json);
    let context = credential_context("holder", None);
    let blinded = read(&issuance.blinded).unwrap();
    let blinded_proof = read(&issuance.blinded_proof).unwrap();
    let request_nonce = read(&issuance.request_nonce).unwrap();
    let signing = SigningRequest {
        secrets: &blinded,
        proof: &blinded_proof,
        offer_nonce: &offer,
        request_nonce: &request_nonce,
        context: &context,
        values: &values,
    };
    measure("issue", || {
        drop(sign(&issuer, &signing, &mut source).unwrap())
    });
    let signature_proof = read(&issuance.signature_proof).unwrap();
    let factors = read(&issuance.factors).unwrap();
    let received = Received {
        signature: &unprocessed.p_credential,
        proof: &signature_proof,
        nonce: &request_nonce,
        values: &values,
        factors: &factors,
    };
    measure("process", || {
        drop(process(&key, &link_secret, &received).unwrap())
    });
    let signature = process(&key, &link_secret, &received).unwrap();
    let held = Held {
        key: &key,
        signature: &signature,
        values: &values,
    };
    let nonce = nonce("speed");
    for (name, asked) in [
        ("revealed", request(&["name", "age"], &[])),
        (
            "predicate",
            request(&["name"], &[predicate("age", PredicateType::AtLeast, 18)]),
        ),
        (
            "predicate downwards",
            request(&["name"], &[predicate("age", PredicateType::AtMost, 65)]),
        ),
    ] {
        let present = || {
            let mut builder = ProofBuilder::new(&link_secret, random(name));
            builder.add(held, &asked, None).unwrap();
            builder.finish(&nonce)
        };
        measure(&format!("present {name}"), || drop(present()));
        let proof = present();
        let expected = [Expected {
            key: &key,
            request: &asked,
            registry: None,
        }];
        measure(&format!("verify {name}"), || {
            verify(&expected, &proof, &nonce).unwrap()
        });
        measure(&format!("verify {name}, cold"), || {
            let key = definition.key();
            let expected = [Expected {
                key: &key,
                ..expected[0]
            }];
            verify(&expected, &proof, &nonce).unwrap();
        });
    }
}
