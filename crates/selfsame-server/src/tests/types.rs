//! Credential types by API and on pages, and the documents that anyone may read.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::instance::{Answered, Instance, call, form, get, post};

fn membership() -> Value {
    json!({
        "id": "membership",
        "title": {"en": "Membership"},
        "card": {"logo": {"uri": "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4="}},
        "claims": [
            {"path": ["number"], "kind": "text", "required": true, "label": {"en": "Number"}},
            {"path": ["level"], "kind": "enumeration", "values": [{"value": "basic"}, {"value": "full"}]},
            {"path": ["address"], "kind": "object", "claims": [
                {"path": ["city"], "kind": "text", "required": true},
                {"path": ["rented"], "kind": "boolean"},
            ]},
            {"path": ["visits"], "kind": "list", "of": {"kind": "object", "claims": [
                {"path": ["day"], "kind": "date"},
                {"path": ["with", "name"], "kind": "text"},
            ]}},
        ],
    })
}

async fn sent(instance: &Instance, path: &str, body: &Value) -> Answered {
    let sent = post(path).bearer(&instance.token).json(&body.to_string());
    instance.call(sent).await
}

async fn published() -> Instance {
    let instance = Instance::start().await;
    let created = sent(&instance, "/api/types", &membership()).await;
    assert_eq!(created.status, StatusCode::CREATED, "{}", created.body);
    let published = sent(&instance, "/api/types/membership/publish", &json!({})).await;
    assert_eq!(published.status, StatusCode::OK, "{}", published.body);
    instance
}

#[tokio::test]
async fn a_type_is_created_shown_published_and_retired_by_api() {
    let instance = published().await;
    let shown = instance
        .call(get("/api/types/membership").bearer(&instance.token))
        .await;
    let shown: Value = serde_json::from_str(&shown.body).unwrap();
    assert_eq!(
        (&shown["state"], &shown["version"]),
        (&json!("published"), &json!(1))
    );
    let advice = shown["advice"][0].as_str().unwrap();
    assert!(
        advice.contains("`card.logo` has no text alternative"),
        "{advice}"
    );
    let again = sent(&instance, "/api/types", &membership()).await;
    assert_eq!(again.status, StatusCode::CONFLICT, "{}", again.body);
    let other = call(Method::PUT, "/api/types/other").bearer(&instance.token);
    let other = instance.call(other.json(&membership().to_string())).await;
    assert_eq!(other.status, StatusCode::BAD_REQUEST, "{}", other.body);
    let retired = sent(&instance, "/api/types/membership/retire", &json!({})).await;
    assert!(retired.body.contains("\"retired\""), "{}", retired.body);
    let offer = json!({"type": "membership", "examples": true});
    let refused = sent(&instance, "/api/issuer/offers", &offer).await;
    assert_eq!(refused.status, StatusCode::GONE, "{}", refused.body);
    let listed = instance
        .call(get("/api/types").bearer(&instance.token))
        .await;
    let listed: Value = serde_json::from_str(&listed.body).unwrap();
    assert_eq!(listed["items"].as_array().unwrap().len(), 8);
}

#[tokio::test]
async fn a_type_that_is_refused_names_the_place_and_nothing_is_stored() {
    let instance = Instance::start().await;
    let mut wrong = membership();
    wrong["claims"][1]["path"] = json!(["number"]);
    let refused = sent(&instance, "/api/types", &wrong).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(
        refused
            .body
            .contains("`claims[1].path` is equal to `number`"),
        "{}",
        refused.body
    );
    let shown = instance
        .call(get("/api/types/membership").bearer(&instance.token))
        .await;
    assert_eq!(shown.status, StatusCode::NOT_FOUND);
    wrong["claims"][1]["colour"] = json!(7);
    let refused = sent(&instance, "/api/types", &wrong).await;
    assert!(refused.body.contains("claims[1]"), "{}", refused.body);
}

#[tokio::test]
async fn the_documents_of_a_type_are_public_and_never_change() {
    let instance = published().await;
    for (document, media) in [
        ("", "application/json"),
        ("/schema", "application/schema+json"),
        ("/context", "application/ld+json"),
        ("/logo", "image/svg+xml"),
    ] {
        let path = format!("/types/membership/1{document}");
        let answer = instance.call(get(&path)).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.body);
        assert_eq!(answer.header("content-type"), media);
        assert_eq!(
            answer.header("cache-control"),
            "public, max-age=31536000, immutable"
        );
    }
    for absent in [
        "/types/membership/2",
        "/types/other/1",
        "/types/membership/1/background",
        "/types/membership/1/secret",
    ] {
        assert_eq!(
            instance.call(get(absent)).await.status,
            StatusCode::NOT_FOUND,
            "{absent}"
        );
    }
    let metadata = instance
        .call(get("/.well-known/openid-credential-issuer/issuer"))
        .await;
    let metadata: Value = serde_json::from_str(&metadata.body).unwrap();
    let configuration = &metadata["credential_configurations_supported"]["membership_1_sd_jwt_vc"];
    let display = &configuration["credential_metadata"]["display"][0];
    assert_eq!(display["name"], "Membership");
    assert!(
        display["logo"]["uri"]
            .as_str()
            .unwrap()
            .ends_with("/types/membership/1/logo")
    );
}

#[tokio::test]
async fn an_import_is_not_stored_and_says_what_it_left_out() {
    let instance = Instance::start().await;
    let schema =
        json!({"title": "Person", "properties": {"name": {"type": "string", "minLength": 2}}});
    let imported = sent(&instance, "/api/types/import?id=person", &schema).await;
    let imported: Value = serde_json::from_str(&imported.body).unwrap();
    assert_eq!(imported["definition"]["claims"][0]["kind"], "text");
    assert_eq!(
        imported["left_out"],
        json!(["`properties.name.minLength` is not taken over"])
    );
    assert_eq!(imported["refusals"], json!([]));
    let shown = instance
        .call(get("/api/types/person").bearer(&instance.token))
        .await;
    assert_eq!(shown.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_pages_issue_and_request_a_type_of_ones_own() {
    let instance = published().await;
    let operator = instance.operator_cookie().await;
    let page = instance
        .call(get("/issuer/new/membership").cookie(&operator))
        .await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    for field in [
        "claim.number",
        "claim.level",
        "claim.address/city",
        "claim.visits/0/with/name",
    ] {
        assert!(page.body.contains(&format!("name=\"{field}\"")), "{field}");
    }
    let token = page.form_token();
    let fields = [
        ("form_token", token.as_str()),
        ("type", "membership"),
        ("claim.number", "17"),
        ("claim.level", "full"),
        ("claim.visits/0/day", "2026-01-31"),
        ("uses", "1"),
        ("format", "dc+sd-jwt"),
    ];
    let made = post("/issuer/new").cookie(&operator).form(form(&fields));
    let made = instance.call(made).await;
    assert_eq!(made.status, StatusCode::SEE_OTHER, "{}", made.body);
    let asking = instance
        .call(get("/verifier/new/membership").cookie(&operator))
        .await;
    assert!(asking.body.contains("value=\"address\""), "{}", asking.body);
}
