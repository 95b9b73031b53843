//! Mobile documents (ISO mdoc) over OpenID4VC: issued, held, asked for, presented, verified, revoked.

use std::sync::Arc;

use selfsame_app::App;
use selfsame_core::config::TrustConfig;
use selfsame_credential::mdoc::certificate::make::{CertificateSubject, NewCertificate};
use selfsame_credential::mdoc::certificate::{CertificateRole, to_pem};
use selfsame_credential::status::List;
use selfsame_credential::verdict::Outcome;
use selfsame_crypto::{Algorithm, KeyType, PrivateKey};
use selfsame_driver::paging::Paging;
use selfsame_openid::issuer::lists::ListFace;
use selfsame_openid::view::issuer::CredentialStatus;
use selfsame_openid::view::verifier::{CredentialVerdict, NewRequest, VerificationStatus};
use selfsame_wallet::view::Person;
use serde_json::{Value, json};

use crate::verifying::newest;
use crate::world::{Site, WalletHost, accept, new_offer, person};

const LICENCE: &str = "driving-licence";
const NAMESPACE: &str = "org.iso.18013.5.1";

/// A site, a wallet, and a person in it with a licence.
async fn licensed() -> (Site, Arc<App>, Person) {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let offer = accept(&site.offer_as(LICENCE, "mso_mdoc").await);
    let wallet = app.wallet().unwrap();
    wallet.accept_offer(&person, &offer).await.unwrap();
    (site, app, person)
}

fn asking(claims: &[&str]) -> NewRequest {
    let claims = claims.iter().map(|claim| vec![(*claim).to_owned()]);
    NewRequest {
        type_id: Some(LICENCE.to_owned()),
        claims: Some(claims.collect()),
        max_status_age: Some(0),
        ..NewRequest::default()
    }
}

fn querying(query: Value) -> NewRequest {
    NewRequest {
        dcql_query: Some(json!({"credentials": [query]})),
        ..NewRequest::default()
    }
}

/// The verdict on the answer of the person's wallet.
async fn answered(
    site: &Site,
    (app, person): (&App, &Person),
    asking: &NewRequest,
) -> VerificationStatus {
    let verifier = site.app.main().verifier().unwrap();
    let request = verifier.create_request(asking).await.unwrap();
    let wallet = app.wallet().unwrap();
    let answer = wallet.answer_request(person, &newest(&request.uri)).await;
    answer.unwrap();
    verifier.request(&request.id).await.unwrap()
}

fn shown(status: &VerificationStatus) -> &CredentialVerdict {
    &status.verdict.as_ref().unwrap().credentials[0]
}

fn passed(verdict: &CredentialVerdict, name: &str) -> Option<bool> {
    let rule = verdict.rules.iter().find(|rule| rule.name == name);
    rule.unwrap_or_else(|| panic!("{name}: {:?}", verdict.rules))
        .passed
}

