//! Accepting an offer: interrupted at any point, it ends with a card or with a failure in the history.

use std::sync::Arc;

use selfsame_app::App;
use selfsame_core::config::DidMethod;
use selfsame_crypto::Algorithm;
use selfsame_crypto::jws::Compact;
use selfsame_driver::Bound;
use selfsame_driver::{ErrorKind, Reason};
use selfsame_openid::view::verifier::NewRequest;
use selfsame_wallet::config::WalletConfig;
use selfsame_wallet::view::AcceptOffer;
use selfsame_wallet::view::HistoryEntry;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::world::{Fault, Site, WalletHost, accept, belongings, outcome, person};

const TOKEN: &str = "/issuer/token";
const NONCE: &str = "/issuer/nonce";
const CREDENTIAL: &str = "/issuer/credential";
const PRE_AUTHORIZED: &str = "urn:ietf:params:oauth:grant-type:pre-authorized_code";
const SERVER: &str = "/.well-known/oauth-authorization-server/issuer";
const METADATA: &str = "/.well-known/openid-credential-issuer/issuer";

/// Kills the wallet's process during a call of the flow; another process continues.
fn killed_at(path: &str, fault: Fault) -> (usize, usize, String) {
    let outside = tokio::runtime::Runtime::new().unwrap();
    let site = outside.block_on(Site::start());
    let offer = outside.block_on(site.offer("immunization"));
    let host = WalletHost::new(&site);
    let first = host.process();
    let person = first.runtime.block_on(person(&first.app));

    site.faults.add(path, fault);
    let (wallet, holder) = (first.app.wallet().unwrap().clone(), person.clone());
    let accepted = first.runtime.spawn(async move {
        let _ = wallet.accept_offer(&holder, &accept(&offer)).await;
    });
    outside.block_on(site.faults.is_met());
    assert!(!accepted.is_finished());
    first.kill();

    let second = host.process();
    second.app.clock().advance(15);
    let (cards, history) = second.runtime.block_on(outcome(&second.app, &person));
    assert_eq!(history.len(), 1);
    let issued = outside.block_on(site.issued());
    second.kill();
    if history[0].what == "failed" {
        assert!(history[0].reason.is_some());
        assert_eq!(history[0].party, format!("{}issuer", site.origin));
    }
    (cards.len(), issued, history[0].what.clone())
}

#[test]
fn a_wallet_killed_at_any_call_keeps_the_card_or_says_that_it_failed() {
    let kept = (1, 1, "received".to_owned());
    for (path, fault) in [
        (TOKEN, Fault::HangBefore),
        (NONCE, Fault::HangBefore),
        (NONCE, Fault::HangAfter),
        (CREDENTIAL, Fault::HangBefore),
        (CREDENTIAL, Fault::HangAfter),
    ] {
        assert_eq!(killed_at(path, fault), kept, "{path} {fault:?}");
    }
    // The code is spent, and its credential never arrived.
    let failed = (0, 0, "failed".to_owned());
    assert_eq!(killed_at(TOKEN, Fault::HangAfter), failed);
}

