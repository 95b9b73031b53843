//! What is in the dataset of a document, and what would be dropped.

use serde_json::json;

use super::*;
use crate::rdfc::canonical;
use crate::suite::SuiteDigest;

const V2: &str = "https://www.w3.org/ns/credentials/v2";

fn lines(document: &Value) -> Result<String, IntegrityError> {
    let dataset = dataset(document.as_object().unwrap(), &Contexts::bundled())?;
    canonical(&dataset, SuiteDigest::Sha256)
}

/// A credential with `change`.
fn credential(change: impl FnOnce(&mut Value)) -> Value {
    let mut document = json!({
        "@context": [V2, {
            "@protected": true,
            "name2": "https://example.org/name",
            "when": {"@id": "https://example.org/when", "@type": "http://www.w3.org/2001/XMLSchema#date"},
            "list": {"@id": "https://example.org/list", "@container": "@list"},
            "friend": {"@id": "https://example.org/friend", "@type": "@id"},
            "data": {"@id": "https://example.org/data", "@type": "@json"},
            "labels": {"@id": "https://example.org/label", "@container": "@language"},
            "Person": "https://example.org/Person",
        }],
        "type": ["VerifiableCredential"],
        "issuer": "did:example:issuer",
        "credentialSubject": {"id": "did:example:subject", "name2": "Alice"},
    });
    change(&mut document["credentialSubject"]);
    document
}

fn subject_lines(change: impl FnOnce(&mut Value)) -> Vec<String> {
    let lines = lines(&credential(change)).unwrap();
    let of_subject = lines
        .lines()
        .filter(|line| line.starts_with("<did:example:subject>"));
    of_subject.map(str::to_owned).collect()
}

