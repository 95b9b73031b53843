//! AnonCreds as W3C credentials: issued in that form, held as any AnonCreds credential, and presented in either form.

use http::StatusCode;
use serde_json::{Value, json};

use super::connecting::connected;
use super::refusing::{REQUESTS, is_refused, none_is_asked};
use super::study::{Published, attributes, awaited, published};
use super::world::{Agent, World};

/// A clinic, a patient who answers by themselves, and a border.
async fn three() -> World {
    World::of_holder("patient", &["clinic", "patient", "border"]).await
}

/// The clinic's exchange of a vaccination, once the patient holds it.
async fn issued(clinic: &Agent, patient: &Agent, published: &Published) -> Value {
    let [ours, _] = connected(clinic, patient).await;
    let body = json!({
        "connection_id": ours,
        "credential_preview": {
            "@type": "issue-credential/2.0/credential-preview",
            "attributes": attributes(),
        },
        "filter": {"vc_di": {"cred_def_id": published.definition}},
    });
    let sent = clinic
        .post("/issue-credential-2.0/send", &body.to_string())
        .await;
    let id = sent["cred_ex_id"].as_str().unwrap();
    let path = format!("/issue-credential-2.0/records/{id}");
    let ended = |found: &Value| {
        let record = &found["cred_ex_record"];
        assert_eq!(record["error_msg"], Value::Null, "{record}");
        record["state"] == "done"
    };
    clinic.until(&path, ended).await
}

/// A definition that asks for a manufacturer and for a vaccination since a day.
fn asking(since: u32, status: &str) -> Value {
    json!({
        "id": "vaccination",
        "format": {"di_vc": {
            "proof_type": ["DataIntegrityProof"],
            "cryptosuite": ["anoncreds-2023"],
        }},
        "input_descriptors": [{
            "id": "card",
            "schema": [{"uri": "https://www.w3.org/2018/credentials#VerifiableCredential"}],
            "constraints": {
                "limit_disclosure": "required",
                "statuses": {"active": {"directive": status}},
                "fields": [
                    {"path": ["$.credentialSubject.manufacturer"],
                        "filter": {"type": "string", "const": "Pfizer"}},
                    {"path": ["$.credentialSubject.date"], "predicate": "required",
                        "filter": {"type": "number", "minimum": since}},
                ],
            },
        }],
    })
}

/// The border's exchange once the patient has answered, or the patient's if they can't.
async fn asked(border: &Agent, patient: &Agent, format: &str, request: &Value) -> Value {
    let [ours, theirs] = connected(border, patient).await;
    let body = json!({"connection_id": ours, "presentation_request": {format: request}});
    let path = "/present-proof-2.0/send-request";
    let sent = border.post(path, &body.to_string()).await;
    let path = format!("/present-proof-2.0/records?connection_id={theirs}");
    let answered = awaited(patient, &path, |one| {
        one["state"] != "request-received" || one["error_msg"].is_string()
    });
    let answered = answered.await;
    if answered["error_msg"].is_string() {
        return answered;
    }
    let id = sent["pres_ex_id"].as_str().unwrap();
    let path = format!("/present-proof-2.0/records/{id}");
    border.until(&path, |one| one["state"] == "done").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_w3c_credential_is_issued_held_presented_and_revoked() {
    let world = three().await;
    let [clinic, patient, border] = &world.agents[..] else {
        panic!("three agents");
    };
    let published = published(clinic, true).await;
    let ended = issued(clinic, patient, &published).await;
    let record = &ended["cred_ex_record"];
    let form = &record["by_format"]["cred_issue"]["vc_di"]["credential"];
    assert_eq!(form["credentialSubject"]["date"], 20_211_205, "{form}");
    assert_eq!(form["proof"][0]["cryptosuite"], "anoncreds-2023");
    assert_eq!(
        form["proof"][0]["verificationMethod"],
        json!(published.definition)
    );
    assert!(ended["vc_di"]["cred_rev_id"].is_string(), "{ended}");

    // It is the credential that is held in AnonCreds' own formats.
    let held = patient.get("/credentials").await;
    assert_eq!(held["results"][0]["attrs"]["date"], "20211205", "{held}");
    let own = json!({
        "name": "own", "version": "1.0", "requested_predicates": {},
        "requested_attributes": {"one": {"name": "vaccine",
            "restrictions": [{"cred_def_id": published.definition}]}},
    });
    let proof = asked(border, patient, "anoncreds", &own).await;
    assert_eq!(proof["verified"], "true", "{proof}");

    let definition = json!({"presentation_definition": asking(20_210_901, "required")});
    let proof = asked(border, patient, "dif", &definition).await;
    assert_eq!(proof["verified"], "true", "{proof}");
    let shown = &proof["by_format"]["pres"]["dif"];
    let subject = &shown["verifiableCredential"][0]["credentialSubject"];
    assert_eq!(*subject, json!({"manufacturer": "Pfizer", "date": true}));
    let map = &shown["presentation_submission"]["descriptor_map"][0];
    assert_eq!(
        (&map["id"], &map["format"]),
        (&json!("card"), &json!("di_vc"))
    );

    let body = json!({"cred_ex_id": record["cred_ex_id"], "publish": true});
    clinic.post("/revocation/revoke", &body.to_string()).await;
    let refused = asked(border, patient, "dif", &definition).await;
    let why = refused["error_msg"].as_str().unwrap_or_default();
    assert!(why.contains("revoked"), "{refused}");
    let unasked = json!({"presentation_definition": asking(20_210_901, "disallowed")});
    let proof = asked(border, patient, "dif", &unasked).await;
    assert_eq!(proof["verified"], "true", "{proof}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_credential_meets_is_not_presented() {
    let world = three().await;
    let [clinic, patient, border] = &world.agents[..] else {
        panic!("three agents");
    };
    issued(clinic, patient, &published(clinic, false).await).await;
    let mut other = asking(20_210_901, "disallowed");
    let filter = "/input_descriptors/0/constraints/fields/0/filter/const";
    *other.pointer_mut(filter).unwrap() = json!("Moderna");
    for definition in [asking(20_220_101, "disallowed"), other] {
        let request = json!({"presentation_definition": definition});
        let refused = asked(border, patient, "dif", &request).await;
        let why = refused["error_msg"].as_str().unwrap_or_default();
        assert!(why.contains("card"), "{refused}");
    }
}

#[tokio::test]
async fn definitions_and_filters_that_can_not_be_met_are_refused() {
    let world = three().await;
    let [clinic, patient, border] = &world.agents[..] else {
        panic!("three agents");
    };
    let [ours, _] = connected(border, patient).await;
    let mut suite = asking(1, "required");
    suite["format"]["di_vc"]["cryptosuite"] = json!(["eddsa-rdfc-2022"]);
    let mut jwt = asking(1, "required");
    jwt["format"] = json!({"jwt_vc": {}});
    none_is_asked(border, &ours, [suite, jwt]).await;
    let body = json!({"connection_id": ours, "presentation_request": {"vc_di": {"a": 1}}});
    is_refused(border, REQUESTS, &body, StatusCode::BAD_REQUEST).await;
    let [ours, _] = connected(clinic, patient).await;
    let body = json!({
        "connection_id": ours,
        "credential_preview": {"attributes": attributes()},
        "filter": {"vc_di": {"cred_def_id": "did:example:1"}},
    });
    let path = "/issue-credential-2.0/send";
    is_refused(clinic, path, &body, StatusCode::BAD_REQUEST).await;
}
