//! A wallet tells the issuer what became of its credentials (OpenID4VCI 1.0 §11).

use std::time::Duration;

use selfsame_app::App;
use selfsame_core::events::EventKind;
use selfsame_driver::Result;
use serde_json::json;

use crate::world::{Fault, Site, WalletHost, accept, belongings, person};

const CREDENTIAL: &str = "/issuer/credential";
const NOTIFICATION: &str = "/issuer/notification";

/// Waits until the issuer was told this once.
async fn told(site: &Site, kind: EventKind) {
    for _ in 0..1_200 {
        if site.app.events().count(kind) == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the issuer was not told {kind:?}");
}

/// Waits until the wallet has nothing left to send.
async fn finished(app: &App) {
    for _ in 0..1_200 {
        if app.status().await.unwrap().outbox_waiting == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the wallet still has something to send");
}

async fn said(site: &Site, token: &str, id: &str, event: &str) -> Result<()> {
    let main = site.app.main();
    let body = json!({"notification_id": id, "event": event}).to_string();
    main.issuer()
        .unwrap()
        .notified(token, body.as_bytes())
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_that_asks_is_told_that_a_card_is_kept() {
    let site = Site::notified().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let offer = site.offer("immunization").await;
    let wallet = app.wallet().unwrap();
    let cards = wallet.accept_offer(&person, &accept(&offer)).await.unwrap();
    assert_eq!(cards.len(), 1);
    told(&site, EventKind::WalletAccepted).await;
    finished(&app).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_that_does_not_ask_is_told_nothing() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let offer = site.offer("immunization").await;
    let wallet = app.wallet().unwrap();
    wallet.accept_offer(&person, &accept(&offer)).await.unwrap();
    assert_eq!(app.status().await.unwrap().outbox_waiting, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_is_told_of_a_credential_that_it_did_not_sign() {
    let site = Site::notified().await;
    let host = WalletHost::new(&site);
    let app = host.open().await;
    let person = person(&app).await;
    let offer = site.offer("immunization").await;
    site.faults.add(CREDENTIAL, Fault::Forge);
    let wallet = app.wallet().unwrap();
    let refused = wallet.accept_offer(&person, &accept(&offer)).await;
    assert_eq!(refused.unwrap_err().reason.id(), "credential-not-genuine");
    told(&site, EventKind::WalletFailed).await;
    assert_eq!(host.keys(&person).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_is_kept_though_the_issuer_does_not_want_to_hear_of_it() {
    let site = Site::notified().await;
    let host = WalletHost::new(&site);
    let app = host.open().await;
    let person = person(&app).await;
    let offer = site.offer("immunization").await;
    site.faults.add(NOTIFICATION, Fault::Gateway(500));
    let wallet = app.wallet().unwrap();
    wallet.accept_offer(&person, &accept(&offer)).await.unwrap();
    site.faults.is_met().await;
    finished(&app).await;
    let (cards, history) = belongings(&app, &person).await;
    assert_eq!((cards.len(), history.len()), (1, 1));
    assert_eq!(host.kept(&person, "notifying_issuer").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notification_is_taken_for_the_responses_of_its_token_and_counts_once() {
    let site = Site::notified().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    let mut sent = Vec::new();
    for _ in 0..2 {
        let offer = site.offer("immunization").await;
        site.faults.add(NOTIFICATION, Fault::Gateway(500));
        wallet.accept_offer(&person, &accept(&offer)).await.unwrap();
        site.faults.is_met().await;
        let (token, body) = site.faults.last_request();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        let id = body["notification_id"].as_str().unwrap().to_owned();
        sent.push((token.unwrap(), id));
    }
    let events = || site.app.events().count(EventKind::WalletDeleted);
    let [(token, id), (other, _)] = &sent[..] else {
        panic!("two notifications");
    };
    for _ in 0..2 {
        said(&site, token, id, "credential_deleted").await.unwrap();
        assert_eq!(events(), 1);
    }
    for (token, id, code) in [
        (other.as_str(), id.as_str(), "invalid_notification_id"),
        (token, "3fwe98js", "invalid_notification_id"),
        ("another", id, "invalid_token"),
    ] {
        let refused = said(&site, token, id, "credential_deleted").await;
        assert_eq!(refused.unwrap_err().code, Some(code));
    }
    let malformed = said(&site, token, id, "credential_lost").await;
    assert_eq!(
        malformed.unwrap_err().code,
        Some("invalid_notification_request")
    );
    site.app.clock().advance(301);
    let late = said(&site, token, id, "credential_accepted").await;
    assert_eq!(late.unwrap_err().code, Some("invalid_token"));
    assert_eq!(events(), 1);
}