#[tokio::test(flavor = "multi_thread")]
async fn a_licence_shows_the_elements_asked_for_and_no_other_and_is_refused_once_it_is_revoked() {
    let (site, app, person) = licensed().await;
    let asked = asking(&["family_name", "driving_privileges", "age_over_18"]);
    let status = answered(&site, (&app, &person), &asked).await;
    let verdict = shown(&status);
    assert_eq!(verdict.outcome, Outcome::Valid, "{:?}", verdict.rules);
    let claims = verdict.claims.as_ref().unwrap();
    assert_eq!(claims["docType"], "org.iso.18013.5.1.mDL");
    let mut names: Vec<_> = claims[NAMESPACE].as_object().unwrap().keys().collect();
    names.sort();
    assert_eq!(names, ["age_over_18", "driving_privileges", "family_name"]);
    let privilege = &claims[NAMESPACE]["driving_privileges"][0];
    assert_eq!(privilege["issue_date"], "2010-05-04");
    for rule in [
        "signer_certificate",
        "issuer_signature",
        "digests",
        "device_proof",
        "status",
    ] {
        assert_eq!(passed(verdict, rule), Some(true), "{rule}");
    }
    let named = verdict.credential.as_ref().unwrap();
    assert_eq!(named.title.as_deref(), Some("Driving licence"));

    let issuer = site.app.main().issuer().unwrap();
    let issued = issuer.issued(None, &Paging::default()).await.unwrap().items;
    assert_eq!(issued[0].format, "mso_mdoc");
    issuer
        .set_status(&issued[0].id, CredentialStatus::Revoked)
        .await
        .unwrap();
    site.app.clock().advance(1);
    let status = answered(&site, (&app, &person), &asked).await;
    assert_eq!(shown(&status).outcome, Outcome::Revoked);
    assert_eq!(passed(shown(&status), "status"), Some(false));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_encrypted_answer_is_bound_to_the_key_that_it_is_encrypted_to() {
    let (site, app, person) = licensed().await;
    let encrypted = NewRequest {
        response_mode: Some("direct_post.jwt".to_owned()),
        ..asking(&["age_over_18"])
    };
    let status = answered(&site, (&app, &person), &encrypted).await;
    assert_eq!(shown(&status).outcome, Outcome::Valid);
    assert_eq!(passed(shown(&status), "device_proof"), Some(true));
    // What was proven while it was fresh is not asked for again.
    let verifier = site.app.main().verifier().unwrap();
    let again = verifier.recheck(&status.id).await.unwrap();
    assert_eq!(shown(&again).outcome, Outcome::Valid);
}

#[tokio::test(flavor = "multi_thread")]
async fn consent_shows_elements_in_words_the_portrait_and_what_the_verifier_means_to_keep() {
    let (site, app, person) = licensed().await;
    let element =
        |name: &str, keep: bool| json!({"path": [NAMESPACE, name], "intent_to_retain": keep});
    let query = json!({
        "id": "licence", "format": "mso_mdoc",
        "meta": {"doctype_value": "org.iso.18013.5.1.mDL"},
        "claims": [element("family_name", true), element("portrait", false)],
    });
    let verifier = site.app.main().verifier().unwrap();
    let request = verifier.create_request(&querying(query)).await.unwrap();
    let wallet = app.wallet().unwrap();
    let preview = wallet.preview_request(&person, &request.uri).await.unwrap();
    let choice = &preview.shares[0].choices[0];
    let lines = choice.claims.iter().filter(|line| !line.technical);
    let lines: Vec<_> = lines
        .map(|line| (&*line.label, line.kept, line.picture().is_some()))
        .collect();
    assert_eq!(
        lines,
        [("Family name", true, false), ("Portrait", false, true)]
    );
    assert!(
        choice.hidden.contains(&"Date of birth".to_owned()),
        "{:?}",
        choice.hidden
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn values_and_authorities_of_a_query_choose_among_documents() {
    let (site, app, person) = licensed().await;
    let query = |members: Value| {
        let mut query = json!({
            "id": "licence", "format": "mso_mdoc",
            "meta": {"doctype_value": "org.iso.18013.5.1.mDL"},
            "claims": [{"path": [NAMESPACE, "age_over_18"]}],
        });
        let members = members.as_object().unwrap().clone();
        query.as_object_mut().unwrap().extend(members);
        querying(query)
    };
    let wallet = app.wallet().unwrap();
    let verifier = site.app.main().verifier().unwrap();
    let can = async |asking: NewRequest| {
        let request = verifier.create_request(&asking).await.unwrap();
        let preview = wallet.preview_request(&person, &request.uri).await.unwrap();
        preview.answerable
    };
    let claims =
        |value: Value| json!({"claims": [{"path": [NAMESPACE, "age_over_18"], "values": [value]}]});
    assert!(can(query(claims(json!(true)))).await);
    assert!(!can(query(claims(json!(false)))).await);
    assert!(!can(query(claims(json!("true")))).await);
    let authority = |id: &str| json!({"trusted_authorities": [{"type": "aki", "values": [id]}]});
    let held = wallet.cards(&person, &Paging::default()).await.unwrap();
    let raw = wallet
        .raw_card(&person.tenant, &held.items[0].id)
        .await
        .unwrap();
    let held = selfsame_credential::Held::parse(&raw.raw, raw.format).unwrap();
    let own = selfsame_openid4vc::dcql::authority_keys(held.header().x5c.as_ref().unwrap());
    let own = selfsame_crypto::encoding::base64url_encode(&own[0]);
    assert!(can(query(authority(&own))).await);
    assert!(!can(query(authority("AAAA"))).await);
    let status = answered(&site, (&app, &person), &query(authority(&own))).await;
    assert_eq!(shown(&status).outcome, Outcome::Valid);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_verifier_elsewhere_relies_on_the_authorities_of_its_settings_alone() {
    let (site, app, person) = licensed().await;
    let issuer = site.app.main().issuer().unwrap();
    let authority = issuer.authority().await.unwrap();
    let other = Site::start().await;
    let trust = |authorities: Vec<String>| TrustConfig {
        authorities,
        origins: vec![site.origin.clone()],
        ..TrustConfig::default()
    };
    let wallet = app.wallet().unwrap();
    let cards = wallet.cards(&person, &Paging::default()).await.unwrap();
    let raw = wallet
        .raw_card(&person.tenant, &cards.items[0].id)
        .await
        .unwrap();
    let verifier = other.app.main().verifier().unwrap();
    let judged = async || verifier.verify(&raw.raw, None).await.unwrap();
    let stranger = judged().await;
    assert_eq!(stranger.outcome, Outcome::Untrusted);
    assert_eq!(passed(&stranger, "signer_certificate"), Some(false));
    other
        .app
        .renew_trust(&trust(vec![authority_of("Nobody")]))
        .unwrap();
    assert_eq!(judged().await.outcome, Outcome::Untrusted);
    other.app.renew_trust(&trust(vec![authority])).unwrap();
    let known = judged().await;
    assert_eq!(passed(&known, "signer_certificate"), Some(true));
    assert_eq!(passed(&known, "issuer_trusted"), Some(true));
}

/// The certificate of another authority.
fn authority_of(name: &str) -> String {
    let key = PrivateKey::generate(KeyType::P256).unwrap();
    let now = selfsame_driver::clock::Clock::default().now();
    let new = NewCertificate {
        role: CertificateRole::Authority,
        subject: CertificateSubject {
            country: "UT",
            state: None,
            organisation: None,
            common_name: name,
        },
        key: key.public(),
        authority: None,
        serial: [1; 16],
        not_before: now.minus(60),
        not_after: now.plus(86_400),
        contact: "https://nobody.example/",
    };
    let draft = new.draft(Algorithm::Es256).unwrap();
    let signature = key.sign(draft.signing_bytes()).unwrap();
    to_pem(&draft.finish(&signature))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_documents_is_served_as_a_jwt_and_as_a_cwt_that_say_the_same() {
    let (site, _, _) = licensed().await;
    let issuer = site.app.main().issuer().unwrap();
    let issued = issuer.issued(None, &Paging::default()).await.unwrap().items;
    issuer
        .set_status(&issued[0].id, CredentialStatus::Suspended)
        .await
        .unwrap();
    site.app.clock().advance(1);
    let uri = issuer.lists().uri(0, ListFace::Document);
    assert_eq!(uri, issuer.lists().uri(0, ListFace::DocumentCwt));
    let now = site.app.clock().now();
    let mut lists = Vec::new();
    for face in [ListFace::Document, ListFace::DocumentCwt] {
        let served = issuer.lists().serve(0, face).await.unwrap();
        lists.push(List::parse(&uri, Some(served.content_type), &served.body, now).unwrap());
    }
    let withdrawn = |list: &List| {
        let all = (0..list.len()).filter(|at| u8::from(list.get(*at).unwrap()) == 2);
        all.collect::<Vec<_>>()
    };
    assert_eq!(withdrawn(&lists[0]).len(), 1);
    assert_eq!(withdrawn(&lists[0]), withdrawn(&lists[1]));
    assert_eq!(lists[0].header().x5c, lists[1].header().x5c);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_no_element_has_is_refused_when_the_offer_is_made() {
    let site = Site::start().await;
    let issuer = site.app.main().issuer().unwrap();
    let mut new = new_offer(LICENCE, "mso_mdoc");
    new.claims
        .insert("family_name".to_owned(), json!("x".repeat(151)));
    let refused = issuer.create_offer(&new).await.unwrap_err();
    assert_eq!(refused.reason.id(), "claim-no-element");
    for (kind, format) in [("immunization", "mso_mdoc"), (LICENCE, "dc+sd-jwt")] {
        let refused = issuer
            .create_offer(&new_offer(kind, format))
            .await
            .unwrap_err();
        assert_eq!(refused.reason.id(), "format-not-issued");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn copies_of_a_document_share_no_key_and_no_digest() {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    for kind in ["person-identification", "vaccination-document"] {
        let mut offer = accept(&site.offer_as(kind, "mso_mdoc").await);
        offer.copies = Some(2);
        app.wallet()
            .unwrap()
            .accept_offer(&person, &offer)
            .await
            .unwrap();
    }
    let wallet = app.wallet().unwrap();
    let cards = wallet
        .cards(&person, &Paging::default())
        .await
        .unwrap()
        .items;
    assert_eq!(cards.len(), 4);
    let mut keys = Vec::new();
    for card in cards {
        let raw = wallet.raw_card(&person.tenant, &card.id).await.unwrap();
        let held = selfsame_credential::Held::parse(&raw.raw, raw.format).unwrap();
        keys.push(held.holder_key().unwrap().thumbprint());
    }
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 4);
}
