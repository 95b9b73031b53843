//! Forged assertions and tokens, downgrades, mix-ups, and what is too large or too late.

use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::{KeyType, PrivateKey, SecretString};
use selfsame_driver::ErrorKind;
use selfsame_oidc::Preset;
use serde_json::{Value, json};

use crate::world::{ISSUER, OnePerson, World, alice, code, everything};

/// The redemption of a code with this assertion.
fn asserting(world: &World, given: &SecretString, assertion: String) -> Vec<(String, String)> {
    let mut all = world.redemption(given);
    for (name, value) in &mut all {
        if name == "client_assertion" {
            value.clone_from(&assertion);
        }
    }
    all
}

/// The claims of an assertion, with these changes.
fn claims(world: &World, jti: &str, change: Value) -> Value {
    let mut claims = json!({
        "iss": world.client_id, "sub": world.client_id, "aud": ISSUER, "jti": jti,
        "exp": world.shared.clock.now().plus(60).0
    });
    let change = change.as_object().unwrap().clone();
    claims.as_object_mut().unwrap().extend(change);
    claims
}

/// A token without a signature, or with one by a shared secret that is the public key.
fn confused(world: &World, alg: &str, claims: &Value) -> String {
    let unsigned = Unsigned::new(&json!({"alg": alg}), claims);
    let public = world.key.public().to_jwk().to_value().to_string();
    let mac = SealingKey::from_bytes(selfsame_crypto::hash::sha256(public.as_bytes()));
    let signature = match alg {
        "none" => Vec::new(),
        _ => mac.mac(unsigned.signing_input()).to_vec(),
    };
    unsigned.finish(&signature)
}

#[tokio::test]
async fn forged_assertions_are_refused_and_use_up_no_code() {
    let method = json!({"token_endpoint_auth_method": "private_key_jwt"});
    let mut world = World::new(method).await;
    let given = world.code(&[]).await;
    let now = world.shared.clock.now();
    let other = PrivateKey::generate(KeyType::P256).unwrap();
    let by_other = Unsigned::new(&json!({"alg": "ES256"}), &claims(&world, "1", json!({})));
    let signature = other.sign(by_other.signing_input()).unwrap();
    let signed = |jti: &str, change| world.signed(json!({}), claims(&world, jti, change));
    for assertion in [
        by_other.finish(&signature),
        confused(&world, "none", &claims(&world, "2", json!({}))),
        confused(&world, "HS256", &claims(&world, "3", json!({}))),
        signed("4", json!({"aud": "https://other.example"})),
        signed("5", json!({"sub": "other"})),
        signed("6", json!({"iss": "other"})),
        signed("7", json!({"exp": now.0 - 120})),
        signed("8", json!({"exp": now.plus(86_400 * 7).0})),
        signed("9", json!({"nbf": now.plus(3_600).0})),
        "x".to_owned(),
    ] {
        let forged = asserting(&world, &given, assertion.clone());
        let refused = world.token(&forged, None).await;
        assert_eq!(code(refused), Some("invalid_client"), "{assertion}");
    }
    world.redeem(&given).await.unwrap();
}

#[tokio::test]
async fn an_access_token_that_was_altered_or_has_another_algorithm_opens_nothing() {
    let mut world = World::new(json!({})).await;
    let tokens = world.tokens(&[]).await;
    let parts: Vec<&str> = tokens.access_token.expose().split('.').collect();
    let [header, payload, signature] = parts[..] else {
        panic!("no token");
    };
    let altered = |change: &dyn Fn(&mut Value)| {
        let mut payload: Value =
            serde_json::from_slice(&base64url_decode(payload).unwrap()).unwrap();
        change(&mut payload);
        base64url_encode(payload.to_string().as_bytes())
    };
    let claims: Value = serde_json::from_slice(&base64url_decode(payload).unwrap()).unwrap();
    for forged in [
        format!(
            "{header}.{}.{signature}",
            altered(&|claims| claims["scope"] = json!("openid phone"))
        ),
        format!(
            "{header}.{}.{signature}",
            altered(&|claims| claims["sub"] = json!("other"))
        ),
        format!("{header}.{payload}."),
        confused(&world, "none", &claims),
        confused(&world, "HS256", &claims),
        world.signed(json!({"typ": "at+jwt"}), claims.clone()),
    ] {
        let refused = world.userinfo(&forged.clone().into()).await;
        assert_eq!(code(refused), Some("invalid_token"), "{forged}");
    }
    world.userinfo(&tokens.access_token).await.unwrap();
}

