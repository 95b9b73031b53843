//! Presentations by the Digital Credentials API of browsers (OpenID4VP 1.0 Appendix A): the verifier's request, the
//! wallet's answer for the origin that the browser states, and the verdict.

use std::sync::Arc;

use selfsame_app::App;
use selfsame_credential::verdict::Outcome;
use selfsame_dc_api_role::{
    BrowserRequest, PageMessage, browser_answer, browser_request, page_request,
};
use selfsame_driver::{Error, ErrorKind};
use selfsame_haip::WantedProfile;
use selfsame_openid::verifier::Verifier;
use selfsame_openid::view::verifier::{NewRequest, RequestState, VerificationStatus};
use selfsame_wallet::view::{Answered, Person, RequestPreview};
use serde_json::{Value, json};

use crate::verifying::newest;
use crate::world::{Site, WalletHost, accept, belongings, person};

const PROTOCOLS: [&str; 3] = [
    "openid4vp-v1-unsigned",
    "openid4vp-v1-signed",
    "openid4vp-v1-multisigned",
];

/// A verifier, and a person whose wallet has a card of this type.
struct Scene {
    site: Site,
    app: Arc<App>,
    person: Person,
    kind: &'static str,
}

impl Scene {
    async fn new(kind: &'static str, format: &str) -> Self {
        let site = Site::start().await;
        let app = WalletHost::new(&site).open().await;
        let person = person(&app).await;
        let offer = accept(&site.offer_as(kind, format).await);
        let wallet = app.wallet().unwrap();
        wallet.accept_offer(&person, &offer).await.unwrap();
        Self {
            site,
            app,
            person,
            kind,
        }
    }

    fn verifier(&self) -> Arc<Verifier> {
        self.site.app.main().verifier().unwrap().clone()
    }

    /// The origin of the verifier's pages, as a browser writes it.
    fn shop(&self) -> String {
        self.site.origin.origin().ascii_serialization()
    }

    /// A new request, and what its page hands to the browser.
    async fn asks(&self, protocol: &str, is_encrypted: bool) -> (String, BrowserRequest) {
        let mode = is_encrypted.then(|| "direct_post.jwt".to_owned());
        let new = NewRequest {
            type_id: Some(self.kind.to_owned()),
            response_mode: mode,
            ..NewRequest::default()
        };
        let verifier = self.verifier();
        let made = verifier.create_request(&new).await.unwrap();
        let mut asked = browser_request(&verifier, &made.id, Some(protocol))
            .await
            .unwrap();
        (made.id, asked.requests.remove(0))
    }

    async fn previewed(
        &self,
        origin: &str,
        asked: BrowserRequest,
    ) -> Result<RequestPreview, Error> {
        let BrowserRequest { protocol, data } = asked;
        let message = PageMessage {
            origin: origin.to_owned(),
            protocol,
            data,
        };
        let wallet = self.app.wallet().unwrap();
        let asked = page_request(&wallet.opener(&self.person), &message).await?;
        wallet.preview_of_page(&self.person, asked).await
    }

    /// What the wallet gives back to a page of this origin.
    async fn answered(&self, origin: &str, asked: BrowserRequest) -> Answered {
        let preview = self.previewed(origin, asked).await.unwrap();
        let wallet = self.app.wallet().unwrap();
        let answer = newest(&preview.id);
        wallet.answer_request(&self.person, &answer).await.unwrap()
    }

    /// The verifier gets an answer that came back to a page of this origin.
    async fn returned(
        &self,
        id: &str,
        origin: &str,
        answered: &Answered,
    ) -> Result<VerificationStatus, Error> {
        let returned = answered.returned.clone().unwrap();
        let message = PageMessage {
            origin: origin.to_owned(),
            protocol: returned.protocol,
            data: returned.data,
        };
        browser_answer(&self.verifier(), id, &message).await?;
        self.verifier().request(id).await
    }
}

fn outcome(status: &VerificationStatus) -> Outcome {
    status.verdict.as_ref().unwrap().outcome
}

