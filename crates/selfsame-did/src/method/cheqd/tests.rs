use proptest::prelude::*;
use selfsame_crypto::encoding::{base58_encode, hex_encode};
use selfsame_crypto::{KeyType, PrivateKey, PublicKey};

use super::*;
use crate::Document;

/// The key from the example document of cheqd's resolver.
const MULTIKEY: &str = "z6Mkjhidm3FJxUo4FekqyhXGMqrDLnrw9NtuzfmGQ61UXW1e";
const DID: &str = "did:cheqd:testnet:c1685ca0-1f5b-439c-8eb8-5c0e85ab7cd0";

fn did(text: &str) -> Did {
    Did::parse(text).unwrap()
}

#[test]
fn both_networks_and_both_forms_of_identifiers_are_read() {
    let uuid = did(DID);
    let (network, id) = parts(&uuid).unwrap();
    assert_eq!(
        (network, id),
        (
            CheqdNetwork::Testnet,
            "c1685ca0-1f5b-439c-8eb8-5c0e85ab7cd0"
        )
    );
    let indy = did("did:cheqd:mainnet:Ps1ysXP2Ae6GBfxNhNQNKN");
    assert_eq!(parts(&indy).unwrap().0, CheqdNetwork::Mainnet);
}

#[test]
fn what_is_no_identifier_of_the_method_is_refused() {
    for text in [
        "did:cheqd:c1685ca0-1f5b-439c-8eb8-5c0e85ab7cd0",
        "did:cheqd:devnet:c1685ca0-1f5b-439c-8eb8-5c0e85ab7cd0",
        "did:cheqd:Mainnet:c1685ca0-1f5b-439c-8eb8-5c0e85ab7cd0",
        // A second spelling of the same identifier.
        "did:cheqd:testnet:C1685CA0-1f5b-439c-8eb8-5c0e85ab7cd0",
        "did:cheqd:testnet:c1685ca01f5b439c8eb85c0e85ab7cd0",
        "did:cheqd:testnet:c1685ca0-1f5b-439c-8eb8-5c0e85ab7cd",
        "did:cheqd:testnet:c1685ca0-1f5b-439c-8eb8-5c0e85ab7cd0-",
        "did:cheqd:testnet:c1685ca0-1f5b-439c-8eb8-5c0e85ab7cg0",
        "did:cheqd:testnet:1",
        "did:cheqd:testnet:a:c1685ca0-1f5b-439c-8eb8-5c0e85ab7cd0",
        "did:cheqd:testnet:Ps1ysXP2Ae6GBfxNhNQNK0",
        "did:example:testnet:c1685ca0-1f5b-439c-8eb8-5c0e85ab7cd0",
    ] {
        assert_eq!(parts(&did(text)), None, "{text}");
    }
}

#[test]
fn a_made_identifier_is_a_random_uuid() {
    // RFC 9562 §5.4: version 4, variant 10.
    assert_eq!(uuid([0; 16]), "00000000-0000-4000-8000-000000000000");
    assert_eq!(uuid([0xff; 16]), "ffffffff-ffff-4fff-bfff-ffffffffffff");
}

fn draft() -> DocumentDraft {
    let mut draft = DocumentDraft::new(did(DID));
    let key = PublicKey::from_multikey(MULTIKEY).unwrap();
    draft.add("key-1", &key, true).unwrap();
    draft
}

#[test]
fn a_registrar_gets_lists_where_there_may_be_lists() {
    let value = draft().to_value();
    assert_eq!(value["controller"], serde_json::json!([DID]));
    let method = &value["verificationMethod"][0];
    assert_eq!(method["type"], "Ed25519VerificationKey2020");
    assert_eq!(method["publicKeyMultibase"], MULTIKEY);
    let key = format!("{DID}#key-1");
    assert_eq!(value["authentication"], serde_json::json!([key]));
    assert_eq!(value["assertionMethod"], serde_json::json!([key]));
    // The document reads back as it was made.
    let document = Document::from_value(value).unwrap();
    assert_eq!(
        document.verification_method,
        draft().document().verification_method
    );
}

#[test]
fn the_payload_of_a_document_has_its_fields_by_number() {
    let bytes = draft().signing_bytes("e5615fc2-6f13-42b1-989c-49576a574cef");
    let mut fields = Vec::new();
    let mut rest = bytes.as_slice();
    // All field numbers are below 16, so a tag is one byte. All strings are shorter than 16 kB.
    while let [tag, after @ ..] = rest {
        let (length, after) = match after {
            [low, high, after @ ..] if low & 0x80 != 0 => {
                (usize::from(low & 0x7f) | usize::from(*high) << 7, after)
            }
            [length, after @ ..] => (usize::from(*length), after),
            [] => panic!("a field without length"),
        };
        assert_eq!(tag & 7, 2);
        let (value, after) = after.split_at(length);
        fields.push((tag >> 3, value));
        rest = after;
    }
    let key = format!("{DID}#key-1");
    let numbers: Vec<u8> = fields.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [1, 1, 2, 3, 4, 5, 6, 12]);
    assert_eq!(fields[0].1, b"https://www.w3.org/ns/did/v1");
    assert_eq!(fields[2].1, DID.as_bytes());
    assert_eq!(fields[3].1, DID.as_bytes());
    assert!(fields[4].1.ends_with(MULTIKEY.as_bytes()));
    assert_eq!((fields[5].1, fields[6].1), (key.as_bytes(), key.as_bytes()));
    assert_eq!(fields[7].1, b"e5615fc2-6f13-42b1-989c-49576a574cef");
}

#[test]
fn the_payload_of_a_deactivation_is_the_did_and_the_version() {
    let bytes = deactivation_bytes(&did("did:cheqd:testnet:x"), "v");
    let text = hex_encode(b"did:cheqd:testnet:x");
    assert_eq!(hex_encode(&bytes), format!("0a13{text}120176"));
}

#[test]
fn a_key_of_a_kind_the_network_does_not_sign_with_is_refused() {
    let key = PrivateKey::generate(KeyType::P256).unwrap();
    assert!(
        DocumentDraft::new(did(DID))
            .add("key-1", key.public(), true)
            .is_err()
    );
}

proptest! {
    #[test]
    fn every_made_did_is_read_back(bytes: [u8; 16]) {
        for network in [CheqdNetwork::Mainnet, CheqdNetwork::Testnet] {
            let made = create(network, bytes);
            prop_assert_eq!(parts(&made).unwrap().0, network);
            let indy = did(&format!("did:cheqd:{network}:{}", base58_encode(&bytes)));
            prop_assert_eq!(parts(&indy).unwrap().0, network);
        }
    }

    #[test]
    fn bytes_of_another_length_are_no_identifier(bytes in prop::collection::vec(any::<u8>(), 1..40)) {
        let text = format!("did:cheqd:testnet:{}", base58_encode(&bytes));
        prop_assert_eq!(parts(&did(&text)).is_some(), bytes.len() == 16);
    }
}
