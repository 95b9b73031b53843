//! Organisations: each has its own addresses, and none reads another's records.

use std::sync::Arc;

use http::{Method, StatusCode};
use selfsame_agent::connect::NewOobInvitation;
use selfsame_app::Access;
use selfsame_app::config::Roles;
use selfsame_core::organisation::OrganisationName;
use selfsame_crypto::encoding;
use serde_json::{Value, json};

use super::instance::{Answered, Instance, ORIGIN, call, get, post};
use crate::audience::Audience;
use crate::router::groups;

fn read(answer: &Answered) -> Value {
    assert!(
        answer.status.is_success(),
        "{} {}",
        answer.status,
        answer.body
    );
    serde_json::from_str(&answer.body).unwrap()
}

/// An instance with the organisation `acme`.
pub async fn with_acme() -> Instance {
    let instance = Instance::start().await;
    let new = json!({"name": "acme", "title": "Acme Corporation"}).to_string();
    let created = instance.call(asked(&instance, Method::POST, "/api/organisations").json(&new));
    let created = read(&created.await);
    assert_eq!(created["identifier"], format!("{ORIGIN}/o/acme"));
    assert_eq!(created["state"], "active");
    instance
}

fn asked(instance: &Instance, method: Method, path: &str) -> super::instance::Call {
    call(method, path).bearer(&instance.token)
}

async fn offered(instance: &Instance, organisation: &str) -> Value {
    let path = format!("{organisation}/api/issuer/offers");
    let new = json!({"type": "immunization", "examples": true}).to_string();
    read(
        &instance
            .call(asked(instance, Method::POST, &path).json(&new))
            .await,
    )
}

/// The identifiers of an invitation that the agent of an organisation makes, and of the connection that waits for it.
async fn invited(instance: &Instance, organisation: &str) -> [String; 2] {
    let name = match organisation {
        "" => "main",
        path => path.trim_start_matches("/o/"),
    };
    let agents = instance.app.agents();
    let tenant = instance.app.agent_of(name).unwrap();
    let new = NewOobInvitation {
        handshake_protocols: vec!["https://didcomm.org/didexchange/1.1".to_owned()],
        ..NewOobInvitation::default()
    };
    let made = agents.create_oob_invitation(&tenant, new).await.unwrap();
    [made.oob_id, made.connection_id.unwrap()]
}

#[tokio::test]
async fn an_organisation_has_its_own_name_addresses_and_did() {
    let instance = with_acme().await;
    let of = async |path: &str| read(&instance.call(get(path)).await);
    let acme = of("/.well-known/openid-credential-issuer/o/acme").await;
    let main = of("/.well-known/openid-credential-issuer/issuer").await;
    assert_eq!(acme["credential_issuer"], format!("{ORIGIN}/o/acme"));
    let endpoint = format!("{ORIGIN}/o/acme/issuer/credential");
    assert_eq!(acme["credential_endpoint"], endpoint);
    assert_eq!(acme["display"][0]["name"], "Acme Corporation");
    assert_eq!(main["credential_issuer"], format!("{ORIGIN}/issuer"));
    let server = of("/.well-known/oauth-authorization-server/o/acme").await;
    assert_eq!(
        server["token_endpoint"],
        format!("{ORIGIN}/o/acme/issuer/token")
    );
    let keys = async |path: &str| of(path).await["jwks"]["keys"].clone();
    let own = keys("/.well-known/jwt-vc-issuer/o/acme").await;
    assert_ne!(own, keys("/.well-known/jwt-vc-issuer/issuer").await);
    let listed = instance.call(asked(&instance, Method::GET, "/api/organisations"));
    assert_eq!(read(&listed.await)["items"][0]["name"], "acme");
}

