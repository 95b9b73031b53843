//! Applications for credentials that need others: their pages, and what their API refuses.

use http::StatusCode;
use serde_json::{Value, json};

use super::instance::{Answered, Instance, form, get, post};

/// An instance that gives permits to companies, and the operator's browser.
struct Office {
    instance: Instance,
    cookie: String,
}

impl Office {
    async fn open() -> Self {
        let instance = Instance::start().await;
        let cookie = instance.operator_cookie().await;
        let office = Self { instance, cookie };
        let name = json!({"path": ["name"], "kind": "text", "required": true});
        let company = json!({"id": "company", "title": {"en": "Company"}, "claims": [name]});
        let permit = json!({
            "id": "permit", "title": {"en": "Permit"}, "claims": [name],
            "prerequisites": {
                "needs": [{"name": "company", "type": "company"}],
                "fills": [{"claim": ["name"], "proven": {"need": "company", "claim": ["name"]}}],
            },
        });
        for one in [company, permit] {
            let id = one["id"].as_str().unwrap().to_owned();
            assert_eq!(
                office.calls("/api/types", one).await.status,
                StatusCode::CREATED
            );
            let published = office
                .calls(&format!("/api/types/{id}/publish"), json!({}))
                .await;
            assert!(published.status.is_success(), "{}", published.body);
        }
        office
    }

    async fn calls(&self, path: &str, body: Value) -> Answered {
        let call = post(path).bearer(&self.instance.token);
        self.instance.call(call.json(&body.to_string())).await
    }

    async fn sees(&self, path: &str) -> Answered {
        self.instance.call(get(path).cookie(&self.cookie)).await
    }
}

#[tokio::test]
async fn a_permit_is_applied_for_and_not_offered_directly() {
    let office = Office::open().await;
    let new = json!({"type": "permit", "claims": {"name": "Invented Noodles Ltd."}});
    let direct = office.calls("/api/issuer/offers", new).await;
    assert_eq!(direct.status, StatusCode::BAD_REQUEST);
    assert!(direct.body.contains("offer-needs-proof"), "{}", direct.body);
    let begun = office
        .calls("/api/issuer/applications", json!({"type": "permit"}))
        .await;
    assert_eq!(begun.status, StatusCode::CREATED, "{}", begun.body);
    let begun: Value = serde_json::from_str(&begun.body).unwrap();
    assert_eq!(
        (&begun["state"], &begun["needs"][0]["title"]),
        (&json!("asked"), &json!("Company"))
    );
    let path = format!(
        "/api/issuer/applications/{}/offer",
        begun["id"].as_str().unwrap()
    );
    let early = office.calls(&path, json!({})).await;
    assert_eq!(early.status, StatusCode::CONFLICT, "{}", early.body);
    let listed = get("/api/issuer/applications").bearer(&office.instance.token);
    let listed = office.instance.call(listed).await;
    assert!(
        listed.body.contains(begun["id"].as_str().unwrap()),
        "{}",
        listed.body
    );
}

#[tokio::test]
async fn the_pages_tell_what_is_needed_and_ask_the_wallet() {
    let office = Office::open().await;
    let page = office.sees("/issuer/new/permit").await;
    assert!(
        page.body.contains("This credential needs others"),
        "{}",
        page.body
    );
    let token = page.form_token();
    let fields = form(&[("form_token", token.as_str()), ("type", "permit")]);
    let begun = post("/issuer/applications").cookie(&office.cookie);
    let begun = office.instance.call(begun.form(fields)).await;
    assert_eq!(begun.status, StatusCode::SEE_OTHER, "{}", begun.body);
    let place = begun.header("location").to_owned();
    let waiting = office.sees(&place).await;
    assert!(
        waiting.body.contains("Waiting for the wallet"),
        "{}",
        waiting.body
    );
    let form = office.sees(&format!("{place}/form")).await;
    assert_eq!(form.status, StatusCode::SEE_OTHER, "nothing was proven yet");
}
