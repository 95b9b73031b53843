use serde_json::json;

use super::*;

fn body(value: Value) -> CallBody {
    CallBody(value.to_string().into())
}

fn titles<T>(calls: impl IntoIterator<Item = Result<T, VcProblem>>) -> Vec<&'static str> {
    let problems = calls.into_iter().map(Result::err);
    problems
        .map(|one| one.map_or("none", |one| one.title()))
        .collect()
}

#[test]
fn a_credential_is_issued_as_it_is_given_with_the_options_of_the_call() {
    let order = body(json!({
        "credential": {"type": "VerifiableCredential"},
        "options": {
            "type": "DataIntegrityProof",
            "cryptosuite": "ecdsa-jcs-2019",
            "credentialId": "urn:example:1",
            "credentialStatus": {"type": "BitstringStatusListEntry"},
        },
    }));
    let order = order.issue().unwrap();
    assert_eq!(order.credential["type"], "VerifiableCredential");
    assert_eq!(order.suite, Some(Cryptosuite::EcdsaJcs2019));
    assert_eq!(order.id.as_deref(), Some("urn:example:1"));
    assert!(order.has_status);
    let bare = body(json!({"credential": {}})).issue().unwrap();
    assert!(bare.suite.is_none() && bare.id.is_none() && !bare.has_status);
}

#[test]
fn an_option_that_is_not_known_is_refused_with_its_code() {
    let options = |options: Value| body(json!({"credential": {}, "options": options})).issue();
    let unknown = "UNKNOWN_OPTION_PROVIDED";
    let malformed = "MALFORMED_VALUE_ERROR";
    assert_eq!(
        titles([
            options(json!({"mandatoryPointers": ["/issuer"]})),
            options(json!({"created": "2026-01-01T00:00:00Z"})),
            body(json!({"credential": {}, "other": 1})).issue(),
            options(json!({"cryptosuite": "bbs-2023"})),
            options(json!({"type": "Ed25519Signature2020"})),
            options(json!({"credentialStatus": true})),
            options(json!({"credentialId": ""})),
            options(json!({"credentialId": "a".repeat(513)})),
            options(json!([])),
            body(json!({"credential": "a"})).issue(),
            body(json!({})).issue(),
        ]),
        [
            unknown, unknown, unknown, malformed, malformed, malformed, malformed, malformed,
            malformed, malformed, malformed,
        ]
    );
}

#[test]
fn a_body_is_one_object_within_bounds() {
    let deep = format!("{}{}", "[".repeat(40), "]".repeat(40));
    let twice = r#"{"credential": {}, "credential": {}}"#;
    let long = format!(r#"{{"credential": {{"a": "{}"}}}}"#, "a".repeat(BODY_MAX));
    for text in ["", "[]", "{", &deep, twice, &long] {
        let problem = CallBody(text.to_owned().into()).issue().unwrap_err();
        assert_eq!(problem.title(), "PARSING_ERROR");
    }
}

#[test]
fn a_challenge_is_made_without_a_body_or_an_empty_one() {
    assert!(CallBody(Bytes::new()).nothing().is_ok());
    assert!(body(json!({})).nothing().is_ok());
    assert!(body(json!({"a": 1})).nothing().is_err());
}

#[test]
fn a_status_is_named_by_its_purpose() {
    let order = |purpose: &str, status: Value| {
        body(json!({
            "credentialId": "urn:example:1",
            "credentialStatus": {"type": "BitstringStatusListEntry", "statusPurpose": purpose},
            "status": status,
        }))
        .status()
    };
    let revoked = order("revocation", json!(true)).unwrap();
    assert_eq!(revoked.purpose, StatusPurpose::Revocation);
    assert!(revoked.is_set);
    assert!(order("suspension", json!(false)).is_ok());
    assert!(order("message", json!(true)).is_err());
    assert!(order("revocation", json!("1")).is_err());
}

#[test]
fn a_presentation_is_signed_for_authentication_alone() {
    let order = |options: Value| body(json!({"presentation": {}, "options": options})).present();
    let bound = order(json!({"challenge": "a", "domain": "b", "proofPurpose": "authentication"}));
    let bound = bound.unwrap();
    assert_eq!(bound.challenge.as_deref(), Some("a"));
    assert_eq!(bound.domain.as_deref(), Some("b"));
    assert!(order(json!({"proofPurpose": "assertionMethod"})).is_err());
    assert!(order(json!({"created": "2026-01-01T00:00:00Z"})).is_err());
}

#[test]
fn what_is_verified_is_a_credential_or_a_presentation_with_or_without_a_proof() {
    let credential =
        json!({"verifiableCredential": {"proof": {}}, "options": {"returnResults": true}});
    let credential = body(credential).verify_credential().unwrap();
    assert!(credential.shows_results && credential.shows_problems && !credential.shows_credential);
    let of = |value: Value| body(value).verify_presentation();
    let bound = of(json!({"verifiablePresentation": {}, "options": {"challenge": "a"}}));
    assert_eq!(bound.unwrap().demand.unwrap().challenge, "a");
    let unsigned = of(json!({"presentation": {"verifiableCredential": {"proof": {}}}}));
    assert!(unsigned.unwrap().demand.is_none());
    for wrong in [
        json!({}),
        json!({"presentation": {}}),
        json!({"presentation": {}, "verifiablePresentation": {}}),
        json!({"verifiablePresentation": {}, "options": {"domain": "b"}}),
        json!({"verifiablePresentation": {}, "options": {"challenge": 1}}),
        json!({"verifiablePresentation": {}, "options": {"checks": ["proof"]}}),
        json!({"verifiableCredential": {}}),
    ] {
        assert!(of(wrong).is_err());
    }
}
