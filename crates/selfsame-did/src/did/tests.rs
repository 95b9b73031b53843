use proptest::prelude::*;

use super::*;

#[test]
fn the_identifiers_of_did_core_are_read() {
    // Examples from DID Core §3.1 and §3.2.
    for text in [
        "did:example:123456789abcdefghi",
        "did:example:123%20a",
        "did:a1:::x",
        "did:web:w3c-ccg.github.io:user:alice",
    ] {
        let did = Did::parse(text).unwrap();
        assert_eq!(did.as_str(), text);
        assert_eq!(format!("did:{}:{}", did.method(), did.method_id()), text);
    }
}

#[test]
fn texts_that_are_no_did_are_refused() {
    for (text, error) in [
        ("", SyntaxError::Scheme),
        ("DID:example:1", SyntaxError::Scheme),
        (" did:example:1", SyntaxError::Scheme),
        ("did:example", SyntaxError::Method),
        ("did::1", SyntaxError::Method),
        ("did:Example:1", SyntaxError::Method),
        ("did:exa-mple:1", SyntaxError::Method),
        ("did:example:", SyntaxError::MethodId),
        ("did:example:a:", SyntaxError::MethodId),
        ("did:example:a b", SyntaxError::MethodId),
        ("did:example:a%2", SyntaxError::MethodId),
        ("did:example:a%zz", SyntaxError::MethodId),
        ("did:example:a/b", SyntaxError::MethodId),
        ("did:example:a#b", SyntaxError::MethodId),
        ("did:example:ä", SyntaxError::MethodId),
    ] {
        assert_eq!(Did::parse(text), Err(error), "{text}");
    }
    assert_eq!(
        Did::parse(&format!("did:example:{}", "a".repeat(MAX_BYTES))),
        Err(SyntaxError::TooLong)
    );
}

#[test]
fn did_urls_are_taken_apart_and_put_together() {
    let url = DidUrl::parse(
        "did:example:123/path/to?versionTime=2021-05-10T17:00:00Z&service=files#key/1?x",
    )
    .unwrap();
    assert_eq!(url.did.as_str(), "did:example:123");
    assert_eq!(url.path, "/path/to");
    assert_eq!(
        url.query.as_deref(),
        Some("versionTime=2021-05-10T17:00:00Z&service=files")
    );
    assert_eq!(url.fragment.as_deref(), Some("key/1?x"));
    for text in [
        "did:example:1",
        "did:example:1?",
        "did:example:1#",
        "did:example:1/",
        "did:example:1?a#b",
    ] {
        assert_eq!(DidUrl::parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn did_urls_with_foreign_characters_are_refused() {
    for text in [
        "did:example:1#a#b",
        "did:example:1/a b",
        "did:example:1?a[b]",
        "did:example:1#%g0",
        "#a",
        "did:example:1/ä",
    ] {
        assert!(DidUrl::parse(text).is_err(), "{text}");
    }
}

#[test]
fn relative_references_are_joined_to_their_base_only() {
    let base = Did::parse("did:example:1").unwrap();
    assert_eq!(
        DidUrl::join(&base, "#key-1").unwrap().to_string(),
        "did:example:1#key-1"
    );
    assert_eq!(
        DidUrl::join(&base, "did:example:2#key-1")
            .unwrap()
            .to_string(),
        "did:example:2#key-1"
    );
    assert!(DidUrl::join(&base, "key-1").is_err());
    assert!(DidUrl::join(&base, "").is_err());
    assert_eq!(
        base.with_fragment("0").unwrap().to_string(),
        "did:example:1#0"
    );
    assert!(base.with_fragment("a b").is_err());
}

proptest! {
    #[test]
    fn what_is_read_is_written_the_same(text in "did:[a-z0-9]{1,3}:[a-zA-Z0-9._:%-]{1,12}(/[a-z0-9%/]{0,5})?(\\?[a-z=&?]{0,5})?(#[a-z/?]{0,5})?") {
        if let Ok(url) = DidUrl::parse(&text) {
            prop_assert_eq!(url.to_string(), text.clone());
        }
        if let Ok(did) = Did::parse(&text) {
            prop_assert_eq!(DidUrl::parse(&text).unwrap(), DidUrl::from(did));
        }
    }

    #[test]
    fn reading_never_panics(text in "\\PC{0,60}", near in "did:[a-z:/?#%0-9]{0,40}") {
        let _ = (Did::parse(&text), DidUrl::parse(&text), Did::parse(&near), DidUrl::parse(&near));
    }
}
