//! Credentials that need others: proven, filled in from what was proven, offered once, and refused to everybody else.

use std::sync::Arc;

use selfsame_app::App;
use selfsame_applications::Applications;
use selfsame_applications::view::{
    ApplicationState, FilledApplication, NewApplication, ShownApplication,
};
use selfsame_credential::verdict::Outcome;
use selfsame_driver::{Error, ErrorKind};
use selfsame_openid::issuer::Issuer;
use selfsame_openid::view::issuer::{CredentialStatus, NewOffer, NewOffers, Offer, OfferRow};
use selfsame_openid::view::verifier::NewRequest;
use selfsame_types::TypeDefinition;
use selfsame_wallet::view::Person;
use serde_json::{Map, Value, json};

use crate::verifying::newest;
use crate::world::{Site, WalletHost, accept, new_offer, person};

const COMPANY: &str = "urn:example:company";
const NAME: &str = "Invented Noodles Ltd.";

fn definition(file: Value) -> TypeDefinition {
    serde_json::from_value(file).unwrap()
}

/// The registration of a company, which needs nothing.
fn company() -> TypeDefinition {
    definition(json!({
        "id": "company", "vct": COMPANY, "title": {"en": "Company"},
        "claims": [
            {"path": ["name"], "kind": "text", "required": true},
            {"path": ["number"], "kind": "text", "required": true},
            {"path": ["standing"], "kind": "enumeration", "values": [{"value": "active"}, {"value": "dissolved"}]},
        ],
    }))
}

/// A permit for an active company. The applicant adds the address.
fn permit() -> TypeDefinition {
    definition(json!({
        "id": "permit", "title": {"en": "Permit"},
        "claims": [
            {"path": ["holder", "name"], "kind": "text", "required": true},
            {"path": ["given_on"], "kind": "date", "required": true},
            {"path": ["number"], "kind": "text", "required": true},
            {"path": ["address"], "kind": "text", "required": true},
            {"path": ["city"], "kind": "text"},
        ],
        "prerequisites": {
            "needs": [{"name": "company", "type": "company", "conditions": [
                {"claim": ["standing"], "equals": "active"},
            ]}],
            "fills": [
                {"claim": ["holder", "name"], "proven": {"need": "company", "claim": ["name"]}},
                {"claim": ["given_on"], "helper": "today"},
                {"claim": ["number"], "helper": "identifier"},
                {"claim": ["city"], "literal": "Exampleton", "may_change": true},
            ],
        },
    }))
}

/// An organisation that registers companies and gives permits, and the wallet of a company.
struct Scene {
    site: Site,
    wallet: Arc<App>,
    person: Person,
}

impl Scene {
    /// The wallet has a company with this status.
    async fn new(status: &str) -> Self {
        let site = Site::start().await;
        for one in [company(), permit()] {
            publish(&site, &one).await.unwrap();
        }
        let wallet = WalletHost::new(&site).open().await;
        let person = person(&wallet).await;
        let scene = Self {
            site,
            wallet,
            person,
        };
        let claims = json!({"name": NAME, "number": "TEST-0001", "standing": status});
        let offer = scene.site.offer_of(offered("company", claims)).await;
        scene.accepts(&offer).await.unwrap();
        scene
    }

    fn issuer(&self) -> &Arc<Issuer> {
        self.site.app.main().issuer().unwrap()
    }

    fn applications(&self) -> Applications {
        self.site.app.applications(self.site.app.main())
    }

    async fn begins(&self) -> ShownApplication {
        let new = NewApplication {
            type_id: "permit".to_owned(),
            label: None,
        };
        self.applications().begin(&new).await.unwrap()
    }

    /// Begins an application and answers with the wallet.
    async fn proves(&self) -> ShownApplication {
        let begun = self.begins().await;
        let wallet = self.wallet.wallet().unwrap();
        let answered = wallet
            .answer_request(&self.person, &newest(&begun.uri))
            .await;
        assert!(answered.unwrap().delivered);
        self.applications().one(&begun.id).await.unwrap()
    }

    async fn offers(&self, id: &str, claims: Value) -> Result<Offer, Error> {
        let form = FilledApplication {
            claims: object(claims),
            format: Some("dc+sd-jwt".to_owned()),
            ..FilledApplication::default()
        };
        self.applications().offer(id, &form).await
    }

    async fn accepts(&self, offer: &Offer) -> Result<(), Error> {
        let wallet = self.wallet.wallet().unwrap();
        wallet
            .accept_offer(&self.person, &accept(offer))
            .await
            .map(drop)
    }

