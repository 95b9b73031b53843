//! Versions are found by their id, number and time, with their metadata, also before a fault.

use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, Document, Options, ResolutionError};
use serde_json::{Value, json};

use super::kit::{Logbook, document, first, key};
use crate::resolve::implicit;
use crate::{behind, parallel};

fn number(number: u64) -> Options {
    Options {
        version_number: Some(number),
        ..Options::default()
    }
}

fn at(time: &str) -> Options {
    Options {
        version_time: UnixTime::parse_rfc3339(time),
        ..Options::default()
    }
}

fn book() -> (Logbook, selfsame_crypto::PrivateKey) {
    let key = key();
    let mut book = Logbook::new(&first(&key), &key);
    book.add_changed(&json!({"ttl": 60}), &key, |entry| {
        entry["state"]["service"] = json!([]);
    });
    (book, key)
}

#[test]
fn the_present_version_has_the_metadata_of_the_specification() {
    let (book, _) = book();
    let found = book.read().resolve(&Options::default());
    assert_eq!(found.document().unwrap().service.len(), 0);
    let metadata = serde_json::to_value(&found.document_metadata).unwrap();
    assert_eq!(
        metadata,
        json!({
            "versionId": book.version_id(2), "versionTime": "2026-01-01T00:01:00Z",
            "created": "2026-01-01T00:00:00Z", "updated": "2026-01-01T00:01:00Z",
            "scid": book.read().log().scid(), "portable": false, "ttl": "60",
        })
    );
    assert_eq!(found.document_metadata.ttl(), Some(60));
}

#[test]
fn an_earlier_version_is_found_by_id_number_and_time() {
    let (book, _) = book();
    let reading = book.read();
    let by_id = Options {
        version_id: Some(book.version_id(1)),
        ..Options::default()
    };
    for options in [
        by_id,
        number(1),
        at("2026-01-01T00:00:59Z"),
        at("2026-01-01T00:00:00Z"),
    ] {
        let found = reading.resolve(&options);
        assert_eq!(found.document().unwrap().service.len(), 1, "{options:?}");
        let metadata = found.document_metadata;
        assert_eq!(metadata.next_version_id, Some(book.version_id(2)));
        assert_eq!(
            metadata.updated,
            UnixTime::parse_rfc3339("2026-01-01T00:01:00Z")
        );
    }
    let unknown = Options {
        version_id: Some(format!("{}x", book.version_id(1))),
        ..Options::default()
    };
    for options in [unknown, number(0), number(3), at("2025-12-31T23:59:59Z")] {
        let missing = reading.resolve(&options);
        assert_eq!(
            missing.metadata.error,
            Some(ResolutionError::NotFound),
            "{options:?}"
        );
    }
}

#[test]
fn versions_before_a_fault_resolve_if_they_are_asked_for() {
    let (mut book, key) = book();
    book.add_changed(&json!({"other": 1}), &key, |_| {});
    let reading = book.read();
    assert!(reading.resolve(&number(2)).document().is_ok());
    for options in [Options::default(), number(3)] {
        let refused = reading.resolve(&options);
        assert_eq!(refused.metadata.error, Some(ResolutionError::InvalidDid));
    }
    let mut asked = book.clone();
    asked.did = asked.did.replace("example.com", "other.example");
    let refused = asked.read().resolve(&number(1));
    assert_eq!(refused.metadata.error, Some(ResolutionError::InvalidDid));
}

#[test]
fn a_deactivated_did_has_no_document_and_its_earlier_versions_say_so() {
    let (mut book, key) = book();
    book.add(&json!({"deactivated": true}), &key);
    let reading = book.read();
    for options in [Options::default(), number(3)] {
        let ended = reading.resolve(&options);
        assert!(ended.document.is_none() && ended.document_metadata.deactivated);
        assert_eq!(ended.metadata.error, None);
    }
    let before = reading.resolve(&number(2));
    assert!(before.document.is_some() && before.document_metadata.deactivated);
}

