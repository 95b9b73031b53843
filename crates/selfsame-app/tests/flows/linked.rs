//! W3C credentials with Data Integrity proofs over OpenID4VC: a type of one's own is issued, held, asked for, presented,
//! verified and revoked.

use std::sync::Arc;

use selfsame_app::App;
use selfsame_core::config::TrustConfig;
use selfsame_credential::Held;
use selfsame_credential::verdict::Outcome;
use selfsame_driver::paging::Paging;
use selfsame_openid::view::issuer::{CredentialStatus, NewOffer};
use selfsame_openid::view::verifier::{CredentialVerdict, NewRequest, VerificationStatus};
use selfsame_types::TypeDefinition;
use selfsame_wallet::view::Person;
use serde_json::{Value, json};

use crate::verifying::newest;
use crate::world::{Site, WalletHost, accept, new_offer, person};

const FORMAT: &str = "ldp_vc";

fn permit() -> TypeDefinition {
    let file = json!({
        "id": "permit",
        "title": {"en": "Permit"},
        "formats": [FORMAT, "vc+jwt"],
        "claims": [
            {"path": ["number"], "kind": "text", "required": true},
            {"path": ["since"], "kind": "date"},
            {"path": ["floor"], "kind": "number", "integer": true},
            {"path": ["open"], "kind": "boolean"},
            {"path": ["address"], "kind": "object", "claims": [{"path": ["city"], "kind": "text"}]},
            {"path": ["uses"], "kind": "list", "of": {"kind": "text"}},
        ],
        "requests": [{"title": {"en": "Inspection"}, "claims": [["number"], ["address"]]}],
    });
    serde_json::from_value(file).unwrap()
}

fn offered(claims: Value) -> NewOffer {
    NewOffer {
        claims: claims.as_object().unwrap().clone(),
        examples: false,
        ..new_offer("permit", FORMAT)
    }
}

async fn publish(site: &Site, definition: &TypeDefinition) {
    let issuer = site.app.main().issuer().unwrap();
    let types = issuer.types();
    types.replace(&definition.id, definition).await.unwrap();
    site.app.publish_type(issuer, &definition.id).await.unwrap();
}

/// A site, a wallet, and a person in it with a permit.
async fn permitted() -> (Site, Arc<App>, Person) {
    let site = Site::start().await;
    publish(&site, &permit()).await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let claims = json!({
        "number": "17", "since": "2024-02-03", "floor": -1, "open": true,
        "address": {"city": "Example City"}, "uses": ["shop", "bar", "shop"],
    });
    let offer = accept(&site.offer_of(offered(claims)).await);
    let wallet = app.wallet().unwrap();
    wallet.accept_offer(&person, &offer).await.unwrap();
    (site, app, person)
}

