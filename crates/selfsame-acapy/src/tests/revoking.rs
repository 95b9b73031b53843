//! Revocation: holders are notified once the ledger has it, and controllers hear of registries and credentials.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::hearing::Controller;
use super::study::{issued, published};
use super::world::World;

/// Two agents with a controller; the holder requests what it is offered.
async fn two(controller: &Controller) -> World {
    World::heard(&["clinic", "holder"], &[&controller.url], |settings| {
        let is_holder = settings.organisation == "holder";
        settings.terms.settings.auto_respond_credential_offer = is_holder;
        settings.terms.settings.preserve_exchange_records = true;
    })
    .await
}

#[tokio::test]
async fn holders_are_notified_once_their_credential_is_revoked() {
    let controller = Controller::start().await;
    let world = two(&controller).await;
    let [clinic, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let published = published(clinic, true).await;
    let first = issued(clinic, holder, &published).await;
    let detail = &first.stored["indy"];
    assert!(detail["rev_reg_id"].is_string(), "{detail}");
    let revoke = "/revocation/revoke";
    let body = json!({
        "cred_ex_id": first.sent["cred_ex_id"], "publish": false, "notify": true,
        "notify_version": "v2_0", "connection_id": first.connections[0], "comment": "recalled",
    });
    assert_eq!(clinic.post(revoke, &body.to_string()).await, json!({}));
    let second = issued(clinic, holder, &published).await;
    let body = json!({
        "rev_reg_id": second.stored["indy"]["rev_reg_id"],
        "cred_rev_id": second.stored["indy"]["cred_rev_id"],
        "publish": true, "notify": true, "connection_id": second.connections[0],
        "thread_id": second.sent["thread_id"],
    });
    clinic.post(revoke, &body.to_string()).await;
    let heard = controller.of("revocation-notification", 1).await;
    assert_eq!(heard[0].record["thread_id"], second.sent["thread_id"]);
    // The first one is still pending.
    let early = controller.all("revocation-notification-v2");
    assert!(early.is_empty());
    clinic.post("/revocation/publish-revocations", "{}").await;
    let heard = controller.of("revocation-notification-v2", 1).await;
    assert_eq!(heard[0].record["rev_reg_id"], detail["rev_reg_id"]);
    assert_eq!(heard[0].record["cred_rev_id"], detail["cred_rev_id"]);
    assert_eq!(heard[0].record["comment"], "recalled");
    let records = controller.of("issuer_cred_rev", 4).await;
    let states = records.iter().map(|one| one.record["state"].clone());
    let states: Vec<Value> = states.collect();
    assert_eq!(states.iter().filter(|one| **one == "issued").count(), 2);
    assert_eq!(states.iter().filter(|one| **one == "revoked").count(), 2);
    let states = ["generated", "active"];
    controller.hears("revocation_registry", &states).await;
    let details = controller.of("issue_credential_v2_0_indy", 6).await;
    assert!(
        details
            .iter()
            .any(|one| one.record["cred_id_stored"].is_string())
    );
}

#[tokio::test]
async fn a_notification_needs_a_connection() {
    let world = World::of(&["clinic"]).await;
    let clinic = &world.agents[0];
    let body = r#"{"cred_ex_id":"nobody","notify":true,"notify_version":"v3_0"}"#;
    let refused = clinic.send(Method::POST, "/revocation/revoke", body);
    assert_eq!(refused.await.status, StatusCode::UNPROCESSABLE_ENTITY);
    let body = r#"{"cred_ex_id":"nobody","notify":true}"#;
    let refused = clinic.send(Method::POST, "/revocation/revoke", body);
    assert_eq!(refused.await.status, StatusCode::NOT_FOUND);
}
