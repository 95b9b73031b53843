//! What a thief, a forger or a careless client tries.

use selfsame_driver::ErrorKind;
use serde_json::json;

use crate::world::{OnePerson, URI, World, alice, code, everything};
use selfsame_crypto::SecretString;
use selfsame_oidc::Preset;
use selfsame_sign_in::view::PersonsAgreement;

#[tokio::test]
async fn a_code_that_comes_a_second_time_ends_what_it_gave() {
    let mut world = World::new(json!({})).await;
    let given = world.code(&[]).await;
    let tokens = world.redeem(&given).await.unwrap();
    world.userinfo(&tokens.access_token).await.unwrap();
    assert_eq!(code(world.redeem(&given).await), Some("invalid_grant"));
    assert_eq!(
        code(world.userinfo(&tokens.access_token).await),
        Some("invalid_token")
    );
}

#[tokio::test]
async fn of_many_redemptions_at_once_one_succeeds_at_most() {
    let mut world = World::new(json!({})).await;
    let given = world.code(&[]).await;
    let world = std::sync::Arc::new(world);
    let tries: Vec<_> = (0..16)
        .map(|_| {
            let (world, given) = (world.clone(), given.clone());
            tokio::spawn(async move { world.redeem(&given).await.is_ok() })
        })
        .collect();
    let mut redeemed = 0;
    for one in tries {
        redeemed += usize::from(one.await.unwrap());
    }
    assert!(redeemed <= 1, "{redeemed}");
}

#[tokio::test]
async fn a_code_is_for_one_client_one_address_and_one_verifier_for_a_minute() {
    let mut world = World::new(json!({})).await;
    let given = world.code(&[]).await;
    let change = |name: &str, value: &str| {
        let mut all = world.redemption(&given);
        all.retain(|(one, _)| one != name);
        if !value.is_empty() {
            all.push((name.to_owned(), value.to_owned()));
        }
        all
    };
    for parameters in [
        change("redirect_uri", "https://rp.example/other"),
        change("redirect_uri", ""),
        change("code_verifier", ""),
        change("code_verifier", &"a".repeat(43)),
        change("code", &format!("{}x", given.expose())),
    ] {
        let refused = world.token(&parameters, None).await;
        assert_eq!(code(refused), Some("invalid_grant"), "{parameters:?}");
    }
    world.shared.clock.advance(61);
    assert_eq!(code(world.redeem(&given).await), Some("invalid_grant"));
}

#[tokio::test]
async fn a_code_of_one_client_is_nothing_in_the_hands_of_another() {
    let mut world = World::new(json!({})).await;
    let given = world.code(&[]).await;
    let registration = selfsame_oidc::ClientRegistration::web(URI);
    let other = world
        .provider
        .register(selfsame_sign_in::clients::WantedClient {
            client_id: None,
            registration,
            preset: Preset::Strict,
            reads_tokens: false,
            fetches_logo: true,
        });
    let other = other.await.unwrap();
    let own = (world.client_id.clone(), world.secret.clone());
    (world.client_id, world.secret) = (other.client_id, other.client_secret);
    assert_eq!(code(world.redeem(&given).await), Some("invalid_grant"));
    (world.client_id, world.secret) = own;
    world.redeem(&given).await.unwrap();
}

#[tokio::test]
async fn a_client_with_a_wrong_secret_or_a_weaker_method_is_refused() {
    let mut world = World::new(json!({})).await;
    let given = world.code(&[]).await;
    let right = world.secret.replace(SecretString::from("wrong"));
    assert_eq!(code(world.redeem(&given).await), Some("invalid_client"));
    let mut posted = world.redemption(&given);
    world.secret = None;
    posted.push(("client_id".to_owned(), world.client_id.clone()));
    assert_eq!(
        code(world.token(&posted, None).await),
        Some("invalid_client")
    );
    let secret = right.as_ref().unwrap().expose().to_owned();
    posted.push(("client_secret".to_owned(), secret));
    assert_eq!(
        code(world.token(&posted, None).await),
        Some("invalid_client")
    );
    world.secret = right;
    world.redeem(&given).await.unwrap();
}

