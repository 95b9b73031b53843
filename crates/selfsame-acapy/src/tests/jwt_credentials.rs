//! Credentials that are JWTs, over DIDComm: the types that OpenID4VCI issues are issued, held, presented, verified and
//! revoked by the admin API.

use http::StatusCode;
use serde_json::{Value, json};

use super::connecting::connected;
use super::refusing::{is_refused, none_is_asked};
use super::study::awaited;
use super::world::{Agent, World};

const TYPE: &str = "allergies";

/// A clinic, which has the samples and trusts itself, a patient who answers by itself, and a hospital without trusted issuers.
async fn world() -> World {
    World::of_holder("patient", &["main", "patient", "hospital"]).await
}

/// The clinic's exchange of a credential in this format that the patient has kept.
async fn issued(clinic: &Agent, patient: &Agent, format: &str) -> Value {
    let [ours, _] = connected(clinic, patient).await;
    let body = json!({"connection_id": ours, "format": format, "examples": true});
    let path = format!("/credential-types/{TYPE}/send");
    let sent = clinic.post(&path, &body.to_string()).await;
    let id = sent["cred_ex_id"].as_str().unwrap();
    let path = format!("/issue-credential-2.0/records/{id}");
    let ended = |found: &Value| {
        let record = &found["cred_ex_record"];
        assert_eq!(record["error_msg"], Value::Null, "{record}");
        record["state"] == "done"
    };
    clinic.until(&path, ended).await["cred_ex_record"].clone()
}

/// A definition that asks for the type, whose claims are at this place, and for the patient's name.
fn asking(place: &str) -> Value {
    let subject = match place {
        "vct" => "$.patient.family_name",
        _ => "$.credentialSubject.patient.family_name",
    };
    let filter = match place {
        "vct" => json!({"type": "string", "const": format!("urn:selfsame:credential:{TYPE}")}),
        _ => json!({"type": "array", "contains": {"const": "AllergiesCredential"}}),
    };
    json!({
        "id": "allergies",
        "input_descriptors": [{
            "id": "record",
            "constraints": {"limit_disclosure": "preferred", "fields": [
                {"path": [format!("$.{place}")], "filter": filter},
                {"path": [subject]},
            ]},
        }],
    })
}

/// The verifier's exchange once the patient has answered this definition; the patient's if it presents nothing.
async fn asked(hospital: &Agent, patient: &Agent, definition: &Value) -> Value {
    let [ours, theirs] = connected(hospital, patient).await;
    let body = json!({
        "connection_id": ours,
        "presentation_request": {"dif": {"presentation_definition": definition}},
    });
    let path = "/present-proof-2.0/send-request";
    let sent = hospital.post(path, &body.to_string()).await;
    let path = format!("/present-proof-2.0/records?connection_id={theirs}");
    let answered = awaited(patient, &path, |one| {
        one["thread_id"] == sent["thread_id"] && one["state"] != "request-received"
            || one["error_msg"].is_string()
    });
    let answered = answered.await;
    if answered["state"] == "request-received" {
        return answered;
    }
    let path = format!(
        "/present-proof-2.0/records/{}",
        sent["pres_ex_id"].as_str().unwrap()
    );
    hospital.until(&path, |one| one["state"] == "done").await
}

