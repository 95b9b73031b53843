//! Wrong inputs, each refused by the rule that it breaks.

use selfsame_cbor::deterministic::encode;
use selfsame_crypto::time::UnixTime;
use selfsame_verdict::Outcome;
use serde_json::json;

use super::*;
use crate::issue::IssuedElement;
use crate::security::{MdocStatus, ValidityInfo};
use crate::testing::licence;
use crate::verify::verify_issued;

/// The bytes with a part replaced by one of the same length.
fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let at = bytes.windows(from.len()).position(|part| part == from);
    let mut changed = bytes.to_vec();
    changed[at.unwrap()..][..to.len()].copy_from_slice(to);
    changed
}

#[test]
fn an_element_that_was_changed_is_not_the_one_that_was_signed() {
    let scene = Scene::new();
    let response = scene.signed(&scene.issue(), &[]);
    let changed = replaced(&response, b"Mustermann", b"Musterfrau");
    let (verdict, document) = verify(&changed, &scene.request(), &scene.court());
    broken(&verdict, Outcome::Invalid, "digests");
    assert!(document.is_none());
}

#[test]
fn an_element_without_a_digest_in_its_own_namespace_is_refused() {
    let scene = Scene::new();
    let mut namespaces = licence(&testing::elements());
    namespaces.push(IssuedNamespace {
        name: "org.iso.18013.5.2".to_owned(),
        elements: Vec::new(),
    });
    let terms = Terms {
        namespaces,
        decoys: 0,
        ..Terms::default()
    };
    let issued = terms.issue(&scene.signer, &scene.device);
    // The same length, so that the items of the first namespace stand under the second one.
    let at = issued
        .windows(10)
        .rposition(|part| part == b"nameSpaces")
        .unwrap();
    let (auth, items) = issued.split_at(at);
    let swapped = replaced(items, b"org.iso.18013.5.1", b"org.iso.18013.5.X");
    let swapped = replaced(&swapped, b"org.iso.18013.5.2", b"org.iso.18013.5.1");
    let moved = replaced(&swapped, b"org.iso.18013.5.X", b"org.iso.18013.5.2");
    let document = [auth, &moved].concat();
    broken(
        &verify_issued(&document, &scene.court()).0,
        Outcome::Invalid,
        "digests",
    );
    // A namespace that the issuer did not sign at all.
    let unknown = replaced(items, b"org.iso.18013.5.1", b"org.iso.18013.5.9");
    let document = [auth, &unknown].concat();
    broken(
        &verify_issued(&document, &scene.court()).0,
        Outcome::Invalid,
        "digests",
    );
}

#[test]
fn a_document_of_another_type_than_was_asked_for_or_signed_is_refused() {
    let scene = Scene::new();
    let issued = scene.issue();
    let other = scene.signed_for(&issued, &[], "org.iso.18013.5.1.mDX");
    broken(&scene.verdict(&other), Outcome::Invalid, "doc_type");
    let response = scene.signed(&issued, &[]);
    let request = MdocRequest {
        doc_type: "eu.europa.ec.eudi.pid.1",
        ..scene.request()
    };
    let (verdict, _) = verify(&response, &request, &scene.court());
    broken(&verdict, Outcome::Invalid, "doc_type");
}

#[test]
fn an_element_that_was_asked_for_must_be_there() {
    let scene = Scene::new();
    let response = scene.signed(&scene.issue(), &[]);
    let more = [
        WANTED[0],
        ElementPath {
            element: "portrait",
            ..WANTED[0]
        },
    ];
    let request = MdocRequest {
        wanted: &more,
        ..scene.request()
    };
    let (verdict, _) = verify(&response, &request, &scene.court());
    broken(&verdict, Outcome::Invalid, "elements_presented");
}

#[test]
fn a_security_object_that_was_signed_outside_its_signers_time_is_refused() {
    let scene = Scene::new();
    // The signer's certificate begins on 2026-02-01.
    let early = ValidityInfo {
        signed: UnixTime(1_769_900_000),
        ..testing::validity()
    };
    let terms = Terms {
        validity: early,
        ..Terms::default()
    };
    let issued = terms.issue(&scene.signer, &scene.device);
    let (verdict, _) = verify_issued(&issued, &scene.court());
    broken(&verdict, Outcome::Invalid, "signed_while_certificate_valid");
}

