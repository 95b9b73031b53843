//! Saved requests: their policy is judged, what was opened stays, and a visitor sees a result without any claim.

use std::sync::Arc;

use selfsame_app::App;
use selfsame_asked::definition::RequestDefinition;
use selfsame_asked::file;
use selfsame_credential::verdict::Outcome;
use selfsame_driver::ErrorKind;
use selfsame_openid::verifier::{Verifier, VisitedPlace};
use selfsame_openid::view::saved::RequestOpening;
use selfsame_openid::view::verifier::RequestState;
use selfsame_saved_requests::{SavedRequests, Visitor};
use selfsame_wallet::view::Person;

use crate::network::newest;
use crate::verifying::holder;
use crate::world::Site;

const BROWSER: &str = "the secret of a browser";

fn check_in(further: &str) -> RequestDefinition {
    let text = format!(
        r#"
        name = "check-in"
        title = "Check-in"
        purpose = "To let you in"
        origins = ["https://shop.example"]
        {further}
        [[questions]]
        alternatives = [{{ type = "machine" }}, {{ type = "immunization", claims = [["vaccine", "name"]] }}]
        "#
    );
    file::read(&text).unwrap()
}

fn trusting(issuer: &str) -> RequestDefinition {
    check_in(&format!(
        r#"policy = {{ trusted_issuers = {{ immunization = ["{issuer}"] }} }}"#
    ))
}

/// A verifier, and a person with an immunization record in a wallet of their own.
struct Scene {
    site: Site,
    wallet: Arc<App>,
    person: Person,
}

impl Scene {
    async fn new() -> Self {
        let site = Site::start().await;
        let (wallet, person) = holder(&site, "immunization").await;
        Self {
            site,
            wallet,
            person,
        }
    }

    fn verifier(&self) -> &Arc<Verifier> {
        self.site.app.main().verifier().unwrap()
    }

    fn saved(&self) -> SavedRequests<'_> {
        SavedRequests::of(self.verifier())
    }

    async fn saves(&self, definition: &RequestDefinition) {
        let saved = self.saved().replace("check-in", definition, None);
        saved.await.unwrap();
    }

    /// Answers, and says whether the verifier accepted it.
    async fn answers(&self, uri: &str) -> bool {
        let wallet = self.wallet.wallet().unwrap();
        let answered = wallet.answer_request(&self.person, &newest(uri)).await;
        answered.unwrap().delivered
    }

    /// Opens the request as a visitor; returns its id and its link.
    async fn visits(&self) -> (String, String) {
        let visitor = Visitor {
            browser: BROWSER,
            from: Some("https://shop.example"),
        };
        let opening = RequestOpening {
            reference: Some("order-17".to_owned()),
        };
        let opened = self.saved().open_for_visitor("check-in", &opening, visitor);
        let path = opened.await.unwrap();
        let id = path.split(['/', '?']).nth(2).unwrap().to_owned();
        let uri = self.verifier().request(&id).await.unwrap().uri;
        (id, uri)
    }
}

