//! Ended objects: an accepted offer or an answered request says that it has ended, and what to do; nothing changes.

use serde_json::{Value, json};

use crate::http::{Api, Reply};
use crate::rig::{World, answer, get, items, offer, post, refused, take, text, verdict};

/// Checks that the answer says that it has ended for good, and what to do.
#[track_caller]
fn assert_over(reply: &Reply, what: &str, to_do: &str) {
    let body = reply.json();
    assert_eq!(reply.status, 410, "{body}");
    assert!(text(&body, "detail").contains(what), "{body}");
    assert!(text(&body, "hint").contains(to_do), "{body}");
}

fn to_offers(person: &Api, verb: &str, link: &Value) -> Reply {
    let path = format!("/api/wallet/offers/{verb}");
    refused(person, &path, &json!({"offer": link}))
}

fn to_requests(person: &Api, verb: &str, link: &Value) -> Reply {
    let path = format!("/api/wallet/requests/{verb}");
    let body = match verb {
        "answer" => json!({"request": link, "policy": "newest"}),
        _ => json!({"request": link}),
    };
    refused(person, &path, &body)
}

#[test]
fn an_offer_that_was_taken_or_never_existed_says_so_when_it_is_opened_later() {
    let world = World::start(&[]);
    let (maja, nils) = (world.person("maja"), world.person("nils"));
    let made = offer(&world.operator, &json!({"by_reference": true}));
    take(&maja, &made);
    let unknown = text(&made, "uri").replace(&text(&made, "id"), "none");
    assert_ne!(unknown, text(&made, "uri"));
    for link in [&made["uri"], &json!(unknown)] {
        for person in [&maja, &nils] {
            for verb in ["preview", "accept"] {
                let reply = to_offers(person, verb, link);
                assert_over(
                    &reply,
                    "was accepted or has expired",
                    "ask the issuer for a new one",
                );
            }
        }
    }
    assert_eq!(items(&get(&maja, "/api/wallet/credentials")).len(), 1);
    assert_eq!(items(&get(&nils, "/api/wallet/credentials")).len(), 0);
}

#[test]
fn an_offer_that_travels_in_its_link_is_over_once_its_code_is_spent() {
    let world = World::start(&[]);
    let (maja, nils) = (world.person("maja"), world.person("nils"));
    let made = offer(&world.operator, &json!({}));
    take(&maja, &made);
    let reply = to_offers(&nils, "accept", &made["uri"]);
    assert_over(
        &reply,
        "has been used or has expired",
        "Ask the issuer for a new offer",
    );
    let history = get(&nils, "/api/wallet/history");
    assert_eq!(items(&history)[0]["what"], "failed", "{history}");
}

#[test]
fn a_request_that_was_answered_says_so_when_it_is_opened_later() {
    let world = World::start(&[]);
    let (maja, nils) = (world.person("maja"), world.person("nils"));
    for person in [&maja, &nils] {
        take(person, &offer(&world.operator, &json!({})));
    }
    let asked = post(
        &world.operator,
        "/api/verifier/requests",
        &json!({"type": "immunization"}),
    );
    answer(&maja, &asked);
    let before = verdict(&world.operator, &asked);
    let unknown = text(&asked, "uri").replace(&text(&asked, "id"), "none");
    assert_ne!(unknown, text(&asked, "uri"));
    for link in [&asked["uri"], &json!(unknown)] {
        for verb in ["preview", "answer", "decline"] {
            let reply = to_requests(&nils, verb, link);
            assert_over(
                &reply,
                "was already answered or has expired",
                "ask for a new one",
            );
        }
    }
    assert_eq!(verdict(&world.operator, &asked), before);
}
