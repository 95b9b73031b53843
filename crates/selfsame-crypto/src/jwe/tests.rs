//! Tests of encryption.

mod form;
mod response;
mod vectors;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::agreement::{AgreementCurve, AgreementKey, AgreementPrivate};
use crate::ctx::Ctx;
use crate::encoding::{base64url_decode, base64url_encode};
use crate::jwk::Jwk;
use crate::time::UnixTime;

/// The longest JWE of these tests.
const MAX: usize = 1024 * 1024;

fn ctx() -> Ctx {
    Ctx::new(UnixTime(1), [7; 32])
}

fn generated(curve: AgreementCurve) -> AgreementPrivate {
    AgreementPrivate::generate(curve).unwrap()
}

/// A private key from its JWK.
fn private(jwk: &Value) -> AgreementPrivate {
    let crv = jwk["crv"].as_str().unwrap();
    let curve = AgreementCurve::ALL
        .into_iter()
        .find(|one| one.as_str() == crv)
        .unwrap();
    let d = base64url_decode(jwk["d"].as_str().unwrap()).unwrap();
    AgreementPrivate::from_raw(curve, &d).unwrap()
}

fn to<'a>(kid: &'a str, key: &'a AgreementPrivate) -> Addressee<'a> {
    let key = key.public();
    Addressee {
        kid: Some(kid),
        key,
    }
}

fn with<'a>(kid: &'a str, own: &'a AgreementPrivate) -> Opening<'a> {
    let kid = Some(kid);
    Opening {
        kid,
        own,
        sender: None,
    }
}

fn draft(alg: KeyManagement, enc: ContentEncryption) -> JweDraft<'static> {
    JweDraft {
        alg,
        enc,
        to: Vec::new(),
        sender: None,
        members: Map::new(),
    }
}

#[test]
fn each_recipient_reads_what_was_encrypted_and_nobody_else() {
    for curve in AgreementCurve::ALL {
        let [one, two, other] = [(); 3].map(|()| generated(curve));
        for enc in ContentEncryption::ALL {
            for alg in [KeyManagement::EcdhEsA256Kw, KeyManagement::EcdhEsA128Kw] {
                let draft = JweDraft {
                    to: vec![to("1", &one), to("2", &two)],
                    ..draft(alg, enc)
                };
                let jwe = draft.encrypt(b"to both", &ctx()).unwrap();
                let text = jwe.to_value().to_string();
                let jwe = Jwe::parse(&text, MAX).unwrap();
                assert_eq!(jwe.kids().collect::<Vec<_>>(), ["1", "2"]);
                assert_eq!(jwe.decrypt(&with("1", &one)).unwrap().expose(), b"to both");
                assert_eq!(jwe.decrypt(&with("2", &two)).unwrap().expose(), b"to both");
                assert_eq!(jwe.decrypt(&with("1", &other)), Err(JweError::Decryption));
                assert_eq!(jwe.decrypt(&with("1", &two)), Err(JweError::Decryption));
                assert_eq!(jwe.decrypt(&with("3", &one)), Err(JweError::NoKey));
                let nameless = Opening {
                    kid: None,
                    ..with("1", &one)
                };
                assert_eq!(jwe.decrypt(&nameless), Err(JweError::NoKey));
            }
        }
    }
}

#[test]
fn an_authenticated_message_needs_the_sender_that_made_it() {
    for curve in AgreementCurve::ALL {
        let [alice, bob, mallory] = [(); 3].map(|()| generated(curve));
        let draft = JweDraft {
            to: vec![to("bob", &bob)],
            sender: Some(&alice),
            ..draft(
                KeyManagement::Ecdh1PuA256Kw,
                ContentEncryption::A256CbcHs512,
            )
        };
        let jwe = draft.encrypt(b"from Alice", &ctx()).unwrap();
        let from = |sender| {
            jwe.decrypt(&Opening {
                sender,
                ..with("bob", &bob)
            })
        };
        assert_eq!(from(Some(alice.public())).unwrap().expose(), b"from Alice");
        assert_eq!(from(Some(mallory.public())), Err(JweError::Decryption));
        assert_eq!(from(None), Err(JweError::NoKey));
        let foreign = generated(match curve {
            AgreementCurve::X25519 => AgreementCurve::P256,
            _ => AgreementCurve::X25519,
        });
        assert!(matches!(
            from(Some(foreign.public())),
            Err(JweError::Key(_))
        ));
    }
}

