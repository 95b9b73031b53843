//! Tests of the envelopes of v2.

mod refused;
mod rotation;
mod vectors;

use selfsame_crypto::agreement::{AgreementCurve, AgreementPrivate};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::{base64url_decode, base64url_encode, multibase_base58_encode};
use selfsame_crypto::jwe::{ContentEncryption, JweError};
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_did::{DidUrl, Material, Relationship, VerificationMethod};
use serde_json::{Value, json};

use super::*;
use crate::error::{Error, Inconsistency};
use crate::message::{Message, MessageType, Semver, Version};

/// A party with keys for agreement of each curve, and one that signs.
struct Party {
    document: Document,
    ring: BTreeMap<String, AgreementPrivate>,
    signing: PrivateKey,
}

fn url(text: &str) -> DidUrl {
    DidUrl::parse(text).unwrap()
}

impl Party {
    fn new(name: &str) -> Self {
        let mut document = Document::new(Did::parse(&format!("did:example:{name}")).unwrap());
        let mut ring = BTreeMap::new();
        for curve in AgreementCurve::ALL {
            for number in [1, 2] {
                let kid = document
                    .id
                    .with_fragment(&format!("{}-{number}", curve.as_str()))
                    .unwrap();
                let key = AgreementPrivate::generate(curve).unwrap();
                let jwk = Material::Jwk(key.public().to_jwk().to_value());
                let method = VerificationMethod::of_material(kid.clone(), "JsonWebKey2020", jwk);
                document.add(method, &[Relationship::KeyAgreement]);
                ring.insert(kid.to_string(), key);
            }
        }
        let signing = PrivateKey::generate(KeyType::Ed25519).unwrap();
        document.add_key("sign", signing.public(), true).unwrap();
        Self {
            document,
            ring,
            signing,
        }
    }

    fn kid(&self, curve: AgreementCurve) -> DidUrl {
        self.document
            .id
            .with_fragment(&format!("{}-1", curve.as_str()))
            .unwrap()
    }

    fn sender<'a>(&'a self, kid: &'a DidUrl) -> SenderKey<'a> {
        SenderKey {
            kid,
            key: &self.ring[&kid.to_string()],
        }
    }
}

fn ctx() -> Ctx {
    Ctx::new(UnixTime(1), [7; 32])
}

fn documents(parties: &[&Party]) -> Documents {
    parties
        .iter()
        .map(|one| (one.document.id.clone(), one.document.clone()))
        .collect()
}

fn message(from: Option<&Party>, to: &[&Party]) -> Message {
    let kind = MessageType::new("lets_do_lunch", Semver::new(1, 0), "proposal");
    Message {
        from: from.map(|party| party.document.id.clone().into()),
        to: to
            .iter()
            .map(|party| party.document.id.clone().into())
            .collect(),
        ..Message::new(kind, "1234567890")
    }
}

fn packing<'a>(to: &'a Party, from: Option<SenderKey<'a>>) -> Packing<'a> {
    Packing {
        to: &to.document,
        from,
        enc: ContentEncryption::Xc20p,
        hides_sender: false,
    }
}

fn signed(message: Message, by: &Party) -> SignedMessage {
    let kid = by.document.id.with_fragment("sign").unwrap();
    let draft = SignDraft::new(message, kid, by.signing.algorithm()).unwrap();
    let signature = by.signing.sign(draft.signing_input()).unwrap();
    draft.finish(&signature)
}

#[test]
fn a_message_of_a_known_sender_is_opened_on_each_curve() {
    let (alice, bob) = (Party::new("alice"), Party::new("bob"));
    let message = message(Some(&alice), &[&bob]);
    for curve in AgreementCurve::ALL {
        for hides_sender in [false, true] {
            let kid = alice.kid(curve);
            let packing = Packing {
                hides_sender,
                ..packing(&bob, Some(alice.sender(&kid)))
            };
            let envelope = encrypt(Sealable::Plain(&message), &packing, &ctx()).unwrap();
            let text = String::from_utf8(envelope.clone()).unwrap();
            assert!(!text.contains("ECDH-1PU"), "it is in the encoded header");
            let opened = open(&envelope, &bob.ring, &documents(&[&alice])).unwrap();
            assert_eq!(opened.message, message);
            assert_eq!(opened.sender, Some(kid));
            assert_eq!(opened.recipient, Some(bob.kid(curve)));
            assert_eq!(opened.signer, None);
            let kids = kids(&envelope).unwrap();
            assert_eq!(kids.len(), 2, "both keys of the curve");
            let missing = open(&envelope, &bob.ring, &Documents::new());
            assert_eq!(
                missing,
                Err(Error::Unresolved(Box::new(alice.document.id.clone())))
            );
            let none = open(&envelope, &alice.ring, &documents(&[&alice]));
            assert_eq!(none, Err(Error::Jwe(JweError::NoKey)));
        }
    }
}

