//! An agent's own DIDs in its connections, whose documents name its endpoints.

use selfsame_aries::connection::DidWithDoc;
use selfsame_aries::key::VerKey;
use selfsame_crypto::agreement::AgreementKey;
use selfsame_did::Did;
use selfsame_did::legacy::{LegacyDocument, LegacyKey, LegacyService, UnqualifiedDid};
use selfsame_did::method::peer::{PeerKey, create_with_document, create_with_keys};
use selfsame_didcomm::Version;
use selfsame_didcomm::service;
use selfsame_driver::{Error, Result};
use serde_json::{Map, Value, json};
use url::Url;

/// This side of a connection: an unqualified DID of the key (RFC 0793), with its document in the form that agents of
/// connections 1.0 read.
pub fn own_party(key: &VerKey, endpoints: &[&Url]) -> DidWithDoc {
    let (did, public) = (UnqualifiedDid::of_key(key.public_key()), key.public_key());
    let full = did.qualified();
    let service = |(endpoint, priority): (&&Url, u64)| LegacyService {
        id: match priority {
            0 => format!("{full};indy"),
            _ => format!("{full};indy-{priority}"),
        },
        type_: "IndyAgent".to_owned(),
        priority,
        recipient_keys: vec![public.clone()],
        routing_keys: Vec::new(),
        endpoint: endpoint.to_string(),
    };
    let document = LegacyDocument {
        keys: vec![LegacyKey {
            id: format!("{full}#1"),
            key: public.clone(),
        }],
        services: endpoints.iter().zip(0..).map(service).collect(),
        did: did.clone(),
    };
    DidWithDoc {
        did: did.to_string(),
        doc: Some(document.to_value()),
    }
}

/// A `did:peer:2` with this key, which messages of DIDComm v1 are encrypted to, and its X25519 form for v2. Its services
/// are of this version.
///
/// # Errors
/// None that can happen with a key of Ed25519.
pub fn peer_with_keys(key: &VerKey, endpoints: &[&Url], version: Version) -> Result<Did> {
    let agreement = AgreementKey::of_ed25519(key.public_key()).map_err(Error::internal)?;
    let keys = [
        PeerKey::authentication(key.public_key()),
        PeerKey::agreement(&agreement),
    ];
    let services = match version {
        Version::V1 => services(endpoints).into_iter().map(members).collect(),
        Version::V2 => service::services(endpoints),
    };
    create_with_keys(&keys, &services).map_err(Error::internal)
}

/// A `did:peer:4` with the same keys, in its long form.
///
/// # Errors
/// As [`peer_with_keys`].
pub fn peer_with_document(key: &VerKey, endpoints: &[&Url], version: Version) -> Result<Did> {
    let agreement = AgreementKey::of_ed25519(key.public_key()).map_err(Error::internal)?;
    let services = match version {
        Version::V1 => services(endpoints),
        Version::V2 => identified(service::services(endpoints)),
    };
    let document = json!({
        "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/multikey/v1"],
        "verificationMethod": [
            {
                "id": "#key-1",
                "type": "Multikey",
                "publicKeyMultibase": key.public_key().to_multikey(),
            },
            {
                "id": "#key-2",
                "type": "Multikey",
                "publicKeyMultibase": agreement.to_multikey(),
            },
        ],
        "authentication": ["#key-1"],
        "assertionMethod": ["#key-1"],
        "keyAgreement": ["#key-2"],
        "service": services,
    });
    let both = create_with_document(&members(document)).map_err(Error::internal)?;
    Ok(both.long)
}

/// The services of DIDComm v1 (RFC 0067), whose key is the first of the document.
fn services(endpoints: &[&Url]) -> Vec<Value> {
    let each = endpoints.iter().enumerate().map(|(priority, endpoint)| {
        json!({
            "id": format!("#didcomm-{priority}"),
            "type": "did-communication",
            "priority": priority,
            "recipientKeys": ["#key-1"],
            "routingKeys": [],
            "serviceEndpoint": endpoint,
        })
    });
    each.collect()
}

/// Services of DIDComm v2 with identifiers, which a document needs and a `did:peer:2` gives by itself.
fn identified(services: Vec<Map<String, Value>>) -> Vec<Value> {
    let each = services.into_iter().enumerate();
    let each = each.map(|(number, mut service)| {
        service.insert("id".to_owned(), json!(format!("#didcomm-{number}")));
        Value::Object(service)
    });
    each.collect()
}

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
