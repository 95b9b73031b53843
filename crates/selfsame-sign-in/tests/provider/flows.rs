//! Sign-ins from the request to userinfo.

use selfsame_crypto::Algorithm;
use selfsame_driver::ErrorKind;
use selfsame_oidc::Preset;
use selfsame_sign_in::WantedOtp;
use selfsame_sign_in::access::{PresentedToken, Userinfo};
use selfsame_sign_in::identity::OtpChannel;
use selfsame_sign_in::view::{BegunSignIn, SignInStage};
use serde_json::{Value, json};

use crate::world::{ISSUER, OnePerson, URI, World, alice, code, everything, jwt};

fn keeping() -> OnePerson {
    OnePerson {
        keeps: true,
        ..OnePerson::default()
    }
}

#[tokio::test]
async fn a_person_signs_in_by_one_time_password_and_the_client_learns_what_they_agreed_to() {
    let world = World::new(json!({})).await;
    let claims =
        r#"{"userinfo":{"name":{"essential":true},"gender":null},"id_token":{"name":null}}"#;
    let view = world.asking(&[("claims", claims)]).await;
    assert_eq!(view.stage, SignInStage::Authentication);
    assert_eq!(view.essential, ["name"]);
    assert_eq!(view.voluntary, ["email", "email_verified", "gender"]);
    let visitor = world.visitor(&view.id);
    let wanted = WantedOtp {
        identifier: "alice".into(),
        channels: vec![OtpChannel::Email],
    };
    let sent = world.provider.send_otp(&visitor, wanted).await.unwrap();
    assert!(sent.masked_email.is_some());
    let wrong = world.provider.authenticate(&visitor, alice("000000")).await;
    assert_eq!(wrong.unwrap_err().kind, ErrorKind::Unauthenticated);
    let signed_in = world.provider.authenticate(&visitor, alice("111111")).await;
    assert_eq!(signed_in.unwrap().sign_in.stage, SignInStage::Consent);
    let mut agreement = everything(&view);
    agreement.claims.retain(|claim| claim != "gender");
    let landing = world.provider.agree(&visitor, &agreement).await.unwrap();
    assert!(landing.address().starts_with(&format!("{URI}?code=")));
    assert!(landing.parameters.contains(&("iss", ISSUER.to_owned())));
    assert!(landing.parameters.contains(&("state", "s".to_owned())));

    let tokens = world.redeem(&landing.code.unwrap()).await.unwrap();
    let id_token = jwt(tokens.id_token.as_ref().unwrap());
    assert_eq!(
        id_token.verify_with(&world.keys().await, &[Algorithm::Es256]),
        Ok(())
    );
    for (claim, value) in [
        ("iss", json!(ISSUER)),
        ("aud", json!(world.client_id)),
        ("nonce", json!("n")),
        ("name", json!("Alice")),
        ("amr", json!(["otp"])),
        ("acr", json!("urn:selfsame:acr:otp")),
    ] {
        assert_eq!(id_token.claims().get(claim), Some(&value), "{claim}");
    }
    assert!(!id_token.claims().contains_key("email"));
    let about = world.userinfo(&tokens.access_token).await.unwrap();
    assert_eq!(about.get("sub"), id_token.claims().get("sub"));
    assert_eq!(about.get("email"), Some(&Value::from("alice@example.org")));
    assert_eq!(about.get("gender"), None);
}

#[tokio::test]
async fn a_person_who_declines_is_told_of_to_the_client_and_can_go_no_further() {
    let world = World::new(json!({})).await;
    let view = world.asking(&[]).await;
    let visitor = world.visitor(&view.id);
    let landing = world.provider.decline(&visitor).await.unwrap();
    assert!(
        landing
            .parameters
            .contains(&("error", "access_denied".to_owned()))
    );
    let over = world.provider.authenticate(&visitor, alice("111111")).await;
    assert_eq!(over.unwrap_err().kind, ErrorKind::NotFound);
}

#[tokio::test]
async fn an_agreement_is_remembered_for_the_same_question_alone() {
    let mut world = World::with(keeping(), Preset::Strict, json!({})).await;
    world.tokens(&[]).await;
    // The session and the agreement both suffice: nobody is asked.
    let landing = world.landed(&[]).await;
    world.redeem(&landing.code.unwrap()).await.unwrap();
    let view = world.asking(&[("scope", "openid email phone")]).await;
    assert_eq!(view.stage, SignInStage::Consent);
    let view = world.asking(&[("prompt", "consent")]).await;
    assert_eq!(view.stage, SignInStage::Consent);
    let view = world.asking(&[("prompt", "login")]).await;
    assert_eq!(view.stage, SignInStage::Authentication);
}

#[tokio::test]
async fn a_session_serves_as_long_as_the_client_allows() {
    let mut world = World::with(keeping(), Preset::Strict, json!({})).await;
    world.tokens(&[]).await;
    world.shared.clock.advance(120);
    world.landed(&[("max_age", "200")]).await;
    let view = world.asking(&[("max_age", "100")]).await;
    assert_eq!(view.stage, SignInStage::Authentication);
}

#[tokio::test]
async fn a_client_that_wants_no_page_is_told_what_is_missing() {
    let mut world = World::with(keeping(), Preset::Strict, json!({})).await;
    let missing = |landing: selfsame_sign_in::view::Landing| {
        let error = landing
            .parameters
            .into_iter()
            .find(|(name, _)| *name == "error");
        error.unwrap().1
    };
    let silent = ("prompt", "none");
    assert_eq!(missing(world.landed(&[silent]).await), "login_required");
    world.tokens(&[]).await;
    let more = ("scope", "openid email phone");
    assert_eq!(
        missing(world.landed(&[silent, more]).await),
        "consent_required"
    );
    assert!(world.landed(&[silent]).await.code.is_some());
}

