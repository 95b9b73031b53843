use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256;
use serde_json::json;

use super::*;

fn refused(context: &Value) -> IntegrityError {
    let text = json!({ "@context": context }).to_string();
    let own = OwnContext {
        url: "https://example.org/own",
        text: text.as_bytes(),
    };
    Contexts::with(&[own]).unwrap_err()
}

#[test]
fn the_bundled_contexts_are_what_their_publishers_serve() {
    let mut known = KnownContexts::new();
    for one in &BUNDLED {
        let digest = hex_encode(&sha256(one.text.as_bytes()));
        assert_eq!(digest, one.sha256, "{}", one.url);
        add(&mut known, one.url, one.text.as_bytes()).unwrap();
        assert!(Contexts::bundled().knows(one.url));
    }
    let bundled = Contexts::bundled();
    let scoped = bundled
        .scoped("https://www.w3.org/ns/credentials/v2")
        .unwrap();
    assert!(scoped.get("VerifiableCredential").unwrap().is_some());
    assert_eq!(scoped.get("name"), None);
}

#[test]
fn an_operator_adds_contexts_and_exchanges_none() {
    let own = OwnContext {
        url: "https://example.org/own",
        text: br#"{"@context": {"degree": "https://example.org/degree"}}"#,
    };
    let contexts = Contexts::with(&[own]).unwrap();
    assert!(contexts.knows(own.url) && !Contexts::bundled().knows(own.url));
    let other = OwnContext {
        url: "https://www.w3.org/ns/credentials/v2",
        ..own
    };
    let refused = Contexts::with(&[other]).unwrap_err();
    assert_eq!(refused, IntegrityError::Malformed("the URL of a context"));
}

#[test]
fn a_context_that_would_drop_parts_of_documents_is_refused() {
    for context in [
        json!({"title": null}),
        json!({"title": {"@id": null}}),
        json!({"name": {"@id": "https://example.org/n", "@container": "@index"}}),
        json!({"name": {"@id": "https://example.org/n", "@container": ["@graph", "@id"]}}),
        json!({"name": {"@reverse": "https://example.org/n"}}),
        json!({"name": {"@id": "https://example.org/n", "@nest": "nested"}}),
        json!({"name": {"@id": "https://example.org/n", "@context": {"inner": null}}}),
        json!({"text": "@value"}),
        json!({"nested": "@nest"}),
        json!({"graph": {"@id": "@graph"}}),
        json!({"@vocab": null}),
        json!({"@direction": "rtl"}),
        json!({"@import": "https://www.w3.org/ns/credentials/v2"}),
        json!({"@unknown": "https://example.org/n"}),
        json!(7),
    ] {
        assert_eq!(
            refused(&context).code(),
            "integrity-transformation",
            "{context}"
        );
    }
}

#[test]
fn a_context_that_defines_a_protected_term_otherwise_is_refused() {
    for (context, term) in [
        (json!({"name": "https://example.org/name"}), "name"),
        (
            json!({"VerifiableCredential": "https://example.org/vc"}),
            "VerifiableCredential",
        ),
        (
            json!([{"a": "https://example.org/a"}, {"id": "https://example.org/id"}]),
            "id",
        ),
        (
            json!({"name": {"@id": "https://schema.org/name", "@type": "@id"}}),
            "name",
        ),
    ] {
        let expected = IntegrityError::ProtectedTerm(term.to_owned());
        assert_eq!(refused(&context), expected);
    }
    let alike = json!({"@context": {
        "@protected": true,
        "id": "@id",
        "name": {"@id": "https://schema.org/name"},
        "degree": "https://example.org/degree",
    }});
    let text = alike.to_string();
    let own = OwnContext {
        url: "https://example.org/own",
        text: text.as_bytes(),
    };
    assert!(Contexts::with(&[own]).is_ok());
}

