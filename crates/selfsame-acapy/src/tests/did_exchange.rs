//! DID exchange, DID rotate and discover features.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::connecting::connected;
use super::hearing::Controller;
use super::world::{Agent, World};

/// The connection of an invitation of DID exchange: its identifiers at the inviting and at the invited side, before
/// either side goes on.
async fn begun(clinic: &Agent, holder: &Agent) -> [String; 2] {
    let body = json!({"handshake_protocols": ["https://didcomm.org/didexchange/1.1"]});
    let path = "/out-of-band/create-invitation";
    let made = clinic.post(path, &body.to_string()).await;
    let path = "/out-of-band/receive-invitation?auto_accept=false";
    let taken = holder.post(path, &made["invitation"].to_string()).await;
    let id = |of: &Value| of["connection_id"].as_str().unwrap().to_owned();
    [id(&made), id(&taken)]
}

#[tokio::test]
async fn both_sides_go_on_by_calls_with_the_dids_that_they_want() {
    let world = World::of(&["clinic", "holder"]).await;
    let [clinic, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let [ours, theirs] = begun(clinic, holder).await;
    let path =
        format!("/didexchange/{theirs}/accept-invitation?my_label=Alice&use_did_method=did:peer:4");
    let sent = holder.post(&path, "").await;
    assert_eq!(sent["rfc23_state"], "request-sent");
    assert!(sent["my_did"].as_str().unwrap().starts_with("did:peer:4"));
    let path = format!("/connections/{ours}");
    let asked = clinic.until(&path, |one| one["state"] == "request").await;
    assert_eq!(asked["their_label"], "Alice");
    let accept = format!("/didexchange/{ours}/accept-request");
    assert_eq!(clinic.post(&accept, "").await["state"], "response");
    let is_done = |one: &Value| one["rfc23_state"] == "completed";
    clinic.until(&path, is_done).await;
    holder
        .until(&format!("/connections/{theirs}"), is_done)
        .await;
    let again = clinic.send(Method::POST, &accept, "").await;
    assert_eq!(again.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_request_is_refused_with_a_reason() {
    let world = World::of(&["clinic", "holder"]).await;
    let [clinic, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let [ours, theirs] = begun(clinic, holder).await;
    let path = format!("/didexchange/{theirs}/accept-invitation");
    holder.post(&path, "").await;
    let path = format!("/connections/{ours}");
    clinic.until(&path, |one| one["state"] == "request").await;
    let path = format!("/didexchange/{ours}/reject");
    let refused = clinic.post(&path, r#"{"reason":"not a patient"}"#).await;
    assert_eq!(refused["rfc23_state"], "abandoned", "{refused}");
    let path = format!("/connections/{theirs}");
    let told = holder
        .until(&path, |one| one["rfc23_state"] == "abandoned")
        .await;
    let why = told["error_msg"].as_str().unwrap();
    assert!(why.contains("not a patient"), "{why}");
}

#[tokio::test]
async fn calls_of_did_exchange_that_can_not_work_are_refused() {
    let world = World::of(&["clinic", "holder"]).await;
    let [clinic, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let [_, theirs] = begun(clinic, holder).await;
    let accept = format!("/didexchange/{theirs}/accept-invitation");
    let unprocessable = StatusCode::UNPROCESSABLE_ENTITY;
    for (path, status) in [
        ("/didexchange/create-request".to_owned(), unprocessable),
        (
            "/didexchange/create-request?their_public_did=nobody".to_owned(),
            unprocessable,
        ),
        (
            "/didexchange/create-request?their_public_did=did:key:z&protocol=didexchange/2.0"
                .to_owned(),
            unprocessable,
        ),
        (format!("{accept}?use_did_method=did:web"), unprocessable),
        (format!("{accept}?my_endpoint=here"), unprocessable),
        (
            format!("{accept}?use_did=did:key:z&use_did_method=did:peer:2"),
            StatusCode::BAD_REQUEST,
        ),
        (
            "/didexchange/nobody/accept-request".to_owned(),
            StatusCode::NOT_FOUND,
        ),
    ] {
        let refused = holder.send(Method::POST, &path, "").await;
        assert_eq!(refused.status, status, "{path}: {}", refused.body);
    }
    let unresolved = "/didexchange/create-request?their_public_did=did:selfsame:test:unknown";
    let refused = holder.send(Method::POST, unresolved, "").await;
    assert!(refused.status.is_client_error(), "{}", refused.body);
    let listed = holder.get("/connections").await;
    assert_eq!(listed["results"].as_array().unwrap().len(), 1);
    let body = r#"{"@type":"https://didcomm.org/trust_ping/1.0/ping","@id":"1"}"#;
    let refused = clinic
        .send(Method::POST, "/didexchange/receive-request", body)
        .await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_connection_gets_another_did_and_is_ended() {
    let world = World::of(&["clinic", "holder"]).await;
    let [clinic, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let [ours, theirs] = connected(clinic, holder).await;
    let created = clinic
        .post("/wallet/did/create", r#"{"method":"did:peer:2"}"#)
        .await;
    let did = created["result"]["did"].as_str().unwrap();
    let rotate = format!("/did-rotate/{ours}/rotate");
    let body = json!({ "to_did": did }).to_string();
    let said = clinic.post(&rotate, &body).await;
    assert_eq!(said["to_did"], did);
    assert_eq!(said["@type"], "https://didcomm.org/did-rotate/1.0/rotate");
    let path = format!("/connections/{theirs}");
    holder.until(&path, |one| one["their_did"] == did).await;
    let path = format!("/connections/{ours}");
    clinic.until(&path, |one| one["my_did"] == did).await;
    let body = r#"{"to_did":"nobody"}"#;
    let refused = clinic.send(Method::POST, &rotate, body).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    // Without a DID, the agent makes one.
    let said = clinic.post(&rotate, "{}").await;
    let made = said["to_did"].as_str().unwrap();
    assert_ne!(made, did);
    clinic.until(&path, |one| one["my_did"] == made).await;
    let said = holder
        .post(&format!("/did-rotate/{theirs}/hangup"), "")
        .await;
    assert_eq!(said["@type"], "https://didcomm.org/did-rotate/1.0/hangup");
    let is_empty = |listed: &Value| listed["results"] == json!([]);
    clinic.until("/connections", is_empty).await;
    holder.until("/connections", is_empty).await;
}

#[tokio::test]
async fn a_peer_is_asked_what_it_can_do_in_both_versions() {
    let controller = Controller::start().await;
    let world = World::heard(&["clinic", "holder"], &[&controller.url], |_| {}).await;
    let [clinic, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let [ours, _] = connected(clinic, holder).await;
    let ping = "https://didcomm.org/trust_ping/1.0";
    let path = format!("/discover-features/query?connection_id={ours}&query=*trust_ping*");
    let first = clinic.get(&path).await;
    assert_eq!(first["query_msg"]["query"], "*trust_ping*");
    assert_eq!(first["disclose"]["protocols"][0]["pid"], ping);
    assert_eq!(first["state"], "disclose-received");
    let path =
        format!("/discover-features-2.0/queries?connection_id={ours}&query_protocol=*trust_ping*");
    let second = clinic.get(&path).await;
    assert_eq!(second["disclosures"]["disclosures"][0]["id"], ping);
    assert_eq!(
        second["queries_msg"]["queries"][1]["feature-type"],
        "goal-code"
    );
    for (path, asked) in [
        ("/discover-features/records", &first),
        ("/discover-features-2.0/records", &second),
    ] {
        let listed = clinic.get(&format!("{path}?connection_id={ours}")).await;
        let results = listed["results"].as_array().unwrap();
        assert_eq!(results, std::slice::from_ref(asked));
        assert_eq!(holder.get(path).await["results"], json!([]));
    }
    let heard = controller.of("discover_feature", 1).await;
    assert_eq!(heard[0].record["disclose"], first["disclose"]);
    let heard = controller.of("discover_feature_v2_0", 1).await;
    assert_eq!(heard[0].record["disclosures"], second["disclosures"]);
    let own = clinic.get("/discover-features/query").await;
    assert!(own["disclose"]["protocols"].as_array().unwrap().len() > 5);
    let own = clinic.get("/discover-features-2.0/queries").await;
    assert!(own["disclosures"]["disclosures"].as_array().unwrap().len() > 5);
    let absent = "/discover-features/query?connection_id=nobody";
    let absent = clinic.send(Method::GET, absent, "").await;
    assert_eq!(absent.status, StatusCode::NOT_FOUND);
}
