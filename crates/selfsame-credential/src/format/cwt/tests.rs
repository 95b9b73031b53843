//! Compact credentials: each has one form, is signed for this purpose, and is verified by the keys of trusted issuers.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use selfsame_crypto::encoding::{base64url_encode, hex_decode};
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, KeyType, PrivateKey, PublicKey};
use selfsame_did::{Did, key};
use selfsame_proof::cbor::{self, CborItem, CborWriter};
use serde_json::{Value, json};

use super::content::{
    CNF, CoseStatus, CoseSubject, CoseVc, EXP, STATUS, STATUS_INDEX, SUB, subject_bytes, write_key,
};
use super::sign1::{CoseMessage, NotCompact, to_be_signed};
use super::{Issue, IssueError};
use crate::evidence::{Evidence, Fetched, Need, Step, Unavailable};
use crate::format::Format;
use crate::held::{Held, HeldError};
use crate::status::{Bits, List, Reference, StatusError, Terms, Width, token_list};
use crate::testing::{NOW, Party, object};
use crate::verdict::{Outcome, Policy, Trust};
use crate::verify::{Binding, Presented, needs, verify};

const URI: &str = "https://issuer.example/status/0/token";

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
        "../../../../../vectors/tls/compact-credential.txt"
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
    let vectors = vectors(include_str!("../../../../../vectors/tls/cwt-rfc8392.txt"));
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

/// What an issuer issues to a machine.
fn issue(issuer: &Party, status: Option<Value>) -> Issue {
    Issue {
        subject: CoseSubject::Did(key::create(SUBJECT.public())),
        types: vec!["VerifiableCredential".into(), "MachineIdentity".into()],
        claims: object(json!({"service": "telemetry", "dns": "telemetry.example.org"})),
        expires: NOW.plus(3600),
        status,
        key: issuer.handle(),
        issuer: issuer.key.public().clone(),
    }
}

fn issued(issuer: &Party, status: Option<Value>) -> String {
    let draft = issue(issuer, status).draft().unwrap();
    let Step::Needs(needs) = draft.clone().step(&Evidence::default()) else {
        panic!("signed by nobody");
    };
    let [Need::Signature(request)] = needs.as_slice() else {
        panic!("{needs:?}");
    };
    assert_eq!(request.key, issuer.handle());
    let mut evidence = Evidence::default();
    evidence.insert_signature(request.clone(), issuer.key.sign(&request.bytes).unwrap());
    match draft.step(&evidence) {
        Step::Done(raw) => raw,
        Step::Needs(needs) => panic!("{needs:?}"),
    }
}

/// A credential that takes much more memory than its text, signed by nobody.
pub(crate) fn heavy(number: u64) -> String {
    let mut content = credential();
    content.claims = object(json!({"n": number, "x": vec!["a"; 10_000]}));
    let draft = content.draft(ISSUER.public()).unwrap();
    base64url_encode(&draft.finish(&[0; 64]))
}

fn trusting(issuers: &[&Party]) -> Policy {
    let listed = issuers.iter().map(|issuer| issuer.did.clone());
    Policy {
        trusted_issuers: Trust::Listed(listed.collect()),
        ..Policy::default()
    }
}

fn bare(raw: &str) -> Presented<'_> {
    Presented {
        format: Format::Cwt,
        raw,
        expected: None,
    }
}

fn failed(raw: &str, policy: &Policy, evidence: &Evidence) -> (Outcome, Vec<String>) {
    let (verdict, _) = verify(&bare(raw), policy, evidence, NOW);
    let rules = verdict.rules.into_iter();
    let failed = rules.filter(|rule| rule.passed == Some(false));
    (
        verdict.outcome,
        failed.map(|rule| rule.name.into_owned()).collect(),
    )
}

#[test]
fn what_is_issued_is_held_with_everything_that_it_says() {
    let issuer = Party::new(KeyType::P256);
    let raw = issued(&issuer, Some(Reference::token(URI, 5).to_value()));
    let held = Held::parse(&raw, Format::Cwt).unwrap();
    assert_eq!(held.types(), ["VerifiableCredential", "MachineIdentity"]);
    assert_eq!(
        held.holder_did(),
        Some(key::create(SUBJECT.public()).as_str())
    );
    assert!(held.is_holder_bound());
    assert_eq!(held.issuer(), None);
    assert_eq!(held.expires(), Some(NOW.plus(3600)));
    assert_eq!(held.statuses(), [Reference::token(URI, 5)]);
    assert_eq!(held.claims()["claims"]["dns"], "telemetry.example.org");
    assert_eq!(Format::guess(&raw), Format::Cwt);
    for other in [raw.replace('A', "."), format!("{raw}AA"), String::new()] {
        assert_eq!(
            Held::parse(&other, Format::Cwt).err(),
            Some(HeldError::Compact)
        );
    }
}

#[test]
fn what_has_no_compact_form_is_not_issued() {
    let issuer = Party::new(KeyType::Ed25519);
    let mut nested = issue(&issuer, None);
    nested.claims.insert("place".to_owned(), json!({"x": 1}));
    assert_eq!(nested.draft().err(), Some(IssueError::Form(NotCompact)));
    let elsewhere = issue(&issuer, Some(json!({"other": {}})));
    assert_eq!(
        elsewhere.draft().err(),
        Some(IssueError::Status(StatusError::Unsupported))
    );
}

