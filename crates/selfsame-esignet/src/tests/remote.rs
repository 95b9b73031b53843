//! The mock identity system as a process of its own, which the provider calls over HTTP.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use http::request::Parts;
use selfsame_driver::clock::Clock;
use selfsame_identity::mock::{MockIdentities, RemoteMock};
use selfsame_net::{Net, Settings};
use selfsame_sign_in::identity::IdentitySystem;
use tokio::net::TcpListener;
use url::Url;

use super::world::{Setting, UserInterface, World};
use crate::{MockDoor, routes};

/// How long an answer is waited for where all answers must come, and where some come late.
const PATIENCE: Duration = Duration::from_secs(60);
const TIME_OUT: Duration = Duration::from_secs(2);

#[derive(Clone)]
struct Alone(MockDoor);

impl FromRequestParts<Alone> for MockDoor {
    type Rejection = Infallible;

    async fn from_request_parts(_: &mut Parts, state: &Alone) -> Result<Self, Infallible> {
        Ok(state.0.clone())
    }
}

/// How the process answers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Conduct {
    Right,
    /// It acts, and answers slowly.
    Slow,
    /// It acts, and answers after the time-out.
    Late,
    /// It answers what is no envelope.
    Garbled,
    /// It answers with an empty envelope.
    Empty,
    /// It answers with status 500.
    Broken,
}

/// How the process answers from now on.
type SharedConduct = Arc<Mutex<Conduct>>;

async fn conducted(State(conduct): State<SharedConduct>, request: Request, next: Next) -> Response {
    let now = *conduct.lock().unwrap();
    match now {
        Conduct::Right => next.run(request).await,
        Conduct::Slow | Conduct::Late => {
            let answer = next.run(request).await;
            let part = if now == Conduct::Slow { 4 } else { 1 };
            tokio::time::sleep(2 * TIME_OUT / part).await;
            answer
        }
        Conduct::Garbled => "<html>".into_response(),
        Conduct::Empty => "{}".into_response(),
        Conduct::Broken => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Serves a mock identity system at this listener, and gives a client of it, which waits this long.
fn remote(
    mock: MockIdentities,
    listener: TcpListener,
    conduct: SharedConduct,
    time_out: Duration,
) -> RemoteMock {
    let origin = format!("http://{}/", listener.local_addr().unwrap());
    let base: Url = format!("{origin}v1/mock-identity-system").parse().unwrap();
    let mut router = Router::new();
    for route in routes::mock_identity_system::<Alone>() {
        router = router.route(&route.path, route.handler);
    }
    let clock = Clock::default();
    let router = router
        .with_state(Alone(MockDoor { mock, clock }))
        .layer(from_fn_with_state(conduct, conducted));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let settings = Settings {
        own_origins: vec![base.origin()],
        native_roots: false,
        ..Settings::default()
    };
    RemoteMock {
        net: Net::new(settings).unwrap(),
        base,
        time_out,
        calls_at_once: 64,
    }
}

/// A provider with an identity system that answers as it is told to, and is waited for this long.
async fn provider(time_out: Duration) -> (World, SharedConduct) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let conduct = Arc::new(Mutex::new(Conduct::Right));
    let shared = conduct.clone();
    let system =
        |mock| -> Arc<dyn IdentitySystem> { Arc::new(remote(mock, listener, shared, time_out)) };
    let world = World::with(Setting::Legacy, system).await;
    (world, conduct)
}

#[tokio::test]
async fn a_person_signs_in_with_a_mock_identity_system_that_is_called_over_http() {
    let (world, _) = provider(PATIENCE).await;
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

#[tokio::test]
async fn whatever_goes_wrong_at_the_identity_system_has_a_code_and_the_person_goes_on_afterwards() {
    for fault in [
        Conduct::Slow,
        Conduct::Late,
        Conduct::Garbled,
        Conduct::Empty,
        Conduct::Broken,
    ] {
        let time_out = match fault {
            Conduct::Slow | Conduct::Late => TIME_OUT,
            _ => PATIENCE,
        };
        let (world, conduct) = provider(time_out).await;
        let client = world.client().await;
        world.person("987654321", "Maja Lind").await;
        let set = |to| *conduct.lock().unwrap() = to;
        let is_slow = fault == Conduct::Slow;
        let mut interface = UserInterface::new(&world);
        interface.begin(&client).await;
        set(fault);
        let sent = interface.send_otp("987654321").await;
        let code = if is_slow { "" } else { "send_otp_failed" };
        assert_eq!(sent.code(), code, "{fault:?}");
        set(Conduct::Right);
        assert_eq!(interface.send_otp("987654321").await.code(), "");
        set(fault);
        let proven = interface.authenticate("987654321", "111111").await;
        let code = if is_slow { "" } else { "unknown_error" };
        assert_eq!(proven.code(), code, "{fault:?}");
        set(Conduct::Right);
        if !is_slow {
            // A system that answered too late has used up the password that it accepted.
            assert_eq!(interface.send_otp("987654321").await.code(), "");
            let proven = interface.authenticate("987654321", "111111").await;
            assert_eq!(proven.code(), "", "{fault:?}");
        }
        interface.auth_code(&["name"]).await;
        set(fault);
        let redeemed = interface.token(&client).await;
        assert_eq!(
            redeemed.status,
            if is_slow { 200 } else { 502 },
            "{fault:?}"
        );
        set(Conduct::Right);
        let again = interface.token(&client).await;
        // One that gave the claims too late gives them no second time: the person begins anew.
        let is_used_up = is_slow || fault == Conduct::Late;
        assert_eq!(
            again.status,
            if is_used_up { 400 } else { 200 },
            "{fault:?}"
        );
    }
}
