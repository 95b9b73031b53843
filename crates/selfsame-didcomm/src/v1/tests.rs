//! Tests of the envelope of v1.

use std::collections::BTreeMap;

use proptest::prelude::*;
use selfsame_crypto::agreement::AgreementPrivate;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::{base58_encode, hex_decode};
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyError, KeyType, PrivateKey};
use selfsame_did::legacy::key_of_base58;
use serde_json::json;

use super::*;
use crate::encoding::padded;
use crate::keys::{KeyRing, OneKey};

const CONTENT: &[u8] = b"{\"@id\":\"123456780\",\"content\":\"Your hovercraft is full of eels.\"}";

fn ctx() -> Ctx {
    Ctx::new(UnixTime(1), [7; 32])
}

/// The key of this seed (RFC 8410 §7).
fn key(seed: u8) -> PrivateKey {
    let pkcs8 = [
        hex_decode("302e020100300506032b657004220420").unwrap(),
        vec![seed; 32],
    ]
    .concat();
    PrivateKey::from_pkcs8(&pkcs8).unwrap()
}

fn name(key: &PrivateKey) -> String {
    base58_encode(key.public().bytes())
}

fn ring(keys: &[&PrivateKey]) -> BTreeMap<String, AgreementPrivate> {
    let pairs = keys
        .iter()
        .map(|key| (name(key), AgreementPrivate::of_ed25519(key).unwrap()));
    pairs.collect()
}

fn packed(to: &[&PrivateKey], from: Option<&PrivateKey>) -> Value {
    let to: Vec<PublicKey> = to.iter().map(|key| key.public().clone()).collect();
    serde_json::from_slice(&pack(CONTENT, &to, from, &ctx()).unwrap()).unwrap()
}

fn opened(envelope: &Value, ring: &impl KeyRing) -> Result<Unpacked, Error> {
    unpack(&Envelope::read(envelope.to_string().as_bytes())?, ring)
}

/// The envelope with its protected header changed.
fn headed(envelope: &Value, change: impl Fn(&mut Value)) -> Value {
    let protected = decode(envelope["protected"].as_str().unwrap(), "").unwrap();
    let mut header: Value = serde_json::from_slice(&protected).unwrap();
    change(&mut header);
    let mut envelope = envelope.clone();
    envelope["protected"] = json!(padded(header.to_string().as_bytes()));
    envelope
}

#[test]
fn each_recipient_opens_an_envelope_and_learns_who_sent_it() {
    let (alice, bob, carol, mallory) = (key(1), key(2), key(3), key(4));
    for from in [None, Some(&alice)] {
        let envelope = packed(&[&bob, &carol], from);
        for recipient in [&bob, &carol] {
            let unpacked = opened(&envelope, &ring(&[&mallory, recipient])).unwrap();
            assert_eq!(unpacked.plaintext.expose(), CONTENT);
            assert_eq!(unpacked.recipient, *recipient.public());
            assert_eq!(unpacked.sender.as_ref(), from.map(PrivateKey::public));
        }
        let refused = opened(&envelope, &ring(&[&mallory])).unwrap_err();
        assert_eq!(refused, Error::Jwe(JweError::NoKey));
        let text = envelope.to_string();
        let envelope = Envelope::read(text.as_bytes()).unwrap();
        assert_eq!(
            envelope.kids().collect::<Vec<_>>(),
            [name(&bob), name(&carol)]
        );
        assert_eq!(envelope.is_authenticated(), from.is_some());
    }
}

#[test]
fn a_key_under_the_name_of_another_opens_nothing() {
    let (alice, bob, mallory) = (key(1), key(2), key(4));
    let own = AgreementPrivate::of_ed25519(&mallory).unwrap();
    let posing = OneKey {
        kid: &name(&bob),
        key: &own,
    };
    for from in [None, Some(&alice)] {
        let refused = opened(&packed(&[&bob], from), &posing).unwrap_err();
        assert_eq!(refused, Error::Jwe(JweError::Decryption));
    }
}

#[test]
fn the_header_has_the_members_that_agents_expect() {
    let envelope = packed(&[&key(2)], Some(&key(1)));
    let header = decode(envelope["protected"].as_str().unwrap(), "").unwrap();
    let header: Value = serde_json::from_slice(&header).unwrap();
    assert_eq!(header["enc"], "xchacha20poly1305_ietf");
    assert_eq!(header["typ"], "JWM/1.0");
    assert_eq!(header["alg"], "Authcrypt");
    assert_eq!(header["recipients"][0]["header"]["kid"], name(&key(2)));
    let iv = decode(envelope["iv"].as_str().unwrap(), "").unwrap();
    assert_eq!(iv.len(), 12);
}

#[test]
fn a_sender_who_did_not_make_the_box_is_refused() {
    let (alice, bob, mallory) = (key(1), key(2), key(4));
    // Mallory takes the sealed name of Alice from her envelope into one of his own.
    let hers = packed(&[&bob], Some(&alice));
    let his = packed(&[&bob], Some(&mallory));
    let header = decode(hers["protected"].as_str().unwrap(), "").unwrap();
    let header: Value = serde_json::from_slice(&header).unwrap();
    let sealed = &header["recipients"][0]["header"]["sender"];
    let forged = headed(&his, |header| {
        header["recipients"][0]["header"]["sender"] = sealed.clone()
    });
    let refused = opened(&forged, &ring(&[&bob])).unwrap_err();
    assert_eq!(refused, Error::Jwe(JweError::Decryption));
}

