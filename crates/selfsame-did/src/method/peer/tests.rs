//! Tests of did:peer.

use selfsame_crypto::agreement::{AgreementCurve, AgreementPrivate};
use selfsame_crypto::{KeyType, PrivateKey};
use serde_json::{Map, Value, json};

use super::*;
use crate::document::{Document, Relationship};

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../../../vectors/did/did-peer.json")).unwrap()
}

fn did(text: &str) -> Did {
    Did::parse(text).unwrap()
}

fn resolved(text: &str) -> Result<Document, ResolutionError> {
    let resolution = resolve(&did(text), Representation::default())?;
    Ok(resolution.document.unwrap())
}

/// A document as its specification writes it.
fn specified(value: &Value) -> Document {
    Document::from_value(value.clone()).unwrap()
}

/// What the document says, apart from its contexts.
fn said(mut document: Document) -> Document {
    document.context.clear();
    document
}

#[test]
fn the_examples_of_the_specification_resolve_to_their_documents() {
    let file = vectors();
    for case in file["cases"].as_array().unwrap() {
        let text = case["did"].as_str().unwrap();
        let expected = said(specified(&case["document"]));
        assert_eq!(
            said(resolved(text).unwrap()),
            expected,
            "{}",
            case["source"]
        );
    }
    let short = &file["short"];
    let long = did(short["long"].as_str().unwrap());
    let document = resolve_short(&long).unwrap();
    assert_eq!(said(document), said(specified(&short["document"])));
    assert_eq!(short_of(&long).unwrap().as_str(), short["document"]["id"]);
    let hashed = &file["method3"];
    let document = resolved(hashed["did"].as_str().unwrap()).unwrap();
    assert_eq!(document.also_known_as, [hashed["short"].as_str().unwrap()]);
}

#[test]
fn a_did_of_one_key_has_the_document_of_its_did_key() {
    for kind in [KeyType::Ed25519, KeyType::P256] {
        let key = PrivateKey::generate(kind).unwrap();
        let did = create_with_key(key.public());
        let document = resolved(did.as_str()).unwrap();
        let of_key = crate::key::create(key.public());
        let expected = crate::key::resolve(&of_key, Representation::default()).unwrap();
        let renamed = serde_json::to_string(&expected.document).unwrap();
        let renamed = renamed.replace(of_key.as_str(), did.as_str());
        let expected: Document = serde_json::from_str(&renamed).unwrap();
        assert_eq!(said(document), said(expected));
    }
    for text in [
        "did:peer:0",
        // The same key in another base.
        "did:peer:0u7QEA",
        "did:peer:06MkqRYqQiSgvZQdnBytw86Qbs2ZWUkGv22od935YF4s8M7V",
    ] {
        assert_eq!(
            resolved(text).err(),
            Some(ResolutionError::InvalidDid),
            "{text}"
        );
    }
    let example = resolved("did:peer:0z6MkqRYqQiSgvZQdnBytw86Qbs2ZWUkGv22od935YF4s8M7V").unwrap();
    assert_eq!(example.keys(Relationship::Authentication).count(), 1);
}

#[test]
fn dids_that_are_wrong_are_refused() {
    for text in vectors()["invalid"].as_array().unwrap() {
        let text = text.as_str().unwrap();
        assert!(
            matches!(
                resolved(text),
                Err(ResolutionError::InvalidDid | ResolutionError::InvalidDidDocument)
            ),
            "{text}"
        );
    }
}