#[tokio::test]
async fn what_one_organisation_has_is_not_found_by_another() {
    let instance = Instance::with_agents(&["main", "acme"]).await;
    let path = "/api/organisations/acme";
    let samples = asked(&instance, Method::PATCH, path).json(r#"{"samples": true}"#);
    read(&instance.call(samples).await);
    for (owner, other) in [("", "/o/acme"), ("/o/acme", "")] {
        let [invitation, connection] = invited(&instance, owner).await;
        let offer = offered(&instance, owner).await;
        let new = json!({"type": "immunization"}).to_string();
        let path = format!("{owner}/api/verifier/requests");
        let request = instance.call(asked(&instance, Method::POST, &path).json(&new));
        let request = read(&request.await);
        let hook = json!({"url": "https://receiver.example/"}).to_string();
        let path = format!("{owner}/api/webhooks");
        let hook = instance.call(asked(&instance, Method::POST, &path).json(&hook));
        let hook = read(&hook.await);
        let ids = [&offer, &request, &hook].map(|one| one["id"].as_str().unwrap());
        let ids = ids.into_iter().chain([&*invitation, &*connection]);
        let ids: Vec<&str> = ids.collect();
        let mut seen = 0;
        for group in groups(&Roles::ALL) {
            let mine = group.routes.iter().filter(|route| {
                group.is_of_organisations() && route.path.contains("{id}")
                    || route.path.contains("/view/{")
            });
            for route in mine {
                for id in &ids {
                    let path = route.path.replace("{id}", id).replace("{offer}", id);
                    let which = match path.ends_with("/deliveries") {
                        true => "?state=failed",
                        false => "",
                    };
                    let path = format!("{other}{path}{which}");
                    let mut ask = asked(&instance, route.method.clone(), &path);
                    if route.method != Method::GET {
                        ask = ask.json("{}");
                    }
                    let answer = instance.call(ask).await;
                    let refused = answer.status.is_client_error();
                    assert!(refused, "{} {path}: {}", route.method, answer.status);
                    if route.method == Method::GET && group.audience != Audience::Public {
                        // Subscribers of a book show a password of their own.
                        let expected = match route.path.starts_with("/hooks/") {
                            true => StatusCode::UNAUTHORIZED,
                            false => StatusCode::NOT_FOUND,
                        };
                        assert_eq!(answer.status, expected, "{path}");
                    }
                    seen += 1;
                }
            }
        }
        assert!(seen > 20, "only {seen} addresses");
        let own = format!("{owner}/api/issuer/offers/{}", ids[0]);
        read(&instance.call(asked(&instance, Method::GET, &own)).await);
    }
}

#[tokio::test]
async fn the_instances_own_addresses_are_not_an_organisations() {
    let instance = with_acme().await;
    for group in groups(&Roles::ALL) {
        // What is left of an organisation's address without a page is its front page.
        let mine = group.routes.iter().filter(|route| route.path != "/");
        for route in mine.filter(|_| !group.is_of_organisations()) {
            let path = format!("/o/acme{}", route.path.replace(['{', '}', '*'], ""));
            let ask = asked(&instance, route.method.clone(), &path);
            let answer = instance.call(ask).await;
            let status = answer.status;
            assert_eq!(status, StatusCode::NOT_FOUND, "{} {path}", route.method);
        }
    }
}

#[tokio::test]
async fn the_pages_of_an_organisation_lead_to_its_own_pages() {
    let instance = with_acme().await;
    let cookie = instance.operator_cookie().await;
    let page = instance.call(get("/o/acme/issuer").cookie(&cookie)).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(
        page.body
            .contains("href=\"/o/acme/issuer/new/immunization\"")
    );
    let away = instance.call(get("/o/acme/issuer/new/immunization")).await;
    let leads = away.header("location");
    assert_eq!(
        leads,
        "/operator?next=%2Fo%2Facme%2Fissuer%2Fnew%2Fimmunization"
    );
}

#[tokio::test]
async fn a_suspended_organisation_serves_what_verifiers_need_and_issues_nothing() {
    let instance = with_acme().await;
    offered(&instance, "/o/acme").await;
    let change = |state: &str| {
        let ask = asked(&instance, Method::PATCH, "/api/organisations/acme");
        ask.json(&json!({ "state": state }).to_string())
    };
    read(&instance.call(change("suspended")).await);
    let new = json!({"type": "immunization", "examples": true}).to_string();
    let ask = || asked(&instance, Method::POST, "/o/acme/api/issuer/offers").json(&new);
    let refused = instance.call(ask()).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(
        refused.body.contains("organisation-suspended"),
        "{}",
        refused.body
    );
    let nonce = instance.call(post("/o/acme/issuer/nonce")).await;
    assert_eq!(nonce.status, StatusCode::FORBIDDEN);
    let list = instance.call(get("/o/acme/status/0")).await;
    assert_eq!(list.status, StatusCode::OK);
    read(&instance.call(change("active")).await);
    read(&instance.call(ask()).await);
}

#[tokio::test]
async fn a_change_of_title_and_roles_is_seen_by_the_next_request_and_keeps_the_status_lists() {
    let instance = with_acme().await;
    let acme = OrganisationName::parse("acme").unwrap();
    let roles = || instance.app.roles_of(&acme, Access::Reading);
    let change = async |change: Value| {
        let ask = asked(&instance, Method::PATCH, "/api/organisations/acme");
        read(&instance.call(ask.json(&change.to_string())).await)
    };
    let metadata = "/.well-known/openid-credential-issuer/o/acme";
    let before = roles().await.unwrap();
    let lists = before.issuer().unwrap().lists();
    read(&instance.call(get(metadata)).await);
    change(json!({"title": "Acme Incorporated"})).await;
    let renamed = read(&instance.call(get(metadata)).await);
    assert_eq!(renamed["display"][0]["name"], "Acme Incorporated");

    let ask = asked(&instance, Method::POST, "/o/acme/api/verifier/requests");
    let made = read(&instance.call(ask.json(r#"{"type": "immunization"}"#)).await);
    let object = format!("/o/acme/verifier/requests/{}", made["id"].as_str().unwrap());
    let object = instance.call(get(&object)).await.body;
    let payload = encoding::base64url_decode(object.split('.').nth(1).unwrap()).unwrap();
    let payload: Value = serde_json::from_slice(&payload).unwrap();
    let stated = &payload["client_metadata"]["client_name"];
    assert_eq!(stated, "Acme Incorporated");

    change(json!({"issuer": false})).await;
    assert_eq!(
        instance.call(get(metadata)).await.status,
        StatusCode::NOT_FOUND
    );
    for checked in ["/o/acme/status/0", "/.well-known/jwt-vc-issuer/o/acme"] {
        let answer = instance.call(get(checked)).await;
        assert_eq!(answer.status, StatusCode::OK, "{checked}");
    }
    change(json!({"issuer": true, "verifier": false})).await;
    read(&instance.call(get(metadata)).await);
    let request = asked(&instance, Method::GET, "/o/acme/api/verifier/requests");
    let refused = instance.call(request).await;
    assert!(refused.body.contains("verifier-absent"), "{}", refused.body);
    let after = roles().await.unwrap();
    assert!(Arc::ptr_eq(lists, after.issuer().unwrap().lists()));
}

#[tokio::test]
async fn an_organisation_that_only_verifies_has_a_did_document() {
    let instance = Instance::at("http://localhost:7380").await;
    let new = json!({"name": "border", "title": "Border", "issuer": false, "did_method": "web"});
    let ask = asked(&instance, Method::POST, "/api/organisations");
    let ask = ask.host("localhost:7380").json(&new.to_string());
    let created = read(&instance.call(ask).await);
    let of = |path| instance.call(get(path).host("localhost:7380"));
    let document = read(&of("/o/border/did.json").await);
    assert_eq!(document["id"], created["did"]);
    let lists = of("/o/border/status/0").await;
    assert_eq!(lists.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_name_that_is_taken_or_looks_like_one_or_is_reserved_is_refused() {
    let instance = with_acme().await;
    for (name, reason) in [
        ("acme", "organisation-name-taken"),
        ("ac-me", "organisation-name-taken"),
        ("main", "organisation-name-reserved"),
        ("Ācme", "organisation-name-malformed"),
        ("a/b", "organisation-name-malformed"),
    ] {
        let new = json!({"name": name, "title": "Another"}).to_string();
        let ask = asked(&instance, Method::POST, "/api/organisations").json(&new);
        let refused = instance.call(ask).await;
        assert!(refused.status.is_client_error(), "{name}");
        assert!(refused.body.contains(reason), "{name}: {}", refused.body);
    }
    let unknown = instance.call(get("/.well-known/openid-credential-issuer/o/unknown"));
    assert_eq!(unknown.await.status, StatusCode::NOT_FOUND);
}
