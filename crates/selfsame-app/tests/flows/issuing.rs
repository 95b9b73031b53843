//! Codes, nonces and places in status lists are used only once.

use std::collections::HashSet;
use std::time::Duration;

use selfsame_app::App;
use selfsame_core::config::DidMethod;
use selfsame_credential::Format;
use selfsame_credential::status::{List, Value};
use selfsame_crypto::jws::Compact;
use selfsame_driver::paging::Paging;
use selfsame_driver::{ErrorKind, Result};
use selfsame_oauth::TokenResponse;
use selfsame_openid::config::IssuerConfig;
use selfsame_openid::issuer::lists::ListFace;
use selfsame_openid::view::issuer::{CredentialStatus, NewOffer, NewOffers, OfferState};
use selfsame_openid4vc::Transport;
use selfsame_openid4vc::wallet::offer::{OfferSource, locate};
use selfsame_openid4vc::wire::metadata::{Configuration, IssuerMetadata};
use selfsame_wallet::view::AcceptOffer;

use std::sync::Arc;
use tokio::task::JoinSet;

use crate::world::{Fault, Site, WalletHost, accept, new_offer, person, site_with};

const TASKS: usize = 32;

pub fn token_request(site: &Site, link: &str) -> Vec<u8> {
    let transport = Transport::with_plain_origins([&site.origin]);
    let OfferSource::Value(offer) = locate(link, &transport).unwrap() else {
        panic!("the offer is in the link");
    };
    let code = offer
        .pre_authorized_code()
        .unwrap()
        .code
        .expose()
        .to_owned();
    let grant = "urn:ietf:params:oauth:grant-type:pre-authorized_code";
    url::form_urlencoded::Serializer::new(String::new())
        .append_pair("grant_type", grant)
        .append_pair("pre-authorized_code", &code)
        .finish()
        .into_bytes()
}

