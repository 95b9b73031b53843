//! Compact credentials: one encoding each, and only signed content is accepted.

use std::sync::LazyLock;

use proptest::prelude::*;
use selfsame_crypto::PrivateKey;
use serde_json::json;

use super::*;
use crate::alert::Alert;
use crate::identity::ExpectedPeer;
use crate::testing::{NOW, Vectors};

static ISSUER: LazyLock<PrivateKey> =
    LazyLock::new(|| PrivateKey::generate(KeyType::Ed25519).unwrap());
static SUBJECT: LazyLock<PrivateKey> =
    LazyLock::new(|| PrivateKey::generate(KeyType::Ed25519).unwrap());

fn issuer(did: &str, key: &PrivateKey) -> TrustedIssuer {
    let keys = vec![(format!("{did}#keys-1"), key.public().clone())];
    TrustedIssuer {
        claims: vec!["dns".to_owned()],
        status_list: Some("https://issuer.example/status/1".to_owned()),
        ..TrustedIssuer::new(Did::parse(did).unwrap(), keys)
    }
}

fn policy(issuers: Vec<TrustedIssuer>) -> IdentityPolicy {
    IdentityPolicy::of_credentials(&["key"], issuers, ExpectedPeer::Vouched)
}

fn trusting() -> IdentityPolicy {
    policy(vec![issuer("did:web:issuer.example", &ISSUER)])
}

fn credential() -> CoseVc {
    CoseVc {
        subject: CoseSubject::Did(key::create(SUBJECT.public())),
        not_before: Some(NOW.minus(60)),
        expires: NOW.plus(3600),
        types: vec!["HostCredential".to_owned()],
        claims: json!({"dns": ["a.example"], "name": "A"})
            .as_object()
            .unwrap()
            .clone(),
        status: Some(CoseStatus::Index(7)),
    }
}

fn signed(credential: &CoseVc, key: &PrivateKey) -> Vc {
    let draft = credential.draft(key.public()).unwrap();
    assert_eq!(draft.algorithm(), key.algorithm());
    let signature = key.sign(&draft.signing_bytes()).unwrap();
    draft.finish(&signature)
}

fn accepted(vc: Vc, policy: &IdentityPolicy) -> Result<Credential, Alert> {
    Credential::accept(vc, policy, NOW).map_err(|refusal| refusal.alert)
}

#[test]
fn a_compact_credential_says_what_its_issuer_signed() {
    let vc = signed(&credential(), &ISSUER);
    let credential = accepted(vc.clone(), &trusting()).unwrap();
    assert_eq!(credential.vc, vc);
    assert_eq!(credential.issuer.as_str(), "did:web:issuer.example");
    assert_eq!(credential.key_id, "did:web:issuer.example#keys-1");
    assert_eq!(credential.subject, key::create(SUBJECT.public()));
    assert_eq!(credential.validity.expires, Some(NOW.plus(3600)));
    assert_eq!(credential.types, [BASE_TYPE, "HostCredential"]);
    // The issuer may only make claims about hosts.
    assert_eq!(
        Value::Object(credential.claims),
        json!({"dns": ["a.example"]})
    );
    let list = Reference::token("https://issuer.example/status/1", 7);
    assert_eq!(credential.statuses, [list]);
}

#[test]
fn each_kind_of_key_signs_and_is_confirmed() {
    for kind in [KeyType::Ed25519, KeyType::P256] {
        let (signer, holder) = (
            PrivateKey::generate(kind).unwrap(),
            PrivateKey::generate(kind).unwrap(),
        );
        let credential = CoseVc {
            subject: CoseSubject::Key(holder.public().clone()),
            ..credential()
        };
        let policy = policy(vec![issuer("did:web:issuer.example", &signer)]);
        let accepted = accepted(signed(&credential, &signer), &policy).unwrap();
        assert_eq!(accepted.subject, key::create(holder.public()));
    }
}

#[test]
fn the_vector_is_read_and_written_as_it_stands() {
    let vectors = Vectors::parse(include_str!(
        "../../../../../vectors/tls/compact-credential.txt"
    ));
    let public = |name| PublicKey::from_raw(KeyType::Ed25519, vectors.get(name)).unwrap();
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
    assert_eq!(draft.protected, vectors.get("protected"));
    assert_eq!(draft.payload, vectors.get("claims"));
    assert_eq!(draft.signing_bytes(), vectors.get("to_be_signed"));
    let vc = Vc {
        format: VcFormat::COSE,
        bytes: vectors.get("credential").to_vec(),
    };
    let mut issuer = issuer("did:web:issuer.example", &ISSUER);
    issuer.keys[0].1 = public("issuer_public_key");
    assert!(accepted(vc, &policy(vec![issuer])).is_ok());
}

