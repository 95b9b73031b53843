use selfsame_crypto::{KeyType, PrivateKey};
use serde_json::json;

use super::*;

fn key() -> VerKey {
    let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
    VerKey::new(key.public().clone()).unwrap()
}

fn told(did: &str, doc: Value) -> Result<PeerDocument, DocumentError> {
    let (did, doc) = (did.to_owned(), Some(doc));
    PeerDocument::told(&DidWithDoc { did, doc })
}

#[test]
fn references_of_a_service_lead_to_the_keys_of_the_document() {
    let (own, mediator) = (key(), key());
    let did = "did:example:1";
    let doc = json!({
        "id": did,
        "verificationMethod": [{
            "id": "#key-1",
            "type": "Ed25519VerificationKey2018",
            "controller": did,
            "publicKeyBase58": own.to_base58(),
        }],
        "authentication": ["#key-1"],
        "service": [
            {"id": "#a", "type": "did-communication", "priority": 1, "recipientKeys": [own.to_did()],
             "serviceEndpoint": "https://second.example"},
            {"id": "#b", "type": "did-communication", "priority": 0, "recipientKeys": ["#key-1"],
             "routingKeys": [mediator.to_did()], "serviceEndpoint": "https://first.example"},
            {"id": "#c", "type": "LinkedDomains", "serviceEndpoint": "https://site.example"},
        ],
    });
    let read = told(did, doc).unwrap();
    let service = read.service().unwrap();
    assert_eq!(service.endpoint, "https://first.example");
    assert_eq!(service.recipient_keys, std::slice::from_ref(&own));
    assert_eq!(service.routing_keys, std::slice::from_ref(&mediator));
    assert_eq!(read.services.len(), 2);
    assert!(read.has(&own) && !read.has(&mediator));
}

#[test]
fn a_service_with_an_address_alone_is_reached_by_the_keys_that_authenticate() {
    let own = key();
    let did = "did:example:1";
    let doc = json!({
        "id": did,
        "authentication": [{
            "id": "did:example:1#key-1",
            "type": "Multikey",
            "controller": did,
            "publicKeyMultibase": own.public_key().to_multikey(),
        }],
        "service": [{"id": "#a", "type": "did-communication", "serviceEndpoint": "https://a.example"}],
    });
    let read = told(did, doc).unwrap();
    assert_eq!(read.service().unwrap().recipient_keys, [own]);
}

#[test]
fn a_document_from_before_did_core_is_read_with_or_without_its_identifier() {
    let own = key();
    let did = selfsame_did::legacy::UnqualifiedDid::of_key(own.public_key());
    let service = json!([{
        "id": "x;indy", "type": "IndyAgent", "recipientKeys": [own.to_base58()],
        "serviceEndpoint": "https://a.example",
    }]);
    for id in [None, Some(did.to_string()), Some(did.qualified())] {
        let mut doc = json!({"publicKey": [], "service": service});
        if let Some(id) = id {
            doc["id"] = json!(id);
        }
        let read = told(did.as_str(), doc).unwrap();
        assert!(read.has(&own));
        assert_eq!(read.service().unwrap().endpoint, "https://a.example");
    }
}

#[test]
fn a_key_that_is_none_makes_the_service_unusable() {
    let doc = json!({
        "id": "did:example:1",
        "service": [{"id": "#a", "type": "did-communication", "recipientKeys": ["#none"],
                     "serviceEndpoint": "https://a.example"}],
    });
    assert_eq!(told("did:example:1", doc).unwrap().service(), None);
    assert!(told("did:example:1", json!([])).is_err());
}
