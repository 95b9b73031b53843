//! Envelopes that must be refused.

use selfsame_crypto::jwe::{Addressee, JweDraft, KeyManagement};
use serde_json::Map;

use super::*;

/// An envelope of Alice to Bob with these further members of the header, made without our checks.
fn made(alg: KeyManagement, plaintext: &[u8], members: Value, parties: [&Party; 2]) -> Vec<u8> {
    let [alice, bob] = parties;
    let kid = bob.kid(AgreementCurve::X25519).to_string();
    let mut all = Map::new();
    all.insert(
        "apv".to_owned(),
        addressing::member(&addressing::apv([kid.as_str()].into_iter())),
    );
    all.extend(members.as_object().unwrap().clone());
    let key = &bob.ring[&kid];
    let sender = &alice.ring[&alice.kid(AgreementCurve::X25519).to_string()];
    let draft = JweDraft {
        alg,
        enc: ContentEncryption::A256CbcHs512,
        to: vec![Addressee {
            kid: Some(&kid),
            key: key.public(),
        }],
        sender: alg.is_authenticated().then_some(sender),
        members: all,
    };
    draft
        .encrypt(plaintext, &ctx())
        .unwrap()
        .to_value()
        .to_string()
        .into_bytes()
}

fn named(skid: &str) -> Value {
    json!({ "skid": skid, "apu": base64url_encode(skid.as_bytes()) })
}

const ES: KeyManagement = KeyManagement::EcdhEsA256Kw;
const ONE_PU: KeyManagement = KeyManagement::Ecdh1PuA256Kw;

#[test]
fn layers_that_name_different_senders_are_refused() {
    let (alice, bob, mallory) = (
        Party::new("alice"),
        Party::new("bob"),
        Party::new("mallory"),
    );
    let all = documents(&[&alice, &bob, &mallory]);
    let skid = alice.kid(AgreementCurve::X25519).to_string();
    let opened = |plaintext: &Message, members: Value| {
        let envelope = made(
            ONE_PU,
            &plaintext.write(Version::V2),
            members,
            [&alice, &bob],
        );
        open(&envelope, &bob.ring, &all)
    };
    let from_alice = message(Some(&alice), &[&bob]);
    assert!(opened(&from_alice, named(&skid)).is_ok());
    // The draft does not require `skid`; `apu` then names the key.
    assert!(
        opened(
            &from_alice,
            json!({ "apu": base64url_encode(skid.as_bytes()) })
        )
        .is_ok()
    );
    let wrong_sender = Err(Error::Inconsistent(Inconsistency::Sender));
    assert_eq!(
        opened(&message(Some(&mallory), &[&bob]), named(&skid)),
        wrong_sender
    );
    assert_eq!(opened(&message(None, &[&bob]), named(&skid)), wrong_sender);
    let wrong_apu = Err(Error::Inconsistent(Inconsistency::Apu));
    let members = json!({ "skid": skid, "apu": base64url_encode(b"did:example:mallory#X25519-1") });
    assert_eq!(opened(&from_alice, members), wrong_apu);
    assert_eq!(opened(&from_alice, json!({ "skid": skid })), wrong_apu);
    // Mallory's name over a box that Alice's key made.
    let posing = opened(
        &message(Some(&mallory), &[&bob]),
        named("did:example:mallory#X25519-1"),
    );
    assert_eq!(posing, Err(Error::Jwe(JweError::Decryption)));
    // A key of hers that is not for agreement.
    assert!(matches!(
        opened(&from_alice, named("did:example:alice#sign")),
        Err(Error::Document(_))
    ));
    assert!(opened(&from_alice, named("did:example:alice")).is_err());
}

#[test]
fn a_message_to_somebody_else_is_refused() {
    let (alice, bob, carol) = (Party::new("alice"), Party::new("bob"), Party::new("carol"));
    let wrong = Err(Error::Inconsistent(Inconsistency::Recipient));
    let to_carol = message(Some(&alice), &[&carol]);
    assert_eq!(
        encrypt(Sealable::Plain(&to_carol), &packing(&bob, None), &ctx()),
        wrong
    );
    let envelope = made(ES, &to_carol.write(Version::V2), json!({}), [&alice, &bob]);
    let opened = open(&envelope, &bob.ring, &Documents::new()).map(|_| Vec::new());
    assert_eq!(opened, wrong);
    // Carol passes on to Bob what Alice signed for her: it has `to`, so Bob notices.
    let signed = signed(to_carol, &alice);
    let envelope = made(ES, signed.text(), json!({}), [&alice, &bob]);
    assert_eq!(
        open(&envelope, &bob.ring, &documents(&[&alice])).map(|_| Vec::new()),
        wrong
    );
}

#[test]
fn a_signed_message_that_names_nobody_is_not_encrypted_and_not_taken() {
    let (alice, bob) = (Party::new("alice"), Party::new("bob"));
    let signed = signed(message(Some(&alice), &[]), &alice);
    let wrong = Error::Inconsistent(Inconsistency::Recipient);
    let refused = encrypt(Sealable::Signed(&signed), &packing(&bob, None), &ctx());
    assert_eq!(refused, Err(wrong.clone()));
    let envelope = made(ES, signed.text(), json!({}), [&alice, &bob]);
    assert_eq!(
        open(&envelope, &bob.ring, &documents(&[&alice])),
        Err(wrong)
    );
    // Signed alone it is for everybody.
    assert!(open(signed.text(), &bob.ring, &documents(&[&alice])).is_ok());
}

