//! The mock identity system as a process of its own, which the provider calls over HTTP.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::FromRequestParts;
use http::request::Parts;
use selfsame_driver::clock::Clock;
use selfsame_identity::mock::{MockIdentities, RemoteMock};
use selfsame_net::{Net, Settings};
use tokio::net::TcpListener;
use url::Url;

use super::world::{Setting, UserInterface, World};
use crate::{MockDoor, routes};

#[derive(Clone)]
struct Alone(MockDoor);

impl FromRequestParts<Alone> for MockDoor {
    type Rejection = Infallible;

    async fn from_request_parts(_: &mut Parts, state: &Alone) -> Result<Self, Infallible> {
        Ok(state.0.clone())
    }
}

/// Serves a mock identity system at this listener, and gives a client of it.
fn remote(mock: MockIdentities, listener: TcpListener) -> RemoteMock {
    let origin = format!("http://{}/", listener.local_addr().unwrap());
    let base: Url = format!("{origin}v1/mock-identity-system").parse().unwrap();
    let mut router = Router::new();
    for route in routes::mock_identity_system::<Alone>() {
        router = router.route(&route.path, route.handler);
    }
    let clock = Clock::default();
    let router = router.with_state(Alone(MockDoor { mock, clock }));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let settings = Settings {
        own_origins: vec![base.origin()],
        native_roots: false,
        ..Settings::default()
    };
    RemoteMock {
        net: Net::new(settings).unwrap(),
        base,
        time_out: Duration::from_secs(10),
        calls_at_once: 64,
    }
}

#[tokio::test]
async fn a_person_signs_in_with_a_mock_identity_system_that_is_called_over_http() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let world = World::with(Setting::Legacy, |mock| Arc::new(remote(mock, listener))).await;
    let client = world.client().await;
    world.person("987654321", "Maja Lind").await;
    let mut interface = UserInterface::new(&world);
    interface.begin(&client).await;
    assert!(interface.send_otp("987654321").await.has("\"errors\":[]"));
    let wrong = interface.authenticate("987654321", "000000").await;
    assert_eq!(wrong.code(), "auth_failed");
    let proven = interface.authenticate("987654321", "111111").await;
    assert!(proven.has("\"errors\":[]"), "{proven:?}");
    interface.auth_code(&["name"]).await;
    let token = interface.token(&client).await;
    let access = token.found("\"access_token\":\"", "\"");
    let claims = interface.userinfo(&access).await;
    let claims = selfsame_crypto::jws::Compact::parse(&claims.text).unwrap();
    assert_eq!(claims.claims().unwrap()["name"], "Maja Lind");
}