#[test]
fn every_context_of_a_document_is_known_or_in_it() {
    let check = |context: Value| {
        let document = json!({ "@context": context });
        Contexts::bundled().check(document.as_object().unwrap())
    };
    assert_eq!(check(json!("https://www.w3.org/ns/credentials/v2")), Ok(()));
    assert_eq!(
        check(
            json!(["https://www.w3.org/ns/credentials/v2", {"degree": "https://example.org/degree"}])
        ),
        Ok(())
    );
    let unknown = "https://example.org/unknown";
    assert_eq!(
        check(json!([unknown])),
        Err(IntegrityError::UnknownContext(unknown.to_owned()))
    );
    assert_eq!(
        check(json!([null])),
        Err(IntegrityError::Malformed("@context"))
    );
    assert!(Contexts::bundled().check(&Map::new()).is_err());
}

#[test]
fn a_context_in_a_document_that_defines_a_protected_term_otherwise_is_refused_and_alike_it_is_taken()
 {
    let v2 = "https://www.w3.org/ns/credentials/v2";
    let check = |document: Value| {
        Contexts::bundled()
            .check(document.as_object().unwrap())
            .err()
    };
    let again = |term: &str| Some(IntegrityError::ProtectedTerm(term.to_owned()));
    let other = json!({"name": "https://example.org/name"});
    assert_eq!(check(json!({"@context": [v2, other]})), again("name"));
    let deeper = json!({"@context": v2, "credentialSubject": [{"degree": {"@context": other}}]});
    assert_eq!(check(deeper), again("name"));
    let typed = json!({"id": {"@id": "https://example.org/id", "@type": "@id"}});
    assert_eq!(check(json!({"@context": [v2, typed]})), again("id"));
    for alike in [
        json!({"name": "https://schema.org/name", "id": "@id"}),
        json!({"name": {"@id": "https://schema.org/name", "@protected": true}}),
        json!({"schema": "https://schema.org/", "name": "schema:name"}),
        // Only the types of credentials have it, and they define it after this context.
        json!({"issuer": "https://example.org/issuer"}),
    ] {
        assert_eq!(check(json!({"@context": [v2, alike]})), None, "{alike}");
    }
    // A credential in a presentation has a model of its own, whose terms may be others.
    let v1 = "https://www.w3.org/2018/credentials/v1";
    let inner = json!({"@context": [v1, other]});
    assert_eq!(check(inner.clone()), None);
    let presentation = json!({"@context": [v2], "verifiableCredential": [inner]});
    assert_eq!(check(presentation), None);
}

#[test]
fn a_context_is_processed_without_the_terms_that_a_document_does_not_use() {
    let contexts = Contexts::bundled();
    let text = |document: Value| {
        let names = UsedNames::of(document.as_object().unwrap());
        let text = contexts.text("https://www.w3.org/2018/credentials/v1", &names);
        String::from_utf8(text.unwrap()).unwrap()
    };
    let credential = text(json!({"type": ["VerifiableCredential"], "issuer": "did:example:1"}));
    assert!(credential.contains("cred:issuer") && credential.contains("credentials#"));
    assert!(!credential.contains("termsOfUse") && !credential.contains("Presentation"));
    // A document that defines a protected term again is found to do so.
    let again = text(json!({"@context": {"VerifiablePresentation": "https://example.org/vp"}}));
    assert!(again.contains("credentials#VerifiablePresentation"));
}

#[test]
fn a_context_tells_which_terms_it_defines_for_whole_documents() {
    let contexts = Contexts::bundled();
    let v2 = "https://www.w3.org/ns/credentials/v2";
    for (url, term, is_defined) in [
        (v2, "name", true),
        (v2, "JsonSchema", true),
        // A member of credentials alone.
        (v2, "credentialSubject", false),
        (v2, "degree", false),
        ("https://unknown.example", "name", false),
    ] {
        assert_eq!(contexts.defines(url, term), is_defined, "{term}");
    }
}
