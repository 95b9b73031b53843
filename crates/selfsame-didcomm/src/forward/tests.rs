//! Tests of forwarding.

use std::collections::BTreeMap;

use selfsame_crypto::agreement::{AgreementCurve, AgreementPrivate};
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_did::{Material, Relationship, VerificationMethod};

use super::*;
use crate::receive::{ArrivedEnvelope, Incoming, receive};
use crate::v2::{Documents, Packing, Sealable};

type Ring = BTreeMap<String, AgreementPrivate>;

fn ctx() -> Ctx {
    Ctx::new(UnixTime(1), [7; 32])
}

fn ping() -> Message {
    let kind = MessageType::new("trust_ping", Semver::new(1, 0), "ping");
    Message::new(kind, "a")
}

/// A key of v1, and the ring with it.
fn party() -> (PublicKey, Ring) {
    let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let own = AgreementPrivate::of_ed25519(&key).unwrap();
    let name = base58_encode(key.public().bytes());
    (key.public().clone(), Ring::from([(name, own)]))
}

/// A document of v2 with one key, and the ring with it.
fn resolved(name: &str) -> (Document, Ring) {
    let mut document = Document::new(Did::parse(&format!("did:example:{name}")).unwrap());
    let key = AgreementPrivate::generate(AgreementCurve::X25519).unwrap();
    let kid = document.id.with_fragment("1").unwrap();
    let jwk = Material::Jwk(key.public().to_jwk().to_value());
    let method = VerificationMethod::of_material(kid.clone(), "JsonWebKey2020", jwk);
    document.add(method, &[Relationship::KeyAgreement]);
    (document, Ring::from([(kid.to_string(), key)]))
}

fn received(envelope: &[u8], ring: &Ring) -> Result<Incoming, Error> {
    let envelope = ArrivedEnvelope::read(envelope.to_vec())?;
    receive(&envelope, ring, &Documents::new())
}

/// What the mediator passes on.
fn passed_on(envelope: &[u8], ring: &Ring) -> Forward {
    let received = received(envelope, ring).unwrap();
    Forward::read(received.message()).unwrap().unwrap()
}

#[test]
fn an_envelope_of_v1_reaches_its_recipient_through_its_mediators() {
    let (bob, of_bob) = party();
    let (near, of_near) = party();
    let (far, of_far) = party();
    let envelope = v1::pack(
        &ping().write(Version::V1),
        std::slice::from_ref(&bob),
        None,
        &ctx(),
    )
    .unwrap();
    for prefix in [Prefix::Didcomm, Prefix::Legacy] {
        // RFC 0067: from the most destward to the most sourceward.
        let through = [near.clone(), far.clone()];
        let route = RouteV1 {
            to: &bob,
            through: &through,
            prefix: &prefix,
        };
        let wrapped = wrap_v1(envelope.clone(), &route, &ctx()).unwrap();
        assert!(received(&wrapped, &of_bob).is_err());
        let forward = passed_on(&wrapped, &of_far);
        assert_eq!(forward.next, base58_encode(near.bytes()));
        let outer = received(&wrapped, &of_far).unwrap();
        assert_eq!(outer.message().kind.prefix, prefix);
        let forward = passed_on(&forward.envelopes[0], &of_near);
        assert_eq!(forward.next, base58_encode(bob.bytes()));
        let Incoming::V1(arrived) = received(&forward.envelopes[0], &of_bob).unwrap() else {
            panic!("not v1")
        };
        assert_eq!(arrived.message, ping());
        assert_eq!((arrived.recipient, arrived.sender), (bob.clone(), None));
    }
}

