//! Writing documents as agents of v1 read them.

use serde_json::{Value, json};

use super::{LegacyDocument, LegacyKey, LegacyService, base58_of_key};

pub(super) fn document(document: &LegacyDocument) -> Value {
    let did = document.did.qualified();
    let keys = document.keys.iter();
    let authentication = keys
        .clone()
        .map(|key| json!({ "type": "Ed25519SignatureAuthentication2018", "publicKey": key.id }));
    let services = document.services.iter().map(service);
    json!({
        "@context": "https://w3id.org/did/v1",
        "id": did,
        "publicKey": keys.map(|one| key(one, &did)).collect::<Vec<_>>(),
        "authentication": authentication.collect::<Vec<_>>(),
        "service": services.collect::<Vec<_>>(),
    })
}

fn key(key: &LegacyKey, did: &str) -> Value {
    json!({
        "id": key.id,
        "type": "Ed25519VerificationKey2018",
        "controller": did,
        "publicKeyBase58": base58_of_key(&key.key),
    })
}

fn service(service: &LegacyService) -> Value {
    let texts = |keys: &[_]| keys.iter().map(base58_of_key).collect::<Vec<_>>();
    json!({
        "id": service.id,
        "type": service.type_,
        "priority": service.priority,
        "recipientKeys": texts(&service.recipient_keys),
        "routingKeys": texts(&service.routing_keys),
        "serviceEndpoint": service.endpoint,
    })
}