#[test]
fn a_moved_did_names_its_new_name() {
    let key = key();
    let mut parameters = first(&key);
    parameters["portable"] = json!(true);
    let mut book = Logbook::new(&parameters, &key);
    let old = book.did.clone();
    let new = old.replace("example.com", "new.example");
    book.add_changed(&json!({}), &key, |entry| {
        entry["state"]["id"] = new.clone().into();
        entry["state"]["alsoKnownAs"] = json!([old]);
    });
    let found = book.read().resolve(&Options::default());
    assert_eq!(found.document().unwrap().id.as_str(), new);
    assert_eq!(found.document_metadata.canonical_id, Did::parse(&new).ok());
    assert_eq!(found.document_metadata.of_method["portable"], json!(true));
}

#[test]
fn a_document_that_is_none_is_an_error() {
    let key = key();
    let mut state = document();
    state["verificationMethod"] = json!("x");
    let book = Logbook::with(&first(&key), &state, &key);
    let found = book.read().resolve(&Options::default());
    assert_eq!(
        found.metadata.error,
        Some(ResolutionError::InvalidDidDocument)
    );
}

const DID: &str = "did:webvh:QmdmPkUdYzbr9txmx8gM2rsHPgr5L6m3gHjJGAf4vUFoGE:example.com";

fn of(service: Value) -> Document {
    let document = json!({
        "@context": ["https://www.w3.org/ns/did/v1"], "id": DID, "service": service,
    });
    Document::from_value(document).unwrap()
}

#[test]
fn paths_lead_to_files_beside_the_log_unless_the_document_says_otherwise() {
    let found = |document: &Document, path| behind(document, path).map(String::from);
    let plain = of(json!([]));
    let at = |text: &str| Ok(text.to_owned());
    assert_eq!(found(&plain, "/whois"), at("https://example.com/whois.vp"));
    assert_eq!(
        found(&plain, "/governance/issuers.json"),
        at("https://example.com/governance/issuers.json")
    );
    for path in ["/../a", "/a/%2e%2e/b", "/a/./b"] {
        assert_eq!(
            found(&plain, path),
            Err(ResolutionError::InvalidDidUrl),
            "{path}"
        );
    }
    let own = of(json!([
        {"id": "#whois", "type": "LinkedVerifiablePresentation", "serviceEndpoint": "https://a.example/w"},
        {"id": format!("{DID}#files"), "type": "relativeRef", "serviceEndpoint": "https://b.example/f/"},
    ]));
    assert_eq!(found(&own, "/whois"), at("https://a.example/w"));
    assert_eq!(found(&own, "/x/y"), at("https://b.example/f/x/y"));
    for endpoint in [json!("ipfs://abc"), json!({"uri": "https://a.example"})] {
        let strange = of(json!([{"id": "#whois", "type": "x", "serviceEndpoint": endpoint}]));
        assert_eq!(found(&strange, "/whois"), Err(ResolutionError::InvalidDid));
    }
}

#[test]
fn the_implicit_services_are_at_the_place_of_the_did() {
    let did = Did::parse(&format!("{DID}%3A8443:dids:a")).unwrap();
    let [files, whois] = implicit(&did).unwrap();
    assert_eq!(files.endpoint, json!("https://example.com:8443/dids/a/"));
    assert_eq!(
        whois.endpoint,
        json!("https://example.com:8443/dids/a/whois.vp")
    );
}

#[test]
fn the_parallel_did_web_has_the_same_content_under_its_own_name() {
    let document = Document::from_value(json!({
        "@context": ["https://www.w3.org/ns/did/v1"], "id": DID,
        "alsoKnownAs": ["did:web:example.com", "https://example.com/"],
        "controller": DID,
        "service": [{"id": format!("{DID}#a"), "type": "x", "serviceEndpoint": "https://example.com/a"}],
    }));
    let web = parallel(&document.unwrap()).unwrap();
    assert_eq!(web.id.as_str(), "did:web:example.com");
    assert_eq!(web.also_known_as, ["https://example.com/", DID]);
    let ids: Vec<&str> = web.service.iter().map(|service| &*service.id).collect();
    assert_eq!(
        ids,
        [
            "did:web:example.com#a",
            "did:web:example.com#files",
            "did:web:example.com#whois"
        ]
    );
}
