//! The examples of the specifications.

use selfsame_crypto::KeyType;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::time::UnixTime;
use serde_json::Value;

use super::{example_key, keys_of, method_of, object, signed};
use crate::hash::canonical_dataset;
use crate::rdfc::RdfcBudget;
use crate::suite::SuiteDigest;
use crate::{
    Contexts, Cryptosuite, IntegrityError, OwnContext, ProofOptions, ProofPurpose, Secured,
    UnsignedProof, prepare,
};

const JCS: &str = include_str!("../../../../vectors/data-integrity/jcs.json");

const RDFC: &str = include_str!("../../../../vectors/data-integrity/rdfc.json");
const CHAINS: &str = include_str!("../../../../vectors/data-integrity/chains.json");
const CITIZENSHIP: &[u8] =
    include_bytes!("../../../../vectors/data-integrity/employment-terms.jsonld");

fn cases(text: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(text).unwrap();
    file["cases"].as_array().unwrap().clone()
}

/// The contexts of the examples.
fn contexts() -> Contexts {
    let own = OwnContext {
        url: "https://w3id.org/citizenship/v4rc1",
        text: CITIZENSHIP,
    };
    Contexts::with(&[own]).unwrap()
}

fn verified(document: Value) -> Vec<Result<(), IntegrityError>> {
    let secured = Secured::of(document).unwrap();
    secured.verify(&keys_of(&secured), &contexts())
}

/// What the proof of a signed example was made with, and the document.
fn prepared(signed: &Value) -> UnsignedProof {
    let mut document = object(signed.clone());
    let proof = document.remove("proof").unwrap();
    let method = proof["verificationMethod"].as_str().unwrap().to_owned();
    let created = UnixTime::parse_rfc3339(proof["created"].as_str().unwrap());
    let options = ProofOptions {
        created,
        ..ProofOptions::new(
            Cryptosuite::named(proof["cryptosuite"].as_str().unwrap()).unwrap(),
            &method,
            ProofPurpose::AssertionMethod,
        )
    };
    let key = super::key_of(&method).key_type();
    prepare(document, &options, key, &contexts()).unwrap()
}

#[test]
fn the_examples_hold_and_are_hashed_as_they_were() {
    let all = [cases(JCS), cases(RDFC)].concat();
    assert_eq!(all.len(), 9);
    for case in all {
        let name = &case["name"];
        let unsigned = prepared(&case["signed"]);
        let hash = case["hash_data"].as_str().unwrap();
        assert_eq!(hex_encode(unsigned.bytes()), hash, "{name}");
        assert_eq!(verified(case["signed"].clone()), [Ok(())], "{name}");
    }
}

#[test]
fn the_datasets_of_the_examples_have_their_canonical_form() {
    for case in cases(RDFC) {
        let mut document = object(case["signed"].clone());
        document.remove("proof");
        let is_p384 = case["name"].as_str().unwrap().contains("P-384");
        let digest = if is_p384 {
            SuiteDigest::Sha384
        } else {
            SuiteDigest::Sha256
        };
        let mut budget = RdfcBudget::new();
        let lines = canonical_dataset(&document, &contexts(), digest, &mut budget).unwrap();
        let wanted = case["canonical_document"].as_str().unwrap();
        assert_eq!(
            String::from_utf8(lines).unwrap(),
            wanted,
            "{}",
            case["name"]
        );
    }
}

#[test]
fn the_set_and_the_chain_of_the_specification_hold() {
    let file: Value = serde_json::from_str(CHAINS).unwrap();
    assert_eq!(verified(file["set"].clone()), [Ok(()), Ok(())]);
    let chain = &file["chain"];
    assert_eq!(verified(chain.clone()), [Ok(()), Ok(()), Ok(()), Ok(())]);
    let mut changed = chain.clone();
    changed["proof"][0]["created"] = "2023-02-24T23:36:39Z".into();
    let codes: Vec<_> = verified(changed)
        .into_iter()
        .map(|one| one.map_err(|why| why.code()))
        .collect();
    let (signature, chain) = (Err("integrity-signature"), Err("integrity-chain"));
    assert_eq!(codes, [signature, Ok(()), chain, chain]);
}

#[test]
fn the_key_of_the_example_signs_it_as_it_was_signed() {
    let example = cases(JCS).swap_remove(0)["signed"].clone();
    let key = example_key();
    let method = method_of(&key);
    let mut document = object(example.clone());
    let proof = document.remove("proof").unwrap();
    let options = ProofOptions {
        created: UnixTime::parse_rfc3339(proof["created"].as_str().unwrap()),
        ..super::options(&method)
    };
    assert_eq!(Value::Object(signed(document, &options, &key)), example);
}

#[test]
fn a_change_of_any_member_breaks_the_proof() {
    for case in cases(JCS) {
        for member in [
            "id",
            "name",
            "issuer",
            "validFrom",
            "credentialSubject",
            "new",
        ] {
            let mut changed = case["signed"].clone();
            changed[member] = "changed".into();
            assert_eq!(
                verified(changed),
                [Err(IntegrityError::Signature)],
                "{member}"
            );
        }
        for member in ["created", "proofPurpose", "verificationMethod", "nonce"] {
            let mut changed = case["signed"].clone();
            let keys = keys_of(&Secured::of(changed.clone()).unwrap());
            changed["proof"][member] = "2023-02-24T23:36:39Z".into();
            let secured = Secured::of(changed).unwrap();
            let results = secured.verify(&keys, &contexts());
            assert_eq!(results, [Err(IntegrityError::Signature)], "{member}");
        }
    }
}

#[test]
fn the_contexts_of_the_document_begin_with_those_of_the_proof() {
    let example = &cases(JCS)[0]["signed"];
    let mut longer = example.clone();
    let contexts = longer["@context"].as_array_mut().unwrap();
    contexts.push("https://example.org/more".into());
    assert_eq!(verified(longer), [Ok(())]);
    let mut other = example.clone();
    other["@context"].as_array_mut().unwrap().reverse();
    assert_eq!(
        verified(other),
        [Err(IntegrityError::Malformed("@context"))]
    );
}

#[test]
fn a_suite_has_keys_of_its_own() {
    let document = super::plain();
    for (suite, key) in [
        (Cryptosuite::EddsaJcs2022, KeyType::P256),
        (Cryptosuite::EcdsaJcs2019, KeyType::Ed25519),
        (Cryptosuite::EcdsaJcs2019, KeyType::Secp256k1),
    ] {
        let options = ProofOptions::new(suite, "did:example:1#k", ProofPurpose::AssertionMethod);
        let refused = prepare(document.clone(), &options, key, &contexts()).unwrap_err();
        assert_eq!(refused.code(), "integrity-unsupported");
    }
}
