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
        text: br#"{"@context": {"name": "https://example.org/name"}}"#,
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
        json!({"name": null}),
        json!({"name": {"@id": null}}),
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
fn every_context_of_a_document_is_known_or_in_it() {
    let check = |context: Value| {
        let document = json!({ "@context": context });
        Contexts::bundled().check(document.as_object().unwrap())
    };
    assert_eq!(check(json!("https://www.w3.org/ns/credentials/v2")), Ok(()));
    assert_eq!(
        check(
            json!(["https://www.w3.org/ns/credentials/v2", {"name": "https://example.org/name"}])
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
