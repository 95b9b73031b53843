//! Presentation and verification: one answer counts, and no more leaves the wallet than was requested.

use std::sync::Arc;

use selfsame_app::App;
use selfsame_core::view::NewDid;
use selfsame_credential::verdict::Outcome;
use selfsame_did::{Did, Options};
use selfsame_driver::ErrorKind;
use selfsame_driver::paging::Paging;
use selfsame_openid::issuer::lists::{CredentialKind, ListFace, ListPlace};
use selfsame_openid::view::issuer::CredentialStatus;
use selfsame_openid::view::verifier::{NewRequest, RequestState};
use selfsame_wallet::view::{AcceptOffer, AnswerRequest, Person, RequestPreview};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::world::{Fault, Site, WalletHost, accept, belongings, outcome, person};

const RESPONSES: &str = "/verifier/responses";

/// A wallet, and a person in it with a credential of the type.
pub async fn holder(site: &Site, kind: &str) -> (Arc<App>, Person) {
    let app = WalletHost::new(site).open().await;
    let person = person(&app).await;
    let offer = accept(&site.offer(kind).await);
    app.wallet()
        .unwrap()
        .accept_offer(&person, &offer)
        .await
        .unwrap();
    (app, person)
}

pub fn newest(uri: &str) -> AnswerRequest {
    AnswerRequest {
        request: uri.to_owned(),
        cards: Default::default(),
        policy: Some("newest".to_owned()),
    }
}

fn of_type(kind: &str) -> NewRequest {
    NewRequest {
        type_id: Some(kind.to_owned()),
        ..NewRequest::default()
    }
}