#[test]
fn an_envelope_of_v2_reaches_its_recipient_through_its_mediators() {
    let (bob, of_bob) = resolved("bob");
    let (first, of_first) = resolved("first");
    let (last, of_last) = resolved("last");
    let packing = Packing {
        to: &bob,
        from: None,
        enc: ContentEncryption::A256Gcm,
        hides_sender: false,
    };
    let envelope = v2::encrypt(Sealable::Plain(&ping()), &packing, &ctx()).unwrap();
    let kid = last.id.with_fragment("1").unwrap();
    // DIDComm v2.1: the loop begins at the end of the array.
    let through = [
        Hop {
            document: &first,
            key: None,
        },
        Hop {
            document: &last,
            key: Some(&kid),
        },
    ];
    let route = RouteV2 {
        to: &bob.id,
        through: &through,
        enc: ContentEncryption::Xc20p,
    };
    let wrapped = wrap_v2(envelope, &route, &ctx()).unwrap();
    let outer = ArrivedEnvelope::read(wrapped.clone()).unwrap();
    assert_eq!(outer.kids().unwrap(), ["did:example:first#1"]);
    let forward = passed_on(&wrapped, &of_first);
    assert_eq!(forward.next, "did:example:last#1");
    let forward = passed_on(&forward.envelopes[0], &of_last);
    assert_eq!(forward.next, "did:example:bob");
    let arrived = received(&forward.envelopes[0], &of_bob).unwrap();
    assert_eq!(*arrived.message(), ping());
}

#[test]
fn a_recipient_opens_what_its_mediator_wrapped_again_but_not_without_end() {
    let (bob, of_bob) = party();
    let envelope = v1::pack(
        &ping().write(Version::V1),
        std::slice::from_ref(&bob),
        None,
        &ctx(),
    )
    .unwrap();
    let wrapped = |hops: usize| {
        let through = vec![bob.clone(); hops];
        let route = RouteV1 {
            to: &bob,
            through: &through,
            prefix: &Prefix::Didcomm,
        };
        wrap_v1(envelope.clone(), &route, &ctx())
    };
    for hops in 0..=MAX_HOPS {
        let arrived = received(&wrapped(hops).unwrap(), &of_bob).unwrap();
        assert_eq!(*arrived.message(), ping(), "{hops}");
    }
    assert_eq!(
        wrapped(MAX_HOPS + 1),
        Err(Error::TooLarge("list of mediators"))
    );
    let route = RouteV1 {
        to: &bob,
        through: std::slice::from_ref(&bob),
        prefix: &Prefix::Didcomm,
    };
    let deep = wrap_v1(wrapped(MAX_HOPS).unwrap(), &route, &ctx()).unwrap();
    assert_eq!(
        received(&deep, &of_bob),
        Err(Error::TooLarge("chain of forwards"))
    );
}

#[test]
fn a_forward_without_destination_or_envelope_is_refused() {
    for (body, expected) in [
        (json!({ "msg": {} }), Error::Missing("to")),
        (json!({ "to": "x" }), Error::Missing("msg")),
        (json!({ "to": 1, "msg": {} }), Error::Malformed("to")),
        (json!({ "to": "", "msg": {} }), Error::Malformed("to")),
        (json!({ "to": "x", "msg": 1 }), Error::Malformed("msg")),
    ] {
        let kind = MessageType::new(ROUTING, Semver::new(1, 0), FORWARD);
        let message = Message {
            body: body.as_object().unwrap().clone(),
            ..Message::new(kind, "a")
        };
        assert_eq!(Forward::read(&message), Err(expected), "{body}");
    }
    let kind = MessageType::new(ROUTING, Semver::new(2, 0), FORWARD);
    let mut message = Message::new(kind, "a");
    message
        .body
        .insert("next".to_owned(), json!("did:example:bob"));
    assert_eq!(Forward::read(&message), Err(Error::Missing("attachments")));
    message.attachments.push(Attachment::of_bytes("1", b"{}"));
    assert_eq!(Forward::read(&message).unwrap().unwrap().envelopes, [b"{}"]);
    assert_eq!(Forward::read(&ping()), Ok(None));
}

#[test]
fn an_envelope_in_a_forward_may_be_text() {
    let kind = MessageType::new(ROUTING, Semver::new(1, 0), FORWARD);
    let mut message = Message::new(kind, "a");
    message.body.insert("to".to_owned(), json!("x"));
    message
        .body
        .insert("msg".to_owned(), json!("{\"protected\":\"\"}"));
    let forward = Forward::read(&message).unwrap().unwrap();
    assert_eq!(forward.envelopes, [b"{\"protected\":\"\"}"]);
}
