//! Saved requests by API.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::instance::{Answered, Instance, call, get, post};
use super::organisations::with_acme;

const SAVED: &str = "/api/verifier/saved-requests";

pub fn check_in() -> Value {
    json!({
        "name": "check-in",
        "title": "Check-in",
        "purpose": "To let you in",
        "origins": ["https://shop.example"],
        "questions": [{"alternatives": [
            {"type": "immunization", "claims": [["vaccine", "name"]]},
            {"type": "machine"},
        ]}],
    })
}

pub async fn sent(instance: &Instance, method: Method, path: &str, body: &Value) -> Answered {
    let sent = call(method, path).bearer(&instance.token);
    instance.call(sent.json(&body.to_string())).await
}

pub async fn read(instance: &Instance, path: &str) -> Value {
    let answer = instance.call(get(path).bearer(&instance.token)).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

pub async fn with_check_in(change: impl Fn(&mut Value)) -> Instance {
    let instance = Instance::start().await;
    let mut definition = check_in();
    change(&mut definition);
    let saved = sent(&instance, Method::POST, SAVED, &definition).await;
    assert_eq!(saved.status, StatusCode::CREATED, "{}", saved.body);
    instance
}

fn of(answer: &Answered) -> Value {
    serde_json::from_str(&answer.body).unwrap()
}

#[tokio::test]
async fn a_request_is_saved_shown_changed_and_deleted() {
    let instance = with_check_in(|_| {}).await;
    let shown = read(&instance, &format!("{SAVED}/check-in")).await;
    assert_eq!(shown["definition"], check_in());
    assert_eq!(shown["link"], "http://127.0.0.1:7380/ask/check-in");
    let again = sent(&instance, Method::POST, SAVED, &check_in()).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    assert!(again.body.contains("is taken"), "{}", again.body);

    let mut changed = check_in();
    changed["title"] = json!("Entry");
    let path = format!("{SAVED}/check-in?version={}", shown["version"]);
    let replaced = sent(&instance, Method::PUT, &path, &changed).await;
    assert_eq!(replaced.status, StatusCode::OK, "{}", replaced.body);
    let late = sent(&instance, Method::PUT, &path, &check_in()).await;
    assert_eq!(late.status, StatusCode::CONFLICT, "{}", late.body);
    let listed = read(&instance, SAVED).await;
    assert_eq!(listed["items"][0]["definition"]["title"], "Entry");

    let path = format!("{SAVED}/check-in");
    for expected in [StatusCode::NO_CONTENT, StatusCode::NOT_FOUND] {
        let deleted = sent(&instance, Method::DELETE, &path, &json!({})).await;
        assert_eq!(deleted.status, expected);
    }
}

#[tokio::test]
async fn a_request_that_cannot_be_asked_is_refused_at_its_place_and_not_saved() {
    let instance = Instance::start().await;
    let mut wrong = check_in();
    wrong["questions"][0]["alternatives"][1]["type"] = json!("no-type");
    let refused = sent(&instance, Method::POST, SAVED, &wrong).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    let place = "questions[0].alternatives[1].type";
    assert!(refused.body.contains(place), "{}", refused.body);
    let mut unspendable = check_in();
    unspendable["spend"] = json!(true);
    let refused = sent(&instance, Method::POST, SAVED, &unspendable).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
    assert!(
        read(&instance, SAVED).await["items"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    let other = sent(
        &instance,
        Method::PUT,
        &format!("{SAVED}/other"),
        &check_in(),
    )
    .await;
    assert_eq!(other.status, StatusCode::BAD_REQUEST, "{}", other.body);
}

#[tokio::test]
async fn a_check_says_what_is_asked_shown_and_answered_and_stores_nothing() {
    let instance = Instance::start().await;
    let mut named = check_in();
    named["policy"] = json!({"trusted_issuers": {"machine": ["did:web:maker.example"]}});
    let path = format!("{SAVED}/check");
    let checked = of(&sent(&instance, Method::POST, &path, &named).await);
    assert_eq!(checked["answerable"], true);
    assert_eq!(
        checked["dcql_query"]["credential_sets"][0]["options"][1][0],
        "machine"
    );
    let claims = checked["credentials"][0]["claims"].as_array().unwrap();
    let labels: Vec<&Value> = claims.iter().map(|claim| &claim["label"]).collect();
    // Everyone who sees the credential sees the disease.
    assert_eq!(labels, ["Disease", "Vaccine"]);
    assert_eq!(
        checked["credentials"][1]["issuers"][0],
        "did:web:maker.example"
    );
    let advice = checked["advice"][0].as_str().unwrap();
    assert!(
        advice.contains("does not trust did:web:maker.example"),
        "{advice}"
    );
    assert!(
        read(&instance, SAVED).await["items"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn a_request_that_is_opened_keeps_its_reference_and_what_was_asked_when_it_was_opened() {
    let instance = with_check_in(|_| {}).await;
    let path = format!("{SAVED}/check-in/open");
    let opened = sent(
        &instance,
        Method::POST,
        &path,
        &json!({"reference": "order-17"}),
    )
    .await;
    assert_eq!(opened.status, StatusCode::CREATED, "{}", opened.body);
    let id = of(&opened)["id"].as_str().unwrap().to_owned();
    let deleted = sent(
        &instance,
        Method::DELETE,
        &format!("{SAVED}/check-in"),
        &json!({}),
    )
    .await;
    assert_eq!(deleted.status, StatusCode::NO_CONTENT);
    let status = read(&instance, &format!("/api/verifier/requests/{id}")).await;
    assert_eq!(
        (&status["reference"], &status["saved"], &status["title"]),
        (&json!("order-17"), &json!("check-in"), &json!("Check-in"))
    );
    let long = json!({"reference": "x".repeat(129)});
    let refused = sent(&instance, Method::POST, &path, &long).await;
    assert_eq!(refused.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_reference_is_short_and_a_request_that_is_switched_off_is_not_opened() {
    let instance = with_check_in(|_| {}).await;
    let path = format!("{SAVED}/check-in/open");
    let long = json!({"reference": "x".repeat(129)});
    let refused = sent(&instance, Method::POST, &path, &long).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    let mut off = check_in();
    off["enabled"] = json!(false);
    let replaced = sent(&instance, Method::PUT, &format!("{SAVED}/check-in"), &off).await;
    assert_eq!(replaced.status, StatusCode::OK);
    let refused = sent(&instance, Method::POST, &path, &json!({})).await;
    assert_eq!(refused.status, StatusCode::GONE, "{}", refused.body);
}

#[tokio::test]
async fn each_organisation_has_its_own_saved_requests() {
    let instance = with_acme().await;
    let acme = "/o/acme/api/verifier/saved-requests";
    let saved = post(acme).bearer(&instance.token);
    let saved = instance.call(saved.json(&check_in().to_string())).await;
    assert_eq!(saved.status, StatusCode::CREATED, "{}", saved.body);
    assert_eq!(
        of(&saved)["link"],
        "http://127.0.0.1:7380/o/acme/ask/check-in"
    );
    assert!(
        read(&instance, SAVED).await["items"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    assert_eq!(
        read(&instance, acme).await["items"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}