#[tokio::test]
async fn a_request_is_not_downgraded_to_one_without_a_code_challenge() {
    let world = World::new(json!({})).await;
    let plain = [("code_challenge_method", "plain")];
    let none = [("code_challenge", ""), ("code_challenge_method", "")];
    for landing in [world.landed(&plain).await, world.landed(&none).await] {
        let error = landing.parameters.iter().find(|(name, _)| *name == "error");
        assert_eq!(error.unwrap().1, "invalid_request");
    }
    // Where a challenge is optional, a verifier without one is refused (RFC 9700 §2.1.1), and so is its absence with one.
    let method = json!({"token_endpoint_auth_method": "private_key_jwt"});
    let mut world = World::with(OnePerson::default(), Preset::LegacyEsignet, method).await;
    let (without, with) = (world.code(&none).await, world.code(&[]).await);
    let redeem = async |given: &SecretString, jti: &str, has_verifier: bool| {
        let mut all = world.redemption(given);
        all.retain(|(name, _)| !name.starts_with("client_"));
        all.retain(|(name, _)| has_verifier || name != "code_verifier");
        all.extend(world.credentials(jti));
        world.token(&all, None).await
    };
    for (given, jti, has_verifier) in [(&without, "1", true), (&with, "2", false)] {
        let refused = redeem(given, jti, has_verifier).await;
        assert_eq!(code(refused), Some("invalid_grant"));
    }
    redeem(&without, "3", false).await.unwrap();
    redeem(&with, "4", true).await.unwrap();
}

#[tokio::test]
async fn each_response_says_whose_it_is_so_that_a_client_of_several_providers_mixes_none_up() {
    let world = World::new(json!({})).await;
    let refused = world.landed(&[("response_type", "token")]).await;
    let view = world.asking(&[]).await;
    let visitor = world.visitor(&view.id);
    let proven = world.provider.authenticate(&visitor, alice("111111"));
    proven.await.unwrap();
    let all = everything(&view);
    let agreed = world.provider.agree(&visitor, &all).await.unwrap();
    for landing in [refused, agreed] {
        assert!(landing.parameters.contains(&("iss", ISSUER.to_owned())));
        assert!(landing.parameters.contains(&("state", "s".to_owned())));
    }
}

#[tokio::test]
async fn enormous_claims_are_refused() {
    let world = World::new(json!({})).await;
    let many: serde_json::Map<String, Value> = (0..5_000)
        .map(|number| (format!("claim-{number}"), Value::Null))
        .collect();
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    for claims in [
        json!({ "userinfo": many }).to_string(),
        format!("{{\"userinfo\":{{\"a\":{{\"values\":{deep}}}}}}}"),
        format!(
            "{{\"userinfo\":{{\"a\":{{\"value\":\"{}\"}}}}}}",
            "x".repeat(100_000)
        ),
    ] {
        let refused = match world.begin(&[("claims", &claims)]).await {
            Ok(selfsame_sign_in::view::BegunSignIn::Landed(landing)) => landing
                .parameters
                .iter()
                .any(|(name, value)| *name == "error" && value == "invalid_request"),
            Ok(_) => false,
            Err(error) => error.code == Some("invalid_request"),
        };
        assert!(refused, "{}", &claims[..40]);
    }
}

#[tokio::test]
async fn a_sign_in_that_is_past_its_time_goes_no_further() {
    let world = World::new(json!({})).await;
    let view = world.asking(&[]).await;
    let visitor = world.visitor(&view.id);
    world.shared.clock.advance(601);
    let late = world.provider.authenticate(&visitor, alice("111111")).await;
    assert_eq!(late.unwrap_err().kind, ErrorKind::NotFound);
}

#[tokio::test]
async fn a_session_is_never_one_that_the_browser_had_before_its_person_signed_in() {
    let mut world = World::with(
        OnePerson {
            keeps: true,
            ..OnePerson::default()
        },
        Preset::Strict,
        json!({}),
    )
    .await;
    let planted = SecretString::from("planted by somebody else");
    world.browser.session = Some(planted.clone());
    let view = world.asking(&[]).await;
    let visitor = world.visitor(&view.id);
    let proven = world.provider.authenticate(&visitor, alice("111111"));
    let session = proven.await.unwrap().session.unwrap();
    assert_ne!(session.expose(), planted.expose());
    assert!(world.provider.sessions(&planted).await.is_err());
    assert_eq!(world.provider.sessions(&session).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_client_that_is_switched_off_begins_nothing_and_its_tokens_open_nothing() {
    let mut world = World::new(json!({})).await;
    let given = world.code(&[]).await;
    let tokens = world.tokens(&[]).await;
    let mut registration = world
        .provider
        .client(&world.client_id)
        .await
        .unwrap()
        .registration;
    registration
        .other
        .insert("status".to_owned(), json!("INACTIVE"));
    let changed = selfsame_sign_in::clients::ChangedClient {
        registration,
        fetches_logo: false,
    };
    let change = world.provider.change_client(&world.client_id, changed);
    change.await.unwrap();
    assert_eq!(code(world.begin(&[]).await), Some("invalid_client"));
    assert_eq!(code(world.redeem(&given).await), Some("invalid_client"));
    let refused = world.userinfo(&tokens.access_token).await;
    assert_eq!(code(refused), Some("invalid_token"));
}
