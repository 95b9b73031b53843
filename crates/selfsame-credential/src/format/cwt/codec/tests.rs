//! Compact credentials: each has one form, and is signed for this purpose alone.

use std::collections::HashMap;
use std::sync::LazyLock;

use proptest::prelude::*;
use selfsame_crypto::encoding::hex_decode;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, KeyType, PrivateKey, PublicKey};
use selfsame_did::{Did, key};
use selfsame_proof::cbor::{self, CborItem, CborWriter};
use serde_json::{Value, json};

use super::content::{CNF, EXP, STATUS, STATUS_INDEX, SUB, subject_bytes, write_key};
use super::sign1::to_be_signed;
use super::{CoseMessage, CoseStatus, CoseSubject, CoseVc, NotCompact, numbers};
use crate::testing::{NOW, object};

static ISSUER: LazyLock<PrivateKey> =
    LazyLock::new(|| PrivateKey::generate(KeyType::Ed25519).unwrap());
static SUBJECT: LazyLock<PrivateKey> =
    LazyLock::new(|| PrivateKey::generate(KeyType::Ed25519).unwrap());

/// The values of a vector file: lines of `name: hex`; a line that begins with a space continues a value.
fn vectors(text: &str) -> HashMap<&str, Vec<u8>> {
    let mut values: HashMap<&str, String> = HashMap::new();
    let mut name = "";
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut value = line;
        if !line.starts_with(' ') {
            (name, value) = line.split_once(':').unwrap();
        }
        values.entry(name).or_default().push_str(value.trim());
    }
    let decode = |(name, hex): (_, String)| (name, hex_decode(&hex).unwrap());
    values.into_iter().map(decode).collect()
}

fn credential() -> CoseVc {
    CoseVc {
        subject: CoseSubject::Did(key::create(SUBJECT.public())),
        not_before: Some(NOW.minus(60)),
        expires: NOW.plus(3600),
        types: vec!["HostCredential".to_owned()],
        claims: object(json!({"dns": ["a.example"], "name": "A"})),
        status: Some(CoseStatus::Index(7)),
    }
}

#[test]
fn the_vector_is_read_and_written_as_it_stands() {
    let vectors = vectors(include_str!(
        "../../../../../../vectors/tls/compact-credential.txt"
    ));
    let public = |name| PublicKey::from_raw(KeyType::Ed25519, &vectors[name]).unwrap();
    let expected = CoseVc {
        subject: CoseSubject::Did(key::create(&public("subject_public_key"))),
        not_before: Some(UnixTime(1_789_996_400)),
        expires: UnixTime(1_790_086_400),
        types: vec!["HostCredential".to_owned()],
        claims: json!({"dns": ["a.example", "b.example"], "service": "meter"})
            .as_object()
            .unwrap()
            .clone(),
        status: Some(CoseStatus::Index(4711)),
    };
    let draft = expected.draft(&public("issuer_public_key")).unwrap();
    assert_eq!(expected.to_cbor(), vectors["claims"]);
    assert_eq!(draft.signing_bytes(), vectors["to_be_signed"]);
    let message = CoseMessage::parse(&vectors["credential"]).unwrap();
    assert_eq!(message.content, expected);
    assert!(message.is_signed_by(&public("issuer_public_key")));
    assert!(!message.is_signed_by(&public("subject_public_key")));
}

#[test]
fn the_structure_that_is_signed_is_that_of_rfc_9052() {
    let vectors = vectors(include_str!(
        "../../../../../../vectors/tls/cwt-rfc8392.txt"
    ));
    let signed = to_be_signed(&vectors["protected"], b"", &vectors["payload"]);
    let key = PublicKey::from_raw(KeyType::P256, &vectors["public_key"]).unwrap();
    let signature = &vectors["signature"];
    assert_eq!(key.verify(Algorithm::Es256, &signed, signature), Ok(()));
}

fn subject_to(to: &mut CborWriter) {
    let did = key::create(SUBJECT.public());
    to.int(SUB).bytes(&subject_bytes(&did));
}

fn end_to(to: &mut CborWriter) {
    to.int(EXP).uint(NOW.0 + 60);
}

/// A map header of `pairs` pairs, and what is written after it.
fn claims_of(pairs: usize, parts: &[&dyn Fn(&mut CborWriter)]) -> Vec<u8> {
    cbor::encode(|to| {
        to.map(pairs);
        parts.iter().for_each(|part| part(to));
    })
}