#[test]
fn a_recipient_cannot_pose_as_the_sender_to_another() {
    // What draft-madden-jose-ecdh-1pu-04 §2.1 asks for: the wrapped key of the other recipient is bound to the tag.
    let [alice, bob, charlie] = [(); 3].map(|()| generated(AgreementCurve::X25519));
    let draft = JweDraft {
        to: vec![to("bob", &bob), to("charlie", &charlie)],
        sender: Some(&alice),
        ..draft(
            KeyManagement::Ecdh1PuA256Kw,
            ContentEncryption::A256CbcHs512,
        )
    };
    let mut jwe = draft.encrypt(b"genuine", &ctx()).unwrap();
    jwe.tag[0] ^= 1;
    let opening = Opening {
        sender: Some(alice.public()),
        ..with("charlie", &charlie)
    };
    assert_eq!(jwe.decrypt(&opening), Err(JweError::Decryption));
    for enc in [ContentEncryption::A256Gcm, ContentEncryption::Xc20p] {
        let draft = JweDraft {
            enc,
            ..draft.clone()
        };
        assert_eq!(
            draft.encrypt(b"x", &ctx()),
            Err(JweError::Unsupported("enc"))
        );
    }
}

#[test]
fn a_draft_that_does_not_fit_together_is_refused() {
    let (x25519, p256) = (
        generated(AgreementCurve::X25519),
        generated(AgreementCurve::P256),
    );
    let anonymous = draft(KeyManagement::EcdhEsA256Kw, ContentEncryption::A256Gcm);
    assert_eq!(anonymous.encrypt(b"x", &ctx()), Err(JweError::NoKey));
    let mixed = JweDraft {
        to: vec![to("1", &x25519), to("2", &p256)],
        ..anonymous.clone()
    };
    assert!(matches!(mixed.encrypt(b"x", &ctx()), Err(JweError::Key(_))));
    let signed = JweDraft {
        to: vec![to("1", &x25519)],
        sender: Some(&x25519),
        ..anonymous
    };
    assert_eq!(signed.encrypt(b"x", &ctx()), Err(JweError::NoKey));
    let nobody = draft(
        KeyManagement::Ecdh1PuA256Kw,
        ContentEncryption::A256CbcHs512,
    );
    let nobody = JweDraft {
        to: vec![to("1", &x25519)],
        ..nobody
    };
    assert_eq!(nobody.encrypt(b"x", &ctx()), Err(JweError::NoKey));
}

#[test]
fn two_contents_in_one_step_share_neither_key_nor_vector() {
    let bob = generated(AgreementCurve::X25519);
    let draft = JweDraft {
        to: vec![to("bob", &bob)],
        ..draft(KeyManagement::EcdhEsA256Kw, ContentEncryption::A256Gcm)
    };
    let (one, other) = (
        draft.encrypt(b"1", &ctx()).unwrap(),
        draft.encrypt(b"2", &ctx()).unwrap(),
    );
    assert_ne!(one.header.epk, other.header.epk);
    assert_ne!(one.iv, other.iv);
    assert_ne!(one.recipients, other.recipients);
    assert_eq!(draft.encrypt(b"1", &ctx()).unwrap(), one);
    let later = Ctx::new(UnixTime(1), [8; 32]);
    assert_ne!(draft.encrypt(b"1", &later).unwrap().iv, one.iv);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn what_was_changed_is_not_decrypted(content in proptest::collection::vec(any::<u8>(), 0..200), at in any::<usize>(), enc in 0..4_usize) {
        let bob = AgreementPrivate::from_raw(AgreementCurve::X25519, &[9; 32]).unwrap();
        let enc = ContentEncryption::ALL[enc];
        let draft = JweDraft { to: vec![to("bob", &bob)], ..draft(KeyManagement::EcdhEsA256Kw, enc) };
        let jwe = draft.encrypt(&content, &ctx()).unwrap();
        let opened = jwe.decrypt(&with("bob", &bob)).unwrap();
        prop_assert_eq!(opened.expose(), &content[..]);
        let change = |bytes: &mut Vec<u8>| { let at = at % bytes.len().max(1); if let Some(byte) = bytes.get_mut(at) { *byte ^= 1 } else { bytes.push(0) } };
        let mut changed = [jwe.clone(), jwe.clone(), jwe.clone(), jwe.clone()];
        change(&mut changed[0].ciphertext);
        change(&mut changed[1].tag);
        change(&mut changed[2].iv);
        change(&mut changed[3].recipients[0].encrypted_key);
        for jwe in changed {
            prop_assert_eq!(jwe.decrypt(&with("bob", &bob)), Err(JweError::Decryption));
        }
    }
}