fn code(refused: Result<impl std::fmt::Debug, Error>) -> Option<&'static str> {
    let error = refused.unwrap_err();
    assert_eq!(error.kind, ErrorKind::BadRequest, "{error}");
    error.code
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_is_shown_by_each_protocol_in_the_clear_and_encrypted() {
    let scene = Scene::new("immunization", "dc+sd-jwt").await;
    let shop = scene.shop();
    for protocol in PROTOCOLS {
        for is_encrypted in [false, true] {
            let (id, asked) = scene.asks(protocol, is_encrypted).await;
            assert_eq!(asked.protocol, protocol);
            let answered = scene.answered(&shop, asked).await;
            let returned = answered.returned.as_ref().unwrap();
            assert_eq!((&*returned.origin, &*returned.protocol), (&*shop, protocol));
            assert_eq!(returned.data.get("response").is_some(), is_encrypted);
            let status = scene.returned(&id, &shop, &answered).await.unwrap();
            assert_eq!(
                outcome(&status),
                Outcome::Valid,
                "{protocol} {is_encrypted}"
            );
        }
    }
    let (_, history) = belongings(&scene.app, &scene.person).await;
    let shared = history.iter().filter(|entry| entry.what == "shared");
    let parties: Vec<&str> = shared.map(|entry| entry.party.as_str()).collect();
    assert_eq!(parties.len(), 6);
    assert_eq!(parties.last(), Some(&&*format!("origin:{shop}")));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_mdoc_is_bound_to_the_origin_and_to_the_key_that_the_answer_is_encrypted_to() {
    let scene = Scene::new("driving-licence", "mso_mdoc").await;
    let shop = scene.shop();
    for (protocol, is_encrypted) in [(PROTOCOLS[0], false), (PROTOCOLS[1], true)] {
        let (id, asked) = scene.asks(protocol, is_encrypted).await;
        let answered = scene.answered(&shop, asked).await;
        let status = scene.returned(&id, &shop, &answered).await.unwrap();
        let verdict = &status.verdict.as_ref().unwrap().credentials[0];
        assert_eq!(verdict.outcome, Outcome::Valid, "{:?}", verdict.rules);
        let proof = verdict
            .rules
            .iter()
            .find(|rule| rule.name == "device_proof");
        assert_eq!(proof.unwrap().passed, Some(true));
    }
    // Unsigned requests are anybody's: another page can pass one on, and gets an answer that is bound to itself.
    let (id, asked) = scene.asks(PROTOCOLS[0], false).await;
    let elsewhere = "https://evil.example";
    let answered = scene.answered(elsewhere, asked).await;
    let refused = scene.returned(&id, &shop, &answered).await;
    assert_eq!(code(refused), Some("invalid_request"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_another_page_got_does_not_count_and_one_for_another_page_is_not_taken() {
    let scene = Scene::new("immunization", "dc+sd-jwt").await;
    let (id, asked) = scene.asks(PROTOCOLS[0], false).await;
    let answered = scene.answered("https://evil.example", asked).await;
    for origin in ["https://evil.example", ""] {
        let refused = scene.returned(&id, origin, &answered).await;
        assert_eq!(code(refused), Some("invalid_request"), "{origin}");
    }
    // The page says that the answer came back to it; the proof in it says otherwise.
    let refused = scene.returned(&id, &scene.shop(), &answered).await;
    assert_eq!(code(refused), Some("invalid_request"));
    let status = scene.verifier().request(&id).await.unwrap();
    assert_eq!(
        status.refused.unwrap().count,
        1,
        "of the others nothing is judged"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signed_request_is_refused_on_pages_of_another_origin() {
    let scene = Scene::new("immunization", "dc+sd-jwt").await;
    for protocol in [PROTOCOLS[1], PROTOCOLS[2]] {
        let (_, asked) = scene.asks(protocol, false).await;
        let refused = scene.previewed("https://evil.example", asked).await;
        assert_eq!(code(refused), Some("invalid_request"), "{protocol}");
    }
    let (_, history) = belongings(&scene.app, &scene.person).await;
    assert!(history.iter().all(|entry| entry.what != "shared"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_by_the_profile_refuses_a_page_that_does_not_keep_it() {
    let scene = Scene::new("immunization", "dc+sd-jwt").await;
    let wallet = scene.app.wallet().unwrap();
    let mut opener = wallet.opener(&scene.person);
    opener.profile = Some(WantedProfile::Haip);
    let opened = async |protocol: &str, is_encrypted: bool| {
        let (_, asked) = scene.asks(protocol, is_encrypted).await;
        let message = PageMessage {
            origin: scene.shop(),
            protocol: asked.protocol,
            data: asked.data,
        };
        page_request(&opener, &message).await
    };
    // The verifier here signs by its DID.
    for (protocol, is_encrypted, paragraph) in [
        (PROTOCOLS[0], false, "§5.2 "),
        (PROTOCOLS[1], true, "§5 "),
        (PROTOCOLS[2], true, "§5 "),
    ] {
        let refused = opened(protocol, is_encrypted).await.unwrap_err();
        assert_eq!(refused.code, Some("invalid_request"));
        let told = format!("HAIP 1.0 {paragraph}");
        assert!(refused.to_string().contains(&told), "{refused}");
    }
    assert!(opened(PROTOCOLS[0], true).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn protocols_that_are_not_spoken_are_refused_by_both_sides() {
    let scene = Scene::new("immunization", "dc+sd-jwt").await;
    let (id, asked) = scene.asks(PROTOCOLS[1], false).await;
    let refused = browser_request(&scene.verifier(), &id, Some("org-iso-mdoc")).await;
    assert_eq!(code(refused), Some("invalid_request"));
    let iso = BrowserRequest {
        protocol: "org-iso-mdoc".to_owned(),
        data: json!({"deviceRequest": "", "encryptionInfo": ""}),
    };
    let refused = scene.previewed(&scene.shop(), iso).await;
    assert_eq!(code(refused), Some("invalid_request"));
    let mut answered = scene.answered(&scene.shop(), asked).await;
    answered.returned.as_mut().unwrap().protocol = "org-iso-mdoc".to_owned();
    let refused = scene.returned(&id, &scene.shop(), &answered).await;
    assert_eq!(code(refused), Some("invalid_request"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_declines_gives_back_a_code_and_the_request_is_over() {
    let scene = Scene::new("immunization", "dc+sd-jwt").await;
    let shop = scene.shop();
    let (id, asked) = scene.asks(PROTOCOLS[1], true).await;
    let preview = scene.previewed(&shop, asked.clone()).await.unwrap();
    let wallet = scene.app.wallet().unwrap();
    let declined = wallet.decline_request(&scene.person, &preview.id).await;
    let declined = declined.unwrap();
    let data = &declined.returned.as_ref().unwrap().data;
    assert_eq!(*data, json!({"error": "access_denied"}));
    let status = scene.returned(&id, &shop, &declined).await.unwrap();
    assert_eq!(status.state, RequestState::Declined);
    assert_eq!(status.error.as_deref(), Some("access_denied"));
    let over = browser_request(&scene.verifier(), &id, None).await;
    assert_eq!(over.unwrap_err().kind, ErrorKind::Gone);
    // The preview is used up.
    let again = wallet.decline_request(&scene.person, &preview.id).await;
    assert_eq!(again.unwrap_err().kind, ErrorKind::Gone);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_by_a_browser_can_be_answered_by_its_link_as_well_and_once() {
    let scene = Scene::new("immunization", "dc+sd-jwt").await;
    let (id, asked) = scene.asks(PROTOCOLS[1], false).await;
    let by_browser = scene.answered(&scene.shop(), asked).await;
    let link = scene.verifier().request(&id).await.unwrap().uri;
    let wallet = scene.app.wallet().unwrap();
    let by_link = wallet.answer_request(&scene.person, &newest(&link)).await;
    assert!(by_link.unwrap().delivered);
    let status = scene.verifier().request(&id).await.unwrap();
    assert_eq!(outcome(&status), Outcome::Valid);
    let late = scene.returned(&id, &scene.shop(), &by_browser).await;
    assert_eq!(code(late), Some("invalid_request"));
}

#[tokio::test(flavor = "multi_thread")]
async fn consent_names_the_page_that_asks_and_a_signed_request_its_verifier() {
    let scene = Scene::new("immunization", "dc+sd-jwt").await;
    let shop = scene.shop();
    let (_, asked) = scene.asks(PROTOCOLS[0], false).await;
    let Value::Object(members) = &asked.data else {
        panic!("the parameters are members");
    };
    assert!(!members.contains_key("client_id") && !members.contains_key("state"));
    let unsigned = scene.previewed(&shop, asked).await.unwrap();
    assert_eq!(unsigned.verifier.prefix, "origin");
    assert_eq!(unsigned.verifier.client_id, format!("origin:{shop}"));
    assert!(!unsigned.verifier.authenticated && unsigned.answerable);
    let (_, asked) = scene.asks(PROTOCOLS[1], false).await;
    let signed = scene.previewed(&shop, asked).await.unwrap();
    assert_eq!(signed.verifier.client_id, scene.verifier().client_id());
    assert!(signed.verifier.authenticated);
    assert_eq!(signed.verifier.host, unsigned.verifier.host);
}
