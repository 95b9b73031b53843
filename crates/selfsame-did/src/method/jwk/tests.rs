use proptest::prelude::*;
use selfsame_crypto::PrivateKey;
use serde_json::json;

use super::*;

fn vectors() -> Vec<Value> {
    let file: Value =
        serde_json::from_str(include_str!("../../../../../vectors/did/did-jwk.json")).unwrap();
    file["cases"].as_array().unwrap().clone()
}

fn public_key(did: &Did) -> Result<PublicKey, KeyError> {
    PublicKey::from_jwk(&read(did)?.1)
}

fn of(jwk: &Value) -> Did {
    Did::parse(&format!(
        "did:jwk:{}",
        base64url_encode(jwk.to_string().as_bytes())
    ))
    .unwrap()
}

#[test]
fn the_documents_of_the_specification_are_made() {
    assert_eq!(vectors().len(), 2);
    for case in vectors() {
        let did = Did::parse(case["did"].as_str().unwrap()).unwrap();
        let document = resolve(&did, Representation::Did)
            .unwrap()
            .document
            .unwrap();
        assert_eq!(document.to_value(Representation::Did), case["document"]);
    }
}

#[test]
fn the_did_of_the_specifications_first_key_is_made_from_that_key() {
    let did = Did::parse(vectors()[0]["did"].as_str().unwrap()).unwrap();
    assert_eq!(create(&public_key(&did).unwrap()), did);
}

#[test]
fn dids_made_here_resolve_to_their_keys() {
    for key_type in [KeyType::Ed25519, KeyType::P256] {
        let key = PrivateKey::generate(key_type).unwrap().public().clone();
        let did = create(&key);
        let document = resolve(&did, Representation::Did)
            .unwrap()
            .document
            .unwrap();
        let id = did.with_fragment("0").unwrap();
        assert_eq!(document.key(&id, Relationship::AssertionMethod), Ok(key));
        assert_eq!(
            document.key_agreement.is_empty(),
            key_type == KeyType::Ed25519
        );
    }
}

#[test]
fn private_shared_malformed_and_weak_keys_are_invalid() {
    for jwk in [
        json!({"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "d": "AQ"}),
        json!({"kty": "oct", "k": "AQ"}),
        json!({"kty": "EC", "crv": "P-256", "x": "AQ", "y": "AQ"}),
        json!({"kty": "OKP", "crv": "Ed25519", "x": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}),
        json!({}),
        json!([]),
    ] {
        assert_eq!(
            resolve(&of(&jwk), Representation::Did),
            Err(ResolutionError::InvalidDid),
            "{jwk}"
        );
    }
    let twice = base64url_encode(br#"{"kty":"OKP","crv":"X25519","x":"AQ","x":"AQ"}"#);
    for id in [twice.as_str(), "e30=", "a.b"] {
        if let Ok(did) = Did::parse(&format!("did:jwk:{id}")) {
            assert!(public_key(&did).is_err(), "{id}");
        }
    }
}

proptest! {
    #[test]
    fn reading_never_panics(id in "[a-zA-Z0-9_-]{1,60}", text in "\\PC{0,40}") {
        for id in [id, base64url_encode(text.as_bytes())] {
            if let Ok(did) = Did::parse(&format!("did:jwk:{id}")) {
                let _ = resolve(&did, Representation::Did);
            }
        }
    }
}
