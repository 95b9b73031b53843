//! Envelopes of v2 from the package didcomm to us and back, with the keys of the specification's appendix.

use std::collections::BTreeMap;

use selfsame_crypto::agreement::{AgreementCurve, AgreementPrivate};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::{base64url_decode, hex_decode};
use selfsame_crypto::jwe::ContentEncryption;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, PrivateKey};
use selfsame_did::{Did, DidUrl, Document};
use selfsame_didcomm::message::{Message, Version};
use selfsame_didcomm::v2::{self, Documents, Packing, Sealable, SenderKey, SignDraft};
use serde_json::{Value, json};

struct Keys {
    documents: Documents,
    ring: BTreeMap<String, AgreementPrivate>,
    /// What Python gets.
    given: Value,
}

fn vectors() -> Value {
    let file = include_str!("../../../../vectors/didcomm/v2.json");
    serde_json::from_str(file).unwrap()
}

/// The documents, and the private keys with their identifiers: those of the recipient have none in the file.
fn keys() -> Keys {
    let file = vectors();
    let mut documents = Documents::new();
    for value in file["documents"].as_array().unwrap() {
        let mut value = value.clone();
        value.as_object_mut().unwrap().remove("@context");
        let document = Document::from_value(value).unwrap();
        documents.insert(document.id.clone(), document);
    }
    let mut ring = BTreeMap::new();
    let mut secrets = Vec::new();
    for jwk in file["secrets"].as_array().unwrap() {
        let crv = jwk["crv"].as_str().unwrap();
        let curve = AgreementCurve::ALL
            .into_iter()
            .find(|one| one.as_str() == crv);
        let d = base64url_decode(jwk["d"].as_str().unwrap()).unwrap();
        let key = curve.map(|curve| AgreementPrivate::from_raw(curve, &d).unwrap());
        let found = key.as_ref().and_then(|key| {
            let all = documents.values().flat_map(Document::agreement_keys);
            { all }.find(|(_, public)| public == key.public())
        });
        let mut jwk = jwk.clone();
        if let (Some((kid, _)), Some(key)) = (found, key) {
            jwk["kid"] = json!(kid);
            ring.insert(kid.to_string(), key);
        }
        if jwk["crv"] != "secp256k1" {
            secrets.push(jwk);
        }
    }
    let mut given = file["documents"].clone();
    for document in given.as_array_mut().unwrap() {
        listed(document);
    }
    let given = json!({ "documents": given, "secrets": secrets });
    Keys {
        documents,
        ring,
        given,
    }
}

/// The document with its keys in one list and references to them: the package finds no others.
fn listed(document: &mut Value) {
    document["@context"] = json!(["https://www.w3.org/ns/did/v1"]);
    let mut all = Vec::new();
    for relationship in ["authentication", "keyAgreement"] {
        for method in document[relationship].as_array_mut().into_iter().flatten() {
            let id = method["id"].clone();
            all.push(std::mem::replace(method, id));
        }
    }
    document["verificationMethod"] = json!(all);
}

fn said(keys: &Keys, job: Value) -> Value {
    let mut all = keys.given.clone();
    all.as_object_mut()
        .unwrap()
        .extend(job.as_object().unwrap().clone());
    super::said("SELFSAME_DIDCOMM_PYTHON", "v2.py", &all)
}

fn plaintext() -> Value {
    vectors()["plaintext"].clone()
}

fn message() -> Message {
    Message::read(plaintext().to_string().as_bytes(), Version::V2).unwrap()
}

fn did(name: &str) -> Did {
    Did::parse(&format!("did:example:{name}")).unwrap()
}

/// A sender's key or nobody's, how an anonymous envelope is encrypted, and whether the sender is hidden.
struct Case {
    from: Option<&'static str>,
    enc: ContentEncryption,
    hides: bool,
}

fn cases() -> [Case; 6] {
    let case = |from, enc, hides| Case { from, enc, hides };
    [
        case(None, ContentEncryption::Xc20p, false),
        case(None, ContentEncryption::A256Gcm, false),
        case(None, ContentEncryption::A256CbcHs512, false),
        case(
            Some("did:example:alice#key-x25519-1"),
            ContentEncryption::Xc20p,
            true,
        ),
        case(
            Some("did:example:alice#key-p256-1"),
            ContentEncryption::Xc20p,
            false,
        ),
        case(
            Some("did:example:alice#key-p521-1"),
            ContentEncryption::A256Gcm,
            true,
        ),
    ]
}

/// The message as the package packs it: it names the thread that begins with it.
fn packed() -> Message {
    let mut message = message();
    message.thread.thid = Some(message.id.clone());
    message
}

