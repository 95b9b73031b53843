//! Tests of answers that a browser brings back to a page of the verifier (OpenID4VP 1.0 Appendix A.4): what they are
//! bound to.

use selfsame_credential::{Evidence, Step};
use selfsame_openid4vc::{
    Error,
    holder::{self, PresentationState},
    verifier::{Created, Input, Reply, VerificationState, request::NewRequest},
    wire::{
        encryption::EncryptionKey,
        request::BrowserPage,
        response::{AuthorizationResponse, PostedResponse, VpResponse, VpToken},
    },
};
use serde_json::json;

use crate::{
    holder::{Card, delivered_form, opened, returned_data},
    verifier::{Verifier, query_sd_jwt, query_w3c},
    world::{Issuer, SD_JWT, W3C, ctx, policy},
};

const SHOP: &str = "https://shop.example";

fn page(origin: &str) -> BrowserPage {
    BrowserPage {
        origin: origin.to_owned(),
        protocol: "openid4vp-v1-signed".to_owned(),
    }
}

/// An open request, and a card that answers it.
struct Scene {
    verifier: Verifier,
    state: VerificationState,
    object: String,
    card: Card,
}

impl Scene {
    fn new(configuration_id: &str) -> Self {
        let query = match configuration_id {
            SD_JWT => query_sd_jwt(),
            _ => query_w3c(),
        };
        let (issuer, verifier) = (Issuer::new(), Verifier::new());
        let (state, object) = verifier.fetched(verifier.new_request(&query), None);
        Self {
            card: Card::new(&issuer, configuration_id),
            verifier,
            state,
            object,
        }
    }

    /// What the wallet presents to a page of this origin, or by post.
    fn presented(&self, origin: Option<&str>) -> VpToken {
        let client_id = self.state.asked().client_id.clone();
        let mut asked = opened(&self.object, &client_id).unwrap();
        asked.request.page = origin.map(page);
        let cards = [("vaccination", &self.card)];
        let posted = match origin {
            Some(_) => PostedResponse::of_data(&returned_data(&asked, &cards)),
            None => {
                let form = delivered_form(&asked, &cards).unwrap();
                PostedResponse::parse(selfsame_oauth::form::encode(&form).as_bytes())
            }
        };
        match posted.unwrap().opened(None).unwrap().answer {
            VpResponse::Presented(vp_token) => vp_token,
            other => panic!("{other:?}"),
        }
    }

    /// The answer came back to a page of this origin.
    fn returned(&self, vp_token: VpToken, origin: &str) -> Result<Option<Reply>, Error> {
        let response = AuthorizationResponse {
            state: None,
            answer: VpResponse::Presented(vp_token),
        };
        let input = Input::Returned {
            response: &response,
            origin,
            policy: &policy(),
        };
        let (_, reply) = self.verifier.step(&self.state, input, &ctx(52))?;
        Ok(reply)
    }
}

#[test]
fn an_answer_that_is_bound_to_the_origin_is_taken_without_state() {
    for configuration_id in [SD_JWT, W3C] {
        let scene = Scene::new(configuration_id);
        let reply = scene.returned(scene.presented(Some(SHOP)), SHOP).unwrap();
        assert!(matches!(reply, Some(Reply::Receipt(_))), "{reply:?}");
    }
}

#[test]
fn an_answer_that_is_bound_to_another_origin_or_to_the_client_does_not_count() {
    for configuration_id in [SD_JWT, W3C] {
        let scene = Scene::new(configuration_id);
        for bound_to in [Some("https://evil.example"), None] {
            let reply = scene.returned(scene.presented(bound_to), SHOP).unwrap();
            assert!(matches!(reply, Some(Reply::Refusal { .. })), "{reply:?}");
        }
    }
}

#[test]
fn an_answer_for_a_page_does_not_count_when_it_is_posted() {
    let scene = Scene::new(SD_JWT);
    let response = AuthorizationResponse {
        state: Some(scene.state.asked().state.clone()),
        answer: VpResponse::Presented(scene.presented(Some(SHOP))),
    };
    let input = Input::Response {
        response: &response,
        policy: &policy(),
    };
    let (_, reply) = scene.verifier.step(&scene.state, input, &ctx(52)).unwrap();
    assert!(matches!(reply, Some(Reply::Refusal { .. })), "{reply:?}");
}

#[test]
fn a_request_that_no_wallet_has_fetched_can_be_answered_by_a_browser() {
    let mut scene = Scene::new(SD_JWT);
    let fetched = scene.state.asked().clone();
    scene.state = VerificationState::Created(Created { asked: fetched });
    let reply = scene.returned(scene.presented(Some(SHOP)), SHOP).unwrap();
    assert!(matches!(reply, Some(Reply::Receipt(_))), "{reply:?}");
}

#[test]
fn the_session_of_an_mdoc_is_of_the_origin_and_of_the_key_that_the_answer_is_encrypted_to() {
    let scene = Scene::new(SD_JWT);
    let client_id = scene.state.asked().client_id.clone();
    let mut request = opened(&scene.object, &client_id).unwrap().request;
    let by_post = request.session(None);
    request.page = Some(page(SHOP));
    let by_browser = request.session(None);
    assert_ne!(by_browser, by_post);
    let key = EncryptionKey::new(&ctx(5), "test").unwrap();
    let sealed = request.session(Some(key.thumbprint().unwrap()));
    assert_ne!(sealed, by_browser);
    request.page = Some(page("https://evil.example"));
    assert_ne!(request.session(None), by_browser);
}

#[test]
fn an_encrypted_answer_to_a_page_opens_and_its_key_is_forgotten() {
    let mut scene = Scene::new(SD_JWT);
    let new = NewRequest {
        encrypted: true,
        ..scene.verifier.new_request(&query_sd_jwt())
    };
    (scene.state, scene.object) = scene.verifier.fetched(new, None);
    let client_id = scene.state.asked().client_id.clone();
    let mut asked = opened(&scene.object, &client_id).unwrap();
    asked.request.page = Some(page(SHOP));
    let data = returned_data(&asked, &[("vaccination", &scene.card)]);
    assert!(data["response"].is_string(), "{data}");
    let posted = PostedResponse::of_data(&data).unwrap();
    let response = scene.state.opened(&posted).unwrap();
    assert_eq!(
        response.state.as_deref(),
        Some(scene.state.asked().state.as_str())
    );
    let input = Input::Returned {
        response: &response,
        origin: SHOP,
        policy: &policy(),
    };
    let (state, reply) = scene.verifier.step(&scene.state, input, &ctx(52)).unwrap();
    assert!(matches!(reply, Some(Reply::Receipt(_))), "{reply:?}");
    assert!(state.asked().encryption.is_none());
}

#[test]
fn a_person_who_declines_gives_a_page_the_code_alone() {
    let scene = Scene::new(SD_JWT);
    let client_id = scene.state.asked().client_id.clone();
    let mut asked = opened(&scene.object, &client_id).unwrap();
    asked.request.page = Some(page(SHOP));
    let state = PresentationState::Asked(Box::new(asked));
    let taken = holder::step(
        &state,
        holder::Input::Decline,
        &Evidence::default(),
        &ctx(60),
    );
    let Step::Done(next) = taken.unwrap() else {
        panic!("declining needs nothing");
    };
    assert_eq!(next.returned, Some(json!({"error": "access_denied"})));
    assert!(next.delivery.is_none(), "nothing is posted");
    assert!(matches!(next.state, PresentationState::Done(done) if !done.presented));
}