/// Why the newest flow failed.
fn why(history: &[HistoryEntry]) -> String {
    history[0].reason.as_ref().unwrap().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_that_is_full_takes_no_offer_and_spends_none() {
    for (bounds, room) in [
        (
            WalletConfig {
                cards_max: Bound::of(2),
                ..WalletConfig::default()
            },
            2,
        ),
        (
            WalletConfig {
                bytes_max: Bound::of(10),
                ..WalletConfig::default()
            },
            1,
        ),
    ] {
        let site = Site::start().await;
        let host = WalletHost::new(&site);
        let app = host.keeping(bounds).await;
        let person = person(&app).await;
        let wallet = app.wallet().unwrap();
        for _ in 0..room {
            let offer = accept(&site.offer("immunization").await);
            wallet.accept_offer(&person, &offer).await.unwrap();
        }
        let offer = accept(&site.offer("immunization").await);
        let full = wallet.accept_offer(&person, &offer).await;
        assert_eq!(full.map(drop).unwrap_err().kind, ErrorKind::Full);
        assert_eq!(site.issued().await, room);
        // With room again, the same offer is accepted.
        let (cards, _) = belongings(&app, &person).await;
        for card in cards {
            wallet.delete_card(&person, &card.id).await.unwrap();
        }
        wallet.accept_offer(&person, &offer).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn offers_that_come_to_nothing_leave_no_key() {
    let site = Site::start().await;
    let host = WalletHost::new(&site);
    let app = host.open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    let taken = accept(&site.offer("immunization").await);
    wallet.accept_offer(&person, &taken).await.unwrap();
    assert_eq!(host.keys(&person).await, 1);
    let again = AcceptOffer {
        copies: Some(2),
        ..taken
    };
    for _ in 0..200 {
        let refused = wallet.accept_offer(&person, &again).await.map(drop);
        assert_eq!(refused.unwrap_err().kind, ErrorKind::Gone);
    }
    assert_eq!(host.keys(&person).await, 1);
}

#[test]
fn an_offer_that_was_not_taken_in_time_leaves_no_key() {
    let outside = tokio::runtime::Runtime::new().unwrap();
    let site = outside.block_on(Site::start());
    let offer = outside.block_on(site.offer("immunization"));
    let host = WalletHost::new(&site);
    let first = host.process();
    let person = first.runtime.block_on(person(&first.app));
    site.faults.add(TOKEN, Fault::HangBefore);
    let (wallet, holder) = (first.app.wallet().unwrap().clone(), person.clone());
    first.runtime.spawn(async move {
        let _ = wallet.accept_offer(&holder, &accept(&offer)).await;
    });
    outside.block_on(site.faults.is_met());
    first.kill();
    assert_eq!(outside.block_on(host.keys(&person)), 1);

    let second = host.process();
    second.app.clock().advance(25 * 3600);
    let (cards, history) = second.runtime.block_on(outcome(&second.app, &person));
    assert_eq!((cards.len(), history.len()), (0, 1));
    let why = history[0].reason.clone();
    assert_eq!(why, Some(Reason::new("offer-late")));
    assert_eq!(outside.block_on(host.keys(&person)), 0);
    second.kill();
}

#[tokio::test(flavor = "multi_thread")]
async fn beside_cards_a_wallet_keeps_so_much_and_no_more() {
    let site = Site::start().await;
    let host = WalletHost::new(&site);
    let app = host.open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    // History and previewed requests: the oldest entry is removed.
    host.keep(&person, "history", 2_100).await;
    let offer = accept(&site.offer("immunization").await);
    wallet.accept_offer(&person, &offer).await.unwrap();
    assert_eq!(host.kept(&person, "history").await, 2_000);
    host.keep(&person, "asked", 150).await;
    let asking = NewRequest {
        type_id: Some("immunization".to_owned()),
        ..NewRequest::default()
    };
    let verifier = site.app.main().verifier().unwrap();
    let request = verifier.create_request(&asking).await.unwrap();
    let preview = wallet.preview_request(&person, &request.uri).await.unwrap();
    assert_eq!(host.kept(&person, "asked").await, 100);

    // Flows in progress: no more is begun, and neither code nor request is spent.
    host.keep(&person, "receiving", 32).await;
    host.keep(&person, "answering", 32).await;
    let offer = accept(&site.offer("immunization").await);
    let refused = wallet.accept_offer(&person, &offer).await.map(drop);
    assert_eq!(
        refused.unwrap_err().kind,
        ErrorKind::TooMany { retry_after: 60 }
    );
    let declined = wallet.decline_request(&person, &preview.id).await.map(drop);
    assert_eq!(
        declined.unwrap_err().kind,
        ErrorKind::TooMany { retry_after: 60 }
    );
    assert_eq!(site.issued().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_that_is_too_long_is_not_kept() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    for (bytes, is_too_long) in [(100 << 10, true), (50 << 10, false)] {
        site.faults.add(CREDENTIAL, Fault::Pad(bytes));
        let offer = accept(&site.offer("immunization").await);
        let refused = wallet.accept_offer(&person, &offer).await.map(drop);
        let reason = refused.unwrap_err().to_string();
        assert_eq!(
            reason.contains("longer than 128 KiB"),
            is_too_long,
            "{reason}"
        );
    }
    assert!(belongings(&app, &person).await.0.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_told_and_once_there_is_room_it_goes_on() {
    let site = Site::start().await;
    let host = WalletHost::new(&site);
    let app = host.open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    assert!(app.has_room().await);
    host.fill(true);
    let refused = wallet.create_key(&person, "P-256").await;
    assert_eq!(refused.map(drop).unwrap_err().kind, ErrorKind::Full);
    assert!(!app.has_room().await);
    // Existing records can still be read.
    assert_eq!(belongings(&app, &person).await.0.len(), 0);
    host.fill(false);
    // Not every caller triggers a test write.
    assert!(!app.has_room().await);
    wallet.create_key(&person, "P-256").await.unwrap();
    assert!(app.has_room().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_issuer_turns_away_or_loses_is_asked_for_again() {
    for (path, fault) in [
        (TOKEN, Fault::Busy),
        (NONCE, Fault::CutBefore),
        (CREDENTIAL, Fault::Busy),
        (CREDENTIAL, Fault::CutBefore),
        (CREDENTIAL, Fault::CutAfter),
        (CREDENTIAL, Fault::Gateway(502)),
        (CREDENTIAL, Fault::Gateway(504)),
    ] {
        let site = Site::start().await;
        let app = WalletHost::new(&site).open().await;
        let person = person(&app).await;
        let offer = site.offer("immunization").await;
        site.faults.add(path, fault);
        let wallet = app.wallet().unwrap();
        let waits = wallet
            .accept_offer(&person, &accept(&offer))
            .await
            .unwrap_err();
        assert_eq!(waits.kind, ErrorKind::Upstream, "{path} {fault:?}");
        app.clock().advance(15);
        let (cards, history) = outcome(&app, &person).await;
        assert_eq!(
            (cards.len(), site.issued().await),
            (1, 1),
            "{path} {fault:?}"
        );
        assert_eq!((history.len(), history[0].what.as_str()), (1, "received"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_balancer_that_answers_for_servers_that_are_away_ends_no_reception() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let offer = site.offer("immunization").await;
    for code in [502, 504, 502] {
        site.faults.add(CREDENTIAL, Fault::Gateway(code));
    }
    let wallet = app.wallet().unwrap();
    let waits = wallet.accept_offer(&person, &accept(&offer)).await;
    assert_eq!(waits.unwrap_err().kind, ErrorKind::Upstream);
    app.clock().advance(15);
    let (cards, history) = outcome(&app, &person).await;
    assert_eq!((cards.len(), site.issued().await), (1, 1));
    assert_eq!(history[0].what.as_str(), "received");
    // A code may have been redeemed behind the balancer, so it is not sent again.
    let offer = site.offer("immunization").await;
    site.faults.add(TOKEN, Fault::Gateway(502));
    let failed = wallet.accept_offer(&person, &accept(&offer)).await;
    failed.unwrap_err();
    let (cards, history) = outcome(&app, &person).await;
    assert_eq!((cards.len(), history.len()), (1, 2));
    assert!(history.iter().any(|entry| entry.what.as_str() == "failed"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_that_may_have_been_redeemed_is_not_sent_again() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let offer = site.offer("immunization").await;
    site.faults.add(TOKEN, Fault::CutBefore);
    let wallet = app.wallet().unwrap();
    wallet
        .accept_offer(&person, &accept(&offer))
        .await
        .unwrap_err();
    let (cards, history) = outcome(&app, &person).await;
    assert_eq!((cards.len(), history[0].what.as_str()), (0, "failed"));
    assert!(why(&history).contains("respond"));
    // In fact the code was not redeemed, and the person still has the offer.
    wallet.accept_offer(&person, &accept(&offer)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_that_is_away_is_waited_for() {
    let mut site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let offer = site.offer("immunization").await;
    let wallet = app.wallet().unwrap();
    // The issuer's documents are cached from here on.
    wallet.preview_offer(&offer.uri).await.unwrap();
    site.hang_up().await;
    let waits = wallet
        .accept_offer(&person, &accept(&offer))
        .await
        .unwrap_err();
    assert!(
        waits.to_string().contains("issuer-unreachable"),
        "{waits:?}"
    );
    assert_eq!(belongings(&app, &person).await.1.len(), 0);
    site.listen().await;
    app.clock().advance(15);
    let (cards, history) = outcome(&app, &person).await;
    assert_eq!((cards.len(), history[0].what.as_str()), (1, "received"));
}

/// Advances the clock ten minutes each second.
fn spend_time(app: &Arc<App>) -> JoinHandle<()> {
    let clock = app.clock().clone();
    tokio::spawn(async move {
        loop {
            clock.advance(60);
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_that_stays_away_is_given_up() {
    let mut site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let offer = site.offer("immunization").await;
    let wallet = app.wallet().unwrap();
    wallet.preview_offer(&offer.uri).await.unwrap();
    site.hang_up().await;
    wallet
        .accept_offer(&person, &accept(&offer))
        .await
        .unwrap_err();
    let waited = spend_time(&app);
    let (cards, history) = outcome(&app, &person).await;
    waited.abort();
    assert_eq!((cards.len(), history[0].what.as_str()), (0, "failed"));
    assert!(why(&history).contains("respond"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flow_that_outlived_its_day_says_so() {
    let mut site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let offer = site.offer("immunization").await;
    let wallet = app.wallet().unwrap();
    wallet.preview_offer(&offer.uri).await.unwrap();
    site.hang_up().await;
    wallet
        .accept_offer(&person, &accept(&offer))
        .await
        .unwrap_err();
    app.clock().advance(25 * 3600);
    let (_, history) = outcome(&app, &person).await;
    assert_eq!(history[0].what, "failed");
    assert_eq!(why(&history), "offer-late");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_issuer_did_not_sign_is_not_kept() {
    for format in ["dc+sd-jwt", "jwt_vc_json", "vc+jwt"] {
        let site = Site::start().await;
        let app = WalletHost::new(&site).open().await;
        let person = person(&app).await;
        let mut new = serde_json::json!({"type": "immunization", "examples": true});
        new["format"] = format.into();
        let offer = site.offer_of(serde_json::from_value(new).unwrap()).await;
        site.faults.add(CREDENTIAL, Fault::Forge);
        let wallet = app.wallet().unwrap();
        let error = wallet
            .accept_offer(&person, &accept(&offer))
            .await
            .unwrap_err();
        assert_eq!(error.reason.id(), "credential-not-genuine", "{format}");
        let (cards, history) = outcome(&app, &person).await;
        assert_eq!((cards.len(), history.len()), (0, 1));
        assert_eq!(history[0].what, "failed");
        assert_eq!(history[0].reason, Some(error.reason));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_of_an_attacker_puts_no_card_into_a_wallet_in_another_name() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    let own = wallet
        .preview_offer(&site.offer("immunization").await.uri)
        .await
        .unwrap()
        .issuer;
    for (named, cards) in [("https://government.example", 0), (&*own.leak(), 1)] {
        let offer = site.offer("immunization").await;
        site.faults.add(CREDENTIAL, Fault::CertifyAs(named));
        let accepted = wallet.accept_offer(&person, &accept(&offer)).await;
        assert_eq!(accepted.is_ok(), cards == 1, "{named}: {accepted:?}");
        let (kept, history) = outcome(&app, &person).await;
        assert_eq!(kept.len(), cards, "{history:?}");
        if let Err(refused) = accepted {
            assert!(
                refused
                    .to_string()
                    .contains("no known certificate authority"),
                "{refused:?}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fresh_key_is_of_the_kind_that_the_issuer_takes_and_named_as_it_wants() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let offer = site.offer_as("immunization", "jwt_vc_json").await;
    let mut metadata = metadata(&site).await;
    let offered = "immunization_jwt_vc_json";
    let described = &mut metadata["credential_configurations_supported"][offered];
    described["cryptographic_binding_methods_supported"] = json!(["did:key"]);
    let proof = &mut described["proof_types_supported"]["jwt"];
    proof["proof_signing_alg_values_supported"] = json!(["EdDSA"]);
    site.faults.give(METADATA, &metadata, 1);
    site.faults.add(CREDENTIAL, Fault::CutBefore);
    let wallet = app.wallet().unwrap();
    let waits = wallet.accept_offer(&person, &accept(&offer)).await;
    assert_eq!(waits.unwrap_err().kind, ErrorKind::Upstream);
    let (_, body) = site.faults.last_request();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let proof = Compact::parse(body["proofs"]["jwt"][0].as_str().unwrap()).unwrap();
    assert_eq!(proof.header.alg, Algorithm::EdDsa);
    let kid = proof.header.kid.unwrap();
    assert!(kid.starts_with("did:key:z6Mk"), "{kid}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_this_wallet_cannot_take_is_refused_with_what_it_lacks() {
    let site = Site::start().await;
    let published = metadata(&site).await;
    let by_ps256 = json!({"jwt": {"proof_signing_alg_values_supported": ["PS256"]}});
    for (member, value, code) in [
        (
            "format",
            json!("jwt_vc_json-ld"),
            "unsupported_credential_format",
        ),
        ("proof_types_supported", by_ps256, "unsupported_key"),
    ] {
        let app = WalletHost::new(&site).open().await;
        let person = person(&app).await;
        let offer = site.offer("immunization").await;
        let mut metadata = published.clone();
        metadata["credential_configurations_supported"]["immunization_sd_jwt_vc"][member] = value;
        site.faults.give(METADATA, &metadata, 1);
        let wallet = app.wallet().unwrap();
        let refused = wallet.accept_offer(&person, &accept(&offer)).await;
        let refused = refused.unwrap_err();
        assert_eq!(
            (refused.kind, refused.code),
            (ErrorKind::BadRequest, Some(code))
        );
        assert_eq!(refused.reason.id(), "rule-broken-advised");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_waits_until_its_issuers_key_can_be_had() {
    let site = Site::with(DidMethod::of(&selfsame_did::web::METHOD)).await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let offer = site.offer("immunization").await;
    // However often it is fetched until it is available.
    for _ in 0..200 {
        site.faults.add("/issuer/did.json", Fault::Busy);
    }
    let wallet = app.wallet().unwrap();
    let accepting = accept(&offer);
    let waits = wallet.accept_offer(&person, &accepting).await.unwrap_err();
    assert!(
        waits
            .to_string()
            .contains("credential-unverified-yet (detail: did:web:"),
        "{waits:?}"
    );
    assert_eq!(belongings(&app, &person).await.0.len(), 0);
    site.faults.clear();
    // If the call were made again, this would show it.
    site.faults.add(CREDENTIAL, Fault::Forge);
    app.clock().advance(20);
    let (cards, history) = outcome(&app, &person).await;
    assert_eq!((cards.len(), history[0].what.as_str()), (1, "received"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_whose_issuers_key_is_never_had_is_not_kept() {
    let site = Site::with(DidMethod::of(&selfsame_did::web::METHOD)).await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let offer = site.offer("immunization").await;
    for _ in 0..200 {
        site.faults.add("/issuer/did.json", Fault::Busy);
    }
    let wallet = app.wallet().unwrap();
    wallet
        .accept_offer(&person, &accept(&offer))
        .await
        .unwrap_err();
    let waited = spend_time(&app);
    let (cards, history) = outcome(&app, &person).await;
    waited.abort();
    assert_eq!((cards.len(), history[0].what.as_str()), (0, "failed"));
    assert!(why(&history).contains("credential-unverifiable"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_card_takes_its_key_along_and_leaves_the_persons_own() {
    let site = Site::start().await;
    let host = WalletHost::new(&site);
    let app = host.open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    let own = wallet.create_did(&person, "key", "Ed25519").await.unwrap();
    let by_did = AcceptOffer {
        did: Some(own.did.clone()),
        ..accept(&site.offer("immunization").await)
    };
    let w3c = serde_json::json!({"type": "allergies", "examples": true, "format": "vc+jwt"});
    let w3c = site.offer_of(serde_json::from_value(w3c).unwrap()).await;
    let sd_jwt = site.offer("allergies").await;
    for accepting in [by_did.clone(), accept(&sd_jwt), accept(&w3c)] {
        let cards = wallet.accept_offer(&person, &accepting).await.unwrap();
        let fresh = u64::from(accepting.did.is_none());
        assert_eq!(host.keys(&person).await, 1 + fresh);
        wallet.delete_card(&person, &cards[0].id).await.unwrap();
        assert_eq!(host.keys(&person).await, 1);
    }
    assert_eq!(belongings(&app, &person).await.0.len(), 0);
    // The key of the DID can still be used for another credential.
    let again = AcceptOffer {
        offer: site.offer("immunization").await.uri,
        ..by_did
    };
    wallet.accept_offer(&person, &again).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_does_not_tell_what_names_and_addresses_there_are_within() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    let mut told = std::collections::BTreeSet::new();
    for host in [
        "10.0.0.1",
        "192.168.0.1:8443",
        "db.internal",
        "name.invalid",
    ] {
        let offer =
            format!("openid-credential-offer://?credential_offer_uri=https%3A%2F%2F{host}%2Fx");
        told.insert(wallet.preview_offer(&offer).await.unwrap_err().to_string());
        let issuer = json!({
            "credential_issuer": format!("https://{host}"),
            "credential_configuration_ids": ["x"],
            "grants": {(PRE_AUTHORIZED): {"pre-authorized_code": "x"}},
        });
        let offer = format!("openid-credential-offer://?credential_offer={issuer}");
        told.insert(wallet.preview_offer(&offer).await.unwrap_err().to_string());
        let request = format!(
            "openid4vp://?client_id=x509_san_dns:x.example&request_uri=https%3A%2F%2F{host}%2Fx"
        );
        let refused = wallet.preview_request(&person, &request).await;
        told.insert(refused.unwrap_err().to_string());
    }
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(
        told.iter().all(|reason| reason.contains("respond")),
        "{told:?}"
    );
}

/// What a person sees, and what remains in the history, if an issuer's documents send the wallet to this endpoint.
async fn told_of(endpoint: &str) -> (ErrorKind, String, Vec<String>) {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let published = site.app.main().issuer().unwrap().published().await.unwrap();
    let mut server: Value = serde_json::from_slice(&published.server).unwrap();
    server["token_endpoint"] = json!(endpoint);
    site.faults.give(SERVER, &server, 2);
    let mut issuer = metadata(&site).await;
    issuer["nonce_endpoint"] = json!(endpoint);
    site.faults.give(METADATA, &issuer, 2);
    let offer = accept(&site.offer("immunization").await);
    let refused = app.wallet().unwrap().accept_offer(&person, &offer).await;
    let refused = refused.unwrap_err();
    let (_, history) = belongings(&app, &person).await;
    let history = history.into_iter().map(|entry| format!("{entry:?}"));
    (refused.kind, refused.to_string(), history.collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_acceptance_does_not_tell_what_names_and_addresses_there_are_within() {
    let unknown = told_of("https://name.invalid/x").await;
    assert_eq!(unknown.0, ErrorKind::Upstream);
    for within in ["https://10.0.0.1/x", "https://192.168.0.1:8443/x"] {
        assert_eq!(told_of(within).await, unknown, "{within}");
    }
}

async fn metadata(site: &Site) -> Value {
    let published = site.app.main().issuer().unwrap().published().await.unwrap();
    serde_json::from_slice(&published.issuer).unwrap()
}

/// The issuer's metadata before it issued records of allergies.
async fn metadata_of_before(site: &Site) -> Value {
    let mut metadata = metadata(site).await;
    let configurations = metadata["credential_configurations_supported"]
        .as_object_mut()
        .unwrap();
    let all = configurations.len();
    configurations.retain(|id, _| !id.contains("allergies"));
    assert!(configurations.len() < all);
    metadata
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_issuer_has_added_is_taken_at_once() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    site.faults
        .give(METADATA, &metadata_of_before(&site).await, 1);
    let known = site.offer("immunization").await;
    wallet.accept_offer(&person, &accept(&known)).await.unwrap();
    let added = site.offer("allergies").await;
    let preview = wallet.preview_offer(&added.uri).await.unwrap();
    assert_eq!(preview.credentials.len(), 1);
    wallet.accept_offer(&person, &accept(&added)).await.unwrap();
    assert_eq!(belongings(&app, &person).await.0.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn offers_of_what_there_is_not_have_the_issuer_asked_rarely() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let wallet = app.wallet().unwrap();
    site.faults
        .give(METADATA, &metadata_of_before(&site).await, 20);
    let asked = || site.faults.bodies.lock().unwrap().len();
    let known = site.offer("immunization").await;
    let unknown = site.offer("allergies").await;
    wallet.preview_offer(&known.uri).await.unwrap();
    assert_eq!(asked(), 1);
    for times in [2, 3] {
        for _ in 0..4 {
            let error = wallet.preview_offer(&unknown.uri).await.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Upstream);
            assert!(error.to_string().contains("does not describe"), "{error:?}");
            // Other offers still work.
            wallet.preview_offer(&known.uri).await.unwrap();
            assert_eq!(asked(), times);
        }
        app.clock().advance(5);
    }
    // The copy fetched for those offers is cached no less long.
    app.clock().advance(200);
    wallet.preview_offer(&known.uri).await.unwrap();
    assert_eq!(asked(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_that_has_moved_is_looked_at_anew_before_its_code_is_redeemed() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    let mut before = metadata(&site).await;
    before["nonce_endpoint"] = json!(format!("{}moved/nonce", site.origin));
    before["credential_endpoint"] = json!(format!("{}moved/credential", site.origin));
    site.faults.give(METADATA, &before, 1);
    let offer = site.offer("immunization").await;
    wallet.preview_offer(&offer.uri).await.unwrap();
    app.clock().advance(11);
    wallet.accept_offer(&person, &accept(&offer)).await.unwrap();
    assert_eq!(belongings(&app, &person).await.0.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuers_documents_are_kept_for_no_longer_than_it_says() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let wallet = app.wallet().unwrap();
    let mut before = metadata(&site).await;
    before["display"] = json!([{"name": "As it was"}]);
    let text: &str = before.to_string().leak();
    let offer = site.offer("immunization").await;
    for fault in [Fault::GiveUncached(text), Fault::Give(text)] {
        site.faults.add(METADATA, fault);
        let shown = wallet.preview_offer(&offer.uri).await.unwrap();
        assert_eq!(shown.issuer_name.as_deref(), Some("As it was"));
        let shown = wallet.preview_offer(&offer.uri).await.unwrap();
        let is_kept = shown.issuer_name.as_deref() == Some("As it was");
        assert_eq!(is_kept, fault == Fault::Give(text));
        // Past the cache's own limit.
        app.clock().advance(301);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_failure_the_issuers_documents_are_fetched_anew() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    let mut before = metadata(&site).await;
    before["credential_endpoint"] = json!(format!("{}moved/credential", site.origin));
    site.faults.give(METADATA, &before, 1);
    let lost = site.offer("immunization").await;
    let failed = wallet.accept_offer(&person, &accept(&lost)).await;
    assert_eq!(failed.unwrap_err().kind, ErrorKind::Upstream);
    let next = site.offer("immunization").await;
    wallet.accept_offer(&person, &accept(&next)).await.unwrap();
}

/// Makes the site's issuer rely on these authorization servers, each with metadata of its own.
async fn rely_on(site: &Site, servers: &[(&str, Option<&str>)]) {
    let identifier = |name: &str| format!("{}{name}", site.origin);
    let named = servers.iter().map(|(name, _)| identifier(name));
    let mut document = metadata(site).await;
    document["authorization_servers"] = named.collect();
    site.faults.give(METADATA, &document, 1);
    for (name, grant) in servers {
        let Some(grant) = grant else { continue };
        let document = json!({
            "issuer": identifier(name),
            "token_endpoint": identifier("issuer/token"),
            "grant_types_supported": [grant],
        });
        let path = format!("/.well-known/oauth-authorization-server/{name}");
        site.faults.give(&path, &document, 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_goes_to_the_first_server_that_redeems_such_codes() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    // The one in the middle does not exist.
    let servers = [
        ("a", Some("authorization_code")),
        ("b", None),
        ("c", Some(PRE_AUTHORIZED)),
    ];
    rely_on(&site, &servers).await;
    let offer = site.offer("immunization").await;
    wallet.accept_offer(&person, &accept(&offer)).await.unwrap();
    assert_eq!(belongings(&app, &person).await.0.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_goes_to_no_server_that_does_not_redeem_such_codes() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    let servers = [("a", Some("authorization_code")), ("b", Some("implicit"))];
    rely_on(&site, &servers).await;
    let offer = site.offer("immunization").await;
    let error = wallet
        .accept_offer(&person, &accept(&offer))
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("does not support pre-authorized codes"),
        "{error:?}"
    );
    assert_eq!(belongings(&app, &person).await.1.len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_binds_no_token_all_the_same_gets_a_bearer_token_and_no_key_is_left() {
    let site = Site::start().await;
    let host = WalletHost::new(&site);
    let app = host.open().await;
    let person = person(&app).await;
    let published = site.app.main().issuer().unwrap().published().await.unwrap();
    let mut server: Value = serde_json::from_slice(&published.server).unwrap();
    server["dpop_signing_alg_values_supported"] = json!(["ES256"]);
    site.faults.give(SERVER, &server, 2);
    let offer = site.offer("immunization").await;
    let wallet = app.wallet().unwrap();
    let cards = wallet.accept_offer(&person, &accept(&offer)).await.unwrap();
    assert_eq!(cards.len(), 1);
    // That of the card.
    assert_eq!(host.keys(&person).await, 1);
}