#[test]
#[ignore = "needs the Python package didcomm: cargo xtask cross didcomm"]
fn what_the_package_packs_we_open() {
    let keys = keys();
    for case in cases() {
        for sign in [None, Some("did:example:alice#key-1")] {
            let answer = said(
                &keys,
                json!({
                    "do": "pack", "message": plaintext(), "to": "did:example:bob", "from": case.from,
                    "sign": sign, "hides": case.hides, "anon": case.enc.as_str(),
                }),
            );
            let envelope = answer["envelope"].as_str().unwrap();
            let opened = v2::open(envelope.as_bytes(), &keys.ring, &keys.documents).unwrap();
            assert_eq!(opened.message, packed());
            let sender = opened.sender.map(|kid| kid.to_string());
            assert_eq!(sender.as_deref(), case.from);
            let signer = opened.signer.map(|kid| kid.to_string());
            assert_eq!(signer.as_deref(), sign);
        }
    }
}

#[test]
#[ignore = "needs the Python package didcomm: cargo xtask cross didcomm"]
fn what_the_package_signs_we_verify() {
    let keys = keys();
    for kid in ["did:example:alice#key-1", "did:example:alice#key-2"] {
        let answer = said(
            &keys,
            json!({
                "do": "pack", "message": plaintext(), "to": null, "from": null, "sign": kid,
                "hides": false, "anon": "XC20P",
            }),
        );
        let envelope = answer["envelope"].as_str().unwrap();
        let opened = v2::open(envelope.as_bytes(), &keys.ring, &keys.documents).unwrap();
        assert_eq!(opened.message, packed());
        assert_eq!(
            opened.signer.map(|kid| kid.to_string()).as_deref(),
            Some(kid)
        );
    }
}

fn alice_signs(message: Message) -> v2::SignedMessage {
    let secrets = vectors();
    let d = base64url_decode(secrets["secrets"][0]["d"].as_str().unwrap()).unwrap();
    let start = hex_decode("302e020100300506032b657004220420").unwrap();
    let key = PrivateKey::from_pkcs8(&[start, d].concat()).unwrap();
    let kid = DidUrl::parse("did:example:alice#key-1").unwrap();
    let draft = SignDraft::new(message, kid, Algorithm::EdDsa).unwrap();
    let signature = key.sign(draft.signing_input()).unwrap();
    draft.finish(&signature)
}

#[test]
#[ignore = "needs the Python package didcomm: cargo xtask cross didcomm"]
fn what_we_encrypt_the_package_opens_and_what_is_altered_it_refuses() {
    let keys = keys();
    let ctx = Ctx::new(UnixTime(1), [7; 32]);
    for case in cases() {
        let kid = case.from.map(|from| DidUrl::parse(from).unwrap());
        let from = kid.as_ref().map(|kid| SenderKey {
            kid,
            key: &keys.ring[&kid.to_string()],
        });
        let packing = Packing {
            to: &keys.documents[&did("bob")],
            from,
            enc: case.enc,
            hides_sender: case.hides,
        };
        let envelope = v2::encrypt(Sealable::Plain(&message()), &packing, &ctx).unwrap();
        let envelope = String::from_utf8(envelope).unwrap();
        let answer = said(&keys, json!({ "do": "unpack", "envelope": envelope }));
        assert_eq!(answer["message"]["body"], plaintext()["body"], "{answer}");
        assert_eq!(answer["sender"], json!(case.from));
        let is_anonymous = case.from.is_none() || case.hides;
        assert_eq!(answer["anonymous"], json!(is_anonymous));
        let mut altered: Value = serde_json::from_str(&envelope).unwrap();
        altered["ciphertext"] = json!("AAAA");
        let job = json!({ "do": "unpack", "envelope": altered.to_string() });
        let answer = said(&keys, job);
        assert!(answer["refused"].is_string(), "{answer}");
    }
}

#[test]
#[ignore = "needs the Python package didcomm: cargo xtask cross didcomm"]
fn what_we_sign_the_package_verifies() {
    let keys = keys();
    let signed = alice_signs(message());
    let packing = Packing {
        to: &keys.documents[&did("bob")],
        from: None,
        enc: ContentEncryption::A256CbcHs512,
        hides_sender: false,
    };
    let ctx = Ctx::new(UnixTime(1), [7; 32]);
    let encrypted = v2::encrypt(Sealable::Signed(&signed), &packing, &ctx).unwrap();
    for envelope in [signed.text(), &encrypted] {
        let envelope = std::str::from_utf8(envelope).unwrap();
        let answer = said(&keys, json!({ "do": "unpack", "envelope": envelope }));
        assert_eq!(answer["signer"], "did:example:alice#key-1", "{answer}");
        assert_eq!(answer["message"]["id"], plaintext()["id"]);
    }
}
