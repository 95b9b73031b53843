//! The ledger: the agent's DID is registered, and what the registry does not have is answered as on a ledger without it.

use http::{Method, StatusCode};
use selfsame_crypto::hash::sha256;
use selfsame_registry::Operation;
use selfsame_registry::network::Agreement;
use serde_json::{Value, json};

use super::endorsing::decided;
use super::study::published;
use super::world::{Agent, World};

const TEXT: &str = "Authors write no personal data.";

#[tokio::test]
async fn the_agents_did_is_registered_and_that_of_others_is_not() {
    let world = World::of(&["clinic"]).await;
    let clinic = &world.agents[0];
    let public = clinic.get("/wallet/did/public").await;
    let (did, verkey) = (&public["result"]["did"], &public["result"]["verkey"]);
    let (did, verkey) = (did.as_str().unwrap(), verkey.as_str().unwrap());
    let register = "/ledger/register-nym";
    let path = format!("{register}?did={did}&verkey={verkey}&role=ENDORSER");
    assert_eq!(clinic.post(&path, "").await["success"], true);
    let known = clinic.get(&format!("/ledger/did-verkey?did={did}")).await;
    assert_eq!(known["verkey"], verkey);
    let role = clinic.get(&format!("/ledger/get-nym-role?did={did}")).await;
    assert_eq!(role["role"], "ENDORSER");
    for query in [
        format!("did={did}"),
        format!("did={did}&verkey=another"),
        format!("did=did:selfsame:test:unknown&verkey={verkey}"),
    ] {
        let path = format!("{register}?{query}");
        let refused = clinic.send(Method::POST, &path, "").await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{query}");
    }
    let unknown = "/ledger/get-nym-role?did=did:selfsame:test:unknown";
    let unknown = clinic.send(Method::GET, unknown, "").await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn there_is_no_agreement_to_accept_and_no_key_to_rotate() {
    let world = World::of(&["clinic"]).await;
    let clinic = &world.agents[0];
    let agreement = clinic.get("/ledger/taa").await;
    assert_eq!(
        agreement["result"],
        json!({"aml_record": null, "taa_record": null, "taa_required": false, "taa_accepted": null})
    );
    let body = r#"{"mechanism":"on_file","text":"","version":"1"}"#;
    let accepted = clinic.send(Method::POST, "/ledger/taa/accept", body).await;
    assert_eq!(accepted.status, StatusCode::BAD_REQUEST);
    let path = "/ledger/rotate-public-did-keypair";
    let rotated = clinic.send(Method::PATCH, path, "").await;
    assert_eq!(rotated.status, StatusCode::BAD_REQUEST);
}

/// Puts a version of the agreement in force.
async fn agree_on(world: &World, version: &str) {
    let agreement = Agreement {
        version: version.to_owned(),
        digest: sha256(TEXT.as_bytes()),
        mechanisms: vec!["at_submission".to_owned(), "on_file".to_owned()],
    };
    decided(world, vec![Operation::SetAgreement(Some(agreement))]).await;
}

async fn accept(agent: &Agent, version: &str, text: &str, mechanism: &str) -> StatusCode {
    let body = json!({"version": version, "text": text, "mechanism": mechanism});
    let path = "/ledger/taa/accept";
    let answer = agent.send(Method::POST, path, &body.to_string()).await;
    answer.status
}

/// What the transaction accepts that published a schema.
async fn accepted_with(world: &World, schema: &str) -> Value {
    let path = format!("/schemas/{}", schema.replace('/', "%2F"));
    let shown = world.agents[0].get(&path).await;
    let number = shown["schema"]["seqNo"].as_u64().unwrap();
    let registry = world.app.registry().unwrap();
    let entry = registry.entry(number).await.unwrap();
    entry.content["accepted_agreement"].clone()
}

#[tokio::test]
async fn an_agent_publishes_under_the_agreement_that_it_accepted_and_its_transactions_say_so() {
    let world = World::of(&["clinic"]).await;
    let clinic = &world.agents[0];
    agree_on(&world, "1").await;
    let taa = clinic.get("/ledger/taa").await;
    let result = &taa["result"];
    assert_eq!(result["taa_required"], true);
    assert_eq!(result["taa_accepted"], Value::Null);
    assert_eq!(
        result["aml_record"]["aml"],
        json!({"at_submission": "", "on_file": ""})
    );
    assert_eq!(result["taa_record"]["version"], "1");
    let schema = r#"{"schema_name":"s","schema_version":"1.0","attributes":["a"]}"#;
    let refused = clinic.send(Method::POST, "/schemas", schema).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.body.contains("agreement"), "{}", refused.body);

    for (version, text, mechanism) in [
        ("2", TEXT, "on_file"),
        ("1", "another text", "on_file"),
        ("1", TEXT, "by_nodding"),
    ] {
        let refused = accept(clinic, version, text, mechanism).await;
        assert_eq!(
            refused,
            StatusCode::BAD_REQUEST,
            "{version} {text} {mechanism}"
        );
    }
    assert_eq!(accept(clinic, "1", TEXT, "on_file").await, StatusCode::OK);
    let taa = clinic.get("/ledger/taa").await;
    let accepted = &taa["result"]["taa_accepted"];
    assert_eq!(accepted["mechanism"], "on_file");
    let today = world.app.clock().now().0 / 86_400 * 86_400;
    assert_eq!(accepted["time"], today);

    let published = published(clinic, true).await;
    let accepted = accepted_with(&world, &published.schema).await;
    assert_eq!(accepted["version"], "1", "{accepted}");

    // Once another one is in force, it must be accepted too. A reader who has compared its digest need not send the text.
    agree_on(&world, "2").await;
    let schema = r#"{"schema_name":"s","schema_version":"2.0","attributes":["a"]}"#;
    let refused = clinic.send(Method::POST, "/schemas", schema).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
    assert_eq!(
        accept(clinic, "2", "", "at_submission").await,
        StatusCode::OK
    );
    let made = clinic.post("/schemas", schema).await;
    let accepted = accepted_with(&world, made["schema_id"].as_str().unwrap()).await;
    assert_eq!(accepted["version"], "2");
}

