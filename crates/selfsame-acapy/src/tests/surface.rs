//! All operations: keys, descriptions, statuses and bodies of errors.

use axum::body::Body;
use http::header::{CONTENT_TYPE, HOST, ORIGIN};
use http::{Method, Request, StatusCode};
use selfsame_http::peer::Peer;

use super::world::{Agent, KEY, World};
use crate::operation::{AdminOperation, OperationAudience};
use crate::operations;

/// A request without a key; the identifiers in the path do not exist.
fn bare(method: &Method, path: &str) -> http::request::Builder {
    let path: Vec<_> = path
        .split('/')
        .map(|part| {
            if part.starts_with('{') {
                "nobody"
            } else {
                part
            }
        })
        .collect();
    Request::builder()
        .method(method.clone())
        .uri(path.join("/"))
        .header(HOST, "agent.example")
        .header(CONTENT_TYPE, "application/json")
}

async fn status(agent: &Agent, request: http::request::Builder) -> StatusCode {
    agent
        .call(request.body(Body::empty()).unwrap())
        .await
        .status
}

#[tokio::test]
async fn every_operation_but_those_for_everybody_needs_the_key() {
    let world = World::of(&["clinic"]).await;
    let agent = &world.agents[0];
    for operation in operations::all(&agent.settings) {
        let (method, path) = (&operation.method, operation.path);
        let is_open = operation.audience == OperationAudience::Everybody;
        let without = status(agent, bare(method, path)).await;
        let wrong = status(agent, bare(method, path).header("x-api-key", "another")).await;
        let prefix = status(agent, bare(method, path).header("x-api-key", "the")).await;
        for refused in [without, wrong, prefix] {
            assert_eq!(refused == StatusCode::UNAUTHORIZED, !is_open, "{path}");
        }
        let with = status(agent, bare(method, path).header("x-api-key", KEY)).await;
        assert_ne!(with, StatusCode::UNAUTHORIZED, "{path}");
        assert!(!with.is_server_error(), "{path}: {with}");
    }
}

#[tokio::test]
async fn without_a_key_this_machine_may_call_and_no_page_and_no_foreign_name() {
    let world = World::with(&["clinic"], |settings| {
        settings.api_key = None;
        settings.hosts = vec!["issuer.example".to_owned()];
    })
    .await;
    let agent = &world.agents[0];
    let to = |host: &str| {
        Request::builder()
            .uri("/connections")
            .header(HOST, host.to_owned())
    };
    let here = "127.0.0.1:8021";
    for host in [here, "localhost:8021", "[::1]:8021", "issuer.example:9090"] {
        assert_eq!(status(agent, to(host)).await, StatusCode::OK, "{host}");
    }
    let page = to(here).header(ORIGIN, "http://127.0.0.1:8021");
    let fetched = to(here).header("sec-fetch-site", "same-origin");
    for refused in [to("rebound.example"), to(""), page, fetched] {
        assert_eq!(status(agent, refused).await, StatusCode::UNAUTHORIZED);
    }
    let mut elsewhere = to(here).body(Body::empty()).unwrap();
    let peer = Peer::from(std::net::SocketAddr::from(([203, 0, 113, 7], 1)));
    elsewhere.extensions_mut().insert(peer);
    assert_eq!(agent.call(elsewhere).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn errors_have_acapys_statuses_and_bodies() {
    let world = World::of(&["clinic"]).await;
    let agent = &world.agents[0];
    let unknown = agent.send(Method::GET, "/connections/nobody", "").await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    assert!(unknown.body.starts_with("404: "), "{}", unknown.body);
    let absent = agent.send(Method::GET, "/no/such/address", "").await;
    assert_eq!(absent.status, StatusCode::NOT_FOUND);
    let unfit = agent.send(Method::PUT, "/connections", "").await;
    assert_eq!(unfit.status, StatusCode::METHOD_NOT_ALLOWED);
    let no_json = agent
        .send(Method::POST, "/connections/create-invitation", "{")
        .await;
    assert_eq!(no_json.status, StatusCode::BAD_REQUEST);
    let path = "/connections/create-invitation?multi_use=perhaps";
    let field = agent.send(Method::POST, path, "{}").await;
    assert_eq!(field.status, StatusCode::UNPROCESSABLE_ENTITY);
    let told: serde_json::Value = serde_json::from_str(&field.body).unwrap();
    assert!(told["multi_use"][0].is_string(), "{told}");
    let large = format!("{{\"x\":\"{}\"}}", "y".repeat(2 << 20));
    let large = agent
        .send(Method::POST, "/connections/create-invitation", &large)
        .await;
    assert_eq!(large.status, StatusCode::PAYLOAD_TOO_LARGE);
    let public = agent
        .send(
            Method::POST,
            "/connections/create-invitation?public=true",
            "",
        )
        .await;
    assert_eq!(public.status, StatusCode::FORBIDDEN);
    let made = agent.post("/connections/create-invitation", "").await;
    let id = made["connection_id"].as_str().unwrap();
    let path = format!("/connections/{id}/accept-invitation");
    let wrong_state = agent.send(Method::POST, &path, "").await;
    assert_eq!(wrong_state.status, StatusCode::BAD_REQUEST);
    let stopped = agent.send(Method::GET, "/shutdown", "").await;
    assert_eq!(stopped.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn the_description_has_every_operation_once() {
    let world = World::of(&["clinic"]).await;
    let agent = &world.agents[0];
    let described = agent.get("/api/docs/swagger.json").await;
    let listed = agent.send(Method::GET, "/api/doc", "").await.body;
    let all = operations::all(&agent.settings);
    for operation in &all {
        let method = operation.method.as_str().to_lowercase();
        let found = &described["paths"][operation.path][&method];
        assert_eq!(found["tags"][0], operation.tag, "{}", operation.path);
        assert!(!operation.summary.is_empty() && !operation.tag.is_empty());
        assert!(listed.contains(operation.path));
        let is_same = |other: &&AdminOperation| {
            other.path == operation.path && other.method == operation.method
        };
        assert_eq!(all.iter().filter(is_same).count(), 1, "{}", operation.path);
    }
}

#[tokio::test]
async fn the_status_and_the_settings_show_no_key() {
    let world = World::of(&["clinic"]).await;
    let agent = &world.agents[0];
    assert_eq!(agent.get("/status").await["label"], "clinic agent");
    assert_eq!(agent.get("/status/ready").await["ready"], true);
    assert_eq!(agent.get("/status/live").await["alive"], true);
    let config = agent.get("/status/config").await;
    assert_eq!(config["config"]["auto_store_credential"], false);
    assert_eq!(config["config"]["wallet.type"], "askar");
    assert!(!config.to_string().contains(KEY));
    assert!(!format!("{:?}", agent.settings).contains(KEY));
}