#[tokio::test]
async fn an_assertion_counts_once() {
    let method = json!({"token_endpoint_auth_method": "private_key_jwt"});
    let mut world = World::new(method).await;
    let (first, second) = (world.code(&[]).await, world.code(&[]).await);
    let parameters = world.redemption(&first);
    world.token(&parameters, None).await.unwrap();
    let mut replayed = world.redemption(&second);
    for (name, value) in &mut replayed {
        if name == "client_assertion" {
            *value = parameters
                .iter()
                .find(|(one, _)| one == name)
                .unwrap()
                .1
                .clone();
        }
    }
    assert_eq!(
        code(world.token(&replayed, None).await),
        Some("invalid_client")
    );
    world.redeem(&second).await.unwrap();
}

#[tokio::test]
async fn guesses_are_limited_and_a_person_is_never_told_who_is_known() {
    let world = World::new(json!({})).await;
    let view = world.asking(&[]).await;
    let visitor = world.visitor(&view.id);
    let guess = async |identifier: &str| {
        let mut attempt = alice("000000");
        attempt.identifier = identifier.into();
        world
            .provider
            .authenticate(&visitor, attempt)
            .await
            .unwrap_err()
    };
    let (known, unknown) = (guess("alice").await, guess("bob").await);
    assert_eq!(known, unknown);
    for _ in 0..3 {
        guess("alice").await;
    }
    let refused = world
        .provider
        .authenticate(&visitor, alice("111111"))
        .await
        .unwrap_err();
    assert!(matches!(refused.kind, ErrorKind::TooMany { .. }));
}

#[tokio::test]
async fn nobody_agrees_to_other_claims_than_were_shown() {
    let world = World::new(json!({})).await;
    let view = world.asking(&[]).await;
    let visitor = world.visitor(&view.id);
    let early = world.provider.agree(&visitor, &everything(&view)).await;
    assert_eq!(early.unwrap_err().kind, ErrorKind::Conflict);
    world
        .provider
        .authenticate(&visitor, alice("111111"))
        .await
        .unwrap();
    let more = PersonsAgreement {
        claims: vec!["address".to_owned()],
        scopes: Vec::new(),
    };
    let refused = world.provider.agree(&visitor, &more).await;
    assert_eq!(refused.unwrap_err().kind, ErrorKind::BadRequest);
    world
        .provider
        .agree(&visitor, &everything(&view))
        .await
        .unwrap();
    let again = world.provider.agree(&visitor, &everything(&view)).await;
    assert_eq!(again.unwrap_err().kind, ErrorKind::Conflict);
}

#[tokio::test]
async fn a_token_of_another_kind_or_provider_opens_nothing() {
    let mut world = World::new(json!({})).await;
    let tokens = world.tokens(&[]).await;
    let id_token = tokens.id_token.unwrap();
    let forged = world.signed(json!({"typ": "at+jwt"}), json!({"iss": "x"}));
    for token in [id_token, forged.into(), SecretString::from("x")] {
        assert_eq!(code(world.userinfo(&token).await), Some("invalid_token"));
    }
    world.shared.clock.advance(601);
    assert_eq!(
        code(world.userinfo(&tokens.access_token).await),
        Some("invalid_token")
    );
}

#[tokio::test]
async fn keys_at_an_address_that_points_inward_are_never_fetched() {
    let (_, provider) = crate::world::provider(OnePerson::default(), Preset::Strict).await;
    let registration = serde_json::from_value(json!({
        "redirect_uris": [URI],
        "token_endpoint_auth_method": "private_key_jwt",
        "jwks_uri": "https://127.0.0.1:1/keys"
    }));
    let made = provider.register(selfsame_sign_in::clients::WantedClient {
        client_id: Some("inward".to_owned()),
        registration: registration.unwrap(),
        preset: Preset::Strict,
        reads_tokens: false,
        fetches_logo: true,
    });
    made.await.unwrap();
    let mut world = World::new(json!({"token_endpoint_auth_method": "private_key_jwt"})).await;
    world.provider = provider;
    world.client_id = "inward".to_owned();
    let refused = world.redeem(&SecretString::from("a.b")).await;
    assert_eq!(code(refused), Some("invalid_client"));
}
