//! The mock identity system over HTTP, as eSignet's plugin and the published plan call it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::FromRequestParts;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use selfsame_crypto::seal::SealingKey;
use selfsame_driver::CpuPool;
use selfsame_driver::keys::Keys;
use selfsame_identity::mock::{MockAlgorithm, MockConfig, MockResources};
use selfsame_store::{Memory, Store, Vault};
use serde_json::json;
use tower::ServiceExt as _;

use super::*;
use crate::routes;

#[derive(Clone)]
struct State(MockDoor);

impl FromRequestParts<State> for MockDoor {
    type Rejection = Infallible;

    async fn from_request_parts(_: &mut Parts, state: &State) -> Result<Self, Infallible> {
        Ok(state.0.clone())
    }
}

struct World {
    router: Router,
    clock: Clock,
}

impl World {
    async fn new() -> Self {
        let clock = Clock::default();
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let store = Store::open(Arc::new(Memory::new()), vault).await.unwrap();
        let config = MockConfig {
            issuer: "https://host.example/v1/esignet".to_owned(),
            delay: Duration::ZERO,
            algorithm: MockAlgorithm::Rs256,
            codes_on_screen: false,
        };
        let resources = MockResources {
            keys: Keys::new(store.clone()),
            store,
            clock: clock.clone(),
            work: CpuPool::new("test").unwrap(),
        };
        let door = MockDoor {
            mock: MockIdentities::new(config, resources).unwrap(),
            clock: clock.clone(),
        };
        let mut router = Router::new();
        for route in routes::mock_identity_system::<State>() {
            router = router.route(&route.path, route.handler);
        }
        let router = router.with_state(State(door));
        Self { router, clock }
    }

    async fn call(&self, method: Method, path: &str, body: Value) -> Value {
        let request = Request::builder()
            .method(method)
            .uri(format!("/v1/mock-identity-system/{path}"))
            .header(CONTENT_TYPE, "application/json")
            .body(Body::from(body.to_string()))
            .unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        serde_json::from_slice(&body).unwrap()
    }

    fn enveloped(&self, request: Value) -> Value {
        json!({"requestTime": envelope::time(self.clock.now()), "request": request})
    }
}

/// A person as the published plan creates them: without members that later versions want.
fn maja() -> Value {
    json!({
        "individualId": "987654321",
        "pin": "111111",
        "fullName": [{"language": "eng", "value": "Maja Lind"}],
        "encodedPhoto": "data:image/jpeg;base64,AA",
        "individualBiometrics": "",
        "email": "maja@example.org",
        "phone": "942735793"
    })
}

#[tokio::test]
async fn a_person_is_created_shown_updated_and_signed_in() {
    let world = World::new().await;
    let made = world
        .call(Method::POST, "identity", world.enveloped(maja()))
        .await;
    assert_eq!(
        made["response"]["status"],
        "mock identity data created successfully"
    );
    assert_eq!(made["errors"], json!([]));
    let change = world.enveloped(json!({"individualId": "987654321", "pin": "222222"}));
    let changed = world.call(Method::PUT, "identity", change).await;
    assert_eq!(
        changed["response"]["status"],
        "mock Identity data updated successfully"
    );
    let shown = world
        .call(Method::GET, "identity/987654321", Value::Null)
        .await;
    assert_eq!(shown["response"]["pin"], "222222");

    let order = json!({
        "transactionId": "1234567890", "individualId": "987654321", "otpChannels": ["PHONE"]
    });
    let sent = world
        .call(Method::POST, "send-otp/party/client", order)
        .await;
    assert_eq!(
        sent["response"],
        json!({"transactionId": "1234567890", "maskedEmail": null, "maskedMobile": "XXXXX5793"})
    );
    let challenge = json!({
        "transactionId": "1234567890", "individualId": "987654321", "otp": "111111"
    });
    let proven = world
        .call(Method::POST, "v2/kyc-auth/party/client", challenge)
        .await;
    assert_eq!(proven["response"]["authStatus"], true);
    let exchange = json!({
        "requestDateTime": "2026-01-01T00:00:00.000Z",
        "transactionId": "1234567890",
        "individualId": "987654321",
        "kycToken": proven["response"]["kycToken"],
        "acceptedClaimDetail": {"name": null},
        "acceptedClaims": ["email"],
        "claimLocales": ["en"],
        "respType": "JWS"
    });
    let given = world
        .call(
            Method::POST,
            "v3/kyc-exchange/party/client",
            exchange.clone(),
        )
        .await;
    let signed = given["response"]["kyc"].as_str().unwrap();
    let signed = selfsame_crypto::jws::Compact::parse(signed).unwrap();
    let claims = signed.claims().unwrap();
    assert_eq!(
        (&claims["name"], &claims["email"]),
        (&json!("Maja Lind"), &json!("maja@example.org"))
    );
    assert_eq!(
        claims["sub"],
        proven["response"]["partnerSpecificUserToken"]
    );
    let again = world
        .call(Method::POST, "v3/kyc-exchange/party/client", exchange)
        .await;
    assert_eq!(again["errors"][0]["errorCode"], "mock-ida-006");
}

#[tokio::test]
async fn what_is_wrong_is_told_by_its_code() {
    let world = World::new().await;
    let twice = || world.call(Method::POST, "identity", world.enveloped(maja()));
    twice().await;
    let late = json!({"requestTime": "2020-01-01T00:00:00.000Z", "request": maja()});
    let empty = json!({"transactionId": "1234567890"});
    let wrong = json!({"transactionId": "t", "individualId": "987654321", "pin": "0"});
    for (answer, code) in [
        (twice().await, "duplicate_individual_id"),
        (
            world.call(Method::POST, "identity", late).await,
            "invalid_request",
        ),
        (
            world.call(Method::GET, "identity/1", Value::Null).await,
            "invalid_individual_id",
        ),
        (
            world
                .call(Method::POST, "send-otp/a/b", empty.clone())
                .await,
            "invalid_individual_id",
        ),
        (
            world.call(Method::POST, "kyc-auth/a/b", empty).await,
            "invalid_individual_id",
        ),
        (
            world.call(Method::POST, "kyc-auth/a/b", wrong).await,
            "auth_failed",
        ),
        (
            world
                .call(Method::POST, "kyc-exchange/a/b", json!([]))
                .await,
            "invalid_request",
        ),
    ] {
        assert_eq!(answer["errors"][0]["errorCode"], code);
        assert_eq!(answer["response"], Value::Null);
    }
}
