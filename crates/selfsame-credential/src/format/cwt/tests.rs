//! A compact credential is verified by the key of a trusted issuer, and by nothing else.

use std::sync::{Arc, LazyLock};

use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_did::{Did, key};
use serde_json::json;

use super::{CoseStatus, CoseSubject, CoseVc, to_text};
use crate::evidence::{Evidence, Fetched, Need, Unavailable};
use crate::format::Format;
use crate::held::{Held, HeldError};
use crate::status::{Bits, List, Reference, Terms, Width, token_list};
use crate::testing::{NOW, Party, object};
use crate::verdict::{Outcome, Policy, Trust};
use crate::verify::{Binding, Presented, needs, verify};

const URI: &str = "https://issuer.example/status/0/token";

static SUBJECT: LazyLock<PrivateKey> =
    LazyLock::new(|| PrivateKey::generate(KeyType::Ed25519).unwrap());

/// What an issuer issues to a machine.
fn content(status: Option<CoseStatus>) -> CoseVc {
    CoseVc {
        subject: CoseSubject::Did(key::create(SUBJECT.public())),
        not_before: None,
        expires: NOW.plus(3600),
        types: vec!["MachineIdentity".to_owned()],
        claims: object(json!({"service": "telemetry", "dns": "telemetry.example.org"})),
        status,
    }
}

fn at(index: u64) -> Option<CoseStatus> {
    let uri = URI.to_owned();
    Some(CoseStatus::List { index, uri })
}

fn issued(issuer: &Party, status: Option<CoseStatus>) -> String {
    let draft = content(status).draft(issuer.key.public()).unwrap();
    let signature = issuer.key.sign(&draft.signing_bytes()).unwrap();
    to_text(&draft.finish(&signature))
}

/// A credential that takes much more memory than its text, with an invalid signature.
pub(crate) fn heavy(number: u64) -> String {
    let mut content = content(None);
    content.claims = object(json!({"n": number, "x": vec!["a"; 10_000]}));
    let draft = content.draft(SUBJECT.public()).unwrap();
    to_text(&draft.finish(&[0; 64]))
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
    let raw = issued(&issuer, at(5));
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
    let raw = issued(&issuer, at(5));
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
    let raw = issued(&issuer, at(5));
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
    let raw = issued(&issuer, Some(CoseStatus::Index(5)));
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
        session: None,
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
    let raw = issued(&issuer, at(131_071));
    let bytes = super::to_bytes(&raw).unwrap().len();
    assert!((200..=400).contains(&bytes), "{bytes}");
}