/// The link of a request for the type.
pub async fn asked(site: &Site, kind: &str) -> String {
    let asking = of_type(kind);
    let verifier = site.app.main().verifier().unwrap();
    verifier.create_request(&asking).await.unwrap().uri
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_sees_who_asks_and_what_for_and_the_history_keeps_the_name() {
    let site = Site::start().await;
    let (app, person) = holder(&site, "immunization").await;
    let wallet = app.wallet().unwrap();
    let verifier = site.app.main().verifier().unwrap();
    let asking = |prefix: Option<&str>, purpose: Option<&str>| NewRequest {
        client_id_prefix: prefix.map(str::to_owned),
        purpose: purpose.map(str::to_owned),
        ..of_type("immunization")
    };
    let signed = asking(None, Some("To let you\n\u{202e}aboard"));
    let signed = verifier.create_request(&signed).await.unwrap();
    let preview = wallet.preview_request(&person, &signed.uri).await.unwrap();
    let named = Some("Selfsame Border Control".to_owned());
    assert_eq!(preview.verifier.name, named);
    assert_eq!(preview.purpose.as_deref(), Some("To let you aboard"));
    wallet.decline_request(&person, &preview.id).await.unwrap();
    let history = wallet.history(&person, &Paging::default()).await.unwrap();
    assert_eq!(history.items[0].party_name, named);

    // This request is not signed, so it states no name; its purpose is that of the type.
    let plain = asking(Some("redirect_uri"), None);
    let plain = verifier.create_request(&plain).await.unwrap();
    let preview = wallet.preview_request(&person, &plain.uri).await.unwrap();
    assert_eq!(preview.verifier.name, None);
    assert!(preview.purpose.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_responses_that_come_at_once_exactly_one_is_taken() {
    let site = Site::start().await;
    let (app, person) = holder(&site, "immunization").await;
    let wallet = app.wallet().unwrap();
    let verifier = site.app.main().verifier().unwrap();
    let asking = of_type("immunization");
    let request = verifier.create_request(&asking).await.unwrap();
    // Nor does a retry of the wallet get through; only the answers below do.
    for _ in 0..200 {
        site.faults.add(RESPONSES, Fault::CutBefore);
    }
    wallet
        .answer_request(&person, &newest(&request.uri))
        .await
        .unwrap_err();
    let (_, body) = site.faults.last_request();
    let mut tasks = JoinSet::new();
    for _ in 0..4 {
        let (app, id, body) = (site.app.clone(), request.id.clone(), body.clone());
        tasks.spawn(async move { app.main().verifier().unwrap().response(&id, &body).await });
    }
    let answers = tasks.join_all().await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    let refused = answers.iter().filter_map(|answer| answer.as_ref().err());
    for error in refused {
        assert_eq!(
            (error.kind, error.code),
            (ErrorKind::BadRequest, Some("invalid_request"))
        );
    }
    let status = verifier.request(&request.id).await.unwrap();
    assert_eq!(status.state, RequestState::Answered);
    assert_eq!(status.verdict.unwrap().outcome, Outcome::Valid);
}

#[tokio::test]
async fn of_many_responses_to_one_request_a_few_are_judged_at_once() {
    let site = Site::start().await;
    let verifier = site.app.main().verifier().unwrap();
    let [one, other] = [
        verifier.create_request(&of_type("immunization")).await,
        verifier.create_request(&of_type("immunization")).await,
    ]
    .map(Result::unwrap);
    let mut tasks = JoinSet::new();
    // Each task waits for the store, so that none is done before all have started.
    for id in [&one.id; 9].into_iter().chain([&other.id]) {
        let (app, id) = (site.app.clone(), id.clone());
        let answered = async move {
            app.main()
                .verifier()
                .unwrap()
                .response(&id, b"error=x")
                .await
        };
        tasks.spawn(answered);
    }
    let answers = tasks.join_all().await;
    let turned_away = |answer: &&Result<_, selfsame_driver::Error>| {
        let error = answer.as_ref().err();
        error.is_some_and(|error| error.kind == ErrorKind::TooMany { retry_after: 1 })
    };
    assert_eq!(answers.iter().filter(turned_away).count(), 5, "{answers:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_for_formats_that_are_not_known_is_the_callers_to_mend() {
    let site = Site::start().await;
    let verifier = site.app.main().verifier().unwrap();
    let asking = |credentials: Value| NewRequest {
        dcql_query: Some(json!({"credentials": credentials})),
        ..NewRequest::default()
    };
    let sd_jwt = json!({"id": "a", "format": "dc+sd-jwt", "meta": {"vct_values": ["urn:x"]}});
    for (format, meta) in [
        ("jwt_vc_json-ld", json!({"type_values": [["x"]]})),
        ("vc+sd-jwt", json!({"vct_values": ["urn:x"]})),
        ("foo", json!({})),
    ] {
        let unknown = json!({"id": "b", "format": format, "meta": meta});
        let refused = verifier.create_request(&asking(json!([unknown]))).await;
        let refused = refused.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::BadRequest, "{format}");
        assert_eq!(refused.code, Some("vp_formats_not_supported"), "{format}");
        assert!(refused.to_string().contains("dc+sd-jwt"), "{format}");
        let taken = async |sets: Value| {
            let mut new = asking(json!([unknown, sd_jwt]));
            if !sets.is_null() {
                new.dcql_query.as_mut().unwrap()["credential_sets"] = sets;
            }
            let made = verifier.create_request(&new).await;
            made.map(|_| ()).map_err(|error| error.code)
        };
        // A wallet may answer with the alternatives that it has.
        for sets in [
            json!([{"options": [["b"], ["a"]]}]),
            json!([{"options": [["a"]]}, {"options": [["b"]], "required": false}]),
            json!([{"options": [["a"]], "required": false}]),
        ] {
            assert_eq!(taken(sets.clone()).await, Ok(()), "{format} {sets}");
        }
        for sets in [
            Value::Null,
            json!([{"options": [["a", "b"]]}]),
            json!([{"options": [["a"]]}, {"options": [["b"]]}]),
            json!([{"options": [["b"]], "required": false}]),
        ] {
            let refused = taken(sets.clone()).await;
            assert_eq!(
                refused,
                Err(Some("vp_formats_not_supported")),
                "{format} {sets}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_may_ask_to_be_fetched_by_post() {
    let site = Site::start().await;
    let verifier = site.app.main().verifier().unwrap();
    let asking = |method: &str, prefix: Option<&str>| NewRequest {
        request_uri_method: Some(method.to_owned()),
        client_id_prefix: prefix.map(str::to_owned),
        ..of_type("immunization")
    };
    let by_post = verifier
        .create_request(&asking("post", None))
        .await
        .unwrap();
    assert!(by_post.uri.contains("request_uri_method=post"));
    let by_get = verifier.create_request(&asking("get", None)).await.unwrap();
    assert!(!by_get.uri.contains("request_uri_method"));
    for (method, prefix) in [("PUT", None), ("post", Some("redirect_uri"))] {
        let refused = verifier.create_request(&asking(method, prefix)).await;
        assert_eq!(refused.unwrap_err().kind, ErrorKind::BadRequest);
    }
    // The object contains the wallet's own nonce.
    let object = verifier
        .request_object(&by_post.id, Some(b"wallet_nonce=n1"))
        .await
        .unwrap();
    let claims = selfsame_crypto::jws::Compact::parse(&object)
        .unwrap()
        .claims()
        .unwrap();
    assert_eq!(claims["wallet_nonce"], "n1");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_was_lost_on_its_way_is_delivered_again() {
    for (fault, what) in [
        (Fault::Busy, "shared"),
        (Fault::CutBefore, "shared"),
        // The verifier has the answer and says so; the history names the claims that left.
        (Fault::CutAfter, "failed"),
        (Fault::Gateway(504), "failed"),
    ] {
        let site = Site::start().await;
        let (app, person) = holder(&site, "immunization").await;
        let wallet = app.wallet().unwrap();
        let verifier = site.app.main().verifier().unwrap();
        let asking = of_type("immunization");
        let request = verifier.create_request(&asking).await.unwrap();
        site.faults.add(RESPONSES, fault);
        wallet
            .answer_request(&person, &newest(&request.uri))
            .await
            .unwrap_err();
        app.clock().advance(15);
        for _ in 0..1_200 {
            if belongings(&app, &person).await.1.len() == 2 {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        let (_, history) = outcome(&app, &person).await;
        assert_eq!(
            (history.len(), history[0].what.as_str()),
            (2, what),
            "{fault:?}"
        );
        assert!(!history[0].claims.is_empty());
        let status = verifier.request(&request.id).await.unwrap();
        assert_eq!(status.verdict.unwrap().outcome, Outcome::Valid, "{fault:?}");
    }
}

/// Requests with this query and returns what was disclosed.
async fn disclosed(kind: &str, claims: Value) -> Value {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    // Bound to a DID with a key other than P-256, which signs with its own algorithm.
    let did = wallet
        .create_did(&person, "key", "Ed25519")
        .await
        .unwrap()
        .did;
    let accepting = AcceptOffer {
        did: Some(did),
        ..accept(&site.offer(kind).await)
    };
    wallet.accept_offer(&person, &accepting).await.unwrap();
    let query = json!({"credentials": [{
        "id": "asked", "format": "dc+sd-jwt",
        "meta": {"vct_values": [format!("urn:selfsame:credential:{kind}")]},
        "claims": claims,
    }]});
    let verifier = site.app.main().verifier().unwrap();
    let request = NewRequest {
        dcql_query: Some(query),
        ..NewRequest::default()
    };
    let request = verifier.create_request(&request).await.unwrap();
    wallet
        .answer_request(&person, &newest(&request.uri))
        .await
        .unwrap();
    let verdict = verifier
        .request(&request.id)
        .await
        .unwrap()
        .verdict
        .unwrap();
    assert_eq!(verdict.outcome, Outcome::Valid, "{:?}", verdict.reason);
    serde_json::to_value(&verdict.credentials[0]).unwrap()["claims"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_element_of_a_list_is_shown_without_the_others() {
    let claims = disclosed("allergies", json!([{"path": ["allergies", 1]}])).await;
    let shown = claims["allergies"].as_array().unwrap();
    assert_eq!(shown.len(), 1);
    assert_eq!(shown[0]["substance"], "Peanut");
    assert!(
        claims
            .get("patient")
            .is_none_or(|patient| patient == &json!({}))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_is_not_asked_for_does_not_even_tell_its_length() {
    let claims = disclosed("allergies", json!([{"path": ["patient", "family_name"]}])).await;
    assert!(claims.get("allergies").is_none());
    assert_eq!(claims["patient"], json!({"family_name": "Musterfrau"}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_is_asked_for_comes_whole() {
    let claims = disclosed("allergies", json!([{"path": ["allergies"]}])).await;
    assert_eq!(claims["allergies"].as_array().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_names_each_element_that_would_leave() {
    let site = Site::start().await;
    let (app, person) = holder(&site, "allergies").await;
    let wallet = app.wallet().unwrap();
    let query = json!({"credentials": [{
        "id": "asked", "format": "dc+sd-jwt",
        "meta": {"vct_values": ["urn:selfsame:credential:allergies"]},
        "claims": [{"path": ["allergies", 0]}],
    }]});
    let request = NewRequest {
        dcql_query: Some(query),
        ..NewRequest::default()
    };
    let verifier = site.app.main().verifier().unwrap();
    let request = verifier.create_request(&request).await.unwrap();
    let preview = wallet.preview_request(&person, &request.uri).await.unwrap();
    let claims = &preview.shares[0].choices[0].claims;
    let lists: Vec<&str> = claims
        .iter()
        .filter(|claim| claim.label == "Allergies")
        .map(|claim| claim.value.as_str())
        .collect();
    assert_eq!(lists.len(), 1);
    assert!(lists[0].contains("Penicillin") && !lists[0].contains("Peanut"));
    assert!(!claims.iter().any(|claim| claim.label == "Family name"));
}

/// A request for a prescription with its handle and an immunization, with these credential sets.
pub fn of_both(sets: Value) -> NewRequest {
    let of = |id: &str, claims: Value| {
        json!({"id": id, "format": "dc+sd-jwt", "claims": claims,
            "meta": {"vct_values": [format!("urn:selfsame:credential:{id}")]}})
    };
    NewRequest {
        dcql_query: Some(json!({
            "credentials": [
                of("prescription", json!([{"path": ["single_use_handle"]}])),
                of("immunization", json!([{"path": ["vaccine"]}])),
            ],
            "credential_sets": sets,
        })),
        ..NewRequest::default()
    }
}

/// An answer with a chosen card for each of these queries, and none for the others.
pub fn by_hand(preview: &RequestPreview, queries: &[&str]) -> AnswerRequest {
    let chosen = preview
        .shares
        .iter()
        .filter(|share| queries.contains(&share.query.as_str()));
    AnswerRequest {
        request: preview.id.clone(),
        cards: chosen
            .map(|share| (share.query.clone(), share.choices[0].card.clone()))
            .collect(),
        policy: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_answerable_without_what_is_optional_or_one_of_several() {
    let site = Site::start().await;
    let (app, person) = holder(&site, "immunization").await;
    let wallet = app.wallet().unwrap();
    let verifier = site.app.main().verifier().unwrap();
    let immunization = json!({"options": [["immunization"]]});
    for (sets, answerable, required) in [
        (
            json!([{"options": [["prescription"], ["immunization"]]}]),
            true,
            true,
        ),
        (
            json!([immunization, {"options": [["prescription"]], "required": false}]),
            true,
            true,
        ),
        (
            json!([{"options": [["immunization"], ["prescription"]], "required": false}]),
            true,
            false,
        ),
        (
            json!([immunization, {"options": [["prescription"]]}]),
            false,
            false,
        ),
        (
            json!([{"options": [["prescription", "immunization"]]}]),
            false,
            false,
        ),
        (
            json!([{"options": [["prescription"]], "required": false}]),
            false,
            false,
        ),
    ] {
        let uri = verifier
            .create_request(&of_both(sets.clone()))
            .await
            .unwrap()
            .uri;
        let preview = wallet.preview_request(&person, &uri).await.unwrap();
        assert_eq!(preview.answerable, answerable, "{sets}");
        assert_eq!(
            preview.missing,
            ["Drug prescription: no credential of this type"],
            "{sets}"
        );
        let shares: Vec<_> = preview
            .shares
            .iter()
            .map(|share| (share.query.as_str(), share.required))
            .collect();
        let expected = [("immunization", required)];
        assert_eq!(shares, expected[..usize::from(answerable)], "{sets}");
        let answered = wallet
            .answer_request(&person, &by_hand(&preview, &["immunization"]))
            .await;
        assert_eq!(answered.is_ok(), answerable, "{sets}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_missing_is_said_to_be_a_type_or_else_a_format() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    let offer = accept(&site.offer_as("immunization", "jwt_vc_json").await);
    wallet.accept_offer(&person, &offer).await.unwrap();
    let verifier = site.app.main().verifier().unwrap();
    for (kind, format, why) in [
        ("immunization", "vc+jwt", "have another format"),
        ("prescription", "vc+jwt", "no credential of this type"),
    ] {
        let new = NewRequest {
            format: Some(format.to_owned()),
            ..of_type(kind)
        };
        let uri = verifier.create_request(&new).await.unwrap().uri;
        let preview = wallet.preview_request(&person, &uri).await.unwrap();
        assert!(preview.missing[0].contains(why), "{:?}", preview.missing);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_w3c_credential_that_is_suspended_or_revoked_is_refused_in_both_formats() {
    for (format, is_one) in [("jwt_vc_json", true), ("vc+jwt", false)] {
        let site = Site::start().await;
        let app = WalletHost::new(&site).open().await;
        let person = person(&app).await;
        let wallet = app.wallet().unwrap();
        let offer = accept(&site.offer_as("immunization", format).await);
        wallet.accept_offer(&person, &offer).await.unwrap();
        let issuer = site.app.main().issuer().unwrap();
        let place = ListPlace { list: 0, index: 1 };
        let kind = CredentialKind::of(format.parse().unwrap());
        let told = issuer.lists().entry(&place, kind);
        assert_eq!(told.member.unwrap().is_object(), is_one, "{format}");
        let issued = issuer.issued(None, &Paging::default()).await.unwrap();
        for (status, outcome) in [
            (CredentialStatus::Valid, Outcome::Valid),
            (CredentialStatus::Suspended, Outcome::Suspended),
            (CredentialStatus::Valid, Outcome::Valid),
            (CredentialStatus::Revoked, Outcome::Revoked),
        ] {
            let id = &issued.items[0].id;
            issuer.set_status(id, status).await.unwrap();
            // A changed list is served within a second.
            site.app.clock().advance(2);
            app.clock().advance(2);
            let verifier = site.app.main().verifier().unwrap();
            let new = NewRequest {
                format: Some(format.to_owned()),
                max_status_age: Some(0),
                ..of_type("immunization")
            };
            let request = verifier.create_request(&new).await.unwrap();
            let answer = newest(&request.uri);
            wallet.answer_request(&person, &answer).await.unwrap();
            let verdict = verifier.request(&request.id).await.unwrap().verdict;
            assert_eq!(verdict.unwrap().outcome, outcome, "{format} {status:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_looked_at_is_answered_once() {
    let site = Site::start().await;
    let (app, person) = holder(&site, "immunization").await;
    let wallet = app.wallet().unwrap();
    for mistyped in ["", "nothing like an id"] {
        let refused = wallet.preview_request(&person, mistyped).await;
        assert_eq!(refused.unwrap_err().kind, ErrorKind::BadRequest);
    }
    let uri = asked(&site, "immunization").await;
    let preview = wallet.preview_request(&person, &uri).await.unwrap();
    let answer = newest(&preview.id);
    let (one, two) = tokio::join!(
        wallet.answer_request(&person, &answer),
        wallet.answer_request(&person, &answer),
    );
    let refused = one.err().or(two.err()).expect("one of them is refused");
    assert_eq!(refused.kind, ErrorKind::Gone, "{refused:?}");
    for error in [
        wallet.answer_request(&person, &answer).await.err(),
        wallet.decline_request(&person, &preview.id).await.err(),
    ] {
        assert_eq!(error.unwrap().kind, ErrorKind::Gone);
    }
    let (_, history) = belongings(&app, &person).await;
    let shown = history.iter().filter(|entry| entry.what == "shared");
    assert_eq!(shown.count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_answers_however_many_newer_ones_there_are() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    let verifier = site.app.main().verifier().unwrap();
    let take = async |format: &str, copies: usize| {
        let offer = site.offer_as("immunization", format).await;
        let taking = AcceptOffer {
            copies: Some(copies),
            ..accept(&offer)
        };
        wallet.accept_offer(&person, &taking).await.unwrap()
    };
    let oldest = take("jwt_vc_json", 1).await[0].id.clone();
    for _ in 0..3 {
        take("vc+jwt", 10).await;
    }
    let ask = async || {
        let base = "https://www.w3.org/2018/credentials#VerifiableCredential";
        let query = json!({"credentials": [{
            "id": "asked", "format": "jwt_vc_json",
            "meta": {"type_values": [["ImmunizationCredential", base]]},
        }]});
        let new = NewRequest {
            dcql_query: Some(query),
            ..NewRequest::default()
        };
        verifier.create_request(&new).await.unwrap().uri
    };
    let preview = wallet.preview_request(&person, &ask().await).await.unwrap();
    assert_eq!(preview.shares[0].choices[0].card, oldest);
    // One type, in two queries for two formats.
    let of = |id: &str, format: &str| json!({"id": id, "format": format, "meta": {"type_values": [["ImmunizationCredential"]]}});
    let both = NewRequest {
        dcql_query: Some(json!({"credentials": [of("old", "jwt_vc_json"), of("new", "vc+jwt")]})),
        ..NewRequest::default()
    };
    let uri = verifier.create_request(&both).await.unwrap().uri;
    let answered = wallet.answer_request(&person, &newest(&uri)).await;
    assert!(answered.unwrap().delivered);
    let by_hand = by_hand(&preview, &["asked"]);
    assert_eq!(by_hand.cards["asked"], oldest);
    for answer in [by_hand, newest(&ask().await)] {
        let answered = wallet.answer_request(&person, &answer).await;
        assert!(answered.unwrap().delivered);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cards_are_chosen_for_what_was_seen_and_not_for_what_a_link_leads_to_later() {
    let site = Site::start().await;
    let (app, person) = holder(&site, "immunization").await;
    let wallet = app.wallet().unwrap();
    let uri = asked(&site, "immunization").await;
    let preview = wallet.preview_request(&person, &uri).await.unwrap();
    let seen = by_hand(&preview, &[&preview.shares[0].query]);
    for policy in [None, Some("newest".to_owned())] {
        let answer = AnswerRequest {
            request: uri.clone(),
            policy,
            ..seen.clone()
        };
        let refused = wallet.answer_request(&person, &answer).await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::BadRequest);
        assert_eq!(refused.reason.id(), "cards-without-preview");
    }
    assert!(
        wallet
            .answer_request(&person, &seen)
            .await
            .unwrap()
            .delivered
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hosted_did_is_resolved_anew_once_it_is_changed() {
    let site = Site::start().await;
    let new = NewDid {
        method: "web".to_owned(),
        kind: None,
    };
    let made = site.app.dids().create(&new).await.unwrap();
    let did = Did::parse(&made.did).unwrap();
    let options = Options::default();
    let before = site.app.resolve(&did, &options).await;
    assert!(before.document.is_some());
    site.app.dids().rotate(&made.did).await.unwrap();
    let after = site.app.resolve(&did, &options).await;
    assert_ne!(before.document, after.document);
    site.app.dids().deactivate(&made.did).await.unwrap();
    let ended = site.app.resolve(&did, &options).await;
    assert!(ended.document.is_none() && ended.document_metadata.deactivated);
    assert_eq!(ended.metadata.error, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn dids_are_listed_page_by_page_and_each_alone() {
    let site = Site::start().await;
    let dids = site.app.dids();
    let new = NewDid {
        method: "jwk".to_owned(),
        kind: None,
    };
    let mut made = Vec::new();
    for _ in 0..3 {
        made.insert(0, dids.create(&new).await.unwrap().did);
    }
    let mut paging = Paging {
        after: None,
        limit: Some(2),
    };
    let first = dids.list(&paging).await.unwrap();
    paging.after = first.next.clone();
    let second = dids.list(&paging).await.unwrap();
    assert_eq!((first.items.len(), second.next), (2, None));
    let listed = first.items.iter().chain(&second.items);
    assert_eq!(listed.map(|own| own.did.clone()).collect::<Vec<_>>(), made);
    let one = dids.show(&Did::parse(&made[1]).unwrap()).await.unwrap();
    assert_eq!(one.did, made[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_list_is_fetched_again_once_its_own_time_is_over() {
    let site = Site::start().await;
    let (app, person) = holder(&site, "immunization").await;
    let verifier = site.app.main().verifier().unwrap();
    // The issuer lets its lists be cached for a minute, this verifier for an hour.
    let asking = NewRequest {
        max_status_age: Some(3_600),
        ..of_type("immunization")
    };
    for _ in 0..2 {
        let request = verifier.create_request(&asking).await.unwrap();
        let wallet = app.wallet().unwrap();
        let answer = newest(&request.uri);
        wallet.answer_request(&person, &answer).await.unwrap();
        let verdict = verifier.request(&request.id).await.unwrap().verdict;
        assert_eq!(verdict.unwrap().outcome, Outcome::Valid);
        for clock in [site.app.clock(), app.clock()] {
            clock.advance(150);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_list_with_a_wrong_signature_is_not_kept() {
    let site = Site::start().await;
    let (app, person) = holder(&site, "immunization").await;
    let wallet = app.wallet().unwrap();
    let card = wallet.cards(&person, &Paging::default()).await.unwrap();
    let id = card.items[0].id.clone();
    // One bit of the signature.
    site.faults.add("/status/", Fault::Alter(97));
    assert_eq!(wallet.card(&person, &id).await.unwrap().status, "unknown");
    // An unreadable list is fetched again after a moment.
    app.clock().advance(3);
    assert_eq!(wallet.card(&person, &id).await.unwrap().status, "valid");
    // A genuine list stays cached.
    let calls = async || app.status().await.unwrap().outbound_requests;
    let before = calls().await;
    for _ in 0..3 {
        app.clock().advance(5);
        assert_eq!(wallet.card(&person, &id).await.unwrap().status, "valid");
    }
    assert_eq!(calls().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_verifier_bounds_how_long_ago_a_status_list_was_signed() {
    for (bound, outcome) in [(None, Outcome::Valid), (Some(0), Outcome::Unverifiable)] {
        let site = Site::signing_seldom(bound).await;
        let (app, person) = holder(&site, "immunization").await;
        let lists = site.app.main().issuer().unwrap().lists();
        lists.serve(0, ListFace::Token).await.unwrap();
        // Clocks may differ by a minute; the issuer's list is older than that, and has not expired.
        site.app.clock().advance(61);
        app.clock().advance(61);
        let verifier = site.app.main().verifier().unwrap();
        let asking = of_type("immunization");
        let request = verifier.create_request(&asking).await.unwrap();
        let wallet = app.wallet().unwrap();
        let answer = newest(&request.uri);
        wallet.answer_request(&person, &answer).await.unwrap();
        let verdict = verifier.request(&request.id).await.unwrap().verdict;
        assert_eq!(verdict.unwrap().outcome, outcome);
    }
}