#[tokio::test]
async fn each_format_is_issued_held_presented_verified_and_revoked() {
    let world = world().await;
    let [clinic, patient, hospital] = &world.agents[..] else {
        panic!("three agents");
    };
    let verifier = clinic;
    for (format, place) in [
        ("dc+sd-jwt", "vct"),
        ("jwt_vc_json", "vc.type"),
        ("vc+jwt", "type"),
    ] {
        let record = issued(clinic, patient, format).await;
        let offered = &record["by_format"]["cred_offer"]["dif"];
        assert_eq!(offered["credential_manifest"]["format"], format, "{record}");
        let held = patient.post("/credentials/w3c", "{}").await;
        let newest = &held["results"][0];
        assert_eq!(newest["format"], format, "{held}");

        let proof = asked(verifier, patient, &asking(place)).await;
        assert_eq!(proof["verified"], "true", "{format}: {proof}");
        let distrusted = asked(hospital, patient, &asking(place)).await;
        assert_eq!(distrusted["verified"], "false", "{format}: {distrusted}");
        let presented = &proof["by_format"]["pres"]["dif"];
        let map = &presented["presentation_submission"]["descriptor_map"];
        assert_eq!(map[0]["format"], format);

        let body = json!({"cred_ex_id": record["cred_ex_id"], "publish": true});
        clinic.post("/revocation/revoke", &body.to_string()).await;
        let began = tokio::time::Instant::now();
        loop {
            let proof = asked(verifier, patient, &asking(place)).await;
            if proof["verified"] == "false" {
                assert!(
                    proof["verified_msgs"].to_string().contains("revoked"),
                    "{proof}"
                );
                break;
            }
            assert!(began.elapsed().as_secs() < 60, "{proof}");
        }
    }
}

#[tokio::test]
async fn a_selective_credential_shows_the_fields_that_are_asked_for_alone() {
    let world = world().await;
    let [clinic, patient, _] = &world.agents[..] else {
        panic!("three agents");
    };
    issued(clinic, patient, "dc+sd-jwt").await;
    let proof = asked(clinic, patient, &asking("vct")).await;
    assert_eq!(proof["verified"], "true", "{proof}");
    let shown = proof["by_format"]["pres"]["dif"]["verifiableCredential"][0].clone();
    let shown = shown.as_str().unwrap();
    let held = patient.post("/credentials/w3c", "{}").await;
    assert!(held["results"][0]["cred_value"]["patient"].is_object());
    // The JWT, the name and what it stands in, and the proof of the key.
    let parts = shown.split('~').count();
    assert!(parts <= 4, "{parts}: {shown}");
}

#[tokio::test]
async fn what_the_patient_does_not_hold_is_not_presented() {
    let world = world().await;
    let [clinic, patient, hospital] = &world.agents[..] else {
        panic!("three agents");
    };
    issued(clinic, patient, "dc+sd-jwt").await;
    let mut other = asking("vct");
    let filter = "/input_descriptors/0/constraints/fields/0/filter/const";
    *other.pointer_mut(filter).unwrap() = json!("urn:selfsame:credential:procedures");
    let answered = asked(hospital, patient, &other).await;
    let why = answered["error_msg"].as_str().unwrap();
    assert!(why.contains("record"), "{why}");
}

#[tokio::test]
async fn definitions_and_offers_that_are_not_understood_are_refused() {
    let world = world().await;
    let [clinic, patient, hospital] = &world.agents[..] else {
        panic!("three agents");
    };
    let [ours, _] = connected(hospital, patient).await;
    let mut pattern = asking("vct");
    let filter = "/input_descriptors/0/constraints/fields/0/filter";
    *pattern.pointer_mut(filter).unwrap() = json!({"pattern": ".*"});
    let empty = json!({"id": "a", "input_descriptors": []});
    none_is_asked(hospital, &ours, [pattern, empty]).await;
    let [ours, _] = connected(clinic, patient).await;
    for (id, body, status) in [
        (
            "allergies",
            json!({"format": "ldp_vc"}),
            StatusCode::BAD_REQUEST,
        ),
        (
            "allergies",
            json!({"format": "vc+jwt", "claims": {"shoe": 44}}),
            StatusCode::BAD_REQUEST,
        ),
        ("absent", json!({"format": "vc+jwt"}), StatusCode::NOT_FOUND),
    ] {
        let mut body = body;
        body["connection_id"] = json!(ours);
        let path = format!("/credential-types/{id}/send");
        is_refused(clinic, &path, &body, status).await;
    }
}
