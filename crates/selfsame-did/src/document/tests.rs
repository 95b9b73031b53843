use proptest::prelude::*;
use selfsame_crypto::{KeyType, PrivateKey};
use serde_json::json;

use super::*;

fn did() -> Did {
    Did::parse("did:example:123").unwrap()
}

fn url(fragment: &str) -> DidUrl {
    did().with_fragment(fragment).unwrap()
}

fn public() -> PublicKey {
    PrivateKey::generate(KeyType::P256)
        .unwrap()
        .public()
        .clone()
}

fn read(value: &Value) -> Result<Document, DocumentError> {
    Document::parse(value.to_string().as_bytes(), &did())
}

fn method(fragment: &str, key: &PublicKey) -> Value {
    json!({"id": format!("did:example:123#{fragment}"), "type": "JsonWebKey2020", "controller": "did:example:123",
        "publicKeyJwk": key.to_jwk()})
}

#[test]
fn a_document_gives_each_key_for_the_relationships_that_list_it_only() {
    let (signing, embedded) = (public(), public());
    let document = read(&json!({
        "id": "did:example:123",
        "verificationMethod": [method("a", &signing)],
        "assertionMethod": ["#a"],
        "authentication": [method("b", &embedded), "did:example:999#c"],
    }))
    .unwrap();
    assert_eq!(
        document.key(&url("a"), Relationship::AssertionMethod),
        Ok(signing.clone())
    );
    assert_eq!(
        document.key(&url("b"), Relationship::Authentication),
        Ok(embedded.clone())
    );
    let refused = document.key(&url("a"), Relationship::Authentication);
    assert_eq!(
        refused,
        Err(DocumentError::NotForPurpose(Relationship::Authentication))
    );
    // DID Core §5.3.1: an embedded method belongs only to the relationship that contains it.
    let refused = document.key(&url("b"), Relationship::AssertionMethod);
    assert_eq!(
        refused,
        Err(DocumentError::NotForPurpose(Relationship::AssertionMethod))
    );
    let elsewhere = DidUrl::parse("did:example:999#c").unwrap();
    assert_eq!(
        document.key(&elsewhere, Relationship::Authentication),
        Err(DocumentError::NoSuchKey)
    );
    let keys: Vec<_> = document.keys(Relationship::Authentication).collect();
    assert_eq!(keys, [(url("b"), embedded)]);
    assert_eq!(
        document.keys(Relationship::AssertionMethod).next(),
        Some((url("a"), signing))
    );
}

#[test]
fn a_key_under_another_controller_is_not_the_subjects() {
    let mut foreign = method("a", &public());
    foreign["controller"] = json!("did:example:999");
    let document =
        read(&json!({"id": "did:example:123", "verificationMethod": [foreign], "assertionMethod": ["#a"]})).unwrap();
    assert_eq!(
        document.key(&url("a"), Relationship::AssertionMethod),
        Err(DocumentError::OtherController)
    );
    assert_eq!(document.keys(Relationship::AssertionMethod).count(), 0);
}

#[test]
fn a_document_of_another_did_is_refused() {
    assert_eq!(
        read(&json!({"id": "did:example:124"})),
        Err(DocumentError::OtherDid)
    );
    assert_eq!(read(&json!({})), Err(DocumentError::Malformed("id")));
    assert_eq!(
        read(&json!({"id": "did:example:123#a"})),
        Err(DocumentError::Malformed("id"))
    );
    assert_eq!(read(&json!([])), Err(DocumentError::Malformed("form")));
}

#[test]
fn identifiers_used_twice_are_refused_embedded_or_not() {
    let twice = json!({"id": "did:example:123", "verificationMethod": [method("a", &public())],
        "authentication": [method("a", &public())]});
    assert_eq!(read(&twice), Err(DocumentError::Duplicate));
    let service = json!({"id": "#s", "type": "T", "serviceEndpoint": "https://a.example"});
    let twice = json!({"id": "did:example:123", "service": [service, service]});
    assert_eq!(read(&twice), Err(DocumentError::Duplicate));
    let text = br#"{"id":"did:example:123","id":"did:example:123"}"#;
    assert_eq!(
        Document::parse(text, &did()),
        Err(DocumentError::Json(JsonError::Duplicate))
    );
}

