//! Forgeries by a holder who has a good credential.

use std::collections::{BTreeMap, BTreeSet};

use dashu_int::IBig;

use super::parties::{CredentialDefinition, Issuance, Side, random, read, values, write};
use super::presenting::{Shown, nonce, predicate, request, verifies};
use super::*;
use crate::arithmetic::Secret;
use crate::cl::proof_data::PrimaryProof;

/// A predicate's proof about 99 beside the equality proof of a credential that says 17: only the response `mj` shows
/// that the two are not about one number.
#[test]
fn a_predicate_about_another_number_than_the_signed_one_is_refused() {
    let definition = CredentialDefinition::sample("qualified");
    let json = BTreeMap::from([
        ("city".to_owned(), "17".to_owned()),
        ("points".to_owned(), "1".to_owned()),
    ]);
    let mut issuance = Issuance::new("4711", &json, "forging");
    issuance.request(Side::Ours, &definition).unwrap();
    issuance.issue(Side::Ours, &definition).unwrap();
    issuance.process(Side::Ours, &definition).unwrap();
    let asked = predicate("city", PredicateType::AtLeast, 18);
    let nonce = nonce("forging");

    let key = definition.key();
    let signature: CredentialSignature = read(&issuance.signature).unwrap();
    let held = Held {
        key: &key,
        signature: &signature.p_credential,
        values: &values(&json),
    };
    let mut random = random("forger");
    let (link_mask, mask) = (random.secret(592), random.secret(592));
    let context = equality::ContextMask::new(&mut random);
    let masks = (&link_mask, &context);
    let equality =
        equality::Commitment::new((&held, key.in_use()), &BTreeSet::new(), masks, &mut random)
            .unwrap();
    let claimed = IBig::from(99);
    let lie =
        predicate::Commitment::new(key.in_use(), &asked, (&claimed, &mask), &mut random).unwrap();
    let bytes = challenge::bytes;
    let mut t_values = vec![bytes(equality.t())];
    t_values.extend(lie.t_values().iter().map(bytes));
    let mut c_list = vec![bytes(equality.a_prime())];
    c_list.extend(lie.c_values().iter().map(bytes));
    let c_hash = prover::joint(&t_values, &c_list, &nonce);
    let link_secret = LinkSecret::from_decimal("4711").unwrap();
    let claimed = Secret::from_public(&99_u8.into(), 256);
    let mj = definition::revealed(claimed.mul_public(&c_hash).add(&mask));
    let proof = Proof {
        proofs: vec![SubProof {
            primary_proof: PrimaryProof {
                eq_proof: equality.respond(&held, &link_secret, &c_hash),
                predicate_proofs: vec![lie.respond(mj, &c_hash)],
            },
            non_revoc_proof: None,
        }],
        aggregated_proof: AggregatedProof { c_hash, c_list },
    };
    let shown = [Shown {
        definition: &definition,
        issuance: &issuance,
        request: request(&[], &[asked]),
    }];
    assert!(!verifies(Side::Ours, &shown, &write(&proof), &nonce));
}