fn lost(change: impl FnOnce(&mut Value)) -> String {
    match lines(&credential(change)) {
        Err(IntegrityError::DataLoss(what)) => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_term_that_no_context_defines_is_found() {
    assert_eq!(
        lost(|subject| subject["nickname"] = "Al".into()),
        "nickname"
    );
    assert_eq!(
        lost(|subject| subject["friend"] = json!({"nickname": "Al"})),
        "nickname"
    );
    assert_eq!(
        lost(|subject| subject["type"] = "Unknown".into()),
        "Unknown"
    );
}

#[test]
fn an_identifier_that_is_no_iri_is_found_by_the_name_of_its_member_and_not_told() {
    let named = lost(|subject| subject["id"] = "relative".into());
    let of_subject = "https://www.w3.org/2018/credentials#credentialSubject";
    assert!([of_subject, "@id"].contains(&named.as_str()), "{named}");
    let friend = "https://example.org/friend";
    for value in ["../relative", "did:example:with space"] {
        assert_eq!(lost(|subject| subject["friend"] = value.into()), friend);
    }
    let typed = json!({"@value": "x", "@type": "Unknown"});
    assert_eq!(lost(|subject| subject["name2"] = typed), "@type");
}

#[test]
fn what_would_be_dropped_otherwise_is_found() {
    assert_eq!(lost(|subject| subject["name2"] = Value::Null), "name2");
    assert_eq!(
        lost(|subject| subject["name2"] = json!(["Al", null])),
        "name2"
    );
    assert_eq!(lost(|subject| subject["name2"] = json!([])), "name2");
    assert_eq!(
        lost(|subject| subject["name2"] = json!({"@language": "en"})),
        "@language"
    );
    assert_eq!(
        lost(|subject| subject["friend"] = "@somebody".into()),
        "friend"
    );
    assert_eq!(lost(|subject| subject["@index"] = "1".into()), "@index");
    assert_eq!(
        lost(|subject| subject["@included"] = json!([{}])),
        "@included"
    );
    assert_eq!(lost(|subject| subject["@unknown"] = json!(1)), "@unknown");
    assert_eq!(lost(|subject| subject["_:blank"] = "x".into()), "_:blank");
    assert_eq!(
        lost(|subject| subject["labels"] = json!({"not a tag": "x"})),
        "@language"
    );
    let directed = json!({"@value": "x", "@language": "ar", "@direction": "rtl"});
    assert_eq!(lost(|subject| subject["name2"] = directed), "@direction");
    for number in [
        json!(9_007_199_254_740_993_u64),
        json!(0.1 + 0.2),
        json!(1.234_567_890_123_456_8e20),
    ] {
        assert_eq!(lost(|subject| subject["name2"] = number), "name2");
    }
}

#[test]
fn the_context_of_an_inner_credential_is_its_own() {
    // `verifiableCredential` takes all contexts away.
    let mut presentation = json!({
        "@context": V2,
        "type": "VerifiablePresentation",
        "verifiableCredential": [credential(|_| {})],
    });
    assert!(
        lines(&presentation)
            .unwrap()
            .contains("did:example:subject")
    );
    let inner = presentation["verifiableCredential"][0]
        .as_object_mut()
        .unwrap();
    inner.remove("@context");
    assert!(matches!(
        lines(&presentation),
        Err(IntegrityError::DataLoss(_))
    ));
}

#[test]
fn contexts_are_known_and_bounded() {
    let mut document = credential(|_| {});
    document["@context"][1] = "https://example.org/unknown".into();
    let unknown = IntegrityError::UnknownContext("https://example.org/unknown".to_owned());
    assert_eq!(lines(&document), Err(unknown));
    document["@context"] = vec![V2; 17].into();
    assert_eq!(lines(&document), Err(IntegrityError::TooMany("@context")));
    document["@context"] = json!([V2, null]);
    assert_eq!(
        lines(&document).unwrap_err().code(),
        "integrity-transformation"
    );
    let terms = (0..600).map(|at| (format!("t{at}"), json!("https://example.org/t")));
    document["@context"] = json!([V2, Value::Object(terms.collect())]);
    assert_eq!(lines(&document), Err(IntegrityError::TooMany("terms")));
    let many = lines(&credential(|subject| {
        subject["friend"] = vec![json!({"name2": "x"}); 600].into()
    }));
    assert_eq!(many, Err(IntegrityError::TooMany("objects")));
}

#[test]
fn values_have_their_canonical_form() {
    let made = subject_lines(|subject| {
        subject["name2"] = json!([
            "a\u{7f}\"\\\n\u{1}", true, 7, 7.0, 2.5, 1e21, -0.0,
            {"@value": "hallo", "@language": "de-AT"}
        ]);
        subject["when"] = "2023-01-01".into();
        subject["data"] = json!({"b": 1.50, "a": ["x", {"\u{fb33}": 1, "\u{1f600}": 2}]});
        subject["labels"] = json!({"en": "hello"});
    });
    let xsd = "http://www.w3.org/2001/XMLSchema#";
    let name = "<did:example:subject> <https://example.org/name>";
    let of = |name: &str| format!("<did:example:subject> <https://example.org/{name}>");
    let mut wanted = vec![
        format!(r#"{name} "a\u007F\"\\\n\u0001" ."#),
        format!(r#"{name} "true"^^<{xsd}boolean> ."#),
        format!(r#"{name} "7"^^<{xsd}integer> ."#),
        format!(r#"{name} "2.5E0"^^<{xsd}double> ."#),
        format!(r#"{name} "1.0E21"^^<{xsd}double> ."#),
        format!(r#"{name} "0"^^<{xsd}integer> ."#),
        format!(r#"{name} "hallo"@de-at ."#),
        format!(r#"{} "2023-01-01"^^<{xsd}date> ."#, of("when")),
        format!(
            "{} \"{{\\\"a\\\":[\\\"x\\\",{{\\\"\u{1f600}\\\":2,\\\"\u{fb33}\\\":1}}],\\\"b\\\":1.5}}\"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON> .",
            of("data")
        ),
        format!(r#"{} "hello"@en ."#, of("label")),
    ];
    wanted.sort();
    assert_eq!(made, wanted);
}

#[test]
fn lists_keep_their_order() {
    let made = |list: Value| lines(&credential(|subject| subject["list"] = list)).unwrap();
    assert_ne!(made(json!(["a", "b"])), made(json!(["b", "a"])));
    assert!(made(json!(["a"])).contains("rdf-syntax-ns#first"));
}

#[test]
fn the_contexts_of_several_types_apply_together() {
    let mut document = credential(|subject| subject["type"] = json!(["Person", "Child"]));
    document["@context"][1]["@protected"] = false.into();
    document["@context"][1]["Person"] = json!({
        "@id": "https://example.org/Person",
        "@context": {"born": "https://example.org/born"},
    });
    document["@context"][1]["Child"] = json!({
        "@id": "https://example.org/Child",
        "@context": {"school": "https://example.org/school"},
    });
    document["credentialSubject"]["born"] = "2020".into();
    document["credentialSubject"]["school"] = "first".into();
    let made = lines(&document).unwrap();
    for term in ["born", "school", "Person", "Child"] {
        assert!(
            made.contains(&format!("https://example.org/{term}")),
            "{made}"
        );
    }
    assert!(!made.contains(UNDEFINED), "{made}");
    // Another context defines the type's context differently.
    document["@context"]
        .as_array_mut()
        .unwrap()
        .push(json!({"Child": {
            "@id": "https://example.org/Child",
            "@context": {"school": "https://example.org/other"},
        }}));
    assert_eq!(
        lines(&document).unwrap_err().code(),
        "integrity-transformation"
    );
}

#[test]
fn a_statement_that_looks_like_an_added_one_is_not_taken_out() {
    let mut document = credential(|_| {});
    document["@context"][1]["u"] = json!({"@id": "undefined:/", "@prefix": true});
    document["credentialSubject"]["type"] = json!(["Person", "u:/joined/0"]);
    assert_eq!(
        lines(&document).unwrap_err().code(),
        "integrity-transformation"
    );
    document["credentialSubject"]["type"] = format!("{UNDEFINED}joined/0").into();
    assert_eq!(lines(&document).unwrap_err().code(), "integrity-data-loss");
}

#[test]
fn types_are_expanded_by_the_contexts_and_one_without_a_meaning_is_an_error() {
    let contexts = Contexts::bundled();
    let types = |document: Value| -> Result<Vec<String>, IntegrityError> {
        let mut types = expanded_types(document.as_object().unwrap(), &contexts)?;
        types.sort();
        Ok(types)
    };
    let degree = "https://example.org/Degree";
    let general = "https://www.w3.org/2018/credentials#VerifiableCredential";
    let context = json!([V2, {"Degree": degree}]);
    let both = json!({
        "@context": context, "type": ["VerifiableCredential", "Degree"], "issuer": 7, "unknown": {},
    });
    assert_eq!(types(both), Ok(vec![degree.to_owned(), general.to_owned()]));
    let one = json!({"@context": context, "type": "VerifiableCredential"});
    assert_eq!(types(one), Ok(vec![general.to_owned()]));
    let undefined = json!({"@context": [V2], "type": ["VerifiableCredential", "Degree"]});
    assert!(matches!(types(undefined), Err(IntegrityError::DataLoss(_))));
    let untyped = json!({"@context": [V2]});
    assert_eq!(types(untyped), Err(IntegrityError::Malformed("type")));
    let unknown = json!({"@context": "https://example.org/v1", "type": "Degree"});
    assert!(matches!(
        types(unknown),
        Err(IntegrityError::UnknownContext(_))
    ));
}
