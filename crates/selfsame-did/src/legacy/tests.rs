//! Tests of identifiers and documents from before DID Core.

use proptest::prelude::*;
use selfsame_crypto::PrivateKey;
use serde_json::json;

use super::*;

fn key(number: u8) -> PublicKey {
    let mut keys = (0..).map(|seed: u8| {
        let mut bytes = [number; 32];
        bytes[31] = seed & 0x7f;
        PublicKey::from_raw(KeyType::Ed25519, &bytes)
    });
    keys.find_map(|key| key.ok().filter(PublicKey::is_point))
        .unwrap()
}

/// A document as ACA-Py sends it.
fn sent() -> Value {
    let did = format!("did:sov:{}", UnqualifiedDid::of_key(&key(1)));
    json!({
        "@context": "https://w3id.org/did/v1",
        "id": did,
        "publicKey": [{
            "id": format!("{did}#1"),
            "type": "Ed25519VerificationKey2018",
            "controller": did,
            "publicKeyBase58": base58_of_key(&key(1)),
        }],
        "authentication": [{
            "type": "Ed25519SignatureAuthentication2018",
            "publicKey": format!("{did}#1"),
        }],
        "service": [{
            "id": format!("{did};indy"),
            "type": "IndyAgent",
            "priority": 0,
            "recipientKeys": [base58_of_key(&key(1))],
            "serviceEndpoint": "http://localhost:8020",
        }],
    })
}

#[test]
fn a_document_as_agents_send_it_is_read_and_written() {
    let document = LegacyDocument::from_value(sent()).unwrap();
    assert_eq!(document.did, UnqualifiedDid::of_key(&key(1)));
    assert_eq!(document.keys[0].key, key(1));
    let service = document.service().unwrap();
    assert_eq!(service.endpoint, "http://localhost:8020");
    assert_eq!(service.recipient_keys, [key(1)]);
    assert!(service.routing_keys.is_empty());
    let again = LegacyDocument::from_value(document.to_value()).unwrap();
    assert_eq!(again, document);
}

#[test]
fn identifiers_without_prefix_and_keys_in_other_forms_are_read() {
    let mut value = sent();
    let did = UnqualifiedDid::of_key(&key(1));
    value["id"] = json!(did.as_str());
    value["authentication"] = json!(["#1"]);
    let did_key = crate::key::create(&key(2));
    value["service"][0]["recipientKeys"] = json!([format!("{}#1", did.qualified())]);
    value["service"][0]["routingKeys"] = json!([
        did_key.to_string(),
        format!("{did_key}#{}", did_key.method_id()),
        base58_of_key(&key(2)),
    ]);
    value["service"][0]["type"] = json!("did-communication");
    let document = LegacyDocument::from_value(value).unwrap();
    let service = document.service().unwrap();
    assert_eq!(service.recipient_keys, [key(1)]);
    assert_eq!(service.routing_keys, vec![key(2); 3]);
}

#[test]
fn a_key_may_stand_in_authentication_alone_and_a_service_of_another_type_is_left_out() {
    let mut value = sent();
    value["authentication"] = json!([{
        "id": "own", "type": "Ed25519VerificationKey2018",
        "controller": value["id"], "publicKeyBase58": base58_of_key(&key(3)),
    }]);
    let other = json!({ "id": "x", "type": "LinkedDomains", "serviceEndpoint": {} });
    let late = json!({
        "id": "late", "type": "did-communication", "priority": 1,
        "recipientKeys": ["own"], "routingKeys": null, "serviceEndpoint": "ws://b.example",
    });
    let first = value["service"][0].clone();
    value["service"] = json!([other, late, first]);
    let document = LegacyDocument::from_value(value).unwrap();
    assert_eq!(document.keys.len(), 2);
    assert_eq!(document.services.len(), 2);
    assert_eq!(document.service().unwrap().priority, 0);
    assert_eq!(document.services[1].recipient_keys, [key(3)]);
}

#[test]
fn a_document_that_is_malformed_is_refused() {
    type Change = fn(&mut Value);
    let changes: [Change; 15] = [
        |value| value["id"] = json!("did:web:example.com"),
        |value| value["id"] = json!("abc"),
        |value| value["publicKey"] = json!({}),
        |value| value["publicKey"][0]["type"] = json!("RsaVerificationKey2018"),
        |value| value["publicKey"][0]["publicKeyBase58"] = json!("0"),
        |value| value["publicKey"][0]["publicKeyBase58"] = json!("abc"),
        |value| value["publicKey"][0]["id"] = json!(""),
        |value| value["publicKey"] = json!(vec![value["publicKey"][0].clone(); 33]),
        |value| value["authentication"][0]["publicKey"] = json!("#2"),
        |value| value["authentication"] = json!([1]),
        |value| value["service"][0]["recipientKeys"] = json!([]),
        |value| value["service"][0]["recipientKeys"] = json!(["did:key:z6Mk"]),
        |value| value["service"][0]["serviceEndpoint"] = json!({}),
        |value| value["service"] = json!("x"),
        |value| *value = json!([]),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut value = sent();
        change(&mut value);
        assert!(LegacyDocument::from_value(value).is_err(), "{at}");
    }
}

#[test]
fn the_number_of_characters_does_not_count() {
    // Keys whose text has 42 characters: the first bytes are 0 and 1.
    let seeds = [
        "00000000000000000000000000000000000000000000000100000000000358aa",
        "000000000000000000000000000000000000000000000002000000000017c9cc",
    ];
    for seed in seeds {
        let seed = selfsame_crypto::encoding::hex_decode(seed).unwrap();
        let start =
            selfsame_crypto::encoding::hex_decode("302e020100300506032b657004220420").unwrap();
        let private = PrivateKey::from_pkcs8(&[start, seed].concat()).unwrap();
        let text = base58_of_key(private.public());
        assert_eq!(text.len(), 42);
        assert_eq!(key_of_text(&text).unwrap(), *private.public());
        let did = UnqualifiedDid::of_key(private.public());
        assert!(did.as_str().len() < 22, "{did}");
        assert_eq!(UnqualifiedDid::parse(&did.qualified()).unwrap(), did);
    }
    for text in [
        "",
        "1",
        "LjgpST2rjsoxYegQDRm7",
        "LjgpST2rjsoxYegQDRm7EL1",
        "did:sov:",
        "0jgpST2rjsoxYegQDRm7EL",
    ] {
        assert!(UnqualifiedDid::parse(text).is_err(), "{text}");
    }
    assert!(UnqualifiedDid::parse("LjgpST2rjsoxYegQDRm7EL").is_ok());
}

proptest! {
    #[test]
    fn sixteen_bytes_are_an_identifier(bytes in any::<[u8; 16]>()) {
        let text = base58_encode(&bytes);
        let did = UnqualifiedDid::parse(&text).unwrap();
        prop_assert_eq!(UnqualifiedDid::parse(&did.qualified()).unwrap(), did);
    }
}