/// Offers of immunizations, one for each of these claims.
fn rows(claims: &[serde_json::Value]) -> NewOffers {
    let row =
        |claims: &serde_json::Value| serde_json::json!({ "claims": claims, "label": "a row" });
    let rows: Vec<_> = claims.iter().map(row).collect();
    serde_json::from_value(serde_json::json!({ "type": "immunization", "rows": rows })).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn offers_of_many_rows_are_made_together_and_each_can_be_accepted() {
    let site = Site::start().await;
    let main = site.app.main();
    let issuer = main.issuer().unwrap();
    let types = issuer.types().all().await.unwrap();
    let sample = types.find("immunization").unwrap();
    let claims = sample.fill(&serde_json::Map::new(), true).unwrap();
    let claims = serde_json::Value::Object(claims);
    let made = issuer.create_offers(rows(&vec![claims; 40])).await.unwrap();
    let links: HashSet<&str> = made.iter().map(|offer| offer.uri.as_str()).collect();
    assert_eq!(links.len(), 40);
    for offer in [&made[0], &made[39]] {
        let body = token_request(&site, &offer.uri);
        issuer.token(&body).await.unwrap();
        assert_eq!(
            issuer.offer(&offer.id).await.unwrap().state,
            OfferState::Taken
        );
    }
    let rest = issuer.offer(&made[20].id).await.unwrap();
    assert_eq!((rest.state, rest.uses_left), (OfferState::Open, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn if_a_row_is_refused_no_offer_is_made_and_the_row_is_named() {
    let site = Site::start().await;
    let main = site.app.main();
    let issuer = main.issuer().unwrap();
    let wrong = serde_json::json!({ "nothing_of_the_kind": 1 });
    let refused = issuer.create_offers(rows(&[wrong])).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::BadRequest);
    let reason = &refused.reason;
    assert_eq!(reason.id(), "offer-row-refused");
    assert_eq!(reason.parameter("row").unwrap().to_string(), "1");
    let none = issuer.create_offers(rows(&[])).await.unwrap_err();
    assert_eq!(none.reason.id(), "offer-rows");
    let many = vec![serde_json::json!({}); NewOffers::ROWS_MAX + 1];
    let many = issuer.create_offers(rows(&many)).await.unwrap_err();
    assert_eq!(many.reason.id(), "offer-rows");
    let offers = issuer.offers(&Paging::default()).await.unwrap();
    assert!(offers.items.is_empty());
}

/// Redeems one code in many tasks at once.
async fn raced(app: &Arc<App>, body: &[u8]) -> Vec<Result<TokenResponse>> {
    let mut tasks = JoinSet::new();
    for _ in 0..TASKS {
        let (app, body) = (app.clone(), body.to_vec());
        tasks.spawn(async move { app.main().issuer()?.token(&body).await });
    }
    tasks.join_all().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_is_redeemed_as_often_as_it_may_be_and_never_more() {
    let site = Site::start().await;
    for uses in [1, 20] {
        let new: NewOffer = serde_json::from_value(serde_json::json!({
            "type": "immunization", "examples": true, "uses": uses,
        }))
        .unwrap();
        let offer = site.offer_of(new).await;
        let answers = raced(&site.app, &token_request(&site, &offer.uri)).await;
        let tokens: HashSet<String> = answers
            .iter()
            .flatten()
            .map(|answer| answer.access_token.expose().to_owned())
            .collect();
        assert_eq!(tokens.len(), uses);
        let refused: Vec<_> = answers
            .iter()
            .filter_map(|answer| answer.as_ref().err())
            .collect();
        assert_eq!(refused.len(), TASKS - uses);
        assert!(
            refused
                .iter()
                .all(|error| error.code == Some("invalid_grant"))
        );
        let issuer = site.app.main().issuer().unwrap();
        let offer = issuer.offer(&offer.id).await.unwrap();
        assert_eq!(offer.state, OfferState::Taken);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_request_gets_the_same_credential_however_often_it_comes() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let offer = site.offer("immunization").await;
    site.faults.add("/issuer/credential", Fault::CutBefore);
    let wallet = app.wallet().unwrap();
    wallet
        .accept_offer(&person, &accept(&offer))
        .await
        .unwrap_err();
    let (token, body) = site.faults.last_request();
    let token = token.unwrap();
    let mut tasks = JoinSet::new();
    for _ in 0..TASKS {
        let (app, token, body) = (site.app.clone(), token.clone(), body.clone());
        tasks.spawn(async move {
            let answer = app
                .main()
                .issuer()
                .unwrap()
                .credential(token.as_str(), &body)
                .await
                .unwrap();
            serde_json::to_string(answer.plain().unwrap()).unwrap()
        });
    }
    let answers: HashSet<String> = tasks.join_all().await.into_iter().collect();
    assert_eq!((answers.len(), site.issued().await), (1, 1));
}

/// The configurations in the issuer's metadata.
async fn described(app: &App) -> Vec<Configuration> {
    let published = app.main().issuer().unwrap().published().await.unwrap();
    let metadata: IssuerMetadata = serde_json::from_slice(&published.issuer).unwrap();
    let ids = metadata.credential_configurations_supported.keys();
    let described = ids.filter_map(|id| metadata.configuration(id).cloned());
    let described: Vec<_> = described.collect();
    assert!(!described.is_empty());
    described
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_settings_leave_out_is_neither_described_nor_offered() {
    let formats = vec![Format::JwtVcJson, Format::SdJwtVc];
    let app = site_with(IssuerConfig {
        did_method: Some(DidMethod::of(&selfsame_did::key::METHOD)),
        formats,
        ..IssuerConfig::default()
    })
    .await;
    let issuer = app.main().issuer().unwrap();
    let described = described(&app).await;
    assert!(described.iter().any(|one| one.format == "jwt_vc_json"));
    assert!(described.iter().all(|one| one.format != "vc+jwt"));
    let left_out = new_offer("immunization", "vc+jwt");
    let refused = issuer.create_offer(&left_out).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "format-not-issued (known: jwt_vc_json, dc+sd-jwt)"
    );
    let unnamed = NewOffer {
        format: None,
        ..new_offer("immunization", "")
    };
    let offer = issuer.create_offer(&unnamed).await.unwrap();
    assert_eq!(offer.format, "jwt_vc_json");
}

#[tokio::test(flavor = "multi_thread")]
async fn dids_are_listed_before_bare_keys_where_credentials_name_a_subject() {
    let site = Site::start().await;
    for one in described(&site.app).await {
        let methods = one.cryptographic_binding_methods_supported.as_ref();
        let first = &methods.unwrap()[0];
        let names_no_subject = ["dc+sd-jwt", "mso_mdoc"].contains(&one.format.as_str());
        assert_eq!(first.starts_with("did:"), !names_no_subject);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_nonce_is_good_for_one_request() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let offer = site.offer("immunization").await;
    site.faults.add("/issuer/credential", Fault::HangBefore);
    let wallet = app.wallet().unwrap().clone();
    tokio::spawn(async move { wallet.accept_offer(&person, &accept(&offer)).await });
    site.faults.is_met().await;
    let (token, body) = site.faults.last_request();
    let another = site.offer("immunization").await;
    let issuer = site.app.main().issuer().unwrap();
    let redeemed = issuer
        .token(&token_request(&site, &another.uri))
        .await
        .unwrap();
    issuer
        .credential(redeemed.access_token.expose(), &body)
        .await
        .unwrap();
    let replayed = issuer
        .credential(&*token.unwrap(), &body)
        .await
        .unwrap_err();
    assert_eq!(replayed.code, Some("invalid_nonce"));
    assert_eq!(site.issued().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spent_nonce_is_not_forgotten_while_the_clock_is_ahead_for_a_while() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let offer = site.offer("immunization").await;
    site.faults.add("/issuer/credential", Fault::HangBefore);
    let wallet = app.wallet().unwrap().clone();
    tokio::spawn(async move { wallet.accept_offer(&person, &accept(&offer)).await });
    site.faults.is_met().await;
    let (token, body) = site.faults.last_request();
    let issuer = site.app.main().issuer().unwrap();
    issuer.credential(&*token.unwrap(), &body).await.unwrap();
    site.app.start().await.unwrap();
    site.app.clock().set_ahead(4_000);
    // The worker removes expired records twice a second.
    tokio::time::sleep(Duration::from_millis(1_600)).await;
    site.app.clock().set_back(4_000);
    let another = site.offer("immunization").await;
    let token = issuer.token(&token_request(&site, &another.uri)).await;
    let token = token.unwrap().access_token;
    let replayed = issuer.credential(token.expose(), &body).await.unwrap_err();
    assert_eq!(replayed.code, Some("invalid_nonce"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_in_a_status_list_is_given_once_by_all_processes_together() {
    let site = Site::start().await;
    let mut given = HashSet::new();
    let mut count = 0;
    let mut app = site.app.clone();
    for _ in 0..3 {
        let mut tasks = JoinSet::new();
        for _ in 0..8 {
            let app = app.clone();
            tasks.spawn(async move {
                let mut places = Vec::new();
                for _ in 0..50 {
                    let place = app.main().issuer().unwrap().lists().place().await.unwrap();
                    places.push((place.list, place.index));
                }
                places
            });
        }
        for places in tasks.join_all().await {
            count += places.len();
            given.extend(places);
        }
        app = site.reopened().await;
    }
    assert_eq!((given.len(), count), (1200, 1200));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_register_states_the_end_that_the_credential_states() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    for format in ["dc+sd-jwt", "vc+jwt", "jwt_vc_json"] {
        let offer = site.offer_of(new_offer("immunization", format)).await;
        let wallet = app.wallet().unwrap();
        let cards = wallet.accept_offer(&person, &accept(&offer)).await.unwrap();
        let issuer = site.app.main().issuer().unwrap();
        let issued = issuer.issued(None, &Paging::default()).await.unwrap();
        assert_eq!(cards[0].expires.as_ref(), Some(&issued.items[0].expires));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_fought_over_ends_as_the_last_one_said_and_revoked_stays_revoked() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let offer = site.offer("immunization").await;
    let wallet = app.wallet().unwrap();
    wallet.accept_offer(&person, &accept(&offer)).await.unwrap();
    let issuer = site.app.main().issuer().unwrap();
    let id = issuer.issued(None, &Paging::default()).await.unwrap().items[0]
        .id
        .clone();
    let mut tasks = JoinSet::new();
    for number in 0..TASKS {
        let (app, id) = (site.app.clone(), id.clone());
        let status = match number {
            0 => CredentialStatus::Revoked,
            even if even % 2 == 0 => CredentialStatus::Suspended,
            _ => CredentialStatus::Valid,
        };
        tasks.spawn(async move {
            app.main()
                .issuer()
                .unwrap()
                .set_status(&id, status)
                .await
                .map(drop)
        });
    }
    tasks.join_all().await;
    issuer
        .set_status(&id, CredentialStatus::Revoked)
        .await
        .unwrap();
    assert!(
        issuer
            .set_status(&id, CredentialStatus::Valid)
            .await
            .is_err()
    );
    // A process that opens the records sees the status, and shows it in the list.
    let reopened = site.reopened().await;
    let seen = reopened
        .main()
        .issuer()
        .unwrap()
        .issued_credential(&id)
        .await
        .unwrap();
    assert_eq!(seen.status, CredentialStatus::Revoked);
    let (here, there) = (
        issuer.lists().digest(0),
        reopened.main().issuer().unwrap().lists().digest(0),
    );
    assert_eq!(here.unwrap(), there.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn claims_are_as_large_as_a_wallet_takes_many_copies_of() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let with_note = |bytes: usize| {
        let mut claims = serde_json::Map::new();
        let vaccine = serde_json::json!({"manufacturer": "x".repeat(bytes)});
        claims.insert("vaccine".to_owned(), vaccine);
        NewOffer {
            claims,
            ..new_offer("immunization", "vc+jwt")
        }
    };
    let issuer = site.app.main().issuer().unwrap();
    let refused = issuer
        .create_offer(&with_note(64 * 1024))
        .await
        .unwrap_err();
    assert_eq!(refused.kind, ErrorKind::BadRequest);
    let offer = site.offer_of(with_note(60 * 1024)).await;
    let many = AcceptOffer {
        copies: Some(10),
        ..accept(&offer)
    };
    let cards = app.wallet().unwrap().accept_offer(&person, &many).await;
    assert_eq!(cards.unwrap().len(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_was_signed_before_the_clock_was_set_back_is_signed_anew() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let offer = site.offer("immunization").await;
    let wallet = app.wallet().unwrap();
    let person = person(&app).await;
    wallet.accept_offer(&person, &accept(&offer)).await.unwrap();
    let issuer = site.app.main().issuer().unwrap();
    site.app.clock().advance(3_600);
    issuer.lists().serve(0, ListFace::Token).await.unwrap();

    site.app.clock().set_back(3_600);
    let id = issuer.issued(None, &Paging::default()).await.unwrap().items[0]
        .id
        .clone();
    issuer
        .set_status(&id, CredentialStatus::Revoked)
        .await
        .unwrap();
    assert!(issuer.issued_credential(&id).await.unwrap().published);
    assert!(served_as_withdrawn(&site.app, &id).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_is_full_is_followed_by_another_and_is_served_from_its_first_credential() {
    let site = Site::start().await;
    let lists = site.app.main().issuer().unwrap().lists();
    // One full list.
    let mut last = 0;
    for _ in 0..131_072 {
        last = lists.place().await.unwrap().list;
    }
    assert_eq!(last, 0);
    assert!(lists.serve(1, ListFace::Token).await.is_err());
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let offer = site.offer("immunization").await;
    let wallet = app.wallet().unwrap();
    wallet.accept_offer(&person, &accept(&offer)).await.unwrap();
    for app in [site.app.clone(), site.reopened().await] {
        let lists = app.main().issuer().unwrap().lists();
        lists.serve(1, ListFace::Token).await.unwrap();
        assert!(lists.serve(2, ListFace::Token).await.is_err());
    }
}

/// Whether the list served now shows a credential as withdrawn.
async fn served_as_withdrawn(app: &App, id: &str) -> bool {
    let issuer = app.main().issuer().unwrap();
    let index = issuer.issued_credential(id).await.unwrap().status_index;
    let served = issuer.lists().serve(0, ListFace::Token).await.unwrap();
    let uri = issuer.lists().uri(0, ListFace::Token);
    let now = app.clock().now();
    let list = List::parse(&uri, None, &served.body, now).unwrap();
    list.get(index).unwrap() != Value::Valid
}

/// When a status list was signed.
async fn signed_at(app: &App) -> u64 {
    let lists = app.main().issuer().unwrap().lists().clone();
    let served = lists.serve(0, ListFace::Token).await.unwrap();
    let list = Compact::parse(std::str::from_utf8(&served.body).unwrap()).unwrap();
    let payload: serde_json::Value = serde_json::from_slice(&list.payload).unwrap();
    payload["iat"].as_u64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_published_within_a_second_without_being_fetched_and_share_one_list() {
    let site = Site::start().await;
    site.app.start().await.unwrap();
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    for _ in 0..2 {
        let offer = accept(&site.offer("immunization").await);
        let wallet = app.wallet().unwrap();
        wallet.accept_offer(&person, &offer).await.unwrap();
    }
    let before = signed_at(&site.app).await;
    site.app.clock().advance(1);
    let issuer = site.app.main().issuer().unwrap();
    for one in issuer.issued(None, &Paging::default()).await.unwrap().items {
        let revoked = issuer.set_status(&one.id, CredentialStatus::Revoked).await;
        revoked.unwrap();
    }
    // The worker looks twice a second, and may be late on a busy machine.
    tokio::time::sleep(Duration::from_secs(3)).await;
    // A later fetch gets the list that was signed then.
    site.app.clock().advance(20);
    let after = signed_at(&site.app).await;
    let now = site.app.clock().now().0;
    assert!(
        before < after && after + 20 <= now,
        "{before} {after} {now}"
    );
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(signed_at(&site.app).await, after, "nothing changed since");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_status_is_shown_as_not_yet_published_for_a_second_at_most() {
    for format in Format::of_any_type() {
        let site = Site::start().await;
        let app = WalletHost::new(&site).open().await;
        let person = person(&app).await;
        let offer = accept(&site.offer_as("immunization", format.as_str()).await);
        let wallet = app.wallet().unwrap();
        wallet.accept_offer(&person, &offer).await.unwrap();
        let issuer = site.app.main().issuer().unwrap();
        let of = async || issuer.issued(None, &Paging::default()).await.unwrap().items[0].clone();
        assert!(of().await.published);
        let faces = [
            ListFace::Token,
            ListFace::TokenOfW3c,
            ListFace::Revocation,
            ListFace::Suspension,
        ];
        // A second may pass in between.
        let mut seen = false;
        for status in [CredentialStatus::Suspended, CredentialStatus::Valid].repeat(5) {
            for face in faces {
                issuer.lists().serve(0, face).await.unwrap();
            }
            let changed = issuer.set_status(&of().await.id, status).await.unwrap();
            seen |= !changed.published && !of().await.published;
            site.app.clock().advance(1);
            assert!(of().await.published, "{format:?}");
        }
        assert!(seen, "{format:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revocation_while_its_list_is_signed_is_out_within_a_second() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    for _ in 0..40 {
        let offer = accept(&site.offer("immunization").await);
        wallet.accept_offer(&person, &offer).await.unwrap();
    }
    let issuer = site.app.main().issuer().unwrap();
    let paging = Paging {
        limit: Some(40),
        ..Paging::default()
    };
    let issued = issuer.issued(None, &paging).await.unwrap().items;
    for one in &issued {
        // The list ages, so that it is signed again at the time of the change.
        site.app.clock().advance(40);
        let serving = site.app.clone();
        let serving = tokio::spawn(async move {
            let issuer = serving.main().issuer().unwrap();
            issuer.lists().serve(0, ListFace::Token).await.unwrap();
        });
        let revoked = issuer.set_status(&one.id, CredentialStatus::Revoked).await;
        revoked.unwrap();
        serving.await.unwrap();
        site.app.clock().advance(1);
        assert!(served_as_withdrawn(&site.app, &one.id).await);
    }
}
