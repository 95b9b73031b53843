//! Types of an organisation's own: published, issued, requested, verified and retired.

use selfsame_credential::verdict::Outcome;
use selfsame_driver::ErrorKind;
use selfsame_openid::view::issuer::{CredentialStatus, NewOffer};
use selfsame_openid::view::verifier::NewRequest;
use selfsame_types::TypeDefinition;
use selfsame_types::model::Disclosed;
use selfsame_wallet::view::AnswerRequest;
use serde_json::{Value, json};

use crate::world::{Site, WalletHost, accept, new_offer, person};

/// The pixel of a photo.
const PHOTO: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

fn membership() -> TypeDefinition {
    let file = json!({
        "id": "membership",
        "title": {"en": "Membership"},
        "suspendable": false,
        "claims": [
            {"path": ["number"], "kind": "text", "required": true, "disclosed": "always"},
            {"path": ["photo"], "kind": "image", "required": true},
            {"path": ["address"], "kind": "object", "claims": [
                {"path": ["city"], "kind": "text", "disclosed": "selectively"},
                {"path": ["street"], "kind": "text", "disclosed": "selectively"},
            ]},
            {"path": ["remark"], "kind": "text", "disclosed": "never"},
        ],
        "requests": [{"title": {"en": "Entry"}, "claims": [["number"], ["photo"]]}],
    });
    serde_json::from_value(file).unwrap()
}

async fn publish(site: &Site, definition: &TypeDefinition) {
    let issuer = site.app.main().issuer().unwrap();
    let types = issuer.types();
    types.replace(&definition.id, definition).await.unwrap();
    site.app.publish_type(issuer, &definition.id).await.unwrap();
}

fn offered(format: &str) -> NewOffer {
    let claims = json!({
        "number": "17", "photo": PHOTO, "remark": "pays late",
        "address": {"city": "Example City", "street": "1 Sample Street"},
    });
    let Value::Object(claims) = claims else {
        unreachable!("it is an object");
    };
    NewOffer {
        claims,
        examples: false,
        ..new_offer("membership", format)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_type_of_ones_own_is_issued_requested_and_verified_in_every_format() {
    let site = Site::start().await;
    publish(&site, &membership()).await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let (wallet, verifier) = (app.wallet().unwrap(), site.app.main().verifier().unwrap());
    for format in ["dc+sd-jwt", "jwt_vc_json", "vc+jwt"] {
        let offer = site.offer_of(offered(format)).await;
        wallet.accept_offer(&person, &accept(&offer)).await.unwrap();
        let asking = NewRequest {
            type_id: Some("membership".to_owned()),
            format: Some(format.to_owned()),
            ..NewRequest::default()
        };
        let request = verifier.create_request(&asking).await.unwrap();
        let answer = AnswerRequest {
            request: request.uri,
            cards: Default::default(),
            policy: Some("newest".to_owned()),
        };
        wallet.answer_request(&person, &answer).await.unwrap();
        let status = verifier.request(&request.id).await.unwrap();
        assert_eq!(status.title, "Entry");
        let verdict = status.verdict.unwrap();
        assert_eq!(verdict.outcome, Outcome::Valid, "{format}: {verdict:?}");
        let claims = verdict.credentials[0].claims.clone().unwrap();
        let shown = claims.to_string();
        assert!(
            shown.contains(PHOTO) && !shown.contains("pays late"),
            "{shown}"
        );
        let own = site.app.main().issuer().unwrap().types();
        let types = own.all().await.unwrap();
        let served = types.find("membership").unwrap().served.clone().unwrap();
        if format == "dc+sd-jwt" {
            assert!(!shown.contains("Example City"), "{shown}");
            assert_eq!(claims["vct#integrity"], served.integrity);
            assert_eq!(claims["vct"], served.addresses.metadata());
        }
        if format == "vc+jwt" {
            let schema = json!({"id": served.addresses.schema(), "type": "JsonSchema"});
            assert_eq!(claims["credentialSchema"], schema, "{claims}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_the_issuer_keeps_is_in_its_register_and_the_type_says_how_it_can_be_withdrawn() {
    let site = Site::start().await;
    publish(&site, &membership()).await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let offer = site.offer_of(offered("dc+sd-jwt")).await;
    let wallet = app.wallet().unwrap();
    wallet.accept_offer(&person, &accept(&offer)).await.unwrap();
    let issuer = site.app.main().issuer().unwrap();
    let issued = issuer
        .issued(Some(&offer.id), &Default::default())
        .await
        .unwrap();
    let issued = &issued.items[0];
    assert_eq!(issued.type_id, "membership");
    assert_eq!(
        Value::Object(issued.kept.clone()),
        json!({"remark": "pays late"})
    );
    let suspended = issuer
        .set_status(&issued.id, CredentialStatus::Suspended)
        .await;
    assert_eq!(suspended.unwrap_err().reason.id(), "type-not-suspendable");
    let revoked = issuer
        .set_status(&issued.id, CredentialStatus::Revoked)
        .await;
    assert_eq!(revoked.unwrap().status, CredentialStatus::Revoked);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_of_an_earlier_version_is_issued_as_it_was_offered() {
    let site = Site::start().await;
    publish(&site, &membership()).await;
    let offer = site.offer_of(offered("dc+sd-jwt")).await;
    let mut second = membership();
    second.claims[0].disclosed = Some(Disclosed::Selectively);
    publish(&site, &second).await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    let cards = wallet.accept_offer(&person, &accept(&offer)).await.unwrap();
    assert!(
        cards[0].types[0].ends_with("/types/membership/1"),
        "{cards:?}"
    );
    let newer = site.offer_of(offered("dc+sd-jwt")).await;
    let cards = wallet.accept_offer(&person, &accept(&newer)).await.unwrap();
    assert!(
        cards[0].types[0].ends_with("/types/membership/2"),
        "{cards:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_issued_of_a_retired_type_not_even_what_was_offered() {
    let site = Site::start().await;
    publish(&site, &membership()).await;
    let offer = site.offer_of(offered("dc+sd-jwt")).await;
    let issuer = site.app.main().issuer().unwrap();
    issuer.types().retire("membership").await.unwrap();
    let refused = issuer
        .create_offer(&offered("dc+sd-jwt"))
        .await
        .unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Gone);
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let wallet = app.wallet().unwrap();
    assert!(wallet.accept_offer(&person, &accept(&offer)).await.is_err());
    assert_eq!(site.issued().await, 0);
}