#[test]
fn a_credential_is_verified_by_the_key_of_one_trusted_issuer() {
    let (issuer, other) = (Party::new(KeyType::Ed25519), Party::new(KeyType::Ed25519));
    let raw = issued(&issuer, None);
    let none = Evidence::default();
    let (verdict, claims) = verify(&bare(&raw), &trusting(&[&other, &issuer]), &none, NOW);
    assert_eq!(verdict.outcome, Outcome::Valid, "{verdict:?}");
    assert_eq!(claims.unwrap()["claims"]["service"], "telemetry");
    let (outcome, rules) = failed(&raw, &trusting(&[&other]), &none);
    assert_eq!(
        (outcome, rules.as_slice()),
        (Outcome::Untrusted, &["issuer_key".to_owned()][..])
    );
    let anyone = Policy {
        trusted_issuers: Trust::Any,
        ..Policy::default()
    };
    assert_eq!(failed(&raw, &anyone, &none).0, Outcome::Untrusted);
    // The same key in the list twice, as if two issuers had it.
    assert_eq!(
        failed(&raw, &trusting(&[&issuer, &issuer]), &none).0,
        Outcome::Invalid
    );
    let late = verify(&bare(&raw), &trusting(&[&issuer]), &none, NOW.plus(3600)).0;
    assert_eq!(late.outcome, Outcome::Expired);
    let mut of_doors = trusting(&[&issuer]);
    of_doors.issuer_types = [(issuer.did.clone(), vec!["DoorCredential".to_owned()])].into();
    assert_eq!(failed(&raw, &of_doors, &none).0, Outcome::Untrusted);
}

#[test]
fn issuers_whose_keys_are_elsewhere_are_resolved_before_anything_else() {
    let issuer = Party::new(KeyType::Ed25519);
    let raw = issued(&issuer, Some(Reference::token(URI, 5).to_value()));
    let far = Did::parse("did:web:far.example").unwrap();
    let mut policy = trusting(&[]);
    policy.trusted_issuers = Trust::Listed(vec![far.to_string(), "https://no.example".into()]);
    let mut evidence = Evidence::default();
    let wanted = needs(&bare(&raw), &policy, &evidence, NOW).unwrap();
    assert_eq!(wanted, [Need::Did(far.clone())]);
    assert_eq!(failed(&raw, &policy, &evidence).0, Outcome::Unverifiable);
    let value = Err(Unavailable {
        reason: "away".to_owned(),
    });
    evidence.insert_did(far, Fetched { value, at: NOW });
    assert_eq!(needs(&bare(&raw), &policy, &evidence, NOW), Ok(Vec::new()));
    assert_eq!(failed(&raw, &policy, &evidence).0, Outcome::Untrusted);
}

/// The list at [`URI`], in which the index 5 has this value.
fn list(issuer: &Party, value: u8) -> Arc<List> {
    let mut bits = Bits::new(Width::Two, 64).unwrap();
    bits.set(5, value).unwrap();
    let header = object(json!({"alg": issuer.algorithm().as_str(), "kid": issuer.kid()}));
    let terms = Terms {
        uri: URI,
        issuer: &issuer.did,
        header: &header,
        issued_at: NOW,
        expires_at: None,
        ttl: None,
    };
    let token = token_list::encode(&bits, &terms).unwrap();
    let signature = issuer.key.sign(token.signing_input()).unwrap();
    let token = token.finish(&signature);
    let list = List::parse(URI, None, token.as_bytes(), NOW);
    Arc::new(list.unwrap())
}

#[test]
fn a_revoked_credential_is_refused_by_the_list_of_its_issuer() {
    let (issuer, other) = (Party::new(KeyType::Ed25519), Party::new(KeyType::Ed25519));
    let raw = issued(&issuer, Some(Reference::token(URI, 5).to_value()));
    let policy = trusting(&[&issuer]);
    let wanted = needs(&bare(&raw), &policy, &Evidence::default(), NOW);
    assert_eq!(wanted, Ok(vec![Need::StatusList(URI.to_owned())]));
    for (by, value, outcome) in [
        (&issuer, 0, Outcome::Valid),
        (&issuer, 1, Outcome::Revoked),
        (&issuer, 2, Outcome::Suspended),
        (&other, 0, Outcome::Unverifiable),
    ] {
        let mut evidence = Evidence::default();
        let value = Ok(list(by, value));
        evidence.insert_status_list(URI.to_owned(), Fetched { value, at: NOW });
        assert_eq!(failed(&raw, &policy, &evidence).0, outcome);
    }
    // Only the policy of a handshake knows in which list a bare index counts.
    let mut bare_index = credential();
    bare_index.not_before = None;
    let draft = bare_index.draft(issuer.key.public()).unwrap();
    let signature = issuer.key.sign(&draft.signing_bytes()).unwrap();
    let raw = base64url_encode(&draft.finish(&signature));
    assert_eq!(
        failed(&raw, &policy, &Evidence::default()).0,
        Outcome::Unverifiable
    );
}

#[test]
fn no_verifier_of_presentations_accepts_a_compact_credential() {
    let issuer = Party::new(KeyType::Ed25519);
    let raw = issued(&issuer, None);
    let expected = Binding {
        audience: "a".to_owned(),
        nonce: "b".to_owned(),
    };
    let presented = Presented {
        expected: Some(&expected),
        ..bare(&raw)
    };
    let (verdict, claims) = verify(&presented, &trusting(&[&issuer]), &Evidence::default(), NOW);
    assert_eq!((verdict.outcome, claims), (Outcome::Invalid, None));
    assert_eq!(Format::Cwt.bare(&raw), None);
}

#[test]
fn a_credential_of_a_machine_takes_at_most_400_bytes() {
    let issuer = Party::new(KeyType::Ed25519);
    let raw = issued(&issuer, Some(Reference::token(URI, 131_071).to_value()));
    let bytes = super::to_bytes(&raw).unwrap().len();
    assert!((200..=400).contains(&bytes), "{bytes}");
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
