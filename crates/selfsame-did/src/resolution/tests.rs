use proptest::prelude::*;

use super::*;

fn did() -> Did {
    Did::parse("did:example:123").unwrap()
}

#[test]
fn the_envelope_has_the_members_of_did_resolution_and_no_others() {
    let resolution = Resolution {
        document_metadata: DocumentMetadata {
            created: Some(UnixTime(1_553_322_922)),
            version_id: Some("4".to_owned()),
            ..DocumentMetadata::default()
        },
        ..Resolution::found(Document::new(did()), Representation::Json)
    };
    let expected = json!({
        "didDocument": {"@context": ["https://www.w3.org/ns/did/v1"], "id": "did:example:123"},
        "didDocumentMetadata": {"created": "2019-03-23T06:35:22Z", "versionId": "4"},
        "didResolutionMetadata": {"contentType": "application/did+json"},
    });
    assert_eq!(serde_json::to_value(&resolution).unwrap(), expected);
    let again = Resolution::parse(expected.to_string().as_bytes(), &did());
    assert_eq!(serde_json::to_value(&again).unwrap(), expected);
    assert_eq!(again.document().unwrap().id, did());
}

#[test]
fn errors_are_written_as_problems_and_read_in_both_forms() {
    for error in ResolutionError::ALL {
        let value = serde_json::to_value(Resolution::failed(error)).unwrap();
        assert_eq!(value["didDocument"], Value::Null);
        assert_eq!(value["didDocumentMetadata"], json!({}));
        assert_eq!(
            value["didResolutionMetadata"]["error"]["type"],
            error.type_uri()
        );
        let again = Resolution::parse(value.to_string().as_bytes(), &did());
        assert_eq!(again.document().err(), Some(error));
        let older = json!({"didResolutionMetadata": {"error": error.code()}});
        assert_eq!(
            Resolution::parse(older.to_string().as_bytes(), &did())
                .document()
                .err(),
            Some(error)
        );
    }
    let unknown = json!({"didResolutionMetadata": {"error": "somethingElse"}});
    let again = Resolution::parse(unknown.to_string().as_bytes(), &did());
    assert_eq!(again.document().err(), Some(ResolutionError::InternalError));
}

#[test]
fn a_deactivated_did_has_no_document() {
    let metadata = DocumentMetadata {
        updated: Some(UnixTime(7)),
        ..DocumentMetadata::default()
    };
    let value = serde_json::to_value(Resolution::deactivated(metadata)).unwrap();
    assert_eq!(
        value["didDocumentMetadata"],
        json!({"updated": "1970-01-01T00:00:07Z", "deactivated": true})
    );
    let again = Resolution::parse(value.to_string().as_bytes(), &did());
    assert!(again.document_metadata.deactivated && again.metadata.error.is_none());
    assert_eq!(again.document().err(), Some(ResolutionError::NotFound));
    // Even if a resolver includes a document, a deactivated DID stays deactivated.
    let with_document = json!({"didDocument": {"id": "did:example:123"}, "didDocumentMetadata": {"deactivated": true}});
    assert!(
        Resolution::parse(with_document.to_string().as_bytes(), &did())
            .document()
            .is_err()
    );
}