    /// Sets the status of the company's registration.
    async fn turns(&self, status: CredentialStatus) {
        let issued = self.issuer().issued(None, &Default::default()).await;
        let issued = issued.unwrap().items;
        let company = issued.iter().find(|one| one.type_id == "company").unwrap();
        self.issuer().set_status(&company.id, status).await.unwrap();
        // Changes within a second share one list.
        self.site.app.clock().advance(1);
    }
}

async fn publish(site: &Site, one: &TypeDefinition) -> Result<(), Error> {
    let issuer = site.app.main().issuer().unwrap();
    issuer.types().replace(&one.id, one).await?;
    site.app.publish_type(issuer, &one.id).await.map(drop)
}

fn offered(type_id: &str, claims: Value) -> NewOffer {
    NewOffer {
        claims: object(claims),
        examples: false,
        ..new_offer(type_id, "dc+sd-jwt")
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("{other} is no object"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permit_is_filled_from_what_was_proven_and_issued_once() {
    let scene = Scene::new("active").await;
    let proven = scene.proves().await;
    assert_eq!(proven.state, ApplicationState::Proven, "{:?}", proven.unmet);
    assert_eq!(proven.claims["holder"]["name"], NAME);
    let locked = [["holder", "name"].as_slice(), &["given_on"], &["number"]];
    assert_eq!(proven.locked, locked);
    assert!(proven.needs[0].is_proven && proven.needs[0].title == "Company");

    let form = json!({"address": "1 Sample Street", "holder": {"name": NAME}});
    let offer = scene.offers(&proven.id, form).await.unwrap();
    let again = scene
        .offers(&proven.id, json!({"address": "2 Sample Street"}))
        .await;
    assert_eq!(again.unwrap_err().reason.id(), "application-offered");
    let shown = scene.applications().one(&proven.id).await.unwrap();
    assert_eq!(shown.state, ApplicationState::Offered);
    assert_eq!(shown.offer, Some(offer.id.clone()));
    scene.accepts(&offer).await.unwrap();
    assert!(scene.accepts(&offer).await.is_err(), "it is for one use");

    let asking = NewRequest {
        type_id: Some("permit".to_owned()),
        ..NewRequest::default()
    };
    let verifier = scene.site.app.main().verifier().unwrap();
    let request = verifier.create_request(&asking).await.unwrap();
    let wallet = scene.wallet.wallet().unwrap();
    wallet
        .answer_request(&scene.person, &newest(&request.uri))
        .await
        .unwrap();
    let verdict = verifier
        .request(&request.id)
        .await
        .unwrap()
        .verdict
        .unwrap();
    assert_eq!(verdict.outcome, Outcome::Valid);
    let claims = verdict.credentials[0].claims.clone().unwrap();
    assert_eq!(claims["holder"]["name"], NAME);
    assert_eq!(claims["city"], "Exampleton");
    assert_eq!(claims["number"], proven.claims["number"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_way_around_an_application_leads_to_a_permit() {
    let scene = Scene::new("active").await;
    let claims = json!({
        "holder": {"name": NAME}, "given_on": "2026-01-31", "number": "1", "address": "1 Sample Street",
    });
    let direct = scene
        .issuer()
        .create_offer(&offered("permit", claims.clone()))
        .await;
    assert_eq!(direct.unwrap_err().reason.id(), "offer-needs-proof");
    let many = NewOffers {
        type_id: "permit".to_owned(),
        format: None,
        needs_approval: None,
        rows: vec![OfferRow {
            claims: object(claims),
            label: None,
        }],
        tx_code: false,
        by_reference: false,
        expires_in: None,
    };
    assert!(scene.issuer().create_offers(many).await.is_err());
    let unanswered = scene.begins().await;
    let refused = scene
        .offers(&unanswered.id, json!({"address": "1 Sample Street"}))
        .await;
    assert_eq!(refused.unwrap_err().kind, ErrorKind::Conflict);
    let of_company = NewApplication {
        type_id: "company".to_owned(),
        label: None,
    };
    let free = scene.applications().begin(&of_company).await;
    assert_eq!(free.unwrap_err().reason.id(), "type-needs-nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_with_other_claims_than_were_proven_is_refused_and_can_be_put_right() {
    let scene = Scene::new("active").await;
    let proven = scene.proves().await;
    for form in [
        json!({"address": "1 Sample Street", "holder": {"name": "Somebody Else Ltd."}}),
        json!({"address": "1 Sample Street", "holder": {"name": null}}),
        json!({"address": "1 Sample Street", "given_on": "2020-01-01"}),
        json!({"address": "1 Sample Street", "number": "0000000000000000"}),
    ] {
        let refused = scene.offers(&proven.id, form.clone()).await.unwrap_err();
        assert_eq!(refused.reason.id(), "application-claim-changed", "{form}");
    }
    let more = json!({"address": "1 Sample Street", "holder": {"name": NAME, "rank": "first"}});
    assert!(scene.offers(&proven.id, more).await.is_err());
    let form = json!({"address": "1 Sample Street", "city": "Otherville"});
    assert!(scene.offers(&proven.id, form).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_offers_that_are_made_at_once_one_is_made() {
    let scene = Scene::new("active").await;
    let proven = scene.proves().await;
    let form = || json!({"address": "1 Sample Street"});
    let (one, other) = tokio::join!(
        scene.offers(&proven.id, form()),
        scene.offers(&proven.id, form())
    );
    assert_eq!(one.is_ok() as u8 + other.is_ok() as u8, 1);
    let refused = one.err().or(other.err()).unwrap();
    assert_eq!(refused.kind, ErrorKind::Conflict);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_company_that_does_not_meet_the_condition_is_told_which_one() {
    let scene = Scene::new("dissolved").await;
    let refused = scene.proves().await;
    assert_eq!(refused.state, ApplicationState::Refused);
    assert_eq!(refused.unmet[0].id(), "proof-claim");
    assert!(refused.claims.is_empty() && !refused.needs[0].is_proven);
    let offer = scene
        .offers(&refused.id, json!({"address": "1 Sample Street"}))
        .await;
    assert_eq!(offer.unwrap_err().reason.id(), "application-unmet");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_that_is_suspended_after_its_proof_is_worth_nothing_until_it_is_reinstated()
{
    let scene = Scene::new("active").await;
    let proven = scene.proves().await;
    let form = || json!({"address": "1 Sample Street"});
    scene.turns(CredentialStatus::Suspended).await;
    let refused = scene.offers(&proven.id, form()).await.unwrap_err();
    assert_eq!(refused.reason.id(), "proof-not-valid");
    scene.turns(CredentialStatus::Valid).await;
    let offer = scene.offers(&proven.id, form()).await.unwrap();
    scene.turns(CredentialStatus::Revoked).await;
    assert!(
        scene.accepts(&offer).await.is_err(),
        "between the offer and the issuance"
    );
    let issued = scene.issuer().issued(None, &Default::default()).await;
    let issued = issued.unwrap().items;
    assert!(issued.iter().all(|one| one.type_id == "company"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proof_is_over_after_its_time() {
    let scene = Scene::new("active").await;
    let first = scene.proves().await;
    let second = scene.proves().await;
    let form = || json!({"address": "1 Sample Street"});
    let offer = scene.offers(&second.id, form()).await.unwrap();
    scene.site.app.clock().advance(3601);
    let late = scene.offers(&first.id, form()).await.unwrap_err();
    assert_eq!(late.reason.id(), "application-unmet");
    assert!(scene.accepts(&offer).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_application_is_for_the_version_that_it_was_begun_for() {
    let scene = Scene::new("active").await;
    let proven = scene.proves().await;
    let mut next = permit();
    next.prerequisites.as_mut().unwrap().needs[0]
        .conditions
        .clear();
    publish(&scene.site, &next).await.unwrap();
    let refused = scene
        .offers(&proven.id, json!({"address": "1 Sample Street"}))
        .await;
    assert_eq!(refused.unwrap_err().reason.id(), "application-outdated");
}

#[tokio::test(flavor = "multi_thread")]
async fn types_that_need_each_other_are_refused_when_the_circle_is_closed() {
    let scene = Scene::new("active").await;
    let mut closing = company();
    let needs = json!({"needs": [{"name": "permit", "type": "permit"}]});
    closing.prerequisites = Some(serde_json::from_value(needs).unwrap());
    let refused = publish(&scene.site, &closing).await.unwrap_err();
    assert_eq!(refused.reason.id(), "prerequisite-circle");
    assert!(
        refused.to_string().contains("company → permit → company"),
        "{refused}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_permit_needs_is_public_and_says_where_to_get_it() {
    let scene = Scene::new("active").await;
    let document = scene.applications().path_document("permit").await.unwrap();
    assert_eq!(document.needs[0].title, "Company");
    assert_eq!(document.needs[0].vct_values, [COMPANY]);
    let free = scene.applications().path_document("company").await.unwrap();
    assert!(free.needs.is_empty() && free.vct == COMPANY);
}
