//! What is issued is held, presented and verified.

use selfsame_verdict::Outcome;

use super::*;
use crate::digest::DigestAlgorithm;
use crate::issue::IssuedElement;
use crate::json::to_json;
use crate::security::{KeyAuthorizations, MdocStatus};
use crate::verify::{KnownStatus, status_wanted, verify_issued};

#[test]
fn an_issued_document_is_valid_and_has_the_elements_that_were_issued() {
    let scene = Scene::new();
    for algorithm in DigestAlgorithm::ALL {
        let terms = Terms {
            digest_algorithm: algorithm,
            ..Terms::default()
        };
        let issued = terms.issue(&scene.signer, &scene.device);
        let (verdict, document) = verify_issued(&issued, &scene.court());
        assert!(verdict.is_valid(), "{verdict:#?}");
        let document = document.unwrap();
        let named = document.namespaces[0].items.iter();
        let named: Vec<_> = named
            .map(|item| (item.element, to_json(&item.value)))
            .collect();
        assert_eq!(named, testing::elements());
        assert_eq!(document.signer.country.as_deref(), Some("UT"));
        assert_eq!(&document.device_key, scene.device.public());
    }
}

#[test]
fn a_response_discloses_the_chosen_elements_and_no_others() {
    let scene = Scene::new();
    let issued = scene.issue();
    let tagged = scene.authenticated(&issued, &scene.transcript);
    for response in [scene.signed(&issued, &[]), tagged] {
        let (verdict, document) = verify(&response, &scene.request(), &scene.court());
        assert!(verdict.is_valid(), "{verdict:#?}");
        let document = document.unwrap();
        assert_eq!(to_json(document.value(WANTED[0]).unwrap()), "Mustermann");
        assert_eq!(document.namespaces[0].items.len(), 2);
        let portrait = ElementPath {
            element: "portrait",
            ..WANTED[0]
        };
        assert!(document.value(portrait).is_none());
        let names = b"Erika";
        assert!(!response.windows(names.len()).any(|part| part == names));
    }
}

#[test]
fn digest_identifiers_are_a_random_order_and_decoys_are_digests_like_others() {
    let scene = Scene::new();
    let issued = scene.issue();
    let document = IssuerSigned::parse(&issued).unwrap();
    let security = document.security_object().unwrap();
    let digests = security.namespace(MDL_NAMESPACE).unwrap();
    let items = &document.namespaces[0].items;
    assert_eq!(digests.len(), items.len() + 3);
    let ids: Vec<u64> = items.iter().map(|item| item.digest_id).collect();
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), items.len());
    assert_ne!(ids, sorted);
    for id in 0..digests.len() as u64 {
        assert_eq!(digests.digest(id).unwrap().len(), 32);
    }
    assert_eq!(digests.digest(digests.len() as u64), None);
}

#[test]
fn a_device_states_what_the_issuer_allows_and_nothing_else() {
    let scene = Scene::new();
    let stated = |name: &str| {
        vec![IssuedNamespace {
            name: "org.example".to_owned(),
            elements: vec![IssuedElement {
                name: name.to_owned(),
                value: vec![0xf5],
            }],
        }]
    };
    let allowing = |authorizations: KeyAuthorizations| {
        let terms = Terms {
            authorizations,
            ..Terms::default()
        };
        terms.issue(&scene.signer, &scene.device)
    };
    let whole = KeyAuthorizations {
        namespaces: ["org.example".to_owned()].into(),
        ..KeyAuthorizations::default()
    };
    let single = KeyAuthorizations {
        elements: [("org.example".to_owned(), ["here".to_owned()].into())].into(),
        ..KeyAuthorizations::default()
    };
    for issued in [allowing(whole), allowing(single.clone())] {
        let response = scene.signed(&issued, &stated("here"));
        let (verdict, document) = verify(&response, &scene.request(), &scene.court());
        assert!(verdict.is_valid(), "{verdict:#?}");
        assert_eq!(document.unwrap().stated[0].element, "here");
    }
    for issued in [allowing(single), scene.issue()] {
        let response = scene.signed(&issued, &stated("there"));
        broken(
            &scene.verdict(&response),
            Outcome::Invalid,
            "device_authorized",
        );
    }
}

#[test]
fn the_status_is_judged_by_what_is_known_of_its_list() {
    let scene = Scene::new();
    let uri = "https://issuer.example/status/1";
    let status = MdocStatus::List {
        index: 412,
        uri: uri.to_owned(),
    };
    let terms = Terms {
        status: status.clone(),
        ..Terms::default()
    };
    let issued = terms.issue(&scene.signer, &scene.device);
    let response = scene.signed(&issued, &[]);
    assert_eq!(status_wanted(&response), Ok(status));
    let outcome = |known: &[KnownStatus<'_>]| {
        let court = MdocCourt {
            statuses: known,
            ..scene.court()
        };
        let (verdict, document) = verify(&response, &scene.request(), &court);
        assert!(document.is_some());
        (verdict.outcome, verdict.as_of)
    };
    let known = |index, value| KnownStatus {
        uri,
        index,
        value,
        at: NOW,
    };
    let at = Some(NOW.0);
    assert_eq!(outcome(&[]), (Outcome::Unverifiable, None));
    assert_eq!(outcome(&[known(411, Ok(0))]), (Outcome::Unverifiable, None));
    assert_eq!(outcome(&[known(412, Ok(0))]), (Outcome::Valid, at));
    assert_eq!(outcome(&[known(412, Ok(1))]), (Outcome::Revoked, at));
    assert_eq!(outcome(&[known(412, Ok(2))]), (Outcome::Suspended, at));
    let missing = known(412, Err("gone".to_owned()));
    assert_eq!(outcome(&[missing]), (Outcome::Unverifiable, at));
}

#[test]
fn a_document_without_a_status_is_refused_where_one_is_required() {
    let scene = Scene::new();
    let issued = scene.issue();
    let court = MdocCourt {
        require_status: true,
        ..scene.court()
    };
    broken(
        &verify_issued(&issued, &court).0,
        Outcome::Unverifiable,
        "status",
    );
}
