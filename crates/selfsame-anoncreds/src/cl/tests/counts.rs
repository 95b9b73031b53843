//! Guards against performance regressions: counts of the Montgomery products of an issuance, which are free of noise.

use std::collections::BTreeMap;

use selfsame_bignum::products;

use super::parties::{CredentialDefinition, Issuance, Side, random, read, values};
use super::*;
use crate::seed::PRIMES;

fn counted<T>(work: impl FnOnce() -> T) -> (u64, T) {
    let before = products();
    let done = work();
    (products() - before, done)
}

/// The products of `sign` without its search for the prime e, cold and with tables. The length of the search is random:
/// it is repeated from the same randomness, and its products are subtracted.
#[test]
fn the_number_of_products_of_an_issuance_stays_what_it_is() {
    let definition = CredentialDefinition::sample("legacy");
    let attributes = definition.attributes().into_iter();
    let json: BTreeMap<String, String> = attributes
        .map(|name| (name, "4444444444444444444444444444444444444444".to_owned()))
        .collect();
    let mut issuance = Issuance::new("4711", &json, "counts");
    issuance.request(Side::Ours, &definition).unwrap();
    let (secrets, proof) = (
        read(&issuance.blinded).unwrap(),
        read(&issuance.blinded_proof).unwrap(),
    );
    let offer_nonce: Nonce = read(&issuance.offer_nonce).unwrap();
    let request_nonce: Nonce = read(&issuance.request_nonce).unwrap();
    let (context, values) = (credential_context("holder", None), values(&json));
    let request = SigningRequest {
        secrets: &secrets,
        proof: &proof,
        offer_nonce: &offer_nonce,
        request_nonce: &request_nonce,
        context: &context,
        values: &values,
    };
    let key = definition.key();
    let issuer = IssuerKey::new(&key, &read(&definition.private).unwrap()).unwrap();
    let start = bounds::power_of_two(bounds::E_START);
    let end = &start + bounds::power_of_two(bounds::E_RANGE);
    let beside_the_search = || {
        let (all, _) = counted(|| sign(&issuer, &request, &mut random("counts")).unwrap());
        let mut again = random("counts");
        again.integer(bounds::V_PRIME_PRIME);
        let (search, _) = counted(|| PRIMES.prime_in_range(&start, &end, &mut again));
        all - search
    };
    let cold = beside_the_search();
    assert_eq!(key.table_bytes(), 0, "one issuance builds no tables");
    key.prepare();
    let warm = beside_the_search();
    assert_eq!(cold, 13_437);
    assert_eq!(warm, 8_306);
}
