use proptest::prelude::*;

use super::*;

fn location(did: &str) -> Result<String, WebError> {
    url(&Did::parse(did).unwrap()).map(String::from)
}

#[test]
fn the_examples_of_the_specification_are_where_it_says() {
    // did:web §2.5.1.
    for (did, expected) in [
        (
            "did:web:w3c-ccg.github.io",
            "https://w3c-ccg.github.io/.well-known/did.json",
        ),
        (
            "did:web:w3c-ccg.github.io:user:alice",
            "https://w3c-ccg.github.io/user/alice/did.json",
        ),
        (
            "did:web:example.com%3A3000:user:alice",
            "https://example.com:3000/user/alice/did.json",
        ),
        (
            "did:web:example.com%3a3000",
            "https://example.com:3000/.well-known/did.json",
        ),
        (
            "did:web:localhost%3A7380:issuer",
            "https://localhost:7380/issuer/did.json",
        ),
        (
            "did:web:example.com%3A443",
            "https://example.com/.well-known/did.json",
        ),
        (
            "did:web:example.com:a%20b",
            "https://example.com/a%20b/did.json",
        ),
    ] {
        assert_eq!(location(did).as_deref(), Ok(expected), "{did}");
    }
}

#[test]
fn hosts_that_are_addresses_or_no_names_are_refused() {
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "example.0x7f",
        "10.0.0.1%3A80",
        "%5B%3A%3A1%5D",
        "a..b",
        "-a.example",
        "a-.example",
        "Example.com",
        "user%40example.com",
        "example.com%3A0",
        "example.com%3A65536",
        "example.com%3A080",
        "example.com%3A80%3A80",
        "example.com%2Fpath",
        "example.com%3Fq",
        "ex_ample.com",
        "example.com.",
        "xn--%20",
    ] {
        assert!(location(&format!("did:web:{host}")).is_err(), "{host}");
    }
    assert_eq!(location("did:key:z1"), Err(WebError::Method));
}

#[test]
fn paths_that_lead_elsewhere_are_refused() {
    for path in [":a", "..", ".", "%2e%2E", "a:..:b", "a%2fb", "a%5Cb", "%2e"] {
        assert_eq!(
            location(&format!("did:web:example.com:{path}")),
            Err(WebError::Path),
            "{path}"
        );
    }
}

#[test]
fn a_base_address_has_the_did_whose_document_lies_under_it() {
    for (base, did) in [
        ("https://example.com/", "did:web:example.com"),
        ("https://example.com/issuer", "did:web:example.com:issuer"),
        (
            "http://localhost:7380/issuer/",
            "did:web:localhost%3A7380:issuer",
        ),
    ] {
        let made = did_for(&Url::parse(base).unwrap()).unwrap();
        assert_eq!(made.as_str(), did);
        assert!(url(&made).is_ok());
    }
    assert_eq!(
        did_for(&Url::parse("http://127.0.0.1:7380/issuer").unwrap()),
        Err(WebError::Host)
    );
    assert_eq!(
        did_for(&Url::parse("http://[::1]/").unwrap()),
        Err(WebError::Host)
    );
    assert_eq!(
        did_for(&Url::parse("https://example.com/a//b").unwrap()),
        Err(WebError::Path)
    );
}

#[test]
fn a_document_found_there_must_describe_the_did() {
    let did = Did::parse("did:web:example.com").unwrap();
    let plain = read(&did, br#"{"id":"did:web:example.com"}"#);
    assert_eq!(
        plain.metadata.content_type.as_deref(),
        Some("application/did+json")
    );
    let linked = read(
        &did,
        br#"{"@context":"https://www.w3.org/ns/did/v1","id":"did:web:example.com"}"#,
    );
    assert_eq!(
        linked.metadata.content_type.as_deref(),
        Some("application/did")
    );
    for body in [
        &br#"{"id":"did:web:example.org"}"#[..],
        b"<html>",
        b"",
        br#"{"id":"did:web:example.com:a"}"#,
    ] {
        assert_eq!(
            read(&did, body),
            Resolution::failed(ResolutionError::InvalidDidDocument)
        );
    }
}

proptest! {
    #[test]
    fn whatever_is_mapped_is_https_with_a_name_and_no_way_out(id in "[a-z0-9.%:A-F-]{1,40}") {
        if let Ok(did) = Did::parse(&format!("did:web:{id}")) && let Ok(url) = url(&did) {
            prop_assert_eq!(url.scheme(), "https");
            prop_assert!(matches!(url.host(), Some(Host::Domain(_))));
            prop_assert!(url.username().is_empty() && url.query().is_none() && url.fragment().is_none());
            prop_assert!(url.path().ends_with("/did.json"));
        }
    }
}
