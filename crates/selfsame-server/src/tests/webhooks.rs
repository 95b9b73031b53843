//! The API of webhooks.

use http::{Method, StatusCode};
use serde_json::Value;

use super::instance::{Answered, Instance, call};
use super::organisations::with_acme;

async fn asked(instance: &Instance, method: Method, path: &str, body: &str) -> Answered {
    let asked = call(method, path).bearer(&instance.token);
    let asked = match body {
        "" => asked,
        body => asked.json(body),
    };
    instance.call(asked).await
}

fn read(answered: &Answered) -> Value {
    serde_json::from_str(&answered.body).unwrap()
}

const NEW: &str = r#"{"url":"https://receiver.example/hook","types":["credential.issued"]}"#;

#[tokio::test]
async fn a_webhook_is_created_listed_changed_and_removed_and_its_secret_shown_once() {
    let instance = Instance::start().await;
    let created = asked(&instance, Method::POST, "/api/webhooks", NEW).await;
    assert_eq!(created.status, StatusCode::CREATED);
    let created = read(&created);
    let secret = created["secret"].as_str().unwrap();
    assert!(secret.starts_with("whsec_"));
    let id = created["id"].as_str().unwrap();
    let listed = asked(&instance, Method::GET, "/api/webhooks", "").await;
    assert_eq!(read(&listed)["items"][0]["id"], id);
    assert!(!listed.body.contains(secret));

    let path = format!("/api/webhooks/{id}");
    let rotated = asked(&instance, Method::POST, &format!("{path}/rotate"), "").await;
    assert_ne!(read(&rotated)["secret"], secret);
    let changed = asked(&instance, Method::PATCH, &path, r#"{"enabled":false}"#).await;
    assert_eq!(
        read(&changed)["disabled_because"],
        "the operator disabled it"
    );
    assert_eq!(read(&changed)["types"][0], "credential.issued");
    let tested = asked(&instance, Method::POST, &format!("{path}/test"), "").await;
    assert_eq!(tested.status, StatusCode::CONFLICT);
    let failed = format!("{path}/deliveries?state=failed");
    let failed = asked(&instance, Method::GET, &failed, "").await;
    assert_eq!(read(&failed)["items"], serde_json::json!([]));

    let removed = asked(&instance, Method::DELETE, &path, "").await;
    assert_eq!(removed.status, StatusCode::NO_CONTENT);
    let gone = asked(&instance, Method::GET, &path, "").await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_webhook_at_an_address_that_points_inward_is_refused_with_what_to_do() {
    let instance = Instance::start().await;
    for url in [
        "http://receiver.example/",
        "https://127.0.0.1/",
        "https://192.168.1.7/",
    ] {
        let body = format!(r#"{{"url":"{url}"}}"#);
        let refused = asked(&instance, Method::POST, "/api/webhooks", &body).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{url}");
        assert!(refused.body.contains("[trust] origins"), "{}", refused.body);
    }
}

/// The events that wait for a webhook, once there is one.
async fn waiting(instance: &Instance, path: &str) -> Vec<Value> {
    let pending = format!("{path}/deliveries?state=pending");
    for _ in 0..6_000 {
        let listed = read(&asked(instance, Method::GET, &pending, "").await);
        let items = listed["items"].as_array().unwrap();
        if !items.is_empty() {
            return items.clone();
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("nothing waits at {path}");
}

#[tokio::test]
async fn the_webhooks_of_an_organisation_are_its_own_and_are_sent_its_events_alone() {
    let instance = with_acme().await;
    let new = r#"{"url":"https://receiver.example/hook","types":["offer.created"]}"#;
    let offer = r#"{"type":"immunization","examples":true}"#;
    let mut paths = Vec::new();
    for organisation in ["", "/o/acme"] {
        let all = format!("{organisation}/api/webhooks");
        let created = read(&asked(&instance, Method::POST, &all, new).await);
        let listed = read(&asked(&instance, Method::GET, &all, "").await);
        assert_eq!(listed["items"].as_array().unwrap().len(), 1, "{listed}");
        paths.push(format!("{all}/{}", created["id"].as_str().unwrap()));
    }
    let mut offers = Vec::new();
    for organisation in ["", "/o/acme"] {
        let path = format!("{organisation}/api/issuer/offers");
        let made = read(&asked(&instance, Method::POST, &path, offer).await);
        offers.push(made["id"].clone());
    }
    for (path, offer) in paths.iter().zip(&offers) {
        let waiting = waiting(&instance, path).await;
        let subjects: Vec<&Value> = waiting.iter().map(|one| &one["subject"]).collect();
        assert_eq!(subjects, [offer], "{path}");
    }
    let other = paths[1].trim_start_matches("/o/acme");
    let unknown = asked(&instance, Method::GET, other, "").await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
}