#[test]
fn times_that_are_over_not_begun_or_in_disorder_are_named() {
    let scene = Scene::new();
    let judged = |validity: ValidityInfo| {
        let terms = Terms {
            validity,
            ..Terms::default()
        };
        let issued = terms.issue(&scene.signer, &scene.device);
        reason(&verify_issued(&issued, &scene.court()).0)
    };
    let usual = testing::validity();
    let over = ValidityInfo {
        valid_until: NOW.minus(1),
        ..usual
    };
    assert_eq!(judged(over), (Outcome::Expired, "expiry".to_owned()));
    let early = ValidityInfo {
        valid_from: NOW.plus(1),
        ..usual
    };
    assert_eq!(
        judged(early),
        (Outcome::NotYetValid, "not_before".to_owned())
    );
    let before = ValidityInfo {
        valid_from: usual.signed.minus(1),
        ..usual
    };
    assert_eq!(
        judged(before),
        (Outcome::Invalid, "times_well_formed".to_owned())
    );
    let last = ValidityInfo {
        valid_from: NOW,
        valid_until: NOW,
        ..usual
    };
    assert_eq!(judged(last).0, Outcome::Valid);
}

#[test]
fn a_proof_for_another_session_or_by_another_key_is_refused() {
    let scene = Scene::new();
    let issued = scene.issue();
    let other = transcript("other");
    let tagged = scene.authenticated(&issued, &other);
    broken(&scene.verdict(&tagged), Outcome::Invalid, "device_proof");
    let elsewhere = Scene {
        transcript: other,
        ..Scene::new()
    };
    let response = elsewhere.signed(&issued, &[]);
    broken(&scene.verdict(&response), Outcome::Invalid, "device_proof");
    let stolen = Scene {
        device: testing::device(),
        transcript: scene.transcript.clone(),
        ..Scene::new()
    };
    let response = stolen.signed(&issued, &[]);
    broken(&scene.verdict(&response), Outcome::Invalid, "device_proof");
}

#[test]
fn a_tag_is_refused_where_the_reader_has_no_key_for_it() {
    let scene = Scene::new();
    let tagged = scene.authenticated(&scene.issue(), &scene.transcript);
    let request = MdocRequest {
        reader_key: None,
        ..scene.request()
    };
    let (verdict, _) = verify(&tagged, &request, &scene.court());
    broken(&verdict, Outcome::Invalid, "device_algorithm_accepted");
    let reader = AgreementPrivate::generate(AgreementCurve::P256).unwrap();
    let request = MdocRequest {
        reader_key: Some(&reader),
        ..scene.request()
    };
    let (verdict, _) = verify(&tagged, &request, &scene.court());
    broken(&verdict, Outcome::Invalid, "device_proof");
}

#[test]
fn algorithms_that_are_not_accepted_are_refused_on_both_sides() {
    let scene = Scene::new();
    let response = scene.signed(&scene.issue(), &[]);
    let court = MdocCourt {
        algorithms: Some(&[Algorithm::EdDsa]),
        ..scene.court()
    };
    let (verdict, _) = verify(&response, &scene.request(), &court);
    broken(&verdict, Outcome::Invalid, "algorithm_accepted");
}

#[test]
fn a_changed_security_object_or_signature_is_a_forgery() {
    let scene = Scene::new();
    let issued = scene.issue();
    let changed = replaced(&issued, b"SHA-256", b"SHA-512");
    broken(
        &verify_issued(&changed, &scene.court()).0,
        Outcome::Invalid,
        "issuer_signature",
    );
    let stranger = testing::authority();
    let foreign = Terms::default().issue(&stranger.signer(), &scene.device);
    let (verdict, document) = verify_issued(&foreign, &scene.court());
    broken(&verdict, Outcome::Untrusted, "signer_certificate");
    assert!(document.is_none());
    let forged = replaced(&foreign, b"SHA-256", b"SHA-512");
    assert_eq!(
        verify_issued(&forged, &scene.court()).0.outcome,
        Outcome::Invalid
    );
}

