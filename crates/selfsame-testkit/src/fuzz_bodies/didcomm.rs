//! Properties of DIDComm's messages and envelopes, of both versions, and of documents from before DID Core.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use selfsame_crypto::PrivateKey;
use selfsame_crypto::agreement::AgreementPrivate;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::hex_decode;
use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::jwe::{ContentEncryption, Jwe};
use selfsame_crypto::time::UnixTime;
use selfsame_did::legacy::{LegacyDocument, base58_of_key};
use selfsame_did::{Did, Document, Material, Relationship, VerificationMethod};
use selfsame_didcomm::forward::{Forward, RouteV1, wrap_v1};
use selfsame_didcomm::message::{Attachment, MessageType, Prefix, Semver};
use selfsame_didcomm::v2::{Documents, Packing, Sealable, SenderKey};
use selfsame_didcomm::{ArrivedEnvelope, Incoming, Message, Version, receive, v1, v2};
use serde_json::{Value, json};

/// Two parties, with keys of v1 and documents of v2.
struct Parties {
    alice: PrivateKey,
    bob: PrivateKey,
    documents: Documents,
    ring: BTreeMap<String, AgreementPrivate>,
}

static PARTIES: LazyLock<Parties> = LazyLock::new(|| {
    let (alice, bob) = (signing(1), signing(2));
    let mut documents = Documents::new();
    let mut ring = BTreeMap::new();
    let names = [&alice, &bob].map(|key| base58_of_key(key.public()));
    for (key, name) in [&alice, &bob].into_iter().zip(names) {
        let did = Did::parse(&format!("did:example:{name}")).expect("it is a DID");
        let mut document = Document::new(did);
        let kid = document.id.with_fragment("1").expect("it is a fragment");
        let own = AgreementPrivate::of_ed25519(key).expect("it is Ed25519");
        let jwk = Material::Jwk(own.public().to_jwk().to_value());
        let method = VerificationMethod::of_material(kid.clone(), "JsonWebKey2020", jwk);
        document.add(method, &[Relationship::KeyAgreement]);
        ring.insert(kid.to_string(), own);
        let own = AgreementPrivate::of_ed25519(key).expect("it is Ed25519");
        ring.insert(name, own);
        documents.insert(document.id.clone(), document);
    }
    Parties {
        alice,
        bob,
        documents,
        ring,
    }
});

fn signing(seed: u8) -> PrivateKey {
    let start = hex_decode("302e020100300506032b657004220420").expect("it is hexadecimal");
    PrivateKey::from_pkcs8(&[start, vec![seed; 32]].concat()).expect("it is a key")
}

fn ctx() -> Ctx {
    Ctx::new(UnixTime(1), [7; 32])
}

/// A message of either version: it reads back as itself, and so does its type. Its attachments are never longer than
/// the limit.
pub fn didcomm_message(data: &[u8]) -> bool {
    let mut any = false;
    for version in [Version::V1, Version::V2] {
        let Ok(message) = Message::read(data, version) else {
            continue;
        };
        any = true;
        let again = Message::read(&message.write(version), version);
        assert_eq!(
            again.as_ref(),
            Ok(&message),
            "a message reads back as itself"
        );
        assert_eq!(
            MessageType::parse(&message.kind.to_string()).as_ref(),
            Ok(&message.kind)
        );
        for attachment in &message.attachments {
            let bytes = attachment.bytes(100).unwrap_or_default();
            assert!(bytes.len() <= 100);
            for signature in &attachment.signatures {
                let public = PARTIES.alice.public();
                assert!(
                    signature.verify(attachment, public).is_err(),
                    "she signed none"
                );
            }
        }
        let _ = Forward::read(&message);
        let _ = v2::verify_rotation(&message, &PARTIES.documents);
    }
    any | legacy(data)
}

/// A document from before DID Core: it reads back as itself.
fn legacy(data: &[u8]) -> bool {
    let value = json::parse(data, &Limits::default());
    let Some(document) = value
        .ok()
        .and_then(|value| LegacyDocument::from_value(value).ok())
    else {
        return false;
    };
    let Ok(again) = LegacyDocument::from_value(document.to_value()) else {
        panic!("a document reads back");
    };
    assert_eq!(again.did, document.did);
    assert_eq!(again.services, document.services);
    true
}

/// An envelope of either version: what is opened was made by the sender that it names, and an envelope that was
/// altered is not opened. A JWE reads back as itself.
pub fn didcomm_envelope(data: &[u8]) -> bool {
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(jwe) = Jwe::parse(text, data.len())
    {
        let again = Jwe::parse(&jwe.to_value().to_string(), usize::MAX);
        assert_eq!(again.as_ref(), Ok(&jwe), "a JWE reads back as itself");
    }
    let Ok(envelope) = ArrivedEnvelope::read(data.to_vec()) else {
        return false;
    };
    if envelope.kids().is_err() {
        return false;
    }
    let parties = &*PARTIES;
    match receive(&envelope, &parties.ring, &parties.documents) {
        Ok(Incoming::V1(incoming)) => {
            let known = [parties.alice.public(), parties.bob.public()];
            assert!(known.contains(&&incoming.recipient));
            if let Some(sender) = &incoming.sender {
                assert!(
                    known.contains(&sender),
                    "only the known senders have a key here"
                );
                assert_eq!(incoming.message.kind, ping().kind, "she sent nothing else");
            }
        }
        Ok(Incoming::V2(opened)) => {
            assert_eq!(opened.signer, None, "no sender signed here");
            if let Some(sender) = &opened.sender {
                let from = opened.message.from.as_ref().map(|from| &from.did);
                assert_eq!(from, Some(&sender.did));
                assert_eq!(opened.message.kind, ping().kind, "she sent nothing else");
            }
        }
        Err(_) => {}
    }
    true
}

