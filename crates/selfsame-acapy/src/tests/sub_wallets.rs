//! Sub-wallets: organisations whose controllers have tokens.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::connecting::connected;
use super::hearing::Controller;
use super::world::{Agent, World};

async fn world() -> World {
    World::with(&["clinic"], |settings| settings.multitenant = true).await
}

/// A new sub-wallet, as the API shows it.
async fn created(agent: &Agent, name: &str) -> Value {
    let body = json!({"wallet_name": name, "label": name});
    agent.post("/multitenancy/wallet", &body.to_string()).await
}

fn token(shown: &Value) -> &str {
    shown["token"].as_str().unwrap()
}

#[tokio::test]
async fn two_sub_wallets_connect_and_see_their_own_connections_alone() {
    let world = world().await;
    let agent = &world.agents[0];
    let (one, other) = (created(agent, "one").await, created(agent, "other").await);
    let (ward, holder) = (agent.with(token(&one)), agent.with(token(&other)));
    let [ours, theirs] = connected(&ward, &holder).await;
    let shown = holder.get(&format!("/connections/{theirs}")).await;
    assert_eq!(shown["their_label"], "one");
    let path = format!("/connections/{ours}");
    for stranger in [&holder, agent] {
        let foreign = stranger.send(Method::GET, &path, "").await;
        assert_eq!(foreign.status, StatusCode::NOT_FOUND);
    }
    let dids = [&ward, &holder, agent].map(|one| one.get("/wallet/did/public"));
    let [first, second, third] = dids;
    let (first, second, third) = (first.await, second.await, third.await);
    assert_ne!(first["result"]["did"], second["result"]["did"]);
    assert_ne!(first["result"]["did"], third["result"]["did"]);
}

#[tokio::test]
async fn only_the_agent_itself_manages_sub_wallets() {
    let world = world().await;
    let agent = &world.agents[0];
    let made = created(agent, "one").await;
    let sub = agent.with(token(&made));
    let refused = sub
        .send(
            Method::POST,
            "/multitenancy/wallet",
            r#"{"wallet_name":"x"}"#,
        )
        .await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    let again = agent
        .send(
            Method::POST,
            "/multitenancy/wallet",
            r#"{"wallet_name":"one"}"#,
        )
        .await;
    assert_eq!(again.status, StatusCode::BAD_REQUEST);
    created(agent, "two").await;
    let all = agent.get("/multitenancy/wallets").await;
    assert_eq!(all["results"].as_array().unwrap().len(), 2);
    let one = agent.get("/multitenancy/wallets?wallet_name=one").await;
    assert_eq!(one["results"][0]["wallet_id"], made["wallet_id"]);
    assert_eq!(one["results"][0]["settings"]["default_label"], "one");
    let path = format!(
        "/multitenancy/wallet/{}",
        made["wallet_id"].as_str().unwrap()
    );
    let changed = agent
        .send(Method::PUT, &path, r#"{"label":"Ward 3"}"#)
        .await;
    assert_eq!(changed.json()["settings"]["default_label"], "Ward 3");
    let invited = sub.post("/connections/create-invitation", "").await;
    assert_eq!(invited["invitation"]["label"], "Ward 3");
}

#[tokio::test]
async fn a_token_is_of_one_wallet_and_can_not_be_made_up() {
    let world = world().await;
    let agent = &world.agents[0];
    let made = created(agent, "one").await;
    let good = token(&made);
    assert!(agent.with(good).get("/connections").await["results"].is_array());
    let (signed, _) = good.rsplit_once('.').unwrap();
    let other = token(&created(agent, "two").await).to_owned();
    let (_, mac) = other.rsplit_once('.').unwrap();
    for bad in [
        "",
        "x",
        "x.y.z",
        signed,
        &format!("{signed}."),
        &format!("{signed}.{mac}"),
    ] {
        let refused = agent.with(bad).send(Method::GET, "/connections", "").await;
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{bad}");
    }
}

#[tokio::test]
async fn an_unmanaged_wallet_gives_a_token_and_is_removed_for_its_key_alone() {
    let world = world().await;
    let agent = &world.agents[0];
    let body = json!({"wallet_name": "own", "key_management_mode": "unmanaged"});
    let keyless = agent
        .send(Method::POST, "/multitenancy/wallet", &body.to_string())
        .await;
    assert_eq!(keyless.status, StatusCode::UNPROCESSABLE_ENTITY);
    let body = json!({
        "wallet_name": "own", "key_management_mode": "unmanaged", "wallet_key": "mine",
    });
    let made = agent.post("/multitenancy/wallet", &body.to_string()).await;
    assert!(!made.to_string().contains("mine"));
    let path = format!(
        "/multitenancy/wallet/{}",
        made["wallet_id"].as_str().unwrap()
    );
    for wrong in ["", r#"{"wallet_key":"yours"}"#] {
        for end in ["token", "remove"] {
            let refused = agent
                .send(Method::POST, &format!("{path}/{end}"), wrong)
                .await;
            assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
        }
    }
    let right = r#"{"wallet_key":"mine"}"#;
    let given = agent.post(&format!("{path}/token"), right).await;
    let sub = agent.with(token(&given));
    sub.get("/connections").await;
    let removed = agent
        .send(Method::POST, &format!("{path}/remove"), right)
        .await;
    assert_eq!(removed.json(), json!({}));
    let gone = sub.send(Method::GET, "/connections", "").await;
    assert_eq!(gone.status, StatusCode::UNAUTHORIZED);
    assert_eq!(
        agent.send(Method::GET, &path, "").await.status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn the_agents_controller_hears_of_a_sub_wallet_with_its_identifier() {
    let controller = Controller::start().await;
    let world = World::heard(&["clinic"], &[&controller.url], |settings| {
        settings.multitenant = true;
    })
    .await;
    let agent = &world.agents[0];
    let made = created(agent, "one").await;
    connected(&agent.with(token(&made)), agent).await;
    let heard = controller.of("connections", 5).await;
    let id = made["wallet_id"].as_str().unwrap();
    let of_sub = |one: &&super::hearing::HeardRecord| {
        let wallet = one.headers.get("x-wallet-id");
        wallet.is_some_and(|wallet| wallet == id)
    };
    assert!(heard.iter().filter(of_sub).count() >= 2);
    assert!(
        heard
            .iter()
            .any(|one| !one.headers.contains_key("x-wallet-id"))
    );
}
