//! DIDComm v2 by the admin API: two agents connect, issue, prove and revoke.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::study::{Published, awaited, offered, published};
use super::world::{Agent, World};

const CREATE: &str = "/out-of-band/create-invitation?auto_accept=true";
const RECEIVE: &str = "/out-of-band/receive-invitation?auto_accept=true";

async fn world() -> World {
    World::of_holder("holder", &["clinic", "holder"]).await
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// A connection that both sides have, by an invitation that this body asks for.
async fn connected(clinic: &Agent, holder: &Agent, body: &Value) -> [String; 2] {
    let made = clinic.post(CREATE, &body.to_string()).await;
    let taken = holder.post(RECEIVE, &made["invitation"].to_string()).await;
    let ids = [&made["connection_id"], &taken["connection_id"]];
    let ids = ids.map(|id| text(id).to_owned());
    for (agent, id) in [(clinic, &ids[0]), (holder, &ids[1])] {
        let path = format!("/connections/{id}");
        let shown = agent.until(&path, |found| found["state"] == "active").await;
        assert_eq!(shown["connection_protocol"], "didcomm/v2");
        assert!(text(&shown["their_did"]).starts_with("did:peer:"));
    }
    ids
}

/// A credential that the holder keeps: its exchange at the issuer.
async fn issued(clinic: &Agent, connection: &str, published: &Published) -> Value {
    let mut body = offered(connection, published);
    body["auto_remove"] = json!(false);
    let sent = clinic
        .post("/issue-credential-2.0/send", &body.to_string())
        .await;
    let path = format!(
        "/issue-credential-2.0/records/{}",
        text(&sent["cred_ex_id"])
    );
    let is_done = |found: &Value| found["cred_ex_record"]["state"] == "done";
    clinic.until(&path, is_done).await
}

/// The verifier's request for a proof of a vaccination that is valid now.
async fn asked(clinic: &Agent, connection: &str, published: &Published) -> Value {
    // A time that has not come stands for now.
    let to = 4_102_444_800_u64;
    let request = json!({
        "name": "Proof of vaccination", "version": "1.0",
        "requested_attributes": {"vaccine": {
            "name": "vaccine", "restrictions": [{"cred_def_id": published.definition}],
        }},
        "requested_predicates": {},
        "non_revoked": {"to": to},
    });
    let body = json!({
        "connection_id": connection, "presentation_request": {"indy": request},
    });
    clinic
        .post("/present-proof-2.0/send-request", &body.to_string())
        .await
}

#[tokio::test]
async fn two_agents_connect_issue_prove_and_revoke() {
    let world = world().await;
    let [clinic, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let body = json!({"protocol_version": "2.0", "my_label": "Ward 3"});
    let [ours, theirs] = connected(clinic, holder, &body).await;
    let shown = holder.get(&format!("/connections/{theirs}")).await;
    assert_eq!(shown["their_label"], "Ward 3");
    let published = published(clinic, true).await;
    let issued = issued(clinic, &ours, &published).await;
    let asking = asked(clinic, &ours, &published).await;
    let path = format!("/present-proof-2.0/records/{}", text(&asking["pres_ex_id"]));
    let proof = clinic.until(&path, |found| found["state"] == "done").await;
    assert_eq!(proof["verified"], "true", "{proof}");

    let body = json!({
        "cred_ex_id": issued["cred_ex_record"]["cred_ex_id"], "publish": true,
        "notify": true, "notify_version": "v2_0", "connection_id": ours,
    });
    clinic.post("/revocation/revoke", &body.to_string()).await;
    let path = format!("/issue-credential-2.0/records?connection_id={theirs}");
    awaited(holder, &path, |one| {
        one["cred_ex_record"]["state"] == "credential-revoked"
    })
    .await;
    // The holder has nothing left to prove with.
    let asking = asked(clinic, &ours, &published).await;
    let path = format!("/present-proof-2.0/records?connection_id={theirs}");
    awaited(holder, &path, |one| {
        one["thread_id"] == asking["thread_id"] && one["error_msg"].is_string()
    })
    .await;
}

#[tokio::test]
async fn invitations_say_which_version_they_are_of() {
    let world = world().await;
    let [clinic, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    for body in [
        json!({"accept": ["didcomm/v2"]}),
        json!({"accept": ["didcomm/v2;env=x"], "use_did_method": "did:peer:4"}),
        json!({"protocol_version": "2.0", "handshake_protocols": ["didcomm/2.0"]}),
    ] {
        connected(clinic, holder, &body).await;
    }
    let made = clinic
        .post(
            CREATE,
            r#"{"accept": ["didcomm/v2"], "goal": "to connect"}"#,
        )
        .await;
    let invitation = &made["invitation"];
    assert_eq!(
        invitation["type"],
        "https://didcomm.org/out-of-band/2.0/invitation"
    );
    assert_eq!(invitation["body"]["goal"], "to connect");
    assert!(text(&made["invitation_url"]).contains("_oob="));
    let path = format!("/out-of-band/invitations?oob_id={}", text(&made["oob_id"]));
    let again = clinic.get(&path).await;
    assert_eq!(again["invitation"], *invitation);
    for (body, status) in [
        (
            json!({"protocol_version": "2.0", "use_did": "did:peer:2.Ez6LSbysY2xFMRpGMhb7tFTLMpeuPRaqaWM1yECx2AtzE3KCc"}),
            StatusCode::BAD_REQUEST,
        ),
        (
            json!({"handshake_protocols": ["didcomm/2.0", "didexchange/1.1"]}),
            StatusCode::BAD_REQUEST,
        ),
    ] {
        let refused = clinic.send(Method::POST, CREATE, &body.to_string()).await;
        assert_eq!(refused.status, status, "{body}: {}", refused.body);
    }
}

#[tokio::test]
async fn a_controller_rotates_and_hangs_up() {
    let world = world().await;
    let [clinic, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let body = json!({"protocol_version": "2.0"});
    let [ours, theirs] = connected(clinic, holder, &body).await;
    let path = format!("/connections/{ours}");
    let before = clinic.get(&path).await["my_did"].clone();
    clinic
        .post(&format!("/did-rotate/{ours}/rotate"), "{}")
        .await;
    let now = clinic.get(&path).await["my_did"].clone();
    assert_ne!(before, now);
    let seen = format!("/connections/{theirs}");
    holder.until(&seen, |found| found["their_did"] == now).await;
    let body = r#"{"content": "still here"}"#;
    let sent = holder.post(&format!("{seen}/send-message"), body).await;
    assert_eq!(sent, json!({}));
    holder
        .post(&format!("/did-rotate/{theirs}/hangup"), "")
        .await;
    let is_empty = |found: &Value| found["results"] == json!([]);
    for agent in [clinic, holder] {
        agent.until("/connections", is_empty).await;
    }
}