#[test]
fn keys_and_services_are_found_in_the_document_of_the_did_made_of_them() {
    let signing = PrivateKey::generate(KeyType::Ed25519).unwrap();
    for curve in [
        AgreementCurve::X25519,
        AgreementCurve::P256,
        AgreementCurve::P384,
    ] {
        let agreement = AgreementPrivate::generate(curve).unwrap();
        let keys = [
            PeerKey::authentication(signing.public()),
            PeerKey::agreement(agreement.public()),
        ];
        let service = json!({
            "id": "#1", "type": "DIDCommMessaging",
            "serviceEndpoint": { "uri": "https://a.example", "accept": ["didcomm/v2"], "routingKeys": [] },
        });
        let service = service.as_object().unwrap().clone();
        let did = create_with_keys(&keys, std::slice::from_ref(&service)).unwrap();
        let document = resolved(did.as_str()).unwrap();
        let (kid, key) = document.keys(Relationship::Authentication).next().unwrap();
        assert_eq!(
            (kid.to_string(), &key),
            (format!("{did}#key-1"), signing.public())
        );
        let (kid, key) = document.agreement_keys().next().unwrap();
        assert_eq!(
            (kid.to_string(), &key),
            (format!("{did}#key-2"), agreement.public())
        );
        assert_eq!(document.agreement_key(&kid).unwrap(), *agreement.public());
        let found = document.to_value(Representation::Json)["service"][0].clone();
        assert_eq!(found["serviceEndpoint"], service["serviceEndpoint"]);
        assert_eq!(found["id"], format!("{did}#1"));
        assert_eq!(found["type"], "DIDCommMessaging");
        assert!(did.as_str().contains(".S"), "abbreviated");
        assert_eq!(did.plan(&crate::Options::default()).map(|_| ()), Ok(()));
    }
}

#[test]
fn what_cannot_be_in_a_did_is_refused() {
    let wrong = PeerKey {
        purpose: Relationship::Authentication,
        multikey: "z6Mk".to_owned(),
    };
    assert_eq!(
        create_with_keys(&[wrong], &[]),
        Err(PeerError::Malformed("key"))
    );
    let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let key = PeerKey::authentication(key.public());
    for service in [
        json!({}),
        json!({ "type": "x" }),
        json!({ "type": "x", "serviceEndpoint": 1 }),
        json!({ "type": "x", "t": "y", "serviceEndpoint": "https://a.example" }),
        json!({ "id": "did:example:1#a", "type": "x", "serviceEndpoint": "https://a.example" }),
    ] {
        let service = service.as_object().unwrap().clone();
        let refused = create_with_keys(std::slice::from_ref(&key), &[service]);
        assert_eq!(refused, Err(PeerError::Malformed("service")));
    }
    let long = json!({ "type": "x", "serviceEndpoint": "x".repeat(4096) });
    let refused = create_with_keys(&[key], &[long.as_object().unwrap().clone()]);
    assert_eq!(refused, Err(PeerError::TooLong));
}

fn input() -> Map<String, Value> {
    let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let input = json!({
        "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/multikey/v1"],
        "verificationMethod": [
            { "id": "#k", "type": "Multikey", "publicKeyMultibase": key.public().to_multikey() },
        ],
        "authentication": ["#k"],
        "service": [{ "id": "#s", "type": "did-communication", "serviceEndpoint": "https://a.example" }],
    });
    input.as_object().unwrap().clone()
}

#[test]
fn a_document_gives_a_long_and_a_short_form() {
    let input = input();
    let made = create_with_document(&input).unwrap();
    assert_eq!(short_of(&made.long).unwrap(), made.short);
    let long = resolved(made.long.as_str()).unwrap();
    assert_eq!(long.also_known_as, [made.short.to_string()]);
    let short = resolve_short(&made.long).unwrap();
    assert_eq!(short.id, made.short);
    assert_eq!(short.also_known_as, [made.long.to_string()]);
    for document in [&long, &short] {
        assert_eq!(document.keys(Relationship::Authentication).count(), 1);
        assert_eq!(document.service[0].id, format!("{}#s", document.id));
    }
    // The short form alone, and did:peer:1 and 3, are known to the peers only.
    assert_eq!(
        resolved(made.short.as_str()),
        Err(ResolutionError::NotFound)
    );
    assert_eq!(short_of(&made.short), Err(PeerError::OtherKind));
    let other = create_with_document(&{
        let mut other = input.clone();
        other.insert("alsoKnownAs".to_owned(), json!(["https://a.example"]));
        other
    });
    let (hash, _) = made.long.as_str().rsplit_once(':').unwrap();
    let (_, encoded) = other
        .as_ref()
        .unwrap()
        .long
        .as_str()
        .rsplit_once(':')
        .unwrap();
    let mixed = did(&format!("{hash}:{encoded}"));
    assert_eq!(short_of(&mixed), Err(PeerError::OtherDocument));
    assert_eq!(resolved(mixed.as_str()), Err(ResolutionError::InvalidDid));
}