#[test]
fn private_keys_in_a_document_are_noticed() {
    for (name, value) in [
        (
            "publicKeyJwk",
            json!({"kty": "OKP", "crv": "Ed25519", "x": "AQ", "d": "AQ"}),
        ),
        ("publicKeyJwk", json!({"kty": "oct", "k": "AQ"})),
        ("privateKeyBase58", json!("1")),
        ("secretKeyMultibase", json!("z1")),
    ] {
        let mut method =
            json!({"id": "#a", "type": "JsonWebKey2020", "controller": "did:example:123"});
        method[name] = value;
        let document = json!({"id": "did:example:123", "verificationMethod": [method]});
        assert_eq!(read(&document), Err(DocumentError::PrivateKey), "{name}");
    }
}

#[test]
fn every_known_form_of_key_material_is_read_and_must_agree_with_its_type() {
    let ed25519 = PrivateKey::generate(KeyType::Ed25519)
        .unwrap()
        .public()
        .clone();
    let p256 = public();
    let base58 = selfsame_crypto::encoding::base58_encode(ed25519.bytes());
    let key = |type_: &str, name: &str, value: Value| {
        let method =
            json!({"id": "#a", "type": type_, "controller": "did:example:123", name: value});
        let document = json!({"id": "did:example:123", "verificationMethod": [method], "authentication": ["#a"]});
        read(&document)
            .unwrap()
            .key(&url("a"), Relationship::Authentication)
    };
    for (type_, name, value) in [
        ("JsonWebKey2020", "publicKeyJwk", json!(ed25519.to_jwk())),
        ("JsonWebKey", "publicKeyJwk", json!(ed25519.to_jwk())),
        (
            "Multikey",
            "publicKeyMultibase",
            json!(ed25519.to_multikey()),
        ),
        (
            "Ed25519VerificationKey2020",
            "publicKeyMultibase",
            json!(ed25519.to_multikey()),
        ),
        (
            "Ed25519VerificationKey2018",
            "publicKeyBase58",
            json!(base58),
        ),
    ] {
        assert_eq!(key(type_, name, value), Ok(ed25519.clone()), "{type_}");
    }
    for (type_, name, value) in [
        (
            "Ed25519VerificationKey2020",
            "publicKeyMultibase",
            json!(p256.to_multikey()),
        ),
        (
            "Ed25519VerificationKey2018",
            "publicKeyBase58",
            json!("111"),
        ),
        (
            "EcdsaSecp256k1VerificationKey2019",
            "publicKeyJwk",
            json!(p256.to_jwk()),
        ),
        ("Multikey", "publicKeyJwk", json!(p256.to_jwk())),
        (
            "JsonWebKey2020",
            "publicKeyJwk",
            json!({"kty": "AKP", "pub": "AQ"}),
        ),
        (
            "SomethingElse",
            "publicKeyMultibase",
            json!(p256.to_multikey()),
        ),
        ("JsonWebKey2020", "publicKeyHex", json!("00")),
    ] {
        assert!(
            matches!(key(type_, name, value), Err(DocumentError::Key(_))),
            "{type_} {name}"
        );
    }
}

#[test]
fn two_materials_in_one_method_are_refused() {
    let mut both = method("a", &public());
    both["publicKeyMultibase"] = json!(public().to_multikey());
    let document = json!({"id": "did:example:123", "verificationMethod": [both]});
    assert_eq!(
        read(&document),
        Err(DocumentError::Malformed("verification method"))
    );
}

