//! The erasure of organisations: who may order it, and which addresses still answer.

use http::{Method, StatusCode};
use selfsame_app::config::Roles;
use selfsame_core::organisation::OrganisationName;
use selfsame_operators::OperatorRole;
use serde_json::{Value, json};

use super::instance::{Answered, Instance, call, get};
use super::organisations::with_acme;
use crate::router::groups;

const ERASE: &str = "/api/organisations/acme/erase";

async fn erased(instance: &Instance, order: &Value) -> Answered {
    let ask = call(Method::POST, ERASE).bearer(&instance.token);
    instance.call(ask.json(&order.to_string())).await
}

#[tokio::test]
async fn an_erased_organisation_answers_only_verifiers_and_those_who_look_at_its_trail() {
    let instance = with_acme().await;
    let answer = erased(&instance, &json!({"confirm": "acme"})).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    let (mut gone, mut there) = (0, 0);
    for group in groups(&Roles::ALL) {
        for route in group.routes.iter().filter(|_| group.is_of_organisations()) {
            let path = route.path.replace(['{', '}', '*'], "");
            let ask = call(route.method.clone(), &format!("/o/acme{path}"));
            let answer = instance.call(ask.bearer(&instance.token)).await;
            let is_gone = answer.status == StatusCode::GONE;
            assert_eq!(is_gone, !group.is_outliving(), "{} {path}", route.method);
            match is_gone {
                true => gone += 1,
                false => there += 1,
            }
            // An erased organisation has no address left that changes anything.
            assert!(is_gone || route.method == Method::GET, "{path}");
        }
    }
    assert!(gone > 60 && there > 8, "{gone} {there}");
    for path in ["/o/acme/status/0", "/.well-known/jwt-vc-issuer/o/acme"] {
        assert_eq!(
            instance.call(get(path)).await.status,
            StatusCode::OK,
            "{path}"
        );
    }
    let metadata = get("/.well-known/openid-credential-issuer/o/acme");
    let metadata = instance.call(metadata).await;
    assert_eq!(metadata.status, StatusCode::GONE);
    assert!(metadata.body.contains("was erased"), "{}", metadata.body);
    let new = json!({"name": "acme", "title": "Another"}).to_string();
    let ask = call(Method::POST, "/api/organisations").bearer(&instance.token);
    let taken = instance.call(ask.json(&new)).await;
    assert_eq!(taken.status, StatusCode::CONFLICT);
}

#[tokio::test]
async fn the_people_of_an_organisation_cannot_erase_it_and_can_do_nothing_once_it_is_erased() {
    let instance = with_acme().await;
    let acme = OrganisationName::parse("acme").unwrap();
    let owner = instance.person_with(&acme, OperatorRole::Owner).await;
    let page = || get("/o/acme/people").cookie(&owner);
    let shown = instance.call(page()).await;
    assert_eq!(shown.status, StatusCode::OK);
    let order = json!({"confirm": "acme"});
    let ask = call(Method::POST, ERASE).cookie(&owner);
    let refused = instance.call(ask.json(&order.to_string())).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert_eq!(erased(&instance, &order).await.status, StatusCode::OK);
    assert_eq!(instance.call(page()).await.status, StatusCode::GONE);
}

#[tokio::test]
async fn the_order_to_erase_names_the_organisation_and_is_an_entry_of_the_instance() {
    let instance = with_acme().await;
    let typo = erased(&instance, &json!({"confirm": "acne"})).await;
    assert_eq!(typo.status, StatusCode::BAD_REQUEST);
    assert!(
        typo.body.contains("organisation-name-not-typed"),
        "{}",
        typo.body
    );
    let forecast = get("/api/organisations/acme/erasure").bearer(&instance.token);
    let forecast: Value = serde_json::from_str(&instance.call(forecast).await.body).unwrap();
    assert_eq!(forecast["valid_credentials"], 0);
    let answer = erased(&instance, &json!({"confirm": "acme"})).await;
    let answer: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(answer["state"], "erasing");
    assert_eq!(answer["erasure"]["over"], false);
    let trail = get("/api/audit?act=erase").bearer(&instance.token);
    let trail: Value = serde_json::from_str(&instance.call(trail).await.body).unwrap();
    let entry = &trail["items"][0];
    assert_eq!(entry["act"], "POST /api/organisations/{name}/erase");
    assert_eq!(
        (&entry["object"], &entry["result"]),
        (&json!("acme"), &json!("done"))
    );
}
