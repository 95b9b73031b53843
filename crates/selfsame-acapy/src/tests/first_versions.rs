//! Issuing and presenting in version 1.0, with the older names of records, members and states.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::connecting::connected;
use super::hearing::Controller;
use super::study::{Published, VALUES, attributes, awaited, published, request};
use super::world::{Agent, World};

/// Two agents with a controller; the holder requests what it is offered.
async fn two(controller: &Controller) -> World {
    World::heard(&["clinic", "holder"], &[&controller.url], |settings| {
        let is_holder = settings.organisation == "holder";
        settings.terms.settings.auto_respond_credential_offer = is_holder;
        settings.terms.settings.preserve_exchange_records = true;
    })
    .await
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Issues a credential on these connections; the issuer's and the holder's records.
async fn issued(agents: [&Agent; 2], ids: &[String; 2], published: &Published) -> [Value; 2] {
    let [issuer, holder] = agents;
    let body = json!({
        "connection_id": ids[0],
        "cred_def_id": published.definition,
        "schema_id": published.schema,
        "comment": "vaccination",
        "credential_proposal": {"@type": "issue-credential/1.0/credential-preview", "attributes": attributes()},
    });
    let sent = issuer
        .post("/issue-credential/send", &body.to_string())
        .await;
    assert_eq!(sent["state"], "offer_sent");
    assert_eq!(sent["auto_issue"], true);
    let path = format!("/issue-credential/records?connection_id={}", ids[1]);
    let received = awaited(holder, &path, |one| one["state"] == "credential_received").await;
    let path = format!(
        "/issue-credential/records/{}",
        text(&received["credential_exchange_id"])
    );
    let stored = holder.post(&format!("{path}/store"), "").await;
    let path = format!(
        "/issue-credential/records/{}",
        text(&sent["credential_exchange_id"])
    );
    let done = issuer
        .until(&path, |one| one["state"] == "credential_acked")
        .await;
    [done, stored]
}

#[tokio::test]
async fn a_credential_is_issued_and_proven_in_version_one() {
    let controller = Controller::start().await;
    let world = two(&controller).await;
    let [clinic, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let published = published(clinic, false).await;
    let ids = connected(clinic, holder).await;
    let [done, stored] = issued([clinic, holder], &ids, &published).await;
    assert_eq!(stored["state"], "credential_acked");
    assert_eq!(stored["role"], "holder");
    assert_eq!(stored["credential"]["referent"], stored["credential_id"]);
    assert_eq!(stored["credential"]["attrs"]["vaccine"], VALUES[0]);
    assert_eq!(
        stored["credential_definition_id"],
        published.definition.as_str()
    );
    assert_eq!(
        stored["raw_credential"]["schema_id"],
        published.schema.as_str()
    );
    let proposal = &done["credential_proposal_dict"];
    assert_eq!(proposal["cred_def_id"], published.definition.as_str());
    let offer = &done["credential_offer_dict"];
    assert_eq!(
        offer["@type"],
        "https://didcomm.org/issue-credential/1.0/offer-credential"
    );
    assert_eq!(offer["offers~attach"][0]["@id"], "libindy-cred-offer-0");
    proven([clinic, holder], &ids, &published).await;
    let states = ["offer_sent", "request_received", "credential_acked"];
    controller.hears("issue_credential", &states).await;
    let states = ["proposal_received", "request_sent", "verified"];
    controller.hears("present_proof", &states).await;
    let heard = controller.all("issue_credential");
    assert!(heard[0].record["credential_exchange_id"].is_string());
}

/// The holder proposes what to prove, and proves it.
async fn proven(agents: [&Agent; 2], ids: &[String; 2], published: &Published) {
    let [verifier, holder] = agents;
    let body = json!({
        "connection_id": ids[1],
        "comment": "proof",
        "presentation_proposal": {
            "attributes": [
                {"name": "vaccine", "cred_def_id": published.definition},
                {"name": "manufacturer", "cred_def_id": published.definition},
            ],
            "predicates": [{
                "name": "date", "cred_def_id": published.definition,
                "predicate": ">=", "threshold": 20_210_901,
            }],
        },
    });
    let path = "/present-proof/send-proposal";
    let proposed = holder.post(path, &body.to_string()).await;
    assert_eq!(proposed["state"], "proposal_sent");
    let path = format!(
        "/present-proof/records?thread_id={}",
        text(&proposed["thread_id"])
    );
    let received = awaited(verifier, &path, |one| one["state"] == "proposal_received").await;
    let proposal = &received["presentation_proposal_dict"]["presentation_proposal"];
    assert_eq!(proposal["predicates"][0]["threshold"], 20_210_901);
    let verifying = format!(
        "/present-proof/records/{}",
        text(&received["presentation_exchange_id"])
    );
    let asked = verifier
        .post(&format!("{verifying}/send-request"), "")
        .await;
    assert_eq!(asked["state"], "request_sent");
    let found = awaited(holder, &path, |one| one["state"] == "request_received").await;
    let proving = format!(
        "/present-proof/records/{}",
        text(&found["presentation_exchange_id"])
    );
    let fit = holder.get(&format!("{proving}/credentials")).await;
    let shown = json!({"cred_id": fit[0]["cred_info"]["referent"], "revealed": true});
    let request = &found["presentation_request"];
    let chosen = |kind: &str| {
        let asked = request[kind].as_object().unwrap().keys();
        let each = asked.map(|referent| (referent.clone(), shown.clone()));
        Value::Object(each.collect())
    };
    let body = json!({
        "requested_attributes": chosen("requested_attributes"),
        "requested_predicates": chosen("requested_predicates"),
        "self_attested_attributes": {},
    });
    let path = format!("{proving}/send-presentation");
    let presented = holder.post(&path, &body.to_string()).await;
    assert_eq!(presented["state"], "presentation_sent");
    verifier
        .until(&verifying, |one| one["state"] == "presentation_received")
        .await;
    let path = format!("{verifying}/verify-presentation");
    let verified = verifier.post(&path, "").await;
    assert_eq!(verified["verified"], "true", "{verified}");
    assert_eq!(verified["state"], "verified");
    holder
        .until(&proving, |one| one["state"] == "presentation_acked")
        .await;
}

#[tokio::test]
async fn the_exchanges_of_one_version_are_not_among_those_of_the_other() {
    let world = World::of(&["clinic"]).await;
    let clinic = &world.agents[0];
    let request = request(&Published {
        schema: "did:example:1/schema".to_owned(),
        definition: "did:example:1/definition".to_owned(),
    });
    let first = clinic
        .post(
            "/present-proof/create-request",
            &json!({ "proof_request": request }).to_string(),
        )
        .await;
    let second = clinic
        .post(
            "/present-proof-2.0/create-request",
            &json!({"presentation_request": {"indy": request}}).to_string(),
        )
        .await;
    let listed = clinic.get("/present-proof/records").await;
    let listed = listed["results"].as_array().unwrap().clone();
    assert_eq!(listed.len(), 1);
    assert_eq!(
        listed[0]["presentation_exchange_id"],
        first["presentation_exchange_id"]
    );
    let by_state = "/present-proof/records?state=request_sent";
    let found = clinic.get(by_state).await;
    assert_eq!(found["results"].as_array().unwrap().len(), 1);
    let listed = clinic.get("/present-proof-2.0/records").await;
    assert_eq!(listed["results"].as_array().unwrap().len(), 1);
    let (first, second) = (
        text(&first["presentation_exchange_id"]),
        text(&second["pres_ex_id"]),
    );
    for path in [
        format!("/present-proof-2.0/records/{first}"),
        format!("/present-proof/records/{second}"),
    ] {
        let other = clinic.send(Method::GET, &path, "").await;
        assert_eq!(other.status, StatusCode::NOT_FOUND, "{path}");
    }
    let body = json!({"attachments": [{"id": first, "type": "present-proof"}]});
    let made = clinic
        .post("/out-of-band/create-invitation", &body.to_string())
        .await;
    assert!(made["invitation"]["requests~attach"][0].is_object());
    let path = format!("/present-proof/records/{first}");
    let removed = clinic.send(Method::DELETE, &path, "").await;
    assert_eq!(removed.json(), json!({}));
}

#[tokio::test]
async fn bodies_of_version_one_that_lack_something_are_refused() {
    let world = World::of(&["clinic"]).await;
    let clinic = &world.agents[0];
    let preview = json!({"attributes": [{"name": "vaccine", "value": "A"}]});
    for (path, body) in [
        (
            "/issue-credential/send",
            json!({"credential_proposal": preview}),
        ),
        (
            "/issue-credential/create-offer",
            json!({"cred_def_id": "x"}),
        ),
        ("/issue-credential/send-proposal", json!({})),
        ("/present-proof/send-request", json!({"proof_request": {}})),
        ("/present-proof/create-request", json!({})),
        (
            "/present-proof/send-proposal",
            json!({"connection_id": "x"}),
        ),
    ] {
        let refused = clinic.send(Method::POST, path, &body.to_string()).await;
        assert_eq!(
            refused.status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{path}: {}",
            refused.body
        );
    }
}