#[test]
fn what_another_resolver_says_of_another_did_or_in_another_form_is_not_taken() {
    for text in [
        r#"{"didDocument":{"id":"did:example:124"}}"#,
        r#"{"id":"did:example:124"}"#,
        r#"{"didDocument":{"id":"did:example:123","id":"did:example:123"}}"#,
        r#"{"didDocument":[],"didResolutionMetadata":{}}"#,
        r#"{"didDocument":{"id":"did:example:123"},"didDocumentMetadata":{"created":"yesterday"}}"#,
        "[]",
        "not found",
    ] {
        let resolution = Resolution::parse(text.as_bytes(), &did());
        assert_eq!(
            resolution.document().err(),
            Some(ResolutionError::InvalidDidDocument),
            "{text}"
        );
    }
    let nothing = Resolution::parse(
        br#"{"didDocument":null,"didResolutionMetadata":{}}"#,
        &did(),
    );
    assert_eq!(nothing.document().err(), Some(ResolutionError::NotFound));
    let both =
        br#"{"didDocument":{"id":"did:example:123"},"didResolutionMetadata":{"error":"notFound"}}"#;
    assert_eq!(
        Resolution::parse(both, &did()),
        Resolution::failed(ResolutionError::NotFound)
    );
    let bare = Resolution::parse(br#"{"id":"did:example:123"}"#, &did());
    assert_eq!(bare.document().unwrap().id, did());
}

/// A resolver's answer about `did:example:123`, with this metadata of the document.
fn told(metadata: Value, options: &Options) -> Resolution {
    let answer = json!({
        "didDocument": {"id": "did:example:123"},
        "didDocumentMetadata": metadata,
        "didResolutionMetadata": {"trustedResolver": "https://claimed.example"},
    });
    Resolution::told(
        answer.to_string().as_bytes(),
        &did(),
        options,
        "https://resolver.example",
    )
}

#[test]
fn what_was_taken_on_a_resolvers_word_says_so_and_names_it() {
    let found = told(json!({}), &Options::default());
    assert!(found.document().is_ok());
    assert_eq!(
        serde_json::to_value(&found).unwrap()["didResolutionMetadata"],
        json!({"trustedResolver": "https://resolver.example"})
    );
    // What a resolver states about this is not read.
    let text = serde_json::to_vec(&found).unwrap();
    assert_eq!(
        Resolution::parse(&text, &did()).metadata.trusted_resolver,
        None
    );
    let malformed = Resolution::told(b"{", &did(), &Options::default(), "https://r.example");
    assert_eq!(
        malformed.document().err(),
        Some(ResolutionError::InvalidDidDocument)
    );
    assert!(malformed.metadata.trusted_resolver.is_some());
}

#[test]
fn another_version_than_the_one_asked_for_is_not_taken() {
    let named = Options {
        version_id: Some("2".to_owned()),
        ..Options::default()
    };
    assert!(told(json!({"versionId": "2"}), &named).document().is_ok());
    assert!(told(json!({}), &named).document().is_ok());
    assert!(told(json!({"versionId": "1"}), &named).document().is_err());
    let then = Options {
        version_time: Some(UnixTime(1000)),
        ..Options::default()
    };
    let at = |seconds: u64| UnixTime(seconds).rfc3339();
    assert!(told(json!({"created": at(1000)}), &then).document().is_ok());
    let later = json!({"created": at(1), "updated": at(1001)});
    assert!(told(later, &then).document().is_err());
    let over = json!({"updated": at(1), "nextUpdate": at(1000)});
    assert!(told(over, &then).document().is_err());
}

#[test]
fn only_a_result_with_an_error_is_a_failure_of_the_resolvers_own() {
    assert!(Resolution::is_failure(
        br#"{"didDocument":null,"didResolutionMetadata":{"error":"notFound"}}"#
    ));
    for text in [
        "",
        "not found",
        "{}",
        r#"{"error":"notFound"}"#,
        r#"{"didResolutionMetadata":{"error":""}}"#,
    ] {
        assert!(!Resolution::is_failure(text.as_bytes()), "{text}");
    }
}

proptest! {
    #[test]
    fn reading_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Resolution::parse(&bytes, &did());
    }
}

#[test]
fn a_document_is_taken_for_its_own_did_only() {
    let found = Resolution::found(Document::new(did()), Representation::Json);
    assert_eq!(found.document_of(&did()).unwrap().id, did());
    let other = Did::parse("did:example:456").unwrap();
    assert_eq!(
        found.document_of(&other),
        Err(ResolutionError::InvalidDidDocument)
    );
}

#[test]
fn as_of_when_and_why_not_are_said_and_never_believed_of_others() {
    let mut resolution = Resolution::unavailable("two histories".to_owned(), Some(3_600));
    resolution.metadata.as_of = Some(AsOf {
        time: UnixTime(1_800_000_000),
        height: 30,
    });
    let text = serde_json::to_vec(&resolution).unwrap();
    let said: Value = serde_json::from_slice(&text).unwrap();
    let metadata = &said["didResolutionMetadata"];
    assert_eq!(
        metadata["asOf"],
        json!({"time": "2027-01-15T08:00:00Z", "height": 30})
    );
    assert_eq!(metadata["reason"], "two histories");
    assert_eq!(metadata["retryAfter"], 3_600);
    let read = Resolution::parse(&text, &did()).metadata;
    assert_eq!(
        (read.as_of, read.reason, read.retry_after),
        (None, None, None)
    );
    assert_eq!(read.error, Some(ResolutionError::InternalError));
}