#[test]
fn envelopes_that_are_malformed_or_of_other_algorithms_are_refused() {
    let bob = key(2);
    let ring = ring(&[&bob]);
    let envelope = packed(&[&bob], Some(&key(1)));
    assert!(opened(&envelope, &ring).is_ok());
    type Change = fn(&mut Value);
    let changes: [Change; 14] = [
        |header| header["enc"] = json!("A256GCM"),
        |header| header["enc"] = json!(null),
        |header| header["typ"] = json!("JWM/2.0"),
        |header| header["alg"] = json!("Anoncrypt"),
        |header| header["alg"] = json!("none"),
        |header| header["recipients"] = json!([]),
        |header| header["recipients"] = json!({}),
        |header| header["recipients"] = json!([1]),
        |header| header["recipients"] = json!(vec![header["recipients"][0].clone(); 65]),
        |header| header["recipients"][0]["header"]["iv"] = json!("AA"),
        |header| header["recipients"][0]["header"]["kid"] = json!(1),
        |header| header["recipients"][0]["header"]["sender"] = json!(null),
        |header| header["recipients"][0]["encrypted_key"] = json!("a b"),
        |header| *header = json!([]),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let changed = headed(&envelope, change).to_string();
        let refused = Envelope::read(changed.as_bytes());
        assert!(refused.is_err(), "{at}");
    }
    for (name, value) in [
        ("protected", json!(null)),
        ("iv", json!("AA")),
        ("ciphertext", json!(1)),
        ("tag", json!("é")),
    ] {
        let mut changed = envelope.clone();
        changed[name] = value;
        assert!(
            Envelope::read(changed.to_string().as_bytes()).is_err(),
            "{name}"
        );
    }
    assert!(Envelope::read(b"[]").is_err());
}

#[test]
fn a_key_whose_text_has_42_characters_is_a_key_like_others() {
    // Found by search: the public keys of these seeds begin with the bytes 0 and 1, so that their text is short.
    for seed in SHORT {
        let pkcs8 = [
            hex_decode("302e020100300506032b657004220420").unwrap(),
            hex_decode(seed).unwrap(),
        ];
        let short = PrivateKey::from_pkcs8(&pkcs8.concat()).unwrap();
        assert_eq!(name(&short).len(), 42, "{seed}");
        assert_eq!(key_of_base58(&name(&short)).unwrap(), *short.public());
        for (to, from) in [(&short, &key(1)), (&key(1), &short)] {
            let unpacked = opened(&packed(&[to], Some(from)), &ring(&[to])).unwrap();
            assert_eq!(unpacked.sender.as_ref(), Some(from.public()));
        }
    }
    for text in [
        "",
        "1",
        "0",
        &base58_encode(&[3; 31]),
        &base58_encode(&[3; 33]),
    ] {
        assert!(key_of_base58(text).is_err(), "{text}");
    }
}

/// Seeds of keys of which a text of 42 characters is made.
const SHORT: [&str; 2] = [
    "00000000000000000000000000000000000000000000000100000000000358aa",
    "000000000000000000000000000000000000000000000002000000000017c9cc",
];

#[test]
fn what_cannot_be_packed_is_refused() {
    let refused = pack(CONTENT, &[], None, &ctx());
    assert_eq!(refused, Err(Error::Jwe(JweError::NoKey)));
    let p256 = PrivateKey::generate(KeyType::P256).unwrap();
    let refused = pack(CONTENT, &[p256.public().clone()], None, &ctx());
    assert_eq!(refused, Err(Error::Key(KeyError::Unsupported)));
    let bob = key(2).public().clone();
    let refused = pack(CONTENT, std::slice::from_ref(&bob), Some(&p256), &ctx());
    assert_eq!(refused, Err(Error::Key(KeyError::Unsupported)));
    let refused = pack(CONTENT, &vec![bob; 65], None, &ctx());
    assert_eq!(refused, Err(Error::TooLarge("message")));
}

#[test]
fn two_envelopes_of_one_step_share_no_key_and_no_nonce() {
    let to = [key(2).public().clone()];
    let read = |content: &[u8]| {
        let packed = pack(content, &to, None, &ctx()).unwrap();
        Envelope::read(&packed).unwrap()
    };
    let (one, other) = (read(b"1"), read(b"2"));
    assert_ne!(one.iv, other.iv);
    assert_ne!(one.recipients, other.recipients);
    assert_eq!(read(b"1"), one);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_changed_envelope_is_not_opened(at in any::<prop::sample::Index>(), part in 0..4_usize, is_signed in any::<bool>()) {
        let (alice, bob) = (key(1), key(2));
        let mut envelope = packed(&[&bob], is_signed.then_some(&alice));
        let name = ["protected", "iv", "ciphertext", "tag"][part];
        let mut bytes = decode(envelope[name].as_str().unwrap(), "").unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1;
        envelope[name] = json!(padded(&bytes));
        prop_assert!(opened(&envelope, &ring(&[&bob])).is_err());
    }
}
