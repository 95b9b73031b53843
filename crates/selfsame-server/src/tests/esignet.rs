//! Clients that are managed by eSignet's interface, as the audit trail has it.

use http::{Method, StatusCode};
use selfsame_core::organisation::OrganisationName;
use selfsame_crypto::PrivateKey;
use selfsame_identity::config::SignInConfig;
use selfsame_operators::{Authority, Right};
use serde_json::{Value, json};

use super::instance::{Instance, call, get, post};

const CLIENTS: &str = "/v1/esignet/client-mgmt/oidc-client";
const ONE: &str = "/v1/esignet/client-mgmt/client/{client_id}";

async fn instance(preset: &str) -> Instance {
    let instance = Instance::start().await;
    let config = json!({"people": "mock", "esignet": true, "preset": preset});
    let config: SignInConfig = serde_json::from_value(config).unwrap();
    instance.app.know_people(&config).unwrap();
    instance
}

fn enveloped(instance: &Instance, request: &Value) -> String {
    let now = instance.app.clock().now().rfc3339();
    json!({"requestTime": now, "request": request}).to_string()
}

fn client(id: &str) -> Value {
    let key = PrivateKey::generate_rsa().unwrap();
    json!({
        "clientId": id, "clientName": "A relying party",
        "publicKey": key.public().to_jwk().to_value(),
        "relyingPartyId": "party", "userClaims": ["name"],
        "authContextRefs": ["mosip:idp:acr:generated-code"],
        "logoUri": "https://127.0.0.1/logo.png", "redirectUris": ["https://rp.example/cb"],
        "grantTypes": ["authorization_code"], "clientAuthMethods": ["private_key_jwt"],
    })
}

/// Registers a client with this token, and returns the status and the first error.
async fn register(instance: &Instance, token: Option<&str>, id: &str) -> (StatusCode, Value) {
    let body = enveloped(instance, &client(id));
    let asked = post(CLIENTS).json(&body);
    let asked = match token {
        Some(token) => asked.bearer(token),
        None => asked,
    };
    let answer = instance.call(asked).await;
    let body: Value = serde_json::from_str(&answer.body).unwrap();
    (answer.status, body["errors"][0]["errorCode"].clone())
}

async fn key(instance: &Instance, name: &str, right: &str) -> String {
    let operators = instance.app.operators();
    let new = selfsame_operators::view::NewKey {
        name: name.to_owned(),
        scopes: vec![Right::parse(right).unwrap()],
        days: None,
    };
    let main = OrganisationName::main();
    let key = operators.create_key(&Authority::token(), &main, &new).await;
    key.unwrap().key
}

async fn trail(instance: &Instance) -> Vec<Value> {
    let asked = get("/api/audit").bearer(&instance.token);
    let listed: Value = serde_json::from_str(&instance.call(asked).await.body).unwrap();
    listed["items"].as_array().unwrap().clone()
}

#[tokio::test]
async fn each_client_that_is_registered_or_changed_is_in_the_trail_with_who_did_it() {
    let instance = instance("strict").await;
    let key = key(&instance, "registrar", "settings:write").await;
    let before = instance.app.commits().0;
    let made = register(&instance, Some(&instance.token), "one").await;
    assert_eq!(made, (StatusCode::OK, Value::Null));
    assert_eq!(instance.app.commits().0, before + 1);
    let again = register(&instance, Some(&key), "one").await;
    assert_eq!(again, (StatusCode::OK, json!("duplicate_client_id")));
    let change = enveloped(&instance, &json!({"clientName": "Another name"}));
    let path = ONE.replace("{client_id}", "one");
    let change = call(Method::PATCH, &path).bearer(&key).json(&change);
    assert_eq!(instance.call(change).await.status, StatusCode::OK);
    let entries = trail(&instance).await;
    assert_eq!(entries.len(), 3, "{entries:?}");
    let [changed, refused, registered] = &entries[..] else {
        panic!("{entries:?}");
    };
    assert_eq!(registered["act"], format!("POST {CLIENTS}"));
    assert_eq!(registered["actor"]["kind"], "token");
    assert_eq!(registered["object"], "one");
    assert_eq!(registered["result"], "done");
    assert_eq!(refused["actor"]["name"], "registrar");
    assert_eq!(refused["result"]["refused"], "duplicate_client_id");
    assert_eq!(changed["act"], format!("PATCH {ONE}"));
    assert_eq!(changed["object"], "one");
    assert_eq!(changed["result"], "done");
}

#[tokio::test]
async fn refusals_of_known_programs_are_written_and_those_of_strangers_are_not() {
    let instance = instance("strict").await;
    let reader = key(&instance, "reader", "settings:read").await;
    for token in [None, Some("unknown"), Some(reader.as_str())] {
        let refused = register(&instance, token, "one").await;
        assert_eq!(refused, (StatusCode::UNAUTHORIZED, json!("UNAUTHORIZED")));
    }
    let entries = trail(&instance).await;
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!(entries[0]["actor"]["name"], "reader");
    assert_eq!(entries[0]["result"]["refused"], "UNAUTHORIZED");
}

#[tokio::test]
async fn what_anyone_does_by_the_legacy_preset_is_written_as_somebody_unknown() {
    let instance = instance("legacy-esignet").await;
    let made = register(&instance, None, "one").await;
    assert_eq!(made, (StatusCode::OK, Value::Null));
    let again = register(&instance, None, "one").await;
    assert_eq!(again.1, "duplicate_client_id");
    let entries = trail(&instance).await;
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!(entries[0]["actor"]["kind"], "unknown");
    assert_eq!(entries[0]["object"], "one");
}