#[test]
fn the_structure_that_is_signed_is_that_of_rfc_9052() {
    let vectors = Vectors::parse(include_str!("../../../../../vectors/tls/cwt-rfc8392.txt"));
    let signed = to_be_signed(vectors.get("protected"), b"", vectors.get("payload"));
    let key = PublicKey::from_raw(KeyType::P256, vectors.get("public_key")).unwrap();
    let signature = vectors.get("signature");
    assert_eq!(key.verify(Algorithm::Es256, &signed, signature), Ok(()));
}

#[test]
fn no_changed_bit_is_accepted() {
    let good = signed(&credential(), &ISSUER);
    let policy = trusting();
    for at in 0..good.bytes.len() {
        for bit in 0..8 {
            let mut changed = good.clone();
            changed.bytes[at] ^= 1 << bit;
            let alert = accepted(changed, &policy).unwrap_err();
            let known = [Alert::BadCertificate, Alert::UnknownCa];
            assert!(known.contains(&alert), "byte {at}, bit {bit}: {alert}");
        }
        let mut short = good.clone();
        short.bytes.truncate(at);
        assert_eq!(accepted(short, &policy), Err(Alert::BadCertificate));
    }
}

#[test]
fn only_a_trusted_issuer_counts_and_only_in_time_with_its_types() {
    let alert = |credential: &CoseVc, policy: &IdentityPolicy| {
        accepted(signed(credential, &ISSUER), policy).unwrap_err()
    };
    let good = credential();
    let other = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let foreign = policy(vec![issuer("did:web:other.example", &other)]);
    assert_eq!(alert(&good, &foreign), Alert::UnknownCa);
    // If two issuers have the key, it is ambiguous which of them vouches.
    let twice = policy(vec![
        issuer("did:web:issuer.example", &ISSUER),
        issuer("did:web:other.example", &ISSUER),
    ]);
    assert_eq!(alert(&good, &twice), Alert::UnknownCa);
    let mut nowhere = trusting();
    nowhere.issuers[0].status_list = None;
    assert_eq!(alert(&good, &nowhere), Alert::UnknownCa);
    let mut of_type = trusting();
    of_type.issuers[0].types = vec!["DoorCredential".to_owned()];
    assert_eq!(alert(&good, &of_type), Alert::AccessDenied);
    let late = CoseVc {
        expires: NOW.minus(61),
        ..good.clone()
    };
    assert_eq!(alert(&late, &trusting()), Alert::CertificateExpired);
    let early = CoseVc {
        not_before: Some(NOW.plus(61)),
        ..good.clone()
    };
    assert_eq!(alert(&early, &trusting()), Alert::CertificateExpired);
    // Signed by another key, with the issuer's key id.
    let draft = good.draft(ISSUER.public()).unwrap();
    let signature = other.sign(&draft.signing_bytes()).unwrap();
    let forged = accepted(draft.finish(&signature), &trusting());
    assert_eq!(forged, Err(Alert::BadCertificate));
    // Signed by the issuer for another purpose.
    let draft = good.draft(ISSUER.public()).unwrap();
    let elsewhere = to_be_signed(&draft.protected, b"", &draft.payload);
    let signature = ISSUER.sign(&elsewhere).unwrap();
    let borrowed = accepted(draft.finish(&signature), &trusting());
    assert_eq!(borrowed, Err(Alert::BadCertificate));
    let mut paper_only = trusting();
    paper_only.formats = vec![VcFormat::PAPER];
    assert_eq!(alert(&good, &paper_only), Alert::UnsupportedCertificate);
    let mut small = trusting();
    small.max_vc = 40;
    assert_eq!(alert(&good, &small), Alert::BadCertificate);
}

/// The result for a credential with these claims, signed by the issuer.
fn accept_claims(payload: Vec<u8>) -> Result<(), Alert> {
    let header = CoseHeader {
        algorithm: Algorithm::EdDsa,
        key_id: short_key_id(ISSUER.public()),
    };
    let draft = CoseDraft {
        algorithm: header.algorithm,
        protected: header.to_cbor(),
        payload,
    };
    let signature = ISSUER.sign(&draft.signing_bytes()).unwrap();
    accepted(draft.finish(&signature), &trusting()).map(|_| ())
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
fn what_is_not_in_its_one_form_is_refused_though_it_is_signed() {
    let good = claims_of(2, &[&subject_to, &end_to]);
    assert_eq!(accept_claims(good.clone()), Ok(()));
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
        assert_eq!(accept_claims(payload), Err(Alert::BadCertificate), "{what}");
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
        assert_eq!(with("a", value), Err(ConfigError::Format));
    }
    let without_form = CoseVc {
        subject: CoseSubject::Did(Did::parse("did:example:a").unwrap()),
        ..credential()
    };
    assert_eq!(
        without_form.draft(issuer).map(|_| ()),
        Err(ConfigError::Format)
    );
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
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let format = VcFormat::COSE;
        let vc = Vc { format, bytes: bytes.clone() };
        prop_assert!(accepted(vc, &trusting()).is_err());
        if let Ok(read) = CoseVc::from_cbor(&bytes) {
            prop_assert_eq!(read.to_cbor(), bytes);
        }
    }
}
