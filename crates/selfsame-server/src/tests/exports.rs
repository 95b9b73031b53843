//! Exports of organisations: every line is read, none has a secret, and each caller gets what their rights allow.

use std::collections::BTreeSet;

use http::{Method, StatusCode};
use selfsame_core::organisation::OrganisationName;
use selfsame_operators::OperatorRole;
use serde_json::{Value, json};

use super::instance::{Instance, call, get};
use super::organisations::with_acme;

const PATH: &str = "/api/organisations/acme/export";

fn lines(body: &str) -> Vec<Value> {
    assert!(body.ends_with('\n'));
    let lines = body.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().unwrap()
}

/// The kinds of the lines between the first and the last, after both were checked.
fn kinds(lines: &[Value]) -> BTreeSet<&str> {
    let [header, records @ .., end] = lines else {
        panic!("{lines:?}");
    };
    let format = (&header["kind"], &header["format"], &header["version"]);
    assert_eq!(
        format,
        (&json!("header"), &json!("selfsame-organisation"), &json!(1))
    );
    assert_eq!(end, &json!({"kind": "end", "lines": lines.len()}));
    let records = records.iter();
    records
        .map(|line| {
            assert!(line["record"].is_object(), "{line}");
            line["kind"].as_str().unwrap()
        })
        .collect()
}