#[test]
fn a_status_of_an_unknown_kind_is_not_taken_for_none() {
    let scene = Scene::new();
    let terms = Terms {
        status: MdocStatus::List {
            index: 1,
            uri: "https://issuer.example/1".to_owned(),
        },
        ..Terms::default()
    };
    let issued = terms.issue(&scene.signer, &scene.device);
    let other = replaced(&issued, b"status_list", b"other_lists");
    let document = IssuerSigned::parse(&other).unwrap();
    assert_eq!(
        document.security_object().unwrap().status,
        MdocStatus::Unknown
    );
}

#[test]
fn a_licence_of_another_country_than_its_signers_is_refused() {
    let scene = Scene::new();
    let terms = Terms {
        namespaces: licence(&[("issuing_country", json!("XX"))]),
        ..Terms::default()
    };
    let issued = terms.issue(&scene.signer, &scene.device);
    broken(
        &verify_issued(&issued, &scene.court()).0,
        Outcome::Invalid,
        "issuing_country",
    );
}

#[test]
fn cbor_that_is_indefinite_twice_deep_or_huge_is_refused_before_anything_is_judged() {
    let scene = Scene::new();
    let deep = [vec![0x81; 40], vec![0x80]].concat();
    let huge = vec![0x00; crate::LIMITS.bytes + 1];
    let twice = encode(|to| {
        to.map(2)
            .text("version")
            .text("1.0")
            .text("version")
            .text("1.0");
    });
    let indefinite = [&[0xbf][..], &twice[1..9], &[0x63], b"1.0", &[0xff]].concat();
    for response in [&deep[..], &huge, &twice, &indefinite, &[], &[0xa0]] {
        broken(&scene.verdict(response), Outcome::Invalid, "readable");
        broken(
            &verify_issued(response, &scene.court()).0,
            Outcome::Invalid,
            "readable",
        );
    }
}

#[test]
fn elements_of_very_many_items_and_elements_named_twice_are_refused() {
    let scene = Scene::new();
    let many = |count: usize| {
        let value = encode(|to| {
            to.array(count);
            (0..count).for_each(|_| {
                to.uint(0);
            });
        });
        let element = |at: usize| IssuedElement {
            name: format!("element_{at}"),
            value: value.clone(),
        };
        let terms = Terms {
            namespaces: vec![IssuedNamespace {
                name: "org.example".to_owned(),
                elements: (0..20).map(element).collect(),
            }],
            ..Terms::default()
        };
        let issued = terms.issue(&scene.signer, &scene.device);
        verify_issued(&issued, &scene.court()).0
    };
    assert!(many(500).is_valid());
    broken(&many(1_000), Outcome::Invalid, "readable");
    let twice = licence(&[("given_name", json!("A")), ("given_name", json!("B"))]);
    let terms = Terms {
        namespaces: twice,
        ..Terms::default()
    };
    let issued = terms.issue(&scene.signer, &scene.device);
    broken(
        &verify_issued(&issued, &scene.court()).0,
        Outcome::Invalid,
        "readable",
    );
}

#[test]
fn a_response_without_a_document_with_several_or_with_an_error_is_refused() {
    let scene = Scene::new();
    let response = scene.signed(&scene.issue(), &[]);
    let of = |status: u64, count: usize, document: &[u8]| {
        encode(|to| {
            to.map(3)
                .text("status")
                .uint(status)
                .text("version")
                .text("1.0");
            to.text("documents").array(count);
            (0..count).for_each(|_| {
                to.raw(document);
            });
        })
    };
    let document = selfsame_cbor::Cbor::parse(&response, &crate::LIMITS).unwrap();
    let document = document.named("documents").unwrap().array().unwrap()[0].raw();
    assert!(scene.verdict(&of(0, 1, document)).is_valid());
    for wrong in [of(0, 0, document), of(0, 2, document), of(10, 1, document)] {
        broken(&scene.verdict(&wrong), Outcome::Invalid, "readable");
    }
}