fn place<'a>(id: &'a str, response_code: Option<&'a str>) -> VisitedPlace<'a> {
    VisitedPlace {
        name: "check-in",
        id,
        response_code,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_accepts_the_issuers_that_it_named_when_it_was_opened() {
    let scene = Scene::new().await;
    let verifier = scene.verifier();
    let issuer = scene.site.app.main().issuer().unwrap();
    let own = issuer.identity().did().to_string();
    let opening = RequestOpening::default();

    scene.saves(&trusting(&own)).await;
    let first = scene.saved().open("check-in", &opening).await.unwrap();
    // What is saved afterwards is not the policy of what was opened before.
    scene.saves(&trusting("did:web:other.example")).await;
    let second = scene.saved().open("check-in", &opening).await.unwrap();

    assert!(scene.answers(&first.uri).await);
    let verdict = verifier.request(&first.id).await.unwrap().verdict.unwrap();
    assert_eq!(verdict.outcome, Outcome::Valid);
    let named = "issuer_trusted_for_request";
    let rules = &verdict.credentials[0].rules;
    let rule = rules.iter().find(|rule| rule.name == named).unwrap();
    assert_eq!(rule.passed, Some(true), "{}", rule.detail);

    assert!(!scene.answers(&second.uri).await);
    let status = verifier.request(&second.id).await.unwrap();
    assert!(status.verdict.is_none(), "it stays open for another answer");
    let refused = status.refused.unwrap().last;
    assert_eq!(refused.outcome, Outcome::Untrusted);
    let rules = &refused.credentials[0].rules;
    let rule = rules.iter().find(|rule| rule.name == named).unwrap();
    assert_eq!(rule.passed, Some(false));
    let again = verifier.recheck(&first.id).await.unwrap();
    assert_eq!(again.verdict.unwrap().outcome, Outcome::Valid);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_visitor_learns_the_outcome_and_no_other_browser_does() {
    let scene = Scene::new().await;
    scene.saves(&check_in("")).await;
    let (id, uri) = scene.visits().await;
    let verifier = scene.verifier();
    let waiting = verifier
        .visitors_request(place(&id, None), BROWSER)
        .await
        .unwrap();
    assert_eq!(
        (waiting.state, waiting.outcome),
        (RequestState::Created, None)
    );
    assert!(scene.answers(&uri).await);
    let seen = verifier
        .visitors_request(place(&id, None), BROWSER)
        .await
        .unwrap();
    assert_eq!(seen.outcome, Some(Outcome::Valid));
    assert_eq!(seen.reference.as_deref(), Some("order-17"));
    let other = verifier
        .visitors_request(place(&id, None), "another browser")
        .await;
    assert_eq!(other.unwrap_err().kind, ErrorKind::NotFound);
    let elsewhere = VisitedPlace {
        name: "other",
        ..place(&id, None)
    };
    let other = verifier.visitors_request(elsewhere, BROWSER).await;
    assert_eq!(other.unwrap_err().kind, ErrorKind::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn on_one_device_the_result_is_for_whom_the_wallet_sends_back() {
    let scene = Scene::new().await;
    scene.saves(&check_in("same_device = true")).await;
    let (id, uri) = scene.visits().await;
    let wallet = scene.wallet.wallet().unwrap();
    let answered = wallet
        .answer_request(&scene.person, &newest(&uri))
        .await
        .unwrap();
    let back = answered.redirect_uri.unwrap();
    let start = format!("/ask/check-in/{id}?from=https%3A%2F%2Fshop.example&response_code=");
    let (_, code) = back.split_once(&start).unwrap_or_else(|| panic!("{back}"));
    let verifier = scene.verifier();
    for wrong in [None, Some("another code")] {
        let seen = verifier
            .visitors_request(place(&id, wrong), BROWSER)
            .await
            .unwrap();
        assert!(seen.awaits_return && seen.outcome.is_none(), "{seen:?}");
    }
    let seen = verifier
        .visitors_request(place(&id, Some(code)), BROWSER)
        .await
        .unwrap();
    assert_eq!(seen.outcome, Some(Outcome::Valid));
    let other = verifier
        .visitors_request(place(&id, Some(code)), "another browser")
        .await;
    assert_eq!(other.unwrap_err().kind, ErrorKind::NotFound);
}

#[tokio::test]
async fn visitors_have_ten_thousand_requests_open_and_no_more() {
    let scene = Scene::new().await;
    scene.saves(&check_in("")).await;
    let verifier = &scene.site.app.main().organisation.verifier;
    let kept = scene.site.keep(verifier, "visitors_request", 9_999);
    kept.await;
    scene.visits().await;
    let visitor = Visitor {
        browser: BROWSER,
        from: None,
    };
    let one_more = RequestOpening { reference: None };
    let opened = scene
        .saved()
        .open_for_visitor("check-in", &one_more, visitor);
    let refused = opened.await.unwrap_err();
    assert_eq!(refused.reason.id(), "visitors-too-many");
    assert_eq!(refused.kind, ErrorKind::Unavailable { retry_after: 60 });
    // The organisation's own people can still open requests.
    let asked = scene.saved().open("check-in", &one_more);
    asked.await.unwrap();
}