fn asking() -> NewRequest {
    NewRequest {
        type_id: Some("permit".to_owned()),
        format: Some(FORMAT.to_owned()),
        max_status_age: Some(0),
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

/// The person's only card, as JSON.
async fn card(app: &App, person: &Person) -> Value {
    let wallet = app.wallet().unwrap();
    let cards = wallet.cards(person, &Paging::default()).await.unwrap();
    let raw = wallet.raw_card(&person.tenant, &cards.items[0].id).await;
    serde_json::from_str(&raw.unwrap().raw).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permit_is_issued_shown_and_verified_and_refused_once_it_is_revoked() {
    let (site, app, person) = permitted().await;
    let status = answered(&site, (&app, &person), &asking()).await;
    let verdict = shown(&status);
    assert_eq!(verdict.outcome, Outcome::Valid, "{:?}", verdict.rules);
    let claims = verdict.claims.as_ref().unwrap();
    assert_eq!(claims["credentialSubject"]["number"], "17");
    assert_eq!(
        claims["credentialSubject"]["uses"],
        json!(["shop", "bar", "shop"])
    );
    for rule in [
        "context",
        "issuer_signature",
        "holder_key",
        "holder_signature",
        "holder_audience",
        "holder_nonce",
        "status",
    ] {
        assert_eq!(passed(verdict, rule), Some(true), "{rule}");
    }
    let named = verdict.credential.as_ref().unwrap();
    assert_eq!(named.title.as_deref(), Some("Permit"));
    // What was proven while it was fresh is not asked for again.
    let verifier = site.app.main().verifier().unwrap();
    let again = verifier.recheck(&status.id).await.unwrap();
    assert_eq!(shown(&again).outcome, Outcome::Valid);

    let issuer = site.app.main().issuer().unwrap();
    let issued = issuer.issued(None, &Paging::default()).await.unwrap().items;
    assert_eq!(issued[0].format, FORMAT);
    for (standing, outcome, rule) in [
        (CredentialStatus::Suspended, Outcome::Suspended, false),
        (CredentialStatus::Valid, Outcome::Valid, true),
        (CredentialStatus::Revoked, Outcome::Revoked, false),
    ] {
        issuer.set_status(&issued[0].id, standing).await.unwrap();
        site.app.clock().advance(1);
        let status = answered(&site, (&app, &person), &asking()).await;
        assert_eq!(shown(&status).outcome, outcome);
        let rules = shown(&status).rules.iter();
        let judged: Vec<_> = rules.filter(|rule| rule.name == "status").collect();
        assert_eq!(judged.iter().all(|one| one.passed == Some(true)), rule);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_brings_the_terms_of_its_type_along() {
    let (site, app, person) = permitted().await;
    let credential = card(&app, &person).await;
    let contexts = credential["@context"].as_array().unwrap();
    assert_eq!(contexts.len(), 2);
    assert_eq!(contexts[0], "https://www.w3.org/ns/credentials/v2");
    let issuer = site.app.main().issuer().unwrap();
    let types = issuer.types().all().await.unwrap();
    let one = types.find("permit").unwrap();
    let address = one.served.as_ref().unwrap().addresses.context();
    assert_eq!(
        contexts[1]["PermitCredential"],
        format!("{address}#PermitCredential")
    );
    assert_eq!(
        contexts[1]["address"]["@context"]["city"]["@id"],
        format!("{address}#address.city")
    );
    assert_eq!(contexts[1]["uses"]["@container"], "@list");
    assert_eq!(credential["proof"]["type"], "DataIntegrityProof");
    assert_eq!(credential["proof"]["proofPurpose"], "assertionMethod");
    let suite = credential["proof"]["cryptosuite"].as_str().unwrap();
    assert!(
        suite.ends_with("-rdfc-2022") || suite.ends_with("-rdfc-2019"),
        "{suite}"
    );
    let held = Held::parse(&credential.to_string(), FORMAT.parse().unwrap()).unwrap();
    let asked = held.asked_types();
    assert!(
        asked.contains(&format!("{address}#PermitCredential")),
        "{asked:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_verifier_elsewhere_needs_no_context_of_the_issuers() {
    let (site, app, person) = permitted().await;
    let credential = card(&app, &person).await;
    let other = Site::start().await;
    let verifier = other.app.main().verifier().unwrap();
    let stranger = verifier.verify(&credential.to_string(), None).await;
    assert_eq!(stranger.unwrap().outcome, Outcome::Untrusted);
    let trust = TrustConfig {
        issuers: vec![credential["issuer"].as_str().unwrap().to_owned()],
        origins: vec![site.origin.clone()],
        ..TrustConfig::default()
    };
    other.app.renew_trust(&trust).unwrap();
    let judged = verifier
        .verify(&credential.to_string(), None)
        .await
        .unwrap();
    for name in [
        "context",
        "issuer_key",
        "issuer_signature",
        "issuer_trusted",
    ] {
        assert_eq!(
            passed(&judged, name),
            Some(true),
            "{name}: {:?}",
            judged.rules
        );
    }
    let mut changed = credential;
    changed["@context"][1]["number"] = json!("https://example.org/another-number");
    let judged = verifier.verify(&changed.to_string(), None).await.unwrap();
    assert_eq!(judged.outcome, Outcome::Invalid);
    assert_eq!(passed(&judged, "issuer_signature"), Some(false));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_type_or_a_value_that_could_not_be_signed_is_refused_before_it_is_issued() {
    let site = Site::start().await;
    let mut definition = permit();
    definition.claims[0].path = vec!["name".to_owned(), "given".to_owned()];
    definition.requests.clear();
    let found = selfsame_types::check(&definition);
    assert_eq!(found.refusals.len(), 1, "{:?}", found.refusals);
    assert_eq!(found.refusals[0].id(), "type-not-signable");
    publish(&site, &permit()).await;
    let issuer = site.app.main().issuer().unwrap();
    let new = offered(json!({"number": "@vocab"}));
    let refused = issuer.create_offer(&new).await.unwrap_err();
    assert_eq!(refused.reason.id(), "claim-not-signable");
    let new = new_offer("immunization", FORMAT);
    let refused = issuer.create_offer(&new).await.unwrap_err();
    assert_eq!(refused.reason.id(), "format-not-issued");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_by_hand_finds_the_card_by_its_expanded_type_alone() {
    let (site, app, person) = permitted().await;
    let credential = card(&app, &person).await;
    let own = credential["@context"][1]["PermitCredential"].clone();
    let verifier = site.app.main().verifier().unwrap();
    let wallet = app.wallet().unwrap();
    for (name, is_found) in [(own, true), (json!("PermitCredential"), false)] {
        let general = "https://www.w3.org/2018/credentials#VerifiableCredential";
        let query = json!({
            "id": "permit", "format": FORMAT, "meta": {"type_values": [[general, name]]},
            "claims": [{"path": ["credentialSubject", "number"], "values": ["17"]}],
        });
        let asking = NewRequest {
            dcql_query: Some(json!({"credentials": [query]})),
            ..NewRequest::default()
        };
        let request = verifier.create_request(&asking).await.unwrap();
        let preview = wallet.preview_request(&person, &request.uri).await.unwrap();
        assert_eq!(preview.answerable, is_found, "{name}");
    }
}