#[test]
fn claims_that_are_not_in_their_one_form_are_refused() {
    let good = claims_of(2, &[&subject_to, &end_to]);
    assert!(CoseVc::from_cbor(&good).is_ok());
    let status = |to: &mut CborWriter| {
        to.int(STATUS).map(1).text("status_list");
        to.map(2).text("idx").uint(1).text("uri").text("urn:a");
    };
    let index = |to: &mut CborWriter| {
        to.int(STATUS_INDEX).uint(1);
    };
    let key = |to: &mut CborWriter| {
        to.int(CNF).map(1).int(1);
        write_key(SUBJECT.public(), to);
    };
    let unknown = |to: &mut CborWriter| {
        to.int(6).uint(1);
    };
    let name = |to: &mut CborWriter| {
        to.int(SUB).text("did:web:a.example");
    };
    for (what, payload) in [
        ("bytes left over", [good.as_slice(), &[0]].concat()),
        ("too few pairs", claims_of(3, &[&subject_to, &end_to])),
        ("another order", claims_of(2, &[&end_to, &subject_to])),
        (
            "a claim twice",
            claims_of(3, &[&subject_to, &end_to, &end_to]),
        ),
        ("no end", claims_of(1, &[&subject_to])),
        ("no subject", claims_of(1, &[&end_to])),
        ("two subjects", claims_of(3, &[&subject_to, &end_to, &key])),
        (
            "an unknown claim",
            claims_of(3, &[&subject_to, &end_to, &unknown]),
        ),
        ("a name in place of a DID", claims_of(2, &[&name, &end_to])),
        (
            "two statuses",
            claims_of(4, &[&subject_to, &end_to, &status, &index]),
        ),
    ] {
        assert!(CoseVc::from_cbor(&payload).is_err(), "{what}");
    }
}

#[test]
fn what_has_no_compact_form_is_not_signed() {
    let issuer = ISSUER.public();
    let with = |name: &str, value: Value| {
        let mut credential = credential();
        credential.claims.insert(name.to_owned(), value);
        credential.draft(issuer).map(|_| ())
    };
    assert_eq!(with("a", json!(1)), Ok(()));
    for value in [json!(-1), json!(null), json!({}), json!([1]), json!(1.5)] {
        assert_eq!(with("a", value), Err(NotCompact));
    }
    let without_form = CoseVc {
        subject: CoseSubject::Did(Did::parse("did:example:a").unwrap()),
        ..credential()
    };
    assert_eq!(without_form.draft(issuer).map(|_| ()), Err(NotCompact));
}

#[test]
fn a_signature_for_another_purpose_makes_no_credential() {
    let draft = credential().draft(ISSUER.public()).unwrap();
    let good = draft.clone();
    let signature = ISSUER.sign(&good.signing_bytes()).unwrap();
    let message = CoseMessage::parse(&good.finish(&signature)).unwrap();
    assert!(message.is_signed_by(ISSUER.public()));
    let header = CoseMessage::parse(&draft.clone().finish(&[0; 64])).unwrap();
    assert_eq!(header.algorithm, Algorithm::EdDsa);
    let protected = cbor::encode(|to| {
        to.map(2).int(1).int(-19).int(4).bytes(&header.key_id);
    });
    let elsewhere = to_be_signed(&protected, b"", &credential().to_cbor());
    let signature = ISSUER.sign(&elsewhere).unwrap();
    let message = CoseMessage::parse(&draft.finish(&signature)).unwrap();
    assert!(!message.is_signed_by(ISSUER.public()));
}

#[test]
fn the_content_is_told_as_json() {
    let told = credential().to_json();
    assert_eq!(
        told["type"],
        json!(["VerifiableCredential", "HostCredential"])
    );
    assert_eq!(told["sub"], key::create(SUBJECT.public()).as_str());
    assert_eq!(told["claims"], json!({"dns": ["a.example"], "name": "A"}));
    assert_eq!(told["status"], json!({"status_list": {"idx": 7}}));
    assert_eq!(told["nbf"], NOW.0 - 60);
}

#[test]
fn algorithms_have_the_numbers_of_cose() {
    assert_eq!(numbers(&[Algorithm::Es256, Algorithm::EdDsa]), [-19, -9]);
}

fn any_credential() -> impl Strategy<Value = CoseVc> {
    let texts = |count| prop::collection::vec("[a-zA-Z]{1,30}", count);
    let value = prop_oneof![
        "[a-z.]{0,40}".prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        texts(0..4).prop_map(Value::from),
    ];
    let status = prop_oneof![
        Just(None),
        any::<u64>().prop_map(|index| Some(CoseStatus::Index(index))),
        (any::<u64>(), "https://[a-z]{1,30}")
            .prop_map(|(index, uri)| Some(CoseStatus::List { index, uri })),
    ];
    let subject = prop_oneof![
        Just(CoseSubject::Key(SUBJECT.public().clone())),
        "[a-z]{1,20}".prop_map(|host| {
            let did = format!("did:web:{host}.example");
            CoseSubject::Did(Did::parse(&did).unwrap())
        }),
    ];
    let claims = prop::collection::btree_map("[a-z]{1,30}", value, 0..5);
    let times = (prop::option::of(any::<u64>()), any::<u64>());
    (subject, times, texts(0..4), claims, status).prop_map(
        |(subject, (not_before, expires), types, claims, status)| CoseVc {
            subject,
            not_before: not_before.map(UnixTime),
            expires: UnixTime(expires),
            types,
            claims: claims.into_iter().collect(),
            status,
        },
    )
}

proptest! {
    #[test]
    fn every_credential_reads_back(credential in any_credential()) {
        let bytes = credential.to_cbor();
        prop_assert_eq!(CoseVc::from_cbor(&bytes), Ok(credential));
    }

    #[test]
    fn whatever_is_read_has_one_form(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(read) = CoseVc::from_cbor(&bytes) {
            prop_assert_eq!(read.to_cbor(), bytes);
        }
    }
}