async fn posted(instance: &Instance, path: &str, body: Value) -> Value {
    let ask = call(Method::POST, path).bearer(&instance.token);
    let answer = instance.call(ask.json(&body.to_string())).await;
    assert!(answer.status.is_success(), "{path}: {}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

/// Gives `acme` something of each kind; returns the secrets that no export may have.
async fn filled(instance: &Instance) -> Vec<String> {
    let claims = json!([{"path": ["name"], "label": {"en": "Name"}, "kind": "text"}]);
    let draft = json!({"id": "card", "title": {"en": "Card"}, "claims": claims});
    posted(instance, "/o/acme/api/types", draft).await;
    let offer = json!({"type": "immunization", "examples": true});
    let offer = posted(instance, "/o/acme/api/issuer/offers", offer).await;
    let request = json!({"type": "immunization"});
    posted(instance, "/o/acme/api/verifier/requests", request).await;
    let saved = json!({"name": "check-in", "title": "Check-in", "purpose": "To check you in", "questions": [{"alternatives": [{"type": "immunization"}]}]});
    posted(instance, "/o/acme/api/verifier/saved-requests", saved).await;
    let key = json!({"name": "admissions", "scopes": ["issuer:write"]});
    let key = posted(instance, "/o/acme/api/keys", key).await;
    let trusted = json!({"issuer": "did:web:pharmacy.example", "name": "Pharmacy"});
    posted(instance, "/o/acme/api/trust", trusted).await;
    let hook = json!({"url": "https://receiver.example/hook"});
    let hook = posted(instance, "/o/acme/api/webhooks", hook).await;
    let uri = offer["uri"].as_str().unwrap().to_owned();
    let code = uri.split("pre-authorized_code%22%3A%22").nth(1).unwrap();
    let code = code.split('%').next().unwrap().to_owned();
    let secret = |value: &Value| value.as_str().unwrap().to_owned();
    vec![
        secret(&key["key"]),
        secret(&hook["secret"]),
        uri,
        code,
        instance.token.clone(),
    ]
}

#[tokio::test]
async fn an_export_has_a_line_for_each_record_and_no_secret() {
    let instance = with_acme().await;
    let secrets = filled(&instance).await;
    let acme = OrganisationName::parse("acme").unwrap();
    instance.person_with(&acme, OperatorRole::Owner).await;
    for (path, more) in [
        (PATH, "api_key"),
        ("/o/acme/api/export", "api_key"),
        ("/api/export", "audit_entry"),
    ] {
        let answer = instance.call(get(path).bearer(&instance.token)).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.body);
        assert_eq!(answer.header("content-type"), "application/x-ndjson");
        let lines = lines(&answer.body);
        let kinds = kinds(&lines);
        assert!(
            kinds.contains(more) && kinds.contains("organisation"),
            "{kinds:?}"
        );
        if more == "api_key" {
            let all = [
                "api_key",
                "audit_entry",
                "did",
                "organisation",
                "person",
                "request",
                "saved_request",
                "trusted_issuer",
                "type",
                "webhook",
            ];
            assert_eq!(kinds, BTreeSet::from(all), "{path}");
        }
        for secret in &secrets {
            assert!(!answer.body.contains(secret), "{path}: {secret}");
        }
        assert!(!answer.body.contains("whsec_") && !answer.body.contains("PRIVATE"));
    }
}

#[tokio::test]
async fn the_export_of_the_main_organisation_has_its_look() {
    let instance = Instance::start().await;
    let look = json!({"colour": "#1f4e79", "logo": "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4="});
    let change = call(Method::PATCH, "/api/look").bearer(&instance.token);
    let changed = instance.call(change.json(&look.to_string())).await;
    assert_eq!(changed.status, StatusCode::OK, "{}", changed.body);
    let answer = instance.call(get("/api/export").bearer(&instance.token));
    let lines = lines(&answer.await.body);
    let main = lines.iter().find(|line| line["kind"] == "organisation");
    let shown = &main.unwrap()["record"]["look"];
    assert_eq!(shown["colour"], "#1f4e79");
    assert!(
        shown["logo"].as_str().unwrap().contains("/logo/"),
        "{shown}"
    );
}

#[tokio::test]
async fn the_parts_of_an_export_are_the_export() {
    let instance = with_acme().await;
    for number in 0..30 {
        let claims = json!([{"path": ["name"], "label": {"en": "N".repeat(200)}, "kind": "text", "help": {"en": "h".repeat(150)}}]);
        let draft =
            json!({"id": format!("card-{number}"), "title": {"en": "Card"}, "claims": claims});
        posted(&instance, "/o/acme/api/types", draft).await;
    }
    let whole = instance.call(get(PATH).bearer(&instance.token)).await.body;
    let whole = lines(&whole);
    let (mut parts, mut after) = (Vec::new(), String::new());
    loop {
        let path = format!("{PATH}?after={after}");
        let part = instance.call(get(&path).bearer(&instance.token)).await.body;
        let mut part = lines(&part);
        let last = part.pop().unwrap();
        parts.extend(part);
        if last["kind"] == "end" {
            parts.push(last);
            break;
        }
        assert_eq!(last["kind"], "more");
        after = last["after"].as_str().unwrap().to_owned();
    }
    kinds(&parts);
    let types = |all: &[Value]| {
        all.iter()
            .filter(|line| line["kind"] == "type")
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(types(&parts), types(&whole));
    assert_eq!(types(&parts).len(), 30);
    // No part begins where none ends.
    for wrong in ["x", "99.0.", "1"] {
        let path = format!("{PATH}?after={wrong}");
        let refused = instance.call(get(&path).bearer(&instance.token)).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{wrong}");
    }
}

#[tokio::test]
async fn an_export_leaves_out_what_the_caller_may_not_read_and_says_so() {
    let instance = with_acme().await;
    filled(&instance).await;
    let (acme, main) = (
        OrganisationName::parse("acme").unwrap(),
        OrganisationName::main(),
    );
    let issuer = instance.person_with(&acme, OperatorRole::Issuer).await;
    let administrator = instance
        .person_with(&main, OperatorRole::Administrator)
        .await;
    for (cookie, path, left_out) in [
        (
            &issuer,
            "/o/acme/organisation/export",
            vec![
                "request",
                "saved_request",
                "person",
                "api_key",
                "webhook",
                "trusted_issuer",
                "audit_entry",
            ],
        ),
        (
            &administrator,
            PATH,
            vec![
                "type",
                "anoncreds_definition",
                "credential",
                "request",
                "saved_request",
                "webhook",
                "trusted_issuer",
                "audit_entry",
            ],
        ),
    ] {
        let answer = instance.call(get(path).cookie(cookie)).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        let lines = lines(&answer.body);
        let kinds = kinds(&lines);
        let told = lines[0]["left_out"].as_array().unwrap().iter();
        let told: Vec<&str> = told.map(|one| one["kind"].as_str().unwrap()).collect();
        assert_eq!(told, left_out, "{path}");
        assert!(told.iter().all(|kind| !kinds.contains(kind)), "{kinds:?}");
    }
    let refused = instance.call(get(PATH).cookie(&issuer)).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
}
