//! Credentials that take their time (OpenID4VCI 1.0 §9): the wallet looks for them until they are there.

use std::time::Duration;

use selfsame_app::App;
use selfsame_driver::paging::Paging;
use selfsame_openid::view::issuer::Offer;
use selfsame_wallet::view::{Person, PreparedCredential};
use serde_json::{Value, json};

use crate::world::{DEFERRED, Fault, Site, WalletHost, accept, belongings, outcome, person};

const CREDENTIAL: &str = "/issuer/credential";
const METADATA: &str = "/.well-known/openid-credential-issuer/issuer";
const PENDING: &str = r#"{"transaction_id":"8xLOxBtZp8","interval":30}"#;

/// Makes the site's issuer one that delivers later, and gives an offer of it.
async fn offered(site: &Site) -> Offer {
    let main = site.app.main();
    let published = main.issuer().unwrap().published().await.unwrap();
    let mut metadata: Value = serde_json::from_slice(&published.issuer).unwrap();
    let endpoint = format!("{}{}", site.origin, DEFERRED.trim_start_matches('/'));
    metadata["deferred_credential_endpoint"] = json!(endpoint);
    site.faults.give(METADATA, &metadata, 8);
    site.faults.add(CREDENTIAL, Fault::Defer(PENDING));
    site.offer("immunization").await
}

/// What the person is shown as being prepared.
async fn shown(app: &App, person: &Person) -> Vec<PreparedCredential> {
    let wallet = app.wallet().unwrap();
    let listed = wallet.prepared(person, &Paging::default()).await;
    listed.unwrap().items
}

/// Accepts an offer whose credential takes its time.
async fn waited_for(app: &App, person: &Person, offer: &Offer) {
    let wallet = app.wallet().unwrap();
    let told = wallet.accept_offer(person, &accept(offer)).await;
    assert_eq!(told.unwrap_err().reason.id(), "credential-prepared");
    let prepared = shown(app, person).await;
    assert_eq!(prepared.len(), 1);
    let next_look = app.clock().now().plus(30).rfc3339();
    assert!(prepared[0].next_look <= next_look, "{prepared:?}");
    let (cards, history) = belongings(app, person).await;
    assert!(cards.is_empty() && history.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_that_takes_its_time_becomes_a_card_when_it_is_ready() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let offer = offered(&site).await;
    waited_for(&app, &person, &offer).await;
    // Nobody looks before the time.
    site.faults.add(DEFERRED, Fault::Look(202, PENDING));
    tokio::time::sleep(Duration::from_secs(2)).await;
    app.clock().advance(10);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let seen = || site.faults.bodies.lock().unwrap().len();
    let before = seen();
    app.clock().advance(30);
    while seen() == before {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let (_, body) = site.faults.last_request();
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body, json!({"transaction_id": "8xLOxBtZp8"}));
    assert_eq!(shown(&app, &person).await.len(), 1);
    app.clock().advance(31);
    let (cards, history) = outcome(&app, &person).await;
    assert_eq!((cards.len(), history[0].what.as_str()), (1, "received"));
    assert!(shown(&app, &person).await.is_empty());
}

#[test]
fn a_wallet_whose_process_is_killed_goes_on_looking() {
    let outside = tokio::runtime::Runtime::new().unwrap();
    let site = outside.block_on(Site::start());
    let offer = outside.block_on(offered(&site));
    let host = WalletHost::new(&site);
    let first = host.process();
    let person = first.runtime.block_on(person(&first.app));
    first
        .runtime
        .block_on(waited_for(&first.app, &person, &offer));
    first.kill();
    let second = host.process();
    second.app.clock().advance(31);
    let (cards, history) = second.runtime.block_on(outcome(&second.app, &person));
    assert_eq!((cards.len(), history[0].what.as_str()), (1, "received"));
    second.kill();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_that_decides_against_a_credential_is_believed() {
    let site = Site::start().await;
    let host = WalletHost::new(&site);
    let app = host.open().await;
    let person = person(&app).await;
    let offer = offered(&site).await;
    waited_for(&app, &person, &offer).await;
    let denied = r#"{"error":"credential_request_denied"}"#;
    site.faults.add(DEFERRED, Fault::Look(400, denied));
    app.clock().advance(31);
    let (cards, history) = outcome(&app, &person).await;
    assert_eq!((cards.len(), history[0].what.as_str()), (0, "failed"));
    assert_eq!(host.keys(&person).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_that_is_away_for_a_while_is_asked_again() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let offer = offered(&site).await;
    waited_for(&app, &person, &offer).await;
    site.faults.add(DEFERRED, Fault::Look(500, "{}"));
    // The wallet looks again in its time.
    for _ in 0..200 {
        if !belongings(&app, &person).await.1.is_empty() {
            break;
        }
        app.clock().advance(31);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let (cards, _) = outcome(&app, &person).await;
    assert_eq!(cards.len(), 1);
}
