//! The whole route table: each address is guarded as its audience requires, and those of the API are documented.

use std::collections::BTreeSet;

use http::{Method, StatusCode};
use selfsame_app::config::Roles;
use serde_json::Value;

use super::instance::{Instance, call};
use crate::audience::Audience;
use crate::error::Face;
use crate::router::groups;
use crate::router::openapi;

/// The address with a value in each of its placeholders.
pub fn concrete(pattern: &str) -> String {
    let segments = pattern.split('/').map(|segment| {
        if segment.starts_with('{') {
            "1"
        } else {
            segment
        }
    });
    segments.collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn each_of_the_operators_addresses_needs_the_operator() {
    let instance = Instance::start().await;
    let mut seen = 0;
    for group in groups(&Roles::ALL) {
        let is_operators = matches!(
            group.audience,
            Audience::Operator
                | Audience::OperatorApi
                | Audience::OperatorStream
                | Audience::OperatorWait
        );
        for route in group.routes.iter().filter(|_| is_operators) {
            let path = concrete(&route.path);
            for token in [None, Some("wrong"), Some("")] {
                let asked = call(route.method.clone(), &path);
                let asked = token
                    .into_iter()
                    .fold(asked, |asked, token| asked.bearer(token));
                let answer = instance.call(asked).await;
                let page = route.method == Method::GET && !path.starts_with("/api/");
                let expected = if page {
                    StatusCode::SEE_OTHER
                } else {
                    StatusCode::UNAUTHORIZED
                };
                assert_eq!(answer.status, expected, "{} {path}", route.method);
                assert!(
                    !page || answer.header("location").starts_with("/operator?next=%2F"),
                    "{path}"
                );
            }
            seen += 1;
        }
    }
    assert!(seen > 25, "the table has only {seen} operator's addresses");
}

#[tokio::test]
async fn each_of_a_persons_addresses_needs_that_person() {
    let instance = Instance::start().await;
    let mut seen = 0;
    for group in groups(&Roles::ALL) {
        let is_persons = matches!(group.audience, Audience::Person | Audience::PersonApi);
        for route in group.routes.iter().filter(|_| is_persons) {
            let path = concrete(&route.path);
            // The operator is not a wallet's owner: the operator's token opens no wallet.
            let answer = instance
                .call(call(route.method.clone(), &path).bearer(&instance.token))
                .await;
            let page = route.method == Method::GET && !path.starts_with("/api/");
            let expected = if page {
                StatusCode::SEE_OTHER
            } else {
                StatusCode::UNAUTHORIZED
            };
            assert_eq!(answer.status, expected, "{} {path}", route.method);
            seen += 1;
        }
    }
    assert!(seen > 20, "the table has only {seen} addresses of people");
}

/// Pages, and the streams they follow.
fn is_for_pages(audience: Audience) -> bool {
    matches!(
        audience,
        Audience::Public
            | Audience::Stream
            | Audience::Doorway
            | Audience::Person
            | Audience::Operator
            | Audience::RegistrantPage
    )
}

#[test]
fn each_address_for_programs_is_documented_and_each_documented_one_exists() {
    let routes: BTreeSet<(String, String)> = groups(&Roles::ALL)
        .iter()
        .filter(|group| !is_for_pages(group.audience))
        .flat_map(|group| &group.routes)
        .filter(|route| !route.path.starts_with("/verifier/view/"))
        .filter(|route| !route.path.starts_with("/issuer/view/"))
        .filter(|route| !route.path.starts_with("/issuer/lists/"))
        .filter(|route| !["/audit/export", "/organisation/export"].contains(&&*route.path))
        .map(|route| {
            (
                route.path.replace("{*", "{"),
                route.method.as_str().to_ascii_lowercase(),
            )
        })
        .collect();
    let description: Value = serde_json::from_str(openapi::text()).unwrap();
    let documented: BTreeSet<(String, String)> = description["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, item)| {
            item.as_object()
                .unwrap()
                .keys()
                .map(move |method| (path.clone(), method.clone()))
        })
        .collect();
    assert!(routes.len() > 70, "{}", routes.len());
    assert_eq!(routes, documented);
}

