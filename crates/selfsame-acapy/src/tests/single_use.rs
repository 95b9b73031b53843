//! Credentials that can be used once: a doctor, two pharmacies, and a patient who tries twice.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::connecting::connected;
use super::study::awaited;
use super::world::{Agent, Reply, World};

const HANDLE: &str = "single_use_handle";

/// The doctor's definition of prescriptions that can be used once.
async fn prescriptions(doctor: &Agent) -> String {
    let body = json!({
        "schema_name": "prescription", "schema_version": "1.0",
        "attributes": ["medication", HANDLE],
    });
    let schema = doctor.post("/schemas", &body.to_string()).await;
    let body = json!({"schema_id": schema["schema_id"], "tag": "once"});
    let made = doctor
        .post("/credential-definitions", &body.to_string())
        .await;
    made["credential_definition_id"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Issues a prescription. The doctor names no handle.
async fn prescribed(doctor: &Agent, patient: &Agent, definition: &str) {
    let [doctors, _] = connected(doctor, patient).await;
    let body = json!({
        "connection_id": doctors,
        "credential_preview": {
            "@type": "issue-credential/2.0/credential-preview",
            "attributes": [{"name": "medication", "value": "Pantoprazol"}],
        },
        "filter": {"anoncreds": {"cred_def_id": definition}},
    });
    doctor
        .post("/issue-credential-2.0/send", &body.to_string())
        .await;
    let held = |listed: &Value| !listed["results"].as_array().unwrap().is_empty();
    patient.until("/credentials", held).await;
}

/// The identifier of the verifier's record of a presentation that shows the handle, and whether it is valid.
async fn shown(verifier: &Agent, patient: &Agent, definition: &str) -> (String, Value) {
    let [verifiers, _] = connected(verifier, patient).await;
    let restrictions = json!([{"cred_def_id": definition}]);
    let body = json!({
        "connection_id": verifiers,
        "presentation_request": {"anoncreds": {
            "name": "prescription", "version": "1.0", "requested_predicates": {},
            "requested_attributes": {
                "what": {"name": "medication", "restrictions": restrictions},
                "once": {"name": HANDLE, "restrictions": restrictions},
            },
        }},
    });
    let asked = verifier
        .post("/present-proof-2.0/send-request", &body.to_string())
        .await;
    let path = "/present-proof-2.0/records";
    let done = |one: &Value| one["thread_id"] == asked["thread_id"] && one["state"] == "done";
    let record = awaited(verifier, path, done).await;
    (record["pres_ex_id"].as_str().unwrap().to_owned(), record)
}

async fn used_up(verifier: &Agent, record: &str) -> Reply {
    let path = format!("/present-proof-2.0/records/{record}/use-up");
    verifier.send(Method::POST, &path, "").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prescription_is_used_up_once_by_a_pharmacy_that_the_doctor_admitted() {
    let names = ["doctor", "patient", "pharmacy", "other"];
    let world = World::with(&names, |settings| {
        let agent = &mut settings.terms.settings;
        agent.auto_respond_credential_offer = true;
        agent.auto_store_credential = true;
        agent.auto_respond_presentation_request = true;
        agent.auto_verify_presentation = true;
        agent.preserve_exchange_records = true;
    })
    .await;
    let [doctor, patient, pharmacy, other] = &world.agents[..] else {
        panic!("four agents");
    };
    let definition = prescriptions(doctor).await;
    prescribed(doctor, patient, &definition).await;

    // Who is not admitted can't use it up, and nothing is used.
    let (stranger, _) = shown(other, patient, &definition).await;
    let refused = used_up(other, &stranger).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.body);

    let did = pharmacy.get("/wallet/did/public").await["result"]["did"].clone();
    let body = json!({"did": did, "cred_def_id": definition}).to_string();
    doctor.post("/single-use/delegations", &body).await;
    let (first, record) = shown(pharmacy, patient, &definition).await;
    assert_eq!(record["verified"], "true", "{record}");
    let used = used_up(pharmacy, &first).await.json();
    assert!(used["seq_no"].as_u64().is_some(), "{used}");
    // The same again gives the same transaction.
    assert_eq!(used_up(pharmacy, &first).await.json(), used);

    // A second presentation is refused anywhere.
    for verifier in [pharmacy, other] {
        let (again, record) = shown(verifier, patient, &definition).await;
        assert_eq!(record["verified"], "false", "{record}");
        assert!(
            record["verified_msgs"].to_string().contains("used up at"),
            "{record}"
        );
        let refused = used_up(verifier, &again).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
    }
}

#[tokio::test]
async fn only_the_issuer_of_a_definition_delegates_its_use() {
    let world = World::of(&["doctor", "pharmacy"]).await;
    let [doctor, pharmacy] = &world.agents[..] else {
        panic!("two agents");
    };
    let definition = prescriptions(doctor).await;
    let did = doctor.get("/wallet/did/public").await["result"]["did"].clone();
    let body = json!({"did": did, "cred_def_id": definition}).to_string();
    let refused = pharmacy
        .send(Method::POST, "/single-use/delegations", &body)
        .await;
    assert_eq!(refused.status, StatusCode::NOT_FOUND, "{}", refused.body);
    let body = json!({"did": "did:example:1", "cred_def_id": definition}).to_string();
    let refused = doctor
        .send(Method::POST, "/single-use/delegations", &body)
        .await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
}
