//! Refresh tokens, introspection and revocation.

use selfsame_crypto::SecretString;
use selfsame_driver::Result;
use selfsame_oauth::form;
use selfsame_oauth::introspection::Introspection;
use selfsame_oidc::token::GrantedTokens;
use selfsame_oidc::{ClientRegistration, Preset};
use selfsame_sign_in::CalledEndpoint;
use selfsame_sign_in::access::PresentedToken;
use selfsame_sign_in::clients::WantedClient;
use serde_json::json;

use crate::world::{URI, World, code, jwt};

async fn offline() -> (World, GrantedTokens) {
    let grants = json!({"grant_types": ["authorization_code", "refresh_token"]});
    let mut world = World::new(grants).await;
    let scope = ("scope", "openid email offline_access");
    let tokens = world.tokens(&[scope]).await;
    (world, tokens)
}

async fn refresh(world: &World, token: &SecretString, scope: &str) -> Result<GrantedTokens> {
    let parameters = [
        ("grant_type", "refresh_token"),
        ("refresh_token", token.expose()),
        ("scope", scope),
    ];
    let parameters = parameters.map(|(name, value)| (name.to_owned(), value.to_owned()));
    world.token(&parameters, None).await
}

async fn ask(world: &World, token: &SecretString, is_revoked: bool) -> Result<Introspection> {
    let url = world.provider.place().endpoint("introspect").unwrap();
    let body = form::encode(&[("token", token.expose())]);
    let basic = world.basic();
    let called = CalledEndpoint {
        url: &url,
        method: "POST",
        basic: basic.as_deref(),
        proof: None,
        attestation: None,
        body: body.as_bytes(),
    };
    match is_revoked {
        true => world
            .provider
            .revoke(&called)
            .await
            .map(|()| Introspection::default()),
        false => world.provider.introspect(&called).await,
    }
}

#[tokio::test]
async fn a_refreshed_token_is_of_the_same_sign_in_and_person() {
    let (world, first) = offline().await;
    let url = "http://localhost:9/issuer/credential".parse().unwrap();
    let holder = async |token: &SecretString| {
        let presented = PresentedToken {
            url: &url,
            method: "POST",
            is_dpop: false,
            token: token.expose(),
            proof: None,
        };
        world.provider.holder_of(&presented).await.unwrap()
    };
    let before = holder(&first.access_token).await;
    let refreshed = refresh(&world, first.refresh_token.as_ref().unwrap(), "").await;
    let second = refreshed.unwrap().access_token;
    assert_ne!(first.access_token.expose(), second.expose());
    let after = holder(&second).await;
    assert_eq!(before.sign_in, after.sign_in);
    assert_eq!(before.subject, after.subject);
    assert_eq!(before.key, None);
    assert!(before.ends > before.expires);
}

#[tokio::test]
async fn a_refresh_token_is_replaced_at_each_use_and_the_old_one_ends_everything() {
    let (world, first) = offline().await;
    let old = first.refresh_token.unwrap();
    let second = refresh(&world, &old, "").await.unwrap();
    world.userinfo(&second.access_token).await.unwrap();
    let new = second.refresh_token.unwrap();
    assert_eq!(code(refresh(&world, &old, "").await), Some("invalid_grant"));
    assert_eq!(code(refresh(&world, &new, "").await), Some("invalid_grant"));
    assert_eq!(
        code(world.userinfo(&second.access_token).await),
        Some("invalid_token")
    );
}

#[tokio::test]
async fn a_refresh_token_gives_no_more_than_was_granted() {
    let (world, tokens) = offline().await;
    let token = tokens.refresh_token.unwrap();
    assert_eq!(
        code(refresh(&world, &token, "openid phone").await),
        Some("invalid_scope")
    );
    let fewer = refresh(&world, &token, "email").await.unwrap();
    assert_eq!(fewer.scope, "email");
    assert!(fewer.id_token.is_none());
    assert_eq!(
        code(world.userinfo(&fewer.access_token).await),
        Some("insufficient_scope")
    );
}

#[tokio::test]
async fn without_the_scope_or_the_grant_there_is_no_refresh_token() {
    let mut world = World::new(json!({})).await;
    let tokens = world.tokens(&[("scope", "openid offline_access")]).await;
    assert!(tokens.refresh_token.is_none());
    let refused = refresh(&world, &SecretString::from("a.b"), "").await;
    assert_eq!(code(refused), Some("unauthorized_client"));
}

#[tokio::test]
async fn a_client_asks_about_its_own_tokens_and_a_resource_server_about_all() {
    let (mut world, tokens) = offline().await;
    let told = ask(&world, &tokens.access_token, false).await.unwrap();
    assert!(told.active && told.client_id.as_deref() == Some(&world.client_id));
    let refresh = tokens.refresh_token.as_ref().unwrap();
    assert!(ask(&world, refresh, false).await.unwrap().active);
    for (reads_tokens, is_told) in [(false, false), (true, true)] {
        let other = world.provider.register(WantedClient {
            client_id: None,
            registration: ClientRegistration::web(URI),
            preset: Preset::Strict,
            reads_tokens,
            fetches_logo: false,
        });
        let other = other.await.unwrap();
        (world.client_id, world.secret) = (other.client_id, other.client_secret);
        let told = ask(&world, &tokens.access_token, false).await.unwrap();
        assert_eq!(told.active, is_told);
    }
    let asked = jwt(&tokens.access_token)
        .text("client_id")
        .unwrap()
        .to_owned();
    world.provider.remove_client(&asked).await.unwrap();
    assert!(
        !ask(&world, &tokens.access_token, false)
            .await
            .unwrap()
            .active
    );
    world.secret = Some(SecretString::from("wrong"));
    let refused = ask(&world, &tokens.access_token, false).await;
    assert_eq!(code(refused), Some("invalid_client"));
}

#[tokio::test]
async fn a_revoked_token_ends_and_a_revoked_refresh_token_ends_all() {
    let (world, tokens) = offline().await;
    ask(&world, &tokens.access_token, true).await.unwrap();
    assert_eq!(
        code(world.userinfo(&tokens.access_token).await),
        Some("invalid_token")
    );
    let token = tokens.refresh_token.unwrap();
    let next = refresh(&world, &token, "").await.unwrap();
    world.userinfo(&next.access_token).await.unwrap();
    let token = next.refresh_token.unwrap();
    ask(&world, &token, true).await.unwrap();
    assert_eq!(
        code(world.userinfo(&next.access_token).await),
        Some("invalid_token")
    );
    assert_eq!(
        code(refresh(&world, &token, "").await),
        Some("invalid_grant")
    );
    // Revoking it again, or what never was, is no error.
    ask(&world, &token, true).await.unwrap();
    ask(&world, &SecretString::from("x"), true).await.unwrap();
}
