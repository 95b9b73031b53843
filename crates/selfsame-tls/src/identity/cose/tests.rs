//! Compact credentials: only what a trusted issuer signed is accepted.

use std::sync::LazyLock;

use proptest::prelude::*;
use selfsame_credential::format::cwt::{CoseSubject, CoseVc};
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_did::{Did, key};
use serde_json::{Value, json};

use super::*;
use crate::alert::Alert;
use crate::identity::ExpectedPeer;
use crate::testing::NOW;

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
    Vc::compact(draft.finish(&signature))
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
    assert_eq!(credential.types, ["VerifiableCredential", "HostCredential"]);
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
    let forged = accepted(Vc::compact(draft.finish(&signature)), &trusting());
    assert_eq!(forged, Err(Alert::BadCertificate));
    let mut paper_only = trusting();
    paper_only.formats = vec![VcFormat::PAPER];
    assert_eq!(alert(&good, &paper_only), Alert::UnsupportedCertificate);
    let mut small = trusting();
    small.max_vc = 40;
    assert_eq!(alert(&good, &small), Alert::BadCertificate);
}

proptest! {
    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(accepted(Vc::compact(bytes), &trusting()).is_err());
    }
}
