//! Two agents of one process connect by the calls of RFC 0160.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::world::{Agent, World};

/// A connection that both sides have: its identifiers at the inviting and at the invited side.
pub async fn connected(clinic: &Agent, holder: &Agent) -> [String; 2] {
    let made = clinic
        .post(
            "/connections/create-invitation?alias=Pacientes&auto_accept=true",
            "{}",
        )
        .await;
    let taken = holder
        .post(
            "/connections/receive-invitation",
            &made["invitation"].to_string(),
        )
        .await;
    let id = taken["connection_id"].as_str().unwrap().to_owned();
    let path = format!("/connections/{id}/accept-invitation");
    assert_eq!(holder.post(&path, "").await["state"], "request");
    let ours = made["connection_id"].as_str().unwrap().to_owned();
    let is_active = |found: &Value| found["state"] == "active";
    clinic
        .until(&format!("/connections/{ours}"), is_active)
        .await;
    holder.until(&format!("/connections/{id}"), is_active).await;
    [ours, id]
}

#[tokio::test]
async fn two_agents_connect_and_ping_and_write_to_each_other() {
    let world = World::of(&["clinic", "holder"]).await;
    let [clinic, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let [ours, theirs] = connected(clinic, holder).await;
    let shown = clinic.get(&format!("/connections/{ours}")).await;
    assert_eq!(shown["alias"], "Pacientes");
    assert_eq!(shown["their_label"], "holder agent");
    assert_eq!(shown["rfc23_state"], "completed");
    let ping = format!("/connections/{theirs}/send-ping");
    let pinged = holder.post(&ping, r#"{"comment":"hello"}"#).await;
    assert!(pinged["thread_id"].is_string());
    let endpoints = holder
        .get(&format!("/connections/{theirs}/endpoints"))
        .await;
    let endpoint = holder.settings.terms.endpoint.as_str();
    assert_eq!(
        endpoints,
        json!({"my_endpoint": endpoint, "their_endpoint": endpoint})
    );
}

#[tokio::test]
async fn connections_are_listed_by_what_they_are_and_noted_and_removed() {
    let world = World::of(&["clinic", "holder"]).await;
    let [clinic, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let [ours, _] = connected(clinic, holder).await;
    let open = clinic
        .post("/connections/create-invitation?alias=Open", "")
        .await;
    let listed = async |query: &str| {
        let found = clinic.get(&format!("/connections{query}")).await;
        let results = found["results"].as_array().unwrap().clone();
        let alias = |one: &Value| one["alias"].as_str().unwrap().to_owned();
        results.iter().map(alias).collect::<Vec<_>>()
    };
    assert_eq!(listed("").await, ["Pacientes", "Open"]);
    assert_eq!(listed("?alias=Open").await, ["Open"]);
    assert_eq!(listed("?state=completed").await, ["Pacientes"]);
    assert_eq!(listed("?state=invitation").await, ["Open"]);
    assert_eq!(listed("?state=invitation-sent").await, ["Open"]);
    assert_eq!(listed("?their_role=invitee&limit=1").await.len(), 1);
    assert!(listed("?my_did=other").await.is_empty());
    assert!(listed("?offset=2").await.is_empty());
    let key = open["invitation"]["recipientKeys"][0].as_str().unwrap();
    assert_eq!(listed(&format!("?invitation_key={key}")).await, ["Open"]);

    let path = format!("/connections/{ours}/metadata");
    clinic.post(&path, r#"{"metadata":{"ward":"3"}}"#).await;
    let noted = clinic.post(&path, r#"{"metadata":{"bed":2}}"#).await;
    assert_eq!(noted["results"], json!({"ward": "3", "bed": 2}));
    let one = clinic.get(&format!("{path}?key=ward")).await;
    assert_eq!(one["results"], "3");

    let path = format!("/connections/{ours}");
    let removed = clinic.send(Method::DELETE, &path, "").await;
    assert_eq!(removed.json(), json!({}));
    let gone = clinic.send(Method::GET, &path, "").await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_call_waits_for_its_connection_and_is_refused_with_its_name_if_it_is_not_ready_in_time() {
    let names = ["clinic", "holder"];
    let world = World::with(&names, |settings| {
        if settings.organisation == "clinic" {
            settings.terms.connection_wait = std::time::Duration::from_millis(30);
        }
    })
    .await;
    let [clinic, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let made = clinic
        .post("/connections/create-invitation?auto_accept=true", "{}")
        .await;
    let id = made["connection_id"].as_str().unwrap();
    let ping = format!("/connections/{id}/send-ping");
    let early = clinic.send(Method::POST, &ping, "{}").await;
    assert_eq!(early.status, StatusCode::FORBIDDEN);
    assert_eq!(early.body, format!("403: Connection {id} not ready"));
    assert_eq!(early.headers["content-type"], "text/plain; charset=utf-8");

    let invitation = made["invitation"].to_string();
    let path = "/connections/receive-invitation?auto_accept=true";
    let taken = holder.post(path, &invitation).await;
    let id = taken["connection_id"].as_str().unwrap();
    // The response is still on its way.
    let ping = format!("/connections/{id}/send-ping");
    assert!(holder.post(&ping, "").await["thread_id"].is_string());
}

#[tokio::test]
async fn one_agent_does_not_see_the_connections_of_another() {
    let world = World::of(&["clinic", "holder"]).await;
    let [clinic, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let made = clinic.post("/connections/create-invitation", "{}").await;
    let id = made["connection_id"].as_str().unwrap();
    let path = format!("/connections/{id}");
    for (method, path) in [
        (Method::GET, path.clone()),
        (Method::DELETE, path.clone()),
        (Method::GET, format!("{path}/endpoints")),
        (Method::GET, format!("{path}/metadata")),
        (Method::POST, format!("{path}/send-ping")),
        (Method::POST, format!("{path}/accept-request")),
    ] {
        let foreign = holder.send(method, &path, "{}").await;
        assert_eq!(foreign.status, StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(clinic.get(&path).await["state"], "invitation");
}
