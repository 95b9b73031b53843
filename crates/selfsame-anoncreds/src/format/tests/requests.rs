//! Presentation requests and answers.

use serde_json::{Value, json};

use super::{rewritten, sample};
use crate::Error;
use crate::format::*;

fn read(value: &Value) -> Result<PresentationRequest, Error> {
    PresentationRequest::from_json(value.to_string().as_bytes())
}

fn request() -> Value {
    json!({
        "name": "n", "version": "1.0", "nonce": "1",
        "requested_attributes": { "a": { "name": "name" } },
        "requested_predicates": { "p": { "name": "age", "p_type": ">=", "p_value": 18 } },
    })
}

fn refusal(change: impl FnOnce(&mut Value)) -> String {
    let mut value = request();
    change(&mut value);
    read(&value).unwrap_err().to_string()
}

#[test]
fn the_requests_of_the_samples_are_read() {
    for name in [
        "revealed",
        "predicates",
        "non_revoked",
        "two_credentials",
        "unrevealed_group_self_attested",
    ] {
        let text = sample(&format!("presentations/{name}.request.json"));
        let request = PresentationRequest::from_json(text.as_bytes()).unwrap();
        let again = PresentationRequest::from_json(request.to_json().unwrap().as_bytes()).unwrap();
        assert_eq!(request, again);
        assert_eq!(request.ver, RequestVersion::V1);
    }
}

#[test]
fn a_request_is_written_with_its_absent_members_as_null() {
    let request = read(&request()).unwrap();
    let written: Value = serde_json::from_str(&request.to_json().unwrap()).unwrap();
    assert_eq!(
        written,
        json!({
            "name": "n", "version": "1.0", "nonce": "1", "ver": "1.0", "non_revoked": null,
            "requested_attributes": {
                "a": { "name": "name", "restrictions": null, "non_revoked": null }
            },
            "requested_predicates": {
                "p": { "name": "age", "p_type": ">=", "p_value": 18, "restrictions": null, "non_revoked": null }
            },
        })
    );
}

#[test]
fn requests_are_refused_with_the_reason() {
    assert!(
        refusal(|r| {
            r["requested_attributes"] = json!({});
            r["requested_predicates"] = json!({});
        })
        .contains("asks for nothing")
    );
    assert!(refusal(|r| r["ver"] = "3.0".into()).contains("neither 1.0 nor 2.0"));
    assert!(refusal(|r| r["nonce"] = "x".into()).contains("nonce"));
    let attribute = |value: Value| refusal(|r| r["requested_attributes"]["a"] = value);
    assert!(attribute(json!({})).contains("names none"));
    assert!(attribute(json!({ "names": [] })).contains("names none"));
    assert!(attribute(json!({ "name": "a", "names": ["b"] })).contains("a name and a group"));
    assert!(attribute(json!({ "name": " " })).contains("has no name"));
    assert!(attribute(json!({ "name": "a", "restrictions": 1 })).contains("not a query"));
    let mixed =
        json!({ "name": "a", "restrictions": [{ "issuer_id": "a" }, { "issuer_did": "b" }] });
    assert!(attribute(mixed).contains("mix"));
    let predicate =
        |member: &str, value: Value| refusal(|r| r["requested_predicates"]["p"][member] = value);
    assert!(predicate("p_type", "=".into()).contains("unknown in its kind"));
    assert!(predicate("p_value", 2_147_483_648_i64.into()).contains("wrong type"));
    assert!(predicate("name", "".into()).contains("has no name"));
    let many: serde_json::Map<_, _> = (0..=limits::MAX_REFERENTS)
        .map(|i| (i.to_string(), json!({ "name": "a" })))
        .collect();
    assert!(refusal(|r| r["requested_attributes"] = many.into()).contains("512 at most"));
}

#[test]
fn a_verifier_of_version_one_does_not_write_qualified_identifiers() {
    let mut value = request();
    value["requested_attributes"]["a"]["restrictions"] = json!([{ "schema_id": "did:example:s" }]);
    let one = read(&value).unwrap();
    assert!(one.check_version().is_err());
    value["ver"] = "2.0".into();
    let two = read(&value).unwrap();
    assert!(two.check_version().is_ok());
    assert_eq!(two.ver, RequestVersion::V2);
}

#[test]
fn only_single_attributes_without_restrictions_may_be_self_attested() {
    let allowed = |value: Value| {
        let attribute: RequestedAttribute = serde_json::from_value(value).unwrap();
        attribute.may_be_self_attested()
    };
    assert!(allowed(json!({ "name": "a" })));
    assert!(allowed(json!({ "name": "a", "restrictions": [] })));
    assert!(allowed(json!({ "name": "a", "restrictions": {} })));
    assert!(!allowed(
        json!({ "name": "a", "restrictions": [{ "schema_name": "s" }] })
    ));
    assert!(!allowed(json!({ "names": ["a"] })));
}

#[test]
fn comparisons_are_those_of_integers() {
    for (sign, holds) in [
        (Comparison::AtLeast, [false, true, true]),
        (Comparison::Above, [false, false, true]),
        (Comparison::AtMost, [true, true, false]),
        (Comparison::Below, [true, false, false]),
    ] {
        for (value, holds) in [4, 5, 6].into_iter().zip(holds) {
            assert_eq!(sign.holds(value, 5), holds, "{value} {} 5", sign.as_str());
        }
    }
}

#[test]
fn samples_keep_their_answers() {
    for name in [
        "revealed",
        "two_credentials",
        "unrevealed_group_self_attested",
    ] {
        let text = sample(&format!("presentations/{name}.json"));
        let presentation: Value = serde_json::from_str(&text).unwrap();
        let answers: RequestedProof =
            serde_json::from_value(presentation["requested_proof"].clone()).unwrap();
        let credentials = presentation["identifiers"].as_array().unwrap().len();
        answers.validate(credentials).unwrap();
        assert_eq!(
            serde_json::to_value(&answers).unwrap(),
            presentation["requested_proof"]
        );
        assert!(answers.validate(0).is_err());
        let identifiers: Vec<CredentialIdentifiers> =
            serde_json::from_value(presentation["identifiers"].clone()).unwrap();
        assert_eq!(
            serde_json::to_value(identifiers).unwrap(),
            presentation["identifiers"]
        );
    }
    rewritten::<Schema>("legacy/schema.json");
}