/// Made by Credo 0.5.19: the context is that of a draft, and the keys stand where they are used.
const BY_CREDO: &str = "\
    did:peer:4zQmbeB7RYQQmYbtEZGmUve36NTCbpxskA56w52nyo7W714G:z4iKavKmFs7HXJNo9CJMxZ4PDL3D59dvZ5dEz3wKgE\
    QzMkxFocbRaQymSskUwLwKx3GK81RNZq1UXkieevmq31942qGpGq2p4qnvgbUTyrqq3YifVzLoWGgXkjoEwRdMrMvdgLceD6wwKv\
    JBFn2semCdVZ27148Egr3fxvjju6XkGTnQWo94LhKeTA6we622hck4TLbTGQtetBN6tL1BbosEnmFYw3dNzhB4sa7W83N1cPdnix\
    8GKpZ2NRPVi6NJ1B4CGTXZPNALc4UWkuPYbBaVTAx5LUVvKfXz43Qw8HmvWHUjo6XHSz9Ef676NWiR3yyd8q36B8nUTCzmi5Tyfd\
    CL5UmJaZQ9TsYM1g9bxnCcuXwYwqeJ2wmhd352cJAyuXcBNMSTQsidwJjRq6NXDjBEyVkCxtoLVhxLpqLo7YCFdgpQ5tvXTLk6nM\
    fGywuWhmUKNT34owtBSZpJsSW39feHm3nCPQeKk1pVwZNqooBDZYCeJbybSULqAD7trez4Sqo4q8k1ejAYH4FxvKNDAkt4S5enD2\
    r2F8FEjUk1oiUx5a7p6DsUMwZkL8o4iaeYh5T1fExddcKMLYcqjBdQqPjKvQ82VD4vLM6QFB563gLHY65UtUrx2K3BXupFq99ztk";

#[test]
fn a_document_with_the_context_of_a_draft_is_resolved() {
    let document = resolved(BY_CREDO).unwrap();
    assert_eq!(document.context, [json!("https://www.w3.org/ns/did/v1")]);
    assert_eq!(document.keys(Relationship::Authentication).count(), 1);
    assert_eq!(document.service[0].id, format!("{BY_CREDO}#inline-0"));
    let short = resolve_short(&did(BY_CREDO)).unwrap();
    assert_eq!(short.also_known_as, [BY_CREDO]);
}

#[test]
fn a_document_that_names_its_did_or_another_is_not_made_into_one() {
    type Change = fn(&mut Value);
    let changes: [Change; 5] = [
        |input| input["id"] = json!("did:example:1"),
        |input| input["verificationMethod"][0]["id"] = json!("did:example:1#k"),
        |input| input["service"][0]["id"] = json!("did:example:1#s"),
        |input| input["verificationMethod"] = json!([1]),
        |input| input["@context"] = json!(["https://a.example"]),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut input = Value::Object(input());
        change(&mut input);
        let refused = create_with_document(input.as_object().unwrap());
        assert_eq!(refused, Err(PeerError::Malformed("document")), "{at}");
    }
    let mut long = input();
    long.insert("alsoKnownAs".to_owned(), json!(["x".repeat(4000)]));
    assert_eq!(create_with_document(&long), Err(PeerError::TooLong));
}

#[test]
fn a_stored_document_belongs_to_the_did_that_is_its_hash() {
    let mut input = input();
    input["verificationMethod"][0]["controller"] = json!("#id");
    let stored = Value::Object(input).to_string();
    let did = create_of_stored(stored.as_bytes()).unwrap();
    assert!(did.as_str().starts_with("did:peer:1zQm"), "{did}");
    assert_eq!(did.as_str().len(), 57);
    let document = resolve_stored(&did, stored.as_bytes()).unwrap();
    assert_eq!(document.id, did);
    assert_eq!(document.keys(Relationship::Authentication).count(), 1);
    let changed = format!("{stored} ");
    assert_eq!(
        resolve_stored(&did, changed.as_bytes()),
        Err(PeerError::OtherDocument)
    );
    assert_eq!(resolved(did.as_str()), Err(ResolutionError::NotFound));
    assert!(create_of_stored(b"[]").is_err());
    let other = Did::parse("did:peer:2.x").unwrap();
    assert_eq!(resolve_stored(&other, b"{}"), Err(PeerError::OtherKind));
}
