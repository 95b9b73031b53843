//! Peers without an address get their answers in the responses to what they post (RFC 0092).

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::phone::Phone;
use super::world::{Agent, World};

/// An invitation that is accepted at once, and the identifier of its connection.
pub async fn invited(agent: &Agent) -> (Value, String) {
    let path = "/connections/create-invitation?auto_accept=true";
    let made = agent.post(path, "{}").await;
    let id = made["connection_id"].as_str().unwrap().to_owned();
    (made["invitation"].clone(), id)
}

/// Sends a text to a peer.
pub async fn writes(agent: &Agent, connection: &str, content: &str) -> StatusCode {
    let path = format!("/connections/{connection}/send-message");
    let body = json!({ "content": content }).to_string();
    agent.send(Method::POST, &path, &body).await.status
}

fn kind(message: &Value) -> &str {
    let kind = message["@type"].as_str().unwrap();
    kind.trim_start_matches("https://didcomm.org/")
}

#[tokio::test]
async fn a_wallet_without_an_address_gets_its_answers_in_the_responses_to_its_posts() {
    let world = World::of(&["clinic"]).await;
    let clinic = &world.agents[0];
    let (invitation, id) = invited(clinic).await;
    let mut phone = Phone::new(&world.endpoint);
    let request = phone.request(&invitation);
    let answer = phone.post(&phone.sealed(&request)).await;
    assert_eq!(answer.status, 200);
    assert!(
        answer
            .head
            .contains("content-type: application/ssi-agent-wire")
    );
    phone.accepts(&phone.opened(&answer.body));
    let ping = phone.ping();
    let pong = phone.asks(&ping).await.unwrap();
    assert_eq!(kind(&pong), "trust_ping/1.0/ping_response");
    let shown = clinic.get(&format!("/connections/{id}")).await;
    assert_eq!(
        (&shown["state"], &shown["their_label"]),
        (&json!("active"), &json!("Phone"))
    );
    let path = format!("/connections/{id}/endpoints");
    assert!(clinic.get(&path).await.get("their_endpoint").is_none());
}

#[tokio::test]
async fn a_wallet_that_has_no_address_and_takes_no_answers_is_refused() {
    let world = World::of(&["clinic"]).await;
    let (invitation, id) = invited(&world.agents[0]).await;
    let mut phone = Phone::new(&world.endpoint);
    let mut request = phone.request(&invitation);
    for transport in [json!({}), json!({ "return_route": "none" })] {
        request["~transport"] = transport;
        let answer = phone.post(&phone.sealed(&request)).await;
        assert_eq!(answer.status, 400);
    }
    let shown = world.agents[0].get(&format!("/connections/{id}")).await;
    assert_eq!(shown["state"], "invitation");
}

#[tokio::test]
async fn texts_wait_for_their_owner_and_a_copy_of_its_message_gets_none() {
    let world = World::of(&["clinic"]).await;
    let clinic = &world.agents[0];
    let (mut phone, mut other) = (Phone::new(&world.endpoint), Phone::new(&world.endpoint));
    let (invitation, id) = invited(clinic).await;
    phone.connects_by_post(&invitation).await;
    other.connects_by_post(&invited(clinic).await.0).await;
    let first = phone.ping();
    let first = phone.sealed(&first);
    assert_eq!(phone.post(&first).await.status, 200);
    for content in ["one", "two"] {
        assert_eq!(writes(clinic, &id, content).await, StatusCode::OK);
    }
    let copied = other.post(&first).await;
    assert_eq!((copied.status, copied.body.len()), (202, 0));
    let ping = other.ping();
    let pong = other.asks(&ping).await.unwrap();
    assert_eq!(kind(&pong), "trust_ping/1.0/ping_response");
    for content in ["one", "two"] {
        let ping = phone.ping();
        let text = phone.asks(&ping).await.unwrap();
        assert_eq!(
            (kind(&text), &text["content"]),
            ("basicmessage/1.0/message", &json!(content))
        );
    }
}

#[tokio::test]
async fn a_wallet_that_asks_for_one_thread_gets_that_one() {
    let world = World::of(&["clinic"]).await;
    let (invitation, id) = invited(&world.agents[0]).await;
    let mut phone = Phone::new(&world.endpoint);
    phone.connects_by_post(&invitation).await;
    let mut ping = phone.ping();
    phone.asks(&ping).await.unwrap();
    writes(&world.agents[0], &id, "later").await;
    ping = phone.ping();
    let own = ping["@id"].clone();
    ping["~transport"] = json!({ "return_route": "thread", "return_route_thread": own });
    let pong = phone.asks(&ping).await.unwrap();
    assert_eq!(pong["~thread"]["thid"], own);
}

#[tokio::test]
async fn a_wallet_for_which_too_much_waits_gets_no_more() {
    let world = World::with(&["clinic"], |settings| settings.terms.mediation.each = 2).await;
    let (invitation, id) = invited(&world.agents[0]).await;
    let mut phone = Phone::new(&world.endpoint);
    phone.connects_by_post(&invitation).await;
    let ping = phone.ping();
    phone.asks(&ping).await.unwrap();
    assert_eq!(writes(&world.agents[0], &id, "one").await, StatusCode::OK);
    assert_eq!(writes(&world.agents[0], &id, "two").await, StatusCode::OK);
    let full = writes(&world.agents[0], &id, "three").await;
    assert_eq!(full, StatusCode::INSUFFICIENT_STORAGE);
    let ping = phone.message(
        "trust_ping/1.0/ping",
        json!({ "response_requested": false }),
    );
    assert_eq!(phone.asks(&ping).await.unwrap()["content"], "one");
    assert_eq!(writes(&world.agents[0], &id, "three").await, StatusCode::OK);
}
