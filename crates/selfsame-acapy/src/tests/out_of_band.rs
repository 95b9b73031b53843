//! Invitations of out-of-band: connections, attached requests, reuse, and what is refused.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::hearing::Controller;
use super::study::awaited;
use super::world::{Agent, World};

const CREATE: &str = "/out-of-band/create-invitation";
const RECEIVE: &str = "/out-of-band/receive-invitation";
const EXCHANGE: &str = "https://didcomm.org/didexchange/1.1";

async fn world() -> World {
    World::of(&["clinic", "holder"]).await
}

async fn invited(agent: &Agent, body: Value) -> Value {
    let path = format!("{CREATE}?auto_accept=true");
    agent.post(&path, &body.to_string()).await
}

/// The record of an invitation that the holder took, once it is done.
async fn taken(holder: &Agent, invited: &Value) -> Value {
    let path = format!("{RECEIVE}?auto_accept=true&alias=Clinic");
    let invitation = invited["invitation"].to_string();
    let received = holder.post(&path, &invitation).await;
    assert_eq!(received["role"], "receiver", "{received}");
    let id = received["oob_id"].clone();
    awaited(holder, "/out-of-band/records", |one| {
        one["oob_id"] == id && one["state"] == "done"
    })
    .await
}

#[tokio::test]
async fn an_invitation_of_out_of_band_leads_to_a_connection() {
    let world = world().await;
    let [clinic, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let body = json!({
        "handshake_protocols": [EXCHANGE], "alias": "Patient", "my_label": "Ward 3",
        "goal_code": "issue-vc", "goal": "a vaccination", "metadata": {"bed": 2},
    });
    let made = invited(clinic, body).await;
    assert_eq!(made["state"], "initial");
    assert_eq!(made["invitation"]["label"], "Ward 3");
    assert_eq!(made["invitation"]["goal_code"], "issue-vc");
    assert_eq!(made["invitation"]["@id"], made["invi_msg_id"]);
    let path = format!("/out-of-band/invitations?oob_id={}", text(&made["oob_id"]));
    let again = clinic.get(&path).await;
    assert_eq!(again["invitation_url"], made["invitation_url"]);
    let done = taken(holder, &made).await;
    let theirs = format!("/connections/{}", text(&done["connection_id"]));
    let is_active = |found: &Value| found["state"] == "active";
    let shown = holder.until(&theirs, is_active).await;
    assert_eq!(shown["their_label"], "Ward 3");
    assert_eq!(shown["connection_protocol"], "didexchange/1.1");
    let ours = format!("/connections/{}", text(&made["connection_id"]));
    let shown = clinic.until(&ours, is_active).await;
    assert_eq!(shown["alias"], "Patient");
    let noted = clinic.get(&format!("{ours}/metadata")).await;
    assert_eq!(noted["results"]["bed"], 2);
    let query = format!(
        "/out-of-band/records?role=sender&state=done&connection_id={}&invi_msg_id={}",
        text(&made["connection_id"]),
        text(&made["invi_msg_id"])
    );
    let listed = clinic.get(&query).await;
    assert_eq!(listed["results"][0]["oob_id"], made["oob_id"]);
    let none = clinic.get("/out-of-band/records?role=receiver").await;
    assert_eq!(none["results"], json!([]));
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[tokio::test]
async fn a_request_that_is_attached_arrives_without_a_connection() {
    let world = world().await;
    let [clinic, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let request = json!({
        "name": "Age", "version": "1.0", "requested_predicates": {},
        "requested_attributes": {"name": {"name": "name"}},
    });
    let body = json!({"presentation_request": {"indy": request}});
    let created = clinic
        .post("/present-proof-2.0/create-request", &body.to_string())
        .await;
    let attachment = json!({"id": created["pres_ex_id"], "type": "present-proof"});
    let made = invited(clinic, json!({"attachments": [attachment]})).await;
    assert!(made["invitation"]["requests~attach"][0]["data"].is_object());
    assert!(made.get("connection_id").is_none());
    let done = taken(holder, &made).await;
    assert_eq!(done["attach_thread_id"], created["thread_id"]);
    let service = &done["their_service"];
    let endpoint = clinic.settings.terms.endpoint.as_str();
    assert_eq!(service["serviceEndpoint"], endpoint);
    let path = format!(
        "/present-proof-2.0/records?thread_id={}",
        text(&created["thread_id"])
    );
    let found = awaited(holder, &path, |one| one["state"] == "request-received").await;
    assert_eq!(found["by_format"]["pres_request"]["indy"]["name"], "Age");
}

#[tokio::test]
async fn a_connection_is_used_again_and_controllers_hear_of_it() {
    let controller = Controller::start().await;
    let world = World::heard(&["clinic", "holder"], &[&controller.url], |_| {}).await;
    let [clinic, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let body = json!({"handshake_protocols": [EXCHANGE], "use_did_method": "did:peer:2"});
    let first = invited(clinic, body.clone()).await;
    let connected = taken(holder, &first).await;
    let path = format!("/connections/{}", text(&connected["connection_id"]));
    holder.until(&path, |one| one["state"] == "active").await;
    let second = invited(clinic, body).await;
    let did = &first["invitation"]["services"][0];
    assert!(did.is_string());
    assert_eq!(second["invitation"]["services"][0], *did);
    let again = taken(holder, &second).await;
    assert_eq!(again["connection_id"], connected["connection_id"]);
    let asked = controller.of("connection_reuse", 1).await;
    assert_eq!(asked[0].record["connection_id"], first["connection_id"]);
    let accepted = controller.of("connection_reuse_accepted", 1).await;
    assert_eq!(accepted[0].record["state"], "accepted");
    assert_eq!(accepted[0].record["thread_id"], again["reuse_msg_id"]);
    let made = controller.of("oob_invitation", 2).await;
    assert_eq!(made[0].record["invi_msg_id"], first["invi_msg_id"]);
    let states = ["await-response", "done", "reuse-accepted"];
    controller.hears("out_of_band", &states).await;
    let unique = json!({"handshake_protocols": [EXCHANGE], "use_did_method": "did:peer:4"});
    let path = format!("{CREATE}?create_unique_did=true");
    let mut dids = Vec::new();
    for _ in 0..2 {
        let made = clinic.post(&path, &unique.to_string()).await;
        dids.push(made["invitation"]["services"][0].clone());
    }
    assert_ne!(dids[0], dids[1]);
}

#[tokio::test]
async fn an_invitation_is_removed_with_the_connection_that_waits() {
    let world = world().await;
    let clinic = &world.agents[0];
    // Callers may leave out the prefix of a protocol.
    let body = json!({"handshake_protocols": ["connections/1.0"]});
    let made = invited(clinic, body).await;
    assert_eq!(
        made["invitation"]["handshake_protocols"],
        json!(["https://didcomm.org/connections/1.0"])
    );
    let path = format!("/out-of-band/invitations/{}", text(&made["invi_msg_id"]));
    let removed = clinic.send(Method::DELETE, &path, "").await;
    assert_eq!(removed.json(), json!({}));
    let gone = clinic.send(Method::DELETE, &path, "").await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
    let path = format!("/connections/{}", text(&made["connection_id"]));
    let gone = clinic.send(Method::GET, &path, "").await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn invitations_that_can_not_work_are_refused() {
    let world = world().await;
    let clinic = &world.agents[0];
    let both = json!([EXCHANGE]);
    for (query, body) in [
        ("", json!({})),
        ("", json!({"metadata": {"bed": 2}})),
        ("", json!({"handshake_protocols": ["unknown/1.0"]})),
        (
            "?create_unique_did=true",
            json!({"handshake_protocols": both}),
        ),
        (
            "",
            json!({"handshake_protocols": both, "use_did": "did:key:z6Mk", "use_did_method": "did:peer:2"}),
        ),
    ] {
        let path = format!("{CREATE}{query}");
        let refused = clinic.send(Method::POST, &path, &body.to_string()).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{body}");
    }
    let public = json!({"handshake_protocols": both, "use_public_did": true});
    let refused = clinic.send(Method::POST, CREATE, &public.to_string()).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let absent = json!({"attachments": [{"id": "nobody", "type": "credential-offer"}]});
    let refused = clinic.send(Method::POST, CREATE, &absent.to_string()).await;
    assert_eq!(refused.status, StatusCode::NOT_FOUND);
    for body in [
        json!({"attachments": [{"id": "x", "type": "menu"}]}),
        json!({"handshake_protocols": both, "use_did_method": "did:web"}),
    ] {
        let refused = clinic.send(Method::POST, CREATE, &body.to_string()).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{body}");
    }
    let none = clinic.send(Method::GET, "/out-of-band/invitations", "");
    assert_eq!(none.await.status, StatusCode::UNPROCESSABLE_ENTITY);
    let no_invitation = r#"{"@type":"https://didcomm.org/trust_ping/1.0/ping","@id":"1"}"#;
    let refused = clinic.send(Method::POST, RECEIVE, no_invitation);
    assert_eq!(refused.await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_did_whose_key_the_agent_holds_becomes_the_one_that_invitations_name() {
    let world = World::with(&["clinic"], |settings| {
        settings.terms.settings.public_invites = true;
    })
    .await;
    let clinic = &world.agents[0];
    let own = clinic.get("/wallet/did/public").await["result"]["did"].clone();
    let path = format!("/wallet/did/public?did={}", own.as_str().unwrap());
    assert_eq!(clinic.post(&path, "").await["result"]["did"], own);
    let body = r#"{"method":"did:peer:2"}"#;
    let made = clinic.post("/wallet/did/create", body).await;
    let peer = made["result"]["did"].as_str().unwrap();
    let path = format!("/wallet/did/public?did={peer}");
    let adopted = clinic.post(&path, "").await;
    assert_eq!(adopted["result"]["did"], peer);
    assert_eq!(adopted["result"]["verkey"], made["result"]["verkey"]);
    let body =
        r#"{"use_public_did":true,"handshake_protocols":["https://didcomm.org/didexchange/1.1"]}"#;
    let invited = clinic.post("/out-of-band/create-invitation", body).await;
    assert_eq!(invited["invitation"]["services"][0], peer);
    let unknown = "/wallet/did/public?did=did:example:another";
    let unknown = clinic.send(Method::POST, unknown, "").await;
    assert_eq!(unknown.status, StatusCode::BAD_REQUEST);
    let without = clinic.send(Method::POST, "/wallet/did/public", "").await;
    assert_eq!(without.status, StatusCode::UNPROCESSABLE_ENTITY);
}
