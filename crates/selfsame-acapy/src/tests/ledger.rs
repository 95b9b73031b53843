//! The ledger: the agent's DID is registered, and what the registry does not have is answered as on a ledger without it.

use http::{Method, StatusCode};
use serde_json::json;

use super::world::World;

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