#[tokio::test]
async fn the_operator_accepts_for_the_dids_of_new_organisations_and_they_for_what_they_publish() {
    let world = World::with(&["main"], |settings| settings.multitenant = true).await;
    let operator = &world.agents[0];
    agree_on(&world, "1").await;
    let wallets = "/multitenancy/wallet";
    let new = |name: &str| json!({"wallet_name": name, "label": name}).to_string();
    let refused = operator.send(Method::POST, wallets, &new("early")).await;
    assert!(!refused.status.is_success());
    assert!(refused.body.contains("agreement"), "{}", refused.body);

    assert_eq!(accept(operator, "1", TEXT, "on_file").await, StatusCode::OK);
    let made = operator.post(wallets, &new("ward")).await;
    let ward = operator.with(made["token"].as_str().unwrap());
    let public = ward.get("/wallet/did/public").await;
    let did = public["result"]["did"].as_str().unwrap();
    let known = ward.get(&format!("/ledger/did-verkey?did={did}")).await;
    assert_eq!(known["verkey"], public["result"]["verkey"]);

    // The DID exists, so its owner can read and accept the agreement.
    let taa = ward.get("/ledger/taa").await;
    assert_eq!(taa["result"]["taa_accepted"], Value::Null);
    let schema = r#"{"schema_name":"s","schema_version":"1.0","attributes":["a"]}"#;
    let refused = ward.send(Method::POST, "/schemas", schema).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert_eq!(accept(&ward, "1", TEXT, "on_file").await, StatusCode::OK);
    let published = ward.post("/schemas", schema).await;
    assert!(published["schema_id"].is_string());
}