#[test]
fn a_signature_of_another_than_the_sender_is_refused() {
    let (alice, bob, mallory) = (
        Party::new("alice"),
        Party::new("bob"),
        Party::new("mallory"),
    );
    let from_alice = message(Some(&alice), &[&bob]);
    let kid = mallory.document.id.with_fragment("sign").unwrap();
    let draft = SignDraft::new(from_alice.clone(), kid, mallory.signing.algorithm());
    assert_eq!(
        draft.map(|_| ()),
        Err(Error::Inconsistent(Inconsistency::Signer))
    );
    // Two kids that differ; a kid without signature; a signature by a key for agreement.
    let genuine: Value = serde_json::from_slice(signed(from_alice, &alice).text()).unwrap();
    let all = documents(&[&alice, &mallory]);
    let opened = |value: &Value| open(value.to_string().as_bytes(), &bob.ring, &all);
    assert!(opened(&genuine).is_ok());
    let mut flattened = genuine["signatures"][0].clone();
    flattened["payload"] = genuine["payload"].clone();
    assert!(opened(&flattened).is_ok());
    let mut other = genuine.clone();
    other["signatures"][0]["header"]["kid"] = json!("did:example:mallory#sign");
    assert_eq!(
        opened(&other),
        Err(Error::Inconsistent(Inconsistency::Signer))
    );
    let mut bad = genuine.clone();
    bad["signatures"][0]["signature"] = json!(base64url_encode(&[1; 64]));
    assert!(matches!(opened(&bad), Err(Error::Signature(_))));
    let mut second = genuine.clone();
    let also = bad["signatures"][0].clone();
    second["signatures"].as_array_mut().unwrap().push(also);
    assert!(
        opened(&second).is_err(),
        "one signature that is wrong spoils all"
    );
    for signatures in [
        json!([]),
        json!({}),
        json!([1]),
        json!(vec![genuine["signatures"][0].clone(); 9]),
    ] {
        let mut changed = genuine.clone();
        changed["signatures"] = signatures;
        assert!(opened(&changed).is_err());
    }
}

#[test]
fn envelopes_in_another_order_are_refused() {
    let (alice, bob) = (Party::new("alice"), Party::new("bob"));
    let all = documents(&[&alice]);
    let plain = message(Some(&alice), &[&bob]).write(Version::V2);
    let skid = alice.kid(AgreementCurve::X25519).to_string();
    let anonymous = |inner: &[u8]| made(ES, inner, json!({}), [&alice, &bob]);
    let authenticated = |inner: &[u8]| made(ONE_PU, inner, named(&skid), [&alice, &bob]);
    let signed = signed(message(Some(&alice), &[&bob]), &alice);
    for (envelope, is_allowed) in [
        (anonymous(&plain), true),
        (authenticated(&plain), true),
        (anonymous(&authenticated(&plain)), true),
        (anonymous(signed.text()), true),
        (authenticated(signed.text()), true),
        (anonymous(&authenticated(signed.text())), true),
        (anonymous(&anonymous(&plain)), false),
        (authenticated(&anonymous(&plain)), false),
        (authenticated(&authenticated(&plain)), false),
        (anonymous(&authenticated(&anonymous(&plain))), false),
        (anonymous(b"[]"), false),
        (anonymous(b"{}"), false),
    ] {
        let opened = open(&envelope, &bob.ring, &all);
        assert_eq!(opened.is_ok(), is_allowed, "{opened:?}");
    }
}

#[test]
fn headers_that_do_not_fit_are_refused() {
    let (alice, bob) = (Party::new("alice"), Party::new("bob"));
    let plain = message(Some(&alice), &[&bob]).write(Version::V2);
    let skid = alice.kid(AgreementCurve::X25519).to_string();
    for (alg, members) in [
        (ES, named(&skid)),
        (ES, json!({ "apv": "AA" })),
        (ES, json!({ "apv": "" })),
        (ES, json!({ "typ": "JWM/1.0" })),
        (KeyManagement::EcdhEsA128Kw, json!({})),
        (KeyManagement::EcdhEs, json!({})),
        (KeyManagement::Ecdh1PuA128Kw, named(&skid)),
    ] {
        let envelope = made(alg, &plain, members.clone(), [&alice, &bob]);
        let opened = open(&envelope, &bob.ring, &documents(&[&alice]));
        assert!(opened.is_err(), "{alg:?} {members}");
    }
    let typed = made(
        ES,
        &plain,
        json!({ "typ": "didcomm-encrypted+json" }),
        [&alice, &bob],
    );
    assert!(open(&typed, &bob.ring, &Documents::new()).is_ok());
    for text in [&b""[..], b"{", b"[]", b"{}", b"a.b.c.d.e"] {
        assert!(open(text, &bob.ring, &Documents::new()).is_err());
    }
}
