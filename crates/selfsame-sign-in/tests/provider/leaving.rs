//! Signing out, and what a person sees and ends of their own.

use selfsame_driver::ErrorKind;
use selfsame_oauth::Form;
use selfsame_oidc::Preset;
use selfsame_sign_in::logout::{SignOut, SignedOut};
use selfsame_sign_in::view::SignInStage;
use serde_json::json;

use crate::world::{OnePerson, World, code};

const BACK: &str = "https://rp.example/bye";

async fn world() -> World {
    let system = OnePerson {
        keeps: true,
        ..OnePerson::default()
    };
    let registered = json!({
        "post_logout_redirect_uris": [BACK],
        "backchannel_logout_uri": "https://rp.example/told"
    });
    World::with(system, Preset::Strict, registered).await
}

fn asked(world: &World, parameters: &[(&str, &str)], is_confirmed: bool) -> SignOut {
    let parameters = parameters.iter();
    let parameters = parameters.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    SignOut {
        form: Form::of_parameters(parameters),
        session: world.browser.session.clone(),
        is_confirmed,
    }
}

#[tokio::test]
async fn a_client_signs_its_person_out_and_others_are_told() {
    let mut world = world().await;
    let tokens = world.tokens(&[]).await;
    let hint = tokens.id_token.unwrap();
    let parameters = [
        ("id_token_hint", hint.expose()),
        ("post_logout_redirect_uri", BACK),
        ("state", "x"),
    ];
    let done = world
        .provider
        .sign_out(asked(&world, &parameters, false))
        .await
        .unwrap();
    let redirect = Some(format!("{BACK}?state=x"));
    assert_eq!(done, SignedOut::Done { redirect });
    assert_eq!(
        code(world.userinfo(&tokens.access_token).await),
        Some("invalid_token")
    );
    assert_eq!(world.asking(&[]).await.stage, SignInStage::Authentication);
    let backlog = world.shared.store.backlog().await.unwrap();
    assert_eq!(backlog.pending, 1);
}

#[tokio::test]
async fn without_a_hint_the_person_is_asked_first() {
    let mut world = world().await;
    world.tokens(&[]).await;
    let asking = world
        .provider
        .sign_out(asked(&world, &[], false))
        .await
        .unwrap();
    assert_eq!(asking, SignedOut::AskFirst);
    world.landed(&[]).await;
    let done = world
        .provider
        .sign_out(asked(&world, &[], true))
        .await
        .unwrap();
    assert_eq!(done, SignedOut::Done { redirect: None });
    world.asking(&[]).await;
}

#[tokio::test]
async fn nobody_is_sent_to_an_address_that_was_not_registered() {
    let mut world = world().await;
    let tokens = world.tokens(&[]).await;
    let hint = tokens.id_token.unwrap();
    for parameters in [
        vec![("post_logout_redirect_uri", BACK)],
        vec![
            ("id_token_hint", hint.expose()),
            ("post_logout_redirect_uri", "https://evil.example/"),
        ],
        vec![("id_token_hint", "x")],
        vec![("id_token_hint", hint.expose()), ("client_id", "other")],
    ] {
        let refused = world
            .provider
            .sign_out(asked(&world, &parameters, true))
            .await;
        assert_eq!(code(refused), Some("invalid_request"), "{parameters:?}");
    }
}

#[tokio::test]
async fn a_person_sees_their_sessions_and_agreements_and_ends_them() {
    let mut world = world().await;
    let tokens = world.tokens(&[]).await;
    let session = world.browser.session.clone().unwrap();
    let sessions = world.provider.sessions(&session).await.unwrap();
    assert!(sessions.len() == 1 && sessions[0].is_this);
    let agreements = world.provider.agreements(&session).await.unwrap();
    assert_eq!(agreements[0].claims, ["email", "email_verified"]);
    world
        .provider
        .withdraw(&session, &world.client_id)
        .await
        .unwrap();
    assert!(
        world
            .provider
            .agreements(&session)
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(
        code(world.userinfo(&tokens.access_token).await),
        Some("invalid_token")
    );
    assert_eq!(world.asking(&[]).await.stage, SignInStage::Consent);
    let sid = &sessions[0].sid;
    world.provider.end_own_session(&session, sid).await.unwrap();
    let over = world.provider.sessions(&session).await;
    assert_eq!(over.unwrap_err().kind, ErrorKind::Unauthenticated);
}