#[tokio::test]
async fn a_class_that_no_factor_meets_is_an_error_if_it_is_essential_and_a_wish_otherwise() {
    let world = World::new(json!({})).await;
    let essential = r#"{"id_token":{"acr":{"essential":true,"values":["phr"]}}}"#;
    let landing = world.landed(&[("claims", essential)]).await;
    let unmet = ("error", "unmet_authentication_requirements".to_owned());
    assert!(landing.parameters.contains(&unmet));
    let view = world.asking(&[("acr_values", "phr")]).await;
    assert_eq!(view.factors.len(), 2);
}

#[tokio::test]
async fn claims_that_the_identity_system_signed_are_told_in_the_form_that_the_client_registered() {
    let system = OnePerson {
        signs: true,
        ..OnePerson::default()
    };
    let mut world = World::with(system, Preset::Strict, json!({})).await;
    let tokens = world.tokens(&[]).await;
    let about = world.userinfo(&tokens.access_token).await.unwrap();
    assert_eq!(about.get("email"), Some(&Value::from("alice@example.org")));
    let subject = jwt(tokens.id_token.as_ref().unwrap());
    assert_eq!(about.get("sub"), subject.claims().get("sub"));
    assert!(!about.contains_key("iss") && !about.contains_key("iat"));

    // eSignet's interface hands on what the system signed.
    let url = world.provider.place().endpoint("userinfo").unwrap();
    let presented = PresentedToken {
        url: &url,
        method: "GET",
        is_dpop: false,
        token: tokens.access_token.expose(),
        proof: None,
    };
    let answer = world.provider.userinfo_as_signed(&presented).await;
    let Userinfo::Jwt(signed) = answer.unwrap() else {
        panic!("no token");
    };
    assert_eq!(jwt(&signed.into()).text("iss"), Some("system"));
}

#[tokio::test]
async fn userinfo_is_a_signed_token_or_an_encrypted_one_as_the_client_registered() {
    let mut world = World::new(json!({"userinfo_signed_response_alg": "RS256"})).await;
    let tokens = world.tokens(&[]).await;
    let Userinfo::Jwt(signed) = world
        .userinfo_with(&tokens.access_token, None)
        .await
        .unwrap()
    else {
        panic!("no token");
    };
    let signed = jwt(&signed.into());
    assert_eq!(
        signed.verify_with(&world.keys().await, &[Algorithm::Rs256]),
        Ok(())
    );
    assert_eq!(signed.text("aud"), Some(world.client_id.as_str()));

    let recipient = selfsame_crypto::agreement::AgreementPrivate::generate(
        selfsame_crypto::agreement::AgreementCurve::P256,
    )
    .unwrap();
    let mut key = recipient.public().to_jwk().to_value();
    key["use"] = json!("enc");
    let mut world = World::new(json!({
        "userinfo_signed_response_alg": "ES256",
        "userinfo_encrypted_response_alg": "ECDH-ES",
        "userinfo_encrypted_response_enc": "A256GCM",
        "jwks": {"keys": [key]}
    }))
    .await;
    let tokens = world.tokens(&[]).await;
    let Userinfo::Jwt(sealed) = world
        .userinfo_with(&tokens.access_token, None)
        .await
        .unwrap()
    else {
        panic!("no token");
    };
    assert_eq!(sealed.split('.').count(), 5);
    let jwe = selfsame_crypto::jwe::Jwe::parse(&sealed, 65_536).unwrap();
    let with = selfsame_crypto::jwe::Opening {
        own: &recipient,
        kid: None,
        sender: None,
    };
    let opened = jwe.decrypt(&with).unwrap();
    let inner = String::from_utf8(opened.expose().to_vec()).unwrap();
    assert_eq!(jwt(&inner.into()).text("email"), Some("alice@example.org"));
}

#[tokio::test]
async fn subjects_are_public_or_pairwise_as_registered() {
    let subject = async |world: &mut World| {
        let tokens = world.tokens(&[]).await;
        jwt(tokens.id_token.as_ref().unwrap())
            .text("sub")
            .unwrap()
            .to_owned()
    };
    let mut world = World::new(json!({"subject_type": "pairwise"})).await;
    let first = subject(&mut world).await;
    assert_eq!(subject(&mut world).await, first);
    assert!(!first.contains("alice"));
}

#[tokio::test]
async fn a_sign_in_goes_on_in_the_browser_alone_that_began_it() {
    let world = World::new(json!({})).await;
    let view = world.asking(&[]).await;
    let mut visitor = world.visitor(&view.id);
    for browser in [None, Some("another".into())] {
        visitor.browser = browser;
        let refused = world.provider.view(&visitor).await;
        assert_eq!(refused.unwrap_err().kind, ErrorKind::NotFound);
    }
}

#[tokio::test]
async fn a_request_that_cannot_be_trusted_is_not_answered_to_the_client() {
    let world = World::new(json!({})).await;
    for change in [
        [("client_id", "unknown")],
        [("redirect_uri", "https://evil.example/cb")],
    ] {
        assert!(world.begin(&change).await.is_err(), "{change:?}");
    }
    let BegunSignIn::Landed(landing) = world.begin(&[("response_type", "token")]).await.unwrap()
    else {
        panic!("asked");
    };
    assert_eq!(landing.redirect_uri, URI);
    assert_eq!(
        code(world.begin(&[("client_id", "unknown")]).await),
        Some("invalid_client")
    );
}
