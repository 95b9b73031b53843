//! The audit trail as the server writes it.

use http::{Method, StatusCode};
use selfsame_app::config::Roles;
use selfsame_audit::verify;
use selfsame_core::organisation::OrganisationName;
use selfsame_operators::{OperatorRole, Right};
use serde_json::{Value, json};

use super::instance::{Answered, Instance, call, get, post};
use super::organisations::with_acme;
use crate::router::{groups, openapi};
use selfsame_pages::audit::acts as words;

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
            &OrganisationName::main(),
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

/// The acts on a page of the trail, the newest first.
async fn acts(instance: &Instance, cookie: &str, query: &str) -> Vec<String> {
    let answer = instance
        .call(get(&format!("/audit{query}")).cookie(cookie))
        .await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    let rows = answer.body.split("data-label=\"What\"").skip(1);
    let words = |row: &str| {
        let words = row.split("<b>").nth(1).unwrap_or_default();
        words.split('<').next().unwrap_or_default().to_owned()
    };
    rows.map(words).collect()
}

#[tokio::test]
async fn the_page_tells_acts_in_words_and_finds_them_by_each_filter() {
    let instance = Instance::start().await;
    let new = json!({"type": "immunization", "examples": true}).to_string();
    let offer = post("/api/issuer/offers")
        .bearer(&instance.token)
        .json(&new);
    read(&instance.call(offer).await);
    let unknown = call(Method::DELETE, "/api/keys/0123456789").bearer(&instance.token);
    instance.call(unknown).await;
    let main = OrganisationName::main();
    let auditor = instance.person_with(&main, OperatorRole::Auditor).await;
    let beyond = post("/api/issuer/offers").cookie(&auditor).json(&new);
    assert_eq!(instance.call(beyond).await.status, StatusCode::FORBIDDEN);
    let (offer, revoke) = ("Makes an offer", "Revokes an API key at once");
    let all = acts(&instance, &auditor, "").await;
    assert_eq!(all.len(), 3, "{all:?}");
    assert!(
        all[0].starts_with(offer) && all[1] == revoke && all[2] == all[0],
        "{all:?}"
    );
    let count = async |query: &str| acts(&instance, &auditor, query).await.len();
    assert_eq!(count("?actor=auditor%40main.example").await, 1);
    assert_eq!(count("?act=DELETE&actor=&object=&since=&until=").await, 1);
    assert_eq!(count("?object=01234567").await, 1);
    let today = instance.app.clock().now().rfc3339();
    let day = &today[..10];
    assert_eq!(count(&format!("?since={day}&until={day}")).await, 3);
    assert_eq!(count("?until=2000-01-01").await, 0);
    let page = instance
        .call(get("/audit?limit=1&act=POST").cookie(&auditor))
        .await;
    let next = page.body.split("href=\"/audit?").nth(1).unwrap();
    let next = next
        .split('"')
        .next()
        .unwrap()
        .replace("&#38;", "&")
        .replace("&amp;", "&");
    assert!(next.starts_with("act=POST&after="), "{next}");
    assert!(page.body.contains("right missing") && page.body.contains("from <span"));
}

#[tokio::test]
async fn the_download_is_the_whole_trail_and_verifies_against_the_head_of_the_page() {
    let instance = Instance::start().await;
    let main = OrganisationName::main();
    let auditor = instance.person_with(&main, OperatorRole::Auditor).await;
    // More links than one part of an export has.
    for _ in 0..205 {
        let unknown = call(Method::DELETE, "/api/keys/0123456789").bearer(&instance.token);
        instance.call(unknown).await;
        instance.app.trail().chain().await.unwrap();
    }
    let download = instance.call(get("/audit/export").cookie(&auditor)).await;
    let disposition = download.header("content-disposition");
    assert_eq!(disposition, "attachment; filename=\"audit-main.ndjson\"");
    assert_eq!(download.header("content-type"), "application/x-ndjson");
    let verified = verify(download.body.as_bytes(), &[]).unwrap();
    assert_eq!(verified.head.entries, 205);
    instance.app.anchor_trails().await.unwrap();
    let page = instance.call(get("/audit").cookie(&auditor)).await;
    let hash = verified.head.hash.to_string();
    assert!(
        page.body.contains(&hash) && !page.body.contains("none yet"),
        "{}",
        page.body
    );
}

#[test]
fn each_form_has_the_words_of_its_operation_and_is_an_address() {
    let groups = groups(&Roles::ALL);
    let routes = groups.iter().flat_map(|group| &group.routes);
    let acts: Vec<String> = routes
        .map(|route| format!("{} {}", route.method, route.path))
        .collect();
    let known = words::all(openapi::text());
    for (form, _) in words::SAME.iter().chain(&words::OWN) {
        assert!(known.contains_key(*form), "{form}");
        let is_of_the_instance = words::OF_THE_INSTANCE
            .iter()
            .any(|act| form.starts_with(act));
        assert!(
            is_of_the_instance || acts.iter().any(|act| act == form),
            "{form}"
        );
    }
    assert_eq!(known["POST /people/invitations"], "Invites a person");
}

#[test]
fn each_form_of_those_who_work_for_an_organisation_has_words() {
    let groups = groups(&Roles::ALL);
    let theirs = groups
        .iter()
        .filter(|group| group.needed(&Method::POST).is_some());
    let routes = theirs.flat_map(|group| &group.routes);
    let forms = routes.filter(|route| route.method == Method::POST);
    let acts: Vec<_> = forms.map(|form| format!("POST {}", form.path)).collect();
    let known = words::all(openapi::text());
    let without: Vec<_> = acts
        .iter()
        .filter(|act| !known.contains_key(*act))
        .collect();
    assert!(
        acts.len() > 30 && without.is_empty(),
        "{without:?} of {acts:?}"
    );
}
