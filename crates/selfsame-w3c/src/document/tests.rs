use serde_json::json;

use super::*;

const V1: &str = "https://www.w3.org/2018/credentials/v1";
const V2: &str = "https://www.w3.org/ns/credentials/v2";

fn document() -> Value {
    json!({
        "@context": [V2, {"degree": "https://office.example/terms#degree"}],
        "id": "urn:uuid:58172aac-d8ba-11ed-83dd-0b3aef56cc33",
        "type": ["VerifiableCredential"],
        "issuer": {"id": "did:example:issuer", "name": "Example Office"},
        "name": [{"@value": "Zeugnis", "@language": "de"}],
        "validFrom": "2026-01-01T00:00:00Z",
        "validUntil": "2027-01-01T00:00:00+01:00",
        "credentialSubject": {"id": "did:example:holder", "degree": "Bachelor"},
        "credentialSchema": {"id": "https://office.example/schema", "type": "JsonSchema"},
        "relatedResource": [{"id": "https://office.example/a", "digestSRI": "sha256-a"}],
    })
}

fn judged(document: &Value) -> Result<VcModel, VcProblem> {
    credential(document.as_object().unwrap())
}

#[test]
fn a_whole_credential_of_either_model_is_taken() {
    assert_eq!(judged(&document()), Ok(VcModel::V2));
    let old = json!({
        "@context": [V1, "https://w3id.org/security/data-integrity/v2"],
        "type": "VerifiableCredential",
        "issuer": "did:example:issuer",
        "issuanceDate": "2026-01-01T00:00:00Z",
        "credentialSubject": [{"id": "did:example:holder"}],
        "evidence": [{"type": ["Seen"]}],
    });
    assert_eq!(judged(&old), Ok(VcModel::V1));
}

#[test]
fn each_rule_of_the_data_model_has_a_document_that_breaks_it() {
    let cases: [(&str, Value, &str); 20] = [
        (
            "@context",
            json!(["https://office.example/a", V2]),
            "first context",
        ),
        (
            "@context",
            json!([V2, "https://office.example/a"]),
            "not known here",
        ),
        ("type", json!(["OtherCredential"]), "`type`"),
        ("type", json!(["VerifiableCredential", 1]), "`type`"),
        ("id", json!(["urn:example:1"]), "`id`"),
        ("id", json!("not a url"), "`id`"),
        ("issuer", json!("Example Office"), "`issuer`"),
        ("issuer", json!({"name": "Example Office"}), "`issuer`"),
        (
            "issuer",
            json!({"id": "did:example:1", "name": 1}),
            "`name`",
        ),
        ("credentialSubject", json!({}), "`credentialSubject`"),
        (
            "credentialSubject",
            json!([{"degree": "a"}, {}]),
            "`credentialSubject`",
        ),
        ("credentialSubject", json!({"id": 1}), "`credentialSubject`"),
        ("validFrom", json!("2026-01-01T00:00:00"), "a date"),
        ("validFrom", json!("2028-01-01T00:00:00Z"), "end before"),
        (
            "credentialStatus",
            json!({"id": "urn:example:1"}),
            "`credentialStatus`",
        ),
        (
            "credentialSchema",
            json!({"type": "JsonSchema"}),
            "`credentialSchema`",
        ),
        ("evidence", json!("seen"), "`evidence`"),
        ("name", json!({"@value": "a", "other": "b"}), "`name`"),
        (
            "relatedResource",
            json!({"id": "https://office.example/a"}),
            "`relatedResource`",
        ),
        (
            "relatedResource",
            json!([
                {"id": "https://office.example/a", "digestSRI": "sha256-a"},
                {"id": "https://office.example/a", "digestSRI": "sha256-b"},
            ]),
            "`relatedResource`",
        ),
    ];
    for (name, value, broken) in cases {
        let mut document = document();
        document[name] = value;
        let problem = judged(&document).unwrap_err();
        assert!(problem.detail.contains(broken), "{name}: {problem:?}");
        assert_eq!(problem.title(), "MALFORMED_VALUE_ERROR");
    }
}

#[test]
fn a_credential_without_what_its_model_requires_is_refused() {
    let mut absent = document();
    absent.as_object_mut().unwrap().remove("issuer");
    assert!(judged(&absent).is_err());
    let mut undated = document();
    undated["@context"] = json!([V1]);
    let problem = judged(&undated).unwrap_err();
    assert!(problem.detail.contains("issuanceDate"), "{problem:?}");
}

#[test]
fn a_presentation_says_what_it_is_and_who_holds_it() {
    let of = |kind: &str, holder: Value| {
        let document = json!({"@context": [V2], "type": [kind], "holder": holder});
        presentation(document.as_object().unwrap())
    };
    let kind = "VerifiablePresentation";
    assert_eq!(of(kind, json!("did:example:holder")), Ok(VcModel::V2));
    assert!(of(kind, json!("somebody")).is_err());
    assert!(of("VerifiableCredential", json!("did:example:holder")).is_err());
}
