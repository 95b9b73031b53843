use proptest::prelude::*;
use selfsame_crypto::{KeyType, PrivateKey};
use serde_json::Value;

use super::*;

fn vectors(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn public_key(did: &Did) -> Result<PublicKey, KeyError> {
    read(did).map(|(key, _, _)| key)
}

fn document(did: &Did) -> Document {
    resolve(did, Representation::Did).unwrap().document.unwrap()
}

#[test]
fn every_did_of_the_specification_resolves_to_its_key_for_signing() {
    let file = vectors(include_str!("../../../../../vectors/did/did-key.json"));
    for case in file["cases"].as_array().unwrap() {
        let did = Did::parse(case["did"].as_str().unwrap()).unwrap();
        if case["key_type"] == "P-521" {
            assert_eq!(
                resolve(&did, Representation::Did),
                Err(ResolutionError::FeatureNotSupported)
            );
            continue;
        }
        let key = public_key(&did).unwrap();
        assert_eq!(create(&key), did);
        let id = did.with_fragment(did.method_id()).unwrap();
        for relationship in Relationship::SIGNING {
            assert_eq!(document(&did).key(&id, relationship), Ok(key.clone()));
        }
        assert_eq!(document(&did).keys(Relationship::KeyAgreement).count(), 0);
    }
}

#[test]
fn the_document_of_the_specification_is_made() {
    let file = vectors(include_str!(
        "../../../../../vectors/did/did-key-document.json"
    ));
    let did = Did::parse(file["did"].as_str().unwrap()).unwrap();
    assert_eq!(
        document(&did).to_value(Representation::Did),
        file["document"]
    );
}

#[test]
fn keys_as_canonical_jwk_are_read_back_and_no_other_text_of_them_is() {
    for key_type in [KeyType::Ed25519, KeyType::P256] {
        let key = PrivateKey::generate(key_type).unwrap().public().clone();
        let did = create_jwk_jcs(&key);
        assert!(did.method_id().starts_with("z2dmzD81cg") || key_type == KeyType::Ed25519);
        assert_eq!(public_key(&did), Ok(key.clone()));
        let id = did.with_fragment(did.method_id()).unwrap();
        assert_eq!(
            document(&did).key(&id, Relationship::Authentication),
            Ok(key.clone())
        );
        let spaced = key
            .to_jwk()
            .to_canonical_json()
            .into_iter()
            .chain(*b" ")
            .collect::<Vec<u8>>();
        let with_kid = key.to_jwk().with_kid("k").to_canonical_json();
        for other in [spaced, with_kid, b"{}".to_vec(), b"".to_vec()] {
            let bytes = [JWK_JCS_PUB.as_slice(), &other].concat();
            let did = Did::parse(&format!("did:key:{}", multibase_base58_encode(&bytes))).unwrap();
            assert!(public_key(&did).is_err());
        }
    }
}

#[test]
fn a_jwk_jcs_did_made_elsewhere_is_the_one_made_here() {
    // A did:key and its JWK from the public documentation of the wallet messaging protocol by Boruta.
    let jwk = Jwk::from_value(&serde_json::json!({"crv": "P-256", "kty": "EC",
        "x": "ZCxAyldWT7bLzYB9PiuSu0SDbKtVYvt-cqgneoh4vvw", "y": "FgznAd76v49x8HgST76gLqPRWrRSKPa07d0dQAqdoG4"}));
    let did = "did:key:z2dmzD81cgPx8Vki7JbuuMmFYrWPgYoytykUZ3eyqht1j9KbqfP8PC5rxKQNVsWdUfonBBcEisrMdFZ8iAMi9FLEFnWmKZamRQioiqxc7KRwYDbTMgvfJN6gcoB4XM6R83whvnb7kehnCEDCr5ce6FSdehHd1uBYSZTrGsN5tmDuDciBzL";
    assert_eq!(
        create_jwk_jcs(&PublicKey::from_jwk(&jwk.unwrap()).unwrap()).as_str(),
        did
    );
}

#[test]
fn versions_must_be_positive_numbers_and_values_base58() {
    let value = "z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK";
    let read = |id: String| public_key(&Did::parse(&format!("did:key:{id}")).unwrap());
    assert_eq!(read(format!("1:{value}")), read(value.to_owned()));
    for id in [
        format!("0:{value}"),
        format!("-1:{value}"),
        format!("x:{value}"),
        format!("1:1:{value}"),
        format!("u{value}"),
    ] {
        assert!(read(id.clone()).is_err(), "{id}");
    }
}

proptest! {
    #[test]
    fn reading_never_panics(id in "[a-zA-Z0-9:]{1,60}", bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let jwk = [JWK_JCS_PUB.as_slice(), &bytes].concat();
        for id in [id, multibase_base58_encode(&bytes), multibase_base58_encode(&jwk)] {
            if let Ok(did) = Did::parse(&format!("did:key:{id}")) {
                let _ = resolve(&did, Representation::Did);
            }
        }
    }
}