#[test]
fn a_message_of_an_anonymous_sender_proves_none() {
    let (alice, bob) = (Party::new("alice"), Party::new("bob"));
    for enc in [
        ContentEncryption::Xc20p,
        ContentEncryption::A256Gcm,
        ContentEncryption::A256CbcHs512,
    ] {
        for from in [None, Some(&alice)] {
            let message = message(from, &[&bob]);
            let packing = Packing {
                enc,
                ..packing(&bob, None)
            };
            let envelope = encrypt(Sealable::Plain(&message), &packing, &ctx()).unwrap();
            let opened = open(&envelope, &bob.ring, &Documents::new()).unwrap();
            assert_eq!(opened.message, message);
            assert_eq!((opened.sender, opened.signer), (None, None));
        }
    }
}

#[test]
fn a_signed_message_proves_its_signer_with_and_without_encryption() {
    let (alice, bob) = (Party::new("alice"), Party::new("bob"));
    let signed = signed(message(Some(&alice), &[&bob]), &alice);
    let envelope = encrypt(Sealable::Signed(&signed), &packing(&bob, None), &ctx()).unwrap();
    for (text, recipient) in [
        (signed.text(), None),
        (&envelope, Some(bob.kid(AgreementCurve::X25519))),
    ] {
        let opened = open(text, &bob.ring, &documents(&[&alice])).unwrap();
        assert_eq!(opened.message, *signed.message());
        assert_eq!(opened.signer, Some(url("did:example:alice#sign")));
        assert_eq!(opened.sender, None);
        assert_eq!(opened.recipient, recipient);
        let missing = open(text, &bob.ring, &Documents::new());
        assert_eq!(
            missing,
            Err(Error::Unresolved(Box::new(alice.document.id.clone())))
        );
    }
    let kid = alice.kid(AgreementCurve::X25519);
    let twice = packing(&bob, Some(alice.sender(&kid)));
    let refused = encrypt(Sealable::Signed(&signed), &twice, &ctx());
    assert_eq!(refused, Err(Error::Inconsistent(Inconsistency::Layers)));
}

#[test]
fn a_plaintext_proves_nothing() {
    let (alice, bob) = (Party::new("alice"), Party::new("bob"));
    let message = message(Some(&alice), &[&bob]);
    let opened = open(&message.write(Version::V2), &bob.ring, &Documents::new()).unwrap();
    assert_eq!(opened.message, message);
    assert_eq!(
        (opened.sender, opened.signer, opened.recipient),
        (None, None, None)
    );
    assert_eq!(kids(&message.write(Version::V2)), Ok(Vec::new()));
}

#[test]
fn keys_for_agreement_are_read_in_each_form() {
    let key = AgreementPrivate::generate(AgreementCurve::X25519).unwrap();
    let multikey = multibase_base58_encode(&[&[0xec, 0x01], key.public().bytes()].concat());
    let base58 = selfsame_crypto::encoding::base58_encode(key.public().bytes());
    let jwk = key.public().to_jwk().to_value();
    for (type_, material, is_known) in [
        (
            "X25519KeyAgreementKey2019",
            Material::Base58(base58.clone()),
            true,
        ),
        (
            "X25519KeyAgreementKey2020",
            Material::Multibase(multikey.clone()),
            true,
        ),
        ("Multikey", Material::Multibase(multikey.clone()), true),
        ("JsonWebKey2020", Material::Jwk(jwk.clone()), true),
        ("JsonWebKey", Material::Jwk(jwk), true),
        (
            "X25519KeyAgreementKey2019",
            Material::Multibase(multikey),
            false,
        ),
        (
            "Ed25519VerificationKey2018",
            Material::Base58(base58),
            false,
        ),
    ] {
        let method = VerificationMethod::of_material(url("did:example:bob#1"), type_, material);
        let read = method.agreement_key();
        assert_eq!(
            read.is_ok_and(|read| read == *key.public()),
            is_known,
            "{type_}"
        );
    }
}
