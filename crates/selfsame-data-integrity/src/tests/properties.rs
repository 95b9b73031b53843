//! Properties of proofs for any document.

use proptest::prelude::*;
use selfsame_crypto::{KeyType, PrivateKey};
use serde_json::{Map, Value};

use super::{keys_of, method_of, signed};
use crate::{Contexts, Cryptosuite, IntegrityError, ProofOptions, ProofPurpose, Secured};

fn documents() -> impl Strategy<Value = Map<String, Value>> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        prop::collection::vec(any::<u8>().prop_map(Value::from), 0..4).prop_map(Value::from),
    ];
    let members = prop::collection::vec(("[a-o]{1,4}", leaf), 1..8);
    members.prop_map(|members| members.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_signed_is_verified_and_what_is_changed_is_not(
        document in documents(),
        p256 in any::<bool>(),
        at in any::<prop::sample::Index>(),
    ) {
        let (key, suite) = if p256 {
            (PrivateKey::generate(KeyType::P256).unwrap(), Cryptosuite::EcdsaJcs2019)
        } else {
            (PrivateKey::generate(KeyType::Ed25519).unwrap(), Cryptosuite::EddsaJcs2022)
        };
        let method = method_of(&key);
        let options = ProofOptions::new(suite, &method, ProofPurpose::AssertionMethod);
        let mut signed = signed(document.clone(), &options, &key);
        let secured = Secured::parse(&serde_json::to_vec(&signed).unwrap()).unwrap();
        let results = secured.verify(&keys_of(&secured), &Contexts::bundled());
        prop_assert_eq!(results, [Ok(())]);
        prop_assert_eq!(secured.document(), &document);
        let name = document.keys().nth(at.index(document.len())).unwrap();
        signed.insert(name.clone(), "something else".into());
        prop_assert_eq!(super::verified(signed.into()), [Err(IntegrityError::Signature)]);
    }

    #[test]
    fn any_document_is_read_or_refused(text in "\\PC{0,64}") {
        let proof = format!(r#"{{"proof": {{"type": "DataIntegrityProof", "cryptosuite": {text}}}}}"#);
        prop_assert!(Secured::parse(proof.as_bytes()).is_err());
    }
}
