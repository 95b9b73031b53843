//! The issuers that the verifiers of organisations trust: by programs, by pages, and each organisation its own.

use http::{Method, StatusCode};
use selfsame_core::organisation::OrganisationName;
use selfsame_operators::OperatorRole;
use serde_json::{Value, json};

use super::instance::{Answered, Call, Instance, call, form, get, post};
use super::organisations::with_acme;
use super::pages::check;

const PHARMACY: &str = "did:web:pharmacy.example";

fn read(answer: &Answered) -> Value {
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

fn asked(instance: &Instance, method: Method, path: &str) -> Call {
    call(method, path).bearer(&instance.token)
}

async fn add(instance: &Instance, prefix: &str, new: &Value) -> Answered {
    let asked = asked(instance, Method::POST, &format!("{prefix}/api/trust"));
    instance.call(asked.json(&new.to_string())).await
}

async fn listed(instance: &Instance, prefix: &str) -> Vec<Value> {
    let asked = asked(instance, Method::GET, &format!("{prefix}/api/trust"));
    let list = read(&instance.call(asked).await);
    list["items"].as_array().unwrap().clone()
}

#[tokio::test]
async fn each_organisation_lists_the_issuers_that_it_trusts_and_no_other_organisations() {
    let instance = with_acme().await;
    for (own, other) in [("/o/acme", ""), ("", "/o/acme")] {
        let new = json!({"issuer": PHARMACY, "name": "Pharmacy", "types": ["urn:receipt"]});
        let entry = read(&add(&instance, own, &new).await);
        assert_eq!(listed(&instance, own).await, std::slice::from_ref(&entry));
        assert!(listed(&instance, other).await.is_empty());
        let again = json!({"issuer": PHARMACY, "name": "Pharmacy at the Lake"});
        let again = read(&add(&instance, own, &again).await);
        assert_eq!(again["id"], entry["id"]);
        assert_eq!(listed(&instance, own).await, std::slice::from_ref(&again));
        let path = |prefix: &str| format!("{prefix}/api/trust/{}", entry["id"].as_str().unwrap());
        let absent = instance.call(asked(&instance, Method::DELETE, &path(other)));
        assert_eq!(absent.await.status, StatusCode::NOT_FOUND);
        let removed = instance.call(asked(&instance, Method::DELETE, &path(own)));
        assert_eq!(removed.await.status, StatusCode::NO_CONTENT);
        assert!(listed(&instance, own).await.is_empty());
    }
}

#[tokio::test]
async fn what_names_no_issuer_is_refused_and_the_list_is_bounded() {
    let instance = with_acme().await;
    for (new, reason) in [
        (
            json!({"issuer": "pharmacy", "name": "A"}),
            "trust-issuer-malformed",
        ),
        (
            json!({"issuer": PHARMACY, "name": " "}),
            "trust-name-malformed",
        ),
        (
            json!({"issuer": PHARMACY, "name": "A", "types": [""]}),
            "trust-types-malformed",
        ),
    ] {
        let refused = add(&instance, "/o/acme", &new).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{new}");
        assert!(refused.body.contains(reason), "{}", refused.body);
    }
    for number in 0..200 {
        let new = json!({"issuer": format!("{PHARMACY}:{number}"), "name": "A"});
        assert_eq!(add(&instance, "/o/acme", &new).await.status, StatusCode::OK);
    }
    let more = json!({"issuer": PHARMACY, "name": "A"});
    let refused = add(&instance, "/o/acme", &more).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    let known = json!({"issuer": format!("{PHARMACY}:7"), "name": "B"});
    assert_eq!(
        add(&instance, "/o/acme", &known).await.status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn an_owner_changes_the_list_by_the_page_and_an_auditor_reads_it() {
    let instance = with_acme().await;
    let acme = OrganisationName::parse("acme").unwrap();
    let owner = instance.person_with(&acme, OperatorRole::Owner).await;
    let page = async |cookie: &str| instance.call(get("/o/acme/trust").cookie(cookie)).await;
    let token = page(&owner).await.form_token();
    let send = async |path: &str, fields: &[(&str, &str)]| {
        let all = [&[("form_token", token.as_str())][..], fields].concat();
        instance
            .call(post(path).cookie(&owner).form(form(&all)))
            .await
    };
    let fields = [
        ("issuer", PHARMACY),
        ("name", "Pharmacy"),
        ("types", "urn:a\nurn:b"),
    ];
    let added = send("/o/acme/trust", &fields).await;
    assert_eq!(added.status, StatusCode::SEE_OTHER, "{}", added.body);
    assert_eq!(added.header("location"), "/o/acme/trust");
    let auditor = instance.person_with(&acme, OperatorRole::Auditor).await;
    for cookie in [&owner, &auditor] {
        let shown = page(cookie).await.body;
        check("/o/acme/trust", &shown);
        for told in [PHARMACY, "Pharmacy", "urn:a", "urn:b"] {
            assert!(shown.contains(told), "{told}");
        }
        assert_eq!(
            shown.contains("<form method=\"post\" action=\"/o/acme/trust"),
            cookie == &owner
        );
    }
    let wrong = [("issuer", "dentist"), ("name", "Pharmacy")];
    let refused = send("/o/acme/trust", &wrong).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    check("refused", &refused.body);
    assert!(
        refused.body.contains("id=\"issuer-problem\"")
            && refused.body.contains("value=\"dentist\"")
    );
    let entry = listed(&instance, "/o/acme").await.remove(0);
    let path = format!("/o/acme/trust/{}/remove", entry["id"].as_str().unwrap());
    assert_eq!(send(&path, &[]).await.status, StatusCode::SEE_OTHER);
    assert!(listed(&instance, "/o/acme").await.is_empty());
}