fn ping() -> Message {
    let kind = MessageType::new("trust_ping", Semver::new(1, 0), "ping");
    Message::new(kind, "1")
}

/// Messages with everything that they may have.
pub(super) fn message_seeds() -> Vec<Vec<u8>> {
    let one = json!({
        "@type": "did:sov:BzCbsNYhMrjHiqZDTUASHg;spec/issue-credential/1.0/offer-credential", "@id": "1",
        "~thread": { "thid": "0", "pthid": "p", "sender_order": 1, "received_orders": { "did:sov:x": -1 } },
        "~transport": { "return_route": "thread", "return_route_thread": "0" },
        "~please_ack": { "on": ["RECEIPT", "OUTCOME"] }, "~service": { "recipientKeys": ["x"] },
        "comment": "✓", "connection~sig": { "signer": "x" },
        "offers~attach": [{
            "@id": "a", "mime-type": "application/json", "byte_count": 2,
            "data": { "base64": "e30", "jws": { "header": { "kid": "did:key:z" }, "protected": "e30", "signature": "AA" } },
        }],
        "did_doc~attach": { "data": { "json": { "a": [1, 2.5, null] } } },
        "~attach": [{ "data": { "links": ["https://a.example/"], "sha256": "00" } }],
    });
    let two = json!({
        "typ": "application/didcomm-plain+json", "type": "https://didcomm.org/routing/2.0/forward", "id": "1",
        "thid": "0", "pthid": "p", "from": "did:example:a", "to": ["did:example:b"], "created_time": 1,
        "expires_time": 2, "return_route": "all", "please_ack": [""], "ack": ["0"], "from_prior": "e30.e30.AA",
        "body": { "next": "did:example:b" },
        "attachments": [{ "id": "1", "media_type": "x/y", "format": "f", "data": { "json": {}, "hash": "z" } }],
    });
    let key = base58_of_key(PARTIES.alice.public());
    let legacy = json!({
        "@context": "https://w3id.org/did/v1", "id": "did:sov:LjgpST2rjsoxYegQDRm7EL",
        "publicKey": [{
            "id": "#1", "type": "Ed25519VerificationKey2018", "controller": "#id", "publicKeyBase58": key,
        }],
        "authentication": [{ "type": "Ed25519SignatureAuthentication2018", "publicKey": "#1" }],
        "service": [{
            "id": "#indy", "type": "IndyAgent", "priority": 0, "recipientKeys": [key], "routingKeys": ["#1"],
            "serviceEndpoint": "http://a.example",
        }],
    });
    [one, two, legacy]
        .map(|value: Value| value.to_string().into_bytes())
        .to_vec()
}

/// Envelopes of both versions, with and without a sender, forwarded and nested.
pub(super) fn envelope_seeds() -> Vec<Vec<u8>> {
    let parties = &*PARTIES;
    let to = [parties.bob.public().clone(), parties.alice.public().clone()];
    let text = ping().write(Version::V1);
    let mut seeds = Vec::new();
    for sender in [None, Some(&parties.alice)] {
        seeds.extend(v1::pack(&text, &to, sender, &ctx()));
    }
    let anonymous = v1::pack(&text, &to, None, &ctx()).unwrap_or_default();
    let route = RouteV1 {
        to: parties.bob.public(),
        through: std::slice::from_ref(parties.bob.public()),
        prefix: &Prefix::Didcomm,
    };
    seeds.extend(wrap_v1(anonymous, &route, &ctx()));
    let mut documents = parties.documents.values();
    let (Some(from), Some(to)) = (documents.next(), documents.next()) else {
        return seeds;
    };
    let kid = from.id.with_fragment("1").expect("it is a fragment");
    let key = &parties.ring[&kid.to_string()];
    let mut message = ping();
    message.from = Some(from.id.clone().into());
    message.to.push(to.id.clone().into());
    message
        .attachments
        .push(Attachment::of_json("1", json!({})));
    for (from, hides_sender) in [
        (None, false),
        (Some(SenderKey { kid: &kid, key }), false),
        (Some(SenderKey { kid: &kid, key }), true),
    ] {
        let packing = Packing {
            to,
            from,
            enc: ContentEncryption::A256Gcm,
            hides_sender,
        };
        seeds.extend(v2::encrypt(Sealable::Plain(&message), &packing, &ctx()));
    }
    seeds
}