#[test]
fn members_of_wrong_types_are_refused() {
    for (name, value) in [
        ("@context", json!("https://example.com/v1")),
        ("@context", json!([])),
        (
            "@context",
            json!(["https://example.com/v1", "https://www.w3.org/ns/did/v1"]),
        ),
        ("@context", json!({})),
        ("alsoKnownAs", json!(1)),
        ("alsoKnownAs", json!([1])),
        ("controller", json!("https://example.com")),
        ("controller", json!([null])),
        ("verificationMethod", json!({})),
        ("verificationMethod", json!(["#a"])),
        ("verificationMethod", json!([{"id": "#a", "type": "T"}])),
        (
            "verificationMethod",
            json!([{"id": "a", "type": "T", "controller": "did:example:123"}]),
        ),
        ("verificationMethod", json!(vec![0; 129])),
        ("authentication", json!("#a")),
        ("authentication", json!([1])),
        ("keyAgreement", json!([{}])),
        ("service", json!([{"id": "#s", "type": "T"}])),
        (
            "service",
            json!([{"id": "#s", "type": [], "serviceEndpoint": "https://a.example"}]),
        ),
        (
            "service",
            json!([{"id": "#s", "type": "T", "serviceEndpoint": 1}]),
        ),
        (
            "service",
            json!([{"id": "#s", "type": "T", "serviceEndpoint": [1]}]),
        ),
    ] {
        let mut document = json!({"id": "did:example:123"});
        document[name] = value.clone();
        assert!(
            matches!(read(&document), Err(DocumentError::Malformed(_))),
            "{name} {value}"
        );
    }
}

#[test]
fn each_representation_is_read_back_and_contexts_fit_the_types() {
    let mut document = Document::new(did());
    document.controller = vec![did()];
    document.also_known_as = vec!["https://example.com/".to_owned()];
    document.add(
        VerificationMethod::json_web_key(url("a"), &public()),
        &Relationship::SIGNING,
    );
    document.add(
        VerificationMethod::multikey(url("b"), &public()),
        &[Relationship::KeyAgreement],
    );
    document.service.push(Service {
        id: "did:example:123#s".to_owned(),
        type_: vec!["LinkedDomains".to_owned()],
        endpoint: json!({"origins": ["https://example.com"]}),
        other: Map::new(),
    });
    assert_eq!(
        read(&document.to_value(Representation::Json)),
        Ok(document.clone())
    );
    for representation in [Representation::Did, Representation::JsonLd] {
        let value = document.to_value(representation);
        let expected = [
            "https://www.w3.org/ns/did/v1",
            "https://w3id.org/security/suites/jws-2020/v1",
            "https://w3id.org/security/multikey/v1",
        ];
        assert_eq!(value["@context"], json!(expected));
        let again = read(&value).unwrap();
        assert_eq!(again.to_value(representation), value);
        assert_eq!(
            Document {
                context: Vec::new(),
                ..again
            },
            document
        );
    }
}

#[test]
fn a_document_has_a_thousand_members_at_most() {
    // The members `id` and `x` themselves count as well.
    let with = |elements: usize| read(&json!({"id": "did:example:123", "x": vec![0; elements]}));
    assert!(with(998).is_ok());
    assert_eq!(with(999), Err(DocumentError::Json(JsonError::TooMany)));
}

#[test]
fn members_that_are_not_known_are_kept() {
    let value = json!({"id": "did:example:123", "profile": {"a": [1]},
        "verificationMethod": [{"id": "did:example:123#a", "type": "T", "controller": "did:example:123", "blockchainAccountId": "x"}]});
    assert_eq!(read(&value).unwrap().to_value(Representation::Json), value);
}

proptest! {
    #[test]
    fn reading_never_panics_and_what_is_read_is_written_and_read_the_same(
        name in prop::sample::select(vec!["@context", "alsoKnownAs", "controller", "verificationMethod", "authentication", "service", "x"]),
        inner in prop::sample::select(vec!["id", "type", "controller", "publicKeyJwk", "publicKeyMultibase", "serviceEndpoint"]),
        text in prop_oneof![Just("#a".to_owned()), Just("did:example:123".to_owned()), "\\PC{0,12}"],
        shape in 0..4,
    ) {
        let member = match shape {
            0 => json!(text),
            1 => json!([text]),
            2 => json!([{inner: text.clone(), "id": text.clone(), "type": text, "controller": "did:example:123"}]),
            _ => json!({inner: text}),
        };
        let mut value = json!({"id": "did:example:123"});
        value[name] = member;
        if let Ok(document) = read(&value) {
            let written = document.to_value(Representation::Json);
            let again = read(&written).unwrap();
            prop_assert_eq!(again, Document { context: Vec::new(), ..document });
        }
    }

    #[test]
    fn bytes_of_any_kind_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Document::parse(&bytes, &did());
    }
}
