//! The audit trail as the server writes it.

use http::{Method, StatusCode};
use selfsame_audit::verify;
use selfsame_operators::Right;
use serde_json::{Value, json};

use super::instance::{Answered, Instance, call, get, post};
use super::organisations::with_acme;

fn read(answer: &Answered) -> Value {
    assert!(answer.status.is_success(), "{}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

async fn trail(instance: &Instance, path: &str) -> Vec<Value> {
    let asked = get(path).bearer(&instance.token);
    let listed = read(&instance.call(asked).await);
    listed["items"].as_array().unwrap().clone()
}

#[tokio::test]
async fn an_act_and_its_entry_are_one_commit() {
    let instance = Instance::start().await;
    let (before, _) = instance.app.commits();
    let new = json!({"type": "immunization", "examples": true}).to_string();
    let asked = post("/api/issuer/offers")
        .bearer(&instance.token)
        .json(&new);
    let offered = read(&instance.call(asked).await);
    assert_eq!(instance.app.commits().0, before + 1);
    let entries = trail(&instance, "/api/audit").await;
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0]["act"], "POST /api/issuer/offers");
    assert_eq!(entries[0]["actor"]["kind"], "token");
    assert_eq!(entries[0]["result"], "done");
    assert_eq!(entries[0]["from"], "127.0.0.1");
    let text = entries[0].to_string();
    let code = offered["uri"].as_str().unwrap();
    assert!(!text.contains(code) && !text.contains("immunization"));
}

#[tokio::test]
async fn a_refusal_is_written_with_its_reason_and_reading_is_not_written() {
    let instance = Instance::start().await;
    let key = instance
        .app
        .operators()
        .create_key(
            &selfsame_operators::Authority::token(),
            &selfsame_core::organisation::OrganisationName::main(),
            &selfsame_operators::view::NewKey {
                name: "reader".to_owned(),
                scopes: vec![Right::parse("issuer:read").unwrap()],
                days: None,
            },
        )
        .await
        .unwrap();
    let reading = get("/api/issuer/offers").bearer(&key.key);
    assert_eq!(instance.call(reading).await.status, StatusCode::OK);
    assert!(trail(&instance, "/api/audit").await.is_empty());
    let beyond = post("/api/issuer/offers").bearer(&key.key).json("{}");
    assert_eq!(instance.call(beyond).await.status, StatusCode::FORBIDDEN);
    let malformed = post("/api/issuer/offers")
        .bearer(&instance.token)
        .json("{}");
    assert_eq!(
        instance.call(malformed).await.status,
        StatusCode::BAD_REQUEST
    );
    let unknown = call(Method::DELETE, "/api/keys/0123456789").bearer(&instance.token);
    assert_eq!(instance.call(unknown).await.status, StatusCode::NOT_FOUND);
    let entries = trail(&instance, "/api/audit").await;
    let results: Vec<_> = entries.iter().map(|entry| &entry["result"]).collect();
    assert_eq!(results[0]["refused"], "key-unknown");
    assert!(results[1]["refused"].is_string());
    assert_eq!(results[2]["refused"], "right-missing");
    assert_eq!(entries[0]["object"], "0123456789");
    assert_eq!(entries[2]["actor"]["name"], "reader");
}

#[tokio::test]
async fn each_organisation_reads_and_verifies_its_own_trail() {
    let instance = with_acme().await;
    let new = json!({"type": "immunization", "examples": true}).to_string();
    let path = "/o/acme/api/issuer/offers";
    for _ in 0..3 {
        let asked = post(path).bearer(&instance.token).json(&new);
        read(&instance.call(asked).await);
    }
    assert_eq!(trail(&instance, "/o/acme/api/audit").await.len(), 3);
    let own = trail(&instance, "/api/audit").await;
    assert_eq!(own.len(), 1);
    assert_eq!(own[0]["act"], "POST /api/organisations");
    let export = get("/o/acme/api/audit/export").bearer(&instance.token);
    let export = instance.call(export).await;
    let verified = verify(export.body.as_bytes(), &[]).unwrap();
    assert_eq!(verified.head.organisation, "acme");
    assert_eq!(verified.head.entries, 3);
    instance.app.anchor_trails().await.unwrap();
    let anchors = trail(&instance, "/o/acme/api/audit/anchors").await;
    let head = serde_json::to_value(&verified.head).unwrap();
    assert_eq!(anchors.len(), 1);
    assert_eq!(anchors[0]["head"], head);
    instance.app.anchor_trails().await.unwrap();
    assert_eq!(trail(&instance, "/o/acme/api/audit/anchors").await.len(), 1);
}