#[test]
fn the_description_says_of_each_address_who_is_let_in() {
    let description: Value = serde_json::from_str(openapi::text()).unwrap();
    for group in groups(&Roles::ALL) {
        let open = matches!(
            group.audience,
            Audience::Supervisor | Audience::PublicApi | Audience::Protocol | Audience::DoorwayApi
        );
        for route in &group.routes {
            let method = route.method.as_str().to_ascii_lowercase();
            let path = route.path.replace("{*", "{");
            let Some(operation) = description["paths"]
                .get(&path)
                .and_then(|item| item.get(&method))
            else {
                continue;
            };
            let security = operation
                .get("security")
                .unwrap_or(&description["security"]);
            // No security scheme at all, or an empty requirement among the alternatives (OpenAPI 3.1).
            let suffices = security.as_array().unwrap();
            let without = suffices.is_empty() || suffices.contains(&serde_json::json!({}));
            if group.audience != Audience::Registrant {
                assert_eq!(without, open, "{method} {path}: {security}");
            }
        }
    }
}

#[test]
fn every_reference_in_the_description_leads_somewhere() {
    let description: Value = serde_json::from_str(openapi::text()).unwrap();
    let mut references = Vec::new();
    collect(&description, &mut references);
    assert!(references.len() > 20);
    for reference in references {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(
            description.pointer(pointer).is_some(),
            "{reference} leads nowhere"
        );
    }
}

fn collect(value: &Value, references: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            references.extend(
                members
                    .get("$ref")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
            );
            members
                .values()
                .for_each(|value| collect(value, references));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(value, references)),
        _ => {}
    }
}

#[test]
fn an_instance_serves_the_addresses_of_its_roles_only() {
    let only_issuer = Roles {
        issuer: true,
        wallet: false,
        verifier: false,
        registry: false,
    };
    let paths: Vec<String> = groups(&only_issuer)
        .into_iter()
        .flat_map(|group| group.routes)
        .map(|route| route.path)
        .collect();
    assert!(paths.iter().any(|path| path == "/issuer/token"));
    assert!(
        !paths
            .iter()
            .any(|path| path.starts_with("/wallet") || path.starts_with("/verifier"))
    );
}

#[test]
fn what_may_be_any_json_is_described_as_that_and_not_as_an_object() {
    let description: Value = serde_json::from_str(openapi::text()).unwrap();
    let schemas = &description["components"]["schemas"];
    for any in [
        &schemas["TypeClaim"]["properties"]["example"],
        &schemas["ClaimLine"]["properties"]["path"]["items"],
    ] {
        assert!(any.is_object() && any.get("type").is_none(), "{any}");
    }
    let claims = &schemas["NewOffer"]["properties"]["claims"];
    assert_eq!(claims["type"], "object");
}

#[test]
fn a_refusal_is_described_in_the_language_of_its_address() {
    let description: Value = serde_json::from_str(openapi::text()).unwrap();
    let mut seen = 0;
    for group in groups(&Roles::ALL) {
        let language = match group.audience.face() {
            Face::Protocol => "application/json",
            Face::Text => "text/plain; charset=utf-8",
            Face::Api => "application/problem+json",
            Face::Page(_) => continue,
        };
        for route in &group.routes {
            let path = route.path.replace("{*", "{");
            let method = route.method.as_str().to_ascii_lowercase();
            let Some(operation) = description["paths"][&path].get(&method) else {
                continue;
            };
            let responses = operation["responses"].as_object().unwrap();
            for (status, response) in responses {
                if !status.starts_with('2') {
                    let described = &response["content"];
                    assert!(
                        described.get(language).is_some(),
                        "{path} {status}: {described}"
                    );
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 60, "{seen}");
    let resolver = &description["paths"]["/1.0/identifiers/{did}"]["get"]["responses"];
    for status in ["200", "default"] {
        let described = &resolver[status]["content"];
        assert!(described.get("application/did-resolution").is_some());
    }
}

#[test]
fn the_document_of_a_deactivated_did_is_described_as_null() {
    let description: Value = serde_json::from_str(openapi::text()).unwrap();
    let did = &description["components"]["schemas"]["InstanceDid"];
    let kinds = &did["properties"]["document"]["type"];
    assert_eq!(kinds, &serde_json::json!(["object", "null"]));
    let required = did["required"].as_array().unwrap();
    assert!(required.contains(&serde_json::json!("document")));
}
