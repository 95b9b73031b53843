//! Pushed requests and signed request objects.

use selfsame_driver::Result;
use selfsame_oauth::form;
use selfsame_oidc::Preset;
use selfsame_sign_in::view::BegunSignIn;
use selfsame_sign_in::{CalledEndpoint, PushedAnswer};
use serde_json::{Value, json};

use crate::world::{ISSUER, OnePerson, ProofOf, World, alice, code, everything};

async fn push(
    world: &World,
    parameters: &[(String, String)],
    proof: Option<&str>,
) -> Result<PushedAnswer> {
    let url = world.provider.place().endpoint("par").unwrap();
    let body = form::encode(parameters);
    let basic = world.basic();
    let called = CalledEndpoint {
        url: &url,
        method: "POST",
        basic: basic.as_deref(),
        proof,
        attestation: None,
        body: body.as_bytes(),
    };
    world.provider.push(&called).await
}

async fn arrive(world: &World, uri: &str) -> Result<BegunSignIn> {
    let named = [
        ("client_id", world.client_id.as_str()),
        ("request_uri", uri),
    ];
    let named = named.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let form = selfsame_oauth::Form::of_parameters(named);
    world.provider.begin(form, &world.browser).await
}

fn object(world: &World, change: &[(&str, Value)]) -> String {
    let parameters = world.request(&[]).into_iter();
    let mut claims: Value = parameters
        .map(|(name, value)| (name, Value::from(value)))
        .collect();
    claims["iss"] = json!(world.client_id);
    claims["aud"] = json!(ISSUER);
    claims["exp"] = json!(world.shared.clock.now().plus(60).0);
    for (name, value) in change {
        claims[*name] = value.clone();
    }
    world.signed(json!({"typ": "oauth-authz-req+jwt"}), claims)
}

#[tokio::test]
async fn a_pushed_request_is_taken_once_and_by_its_own_client() {
    let world = World::new(json!({})).await;
    let answer = push(&world, &world.request(&[]), None).await.unwrap();
    assert_eq!(answer.expires_in, 90);
    let mut other = World::new(json!({})).await;
    other.provider = world.provider.clone();
    assert!(arrive(&other, &answer.request_uri).await.is_err());
    assert!(matches!(
        arrive(&world, &answer.request_uri).await,
        Ok(BegunSignIn::Asking(_))
    ));
    let again = arrive(&world, &answer.request_uri).await;
    assert_eq!(code(again), Some("invalid_request_uri"));
}

#[tokio::test]
async fn an_address_that_is_not_ours_is_refused_and_never_fetched() {
    let world = World::new(json!({})).await;
    for uri in [
        "https://127.0.0.1/request",
        "urn:ietf:params:oauth:request_uri:x",
        "x",
    ] {
        let refused = arrive(&world, uri).await;
        assert_eq!(code(refused), Some("invalid_request_uri"), "{uri}");
    }
}

#[tokio::test]
async fn a_request_with_an_error_is_refused_when_it_is_pushed() {
    let world = World::new(json!({})).await;
    let refused = push(&world, &world.request(&[("response_type", "token")]), None).await;
    assert_eq!(code(refused), Some("unsupported_response_type"));
    let nested = world.request(&[("request_uri", "urn:x")]);
    assert_eq!(
        code(push(&world, &nested, None).await),
        Some("invalid_request")
    );
}

#[tokio::test]
async fn the_parameters_of_a_signed_object_replace_the_others() {
    let registered = json!({
        "token_endpoint_auth_method": "private_key_jwt", "require_signed_request_object": true
    });
    let world = World::new(registered).await;
    let signed = object(&world, &[("scope", json!("openid"))]);
    let view = world
        .asking(&[("request", &signed), ("scope", "openid email")])
        .await;
    assert!(view.voluntary.is_empty());
    let plain = world.begin(&[]).await;
    assert_eq!(code(plain), Some("invalid_request"));
}

#[tokio::test]
async fn a_signed_object_of_another_client_or_key_is_refused() {
    let method = json!({"token_endpoint_auth_method": "private_key_jwt"});
    let world = World::new(method.clone()).await;
    let other = World::new(method).await;
    for signed in [
        object(&world, &[("client_id", json!("other"))]),
        object(&world, &[("aud", json!("https://other.example"))]),
        object(&world, &[("exp", json!(1))]),
        other.signed(
            json!({}),
            json!({"client_id": world.client_id, "aud": ISSUER}),
        ),
        "eyJhbGciOiJub25lIn0.e30.".to_owned(),
    ] {
        let refused = world.begin(&[("request", &signed)]).await;
        assert_eq!(code(refused), Some("invalid_request_object"));
    }
}

#[tokio::test]
async fn the_fapi_preset_wants_a_pushed_request_a_signed_client_and_a_bound_token() {
    let method = json!({"token_endpoint_auth_method": "private_key_jwt"});
    let world = World::with(OnePerson::default(), Preset::Fapi2, method).await;
    assert_eq!(code(world.begin(&[]).await), Some("invalid_request"));
    let mut request = world.request(&[]);
    request.retain(|(name, _)| name != "client_id");
    request.extend(world.credentials("1"));
    let answer = push(&world, &request, None).await.unwrap();
    let BegunSignIn::Asking(view) = arrive(&world, &answer.request_uri).await.unwrap() else {
        panic!("landed");
    };
    let visitor = world.visitor(&view.id);
    world
        .provider
        .authenticate(&visitor, alice("111111"))
        .await
        .unwrap();
    let landing = world
        .provider
        .agree(&visitor, &everything(&view))
        .await
        .unwrap();
    let given = landing.code.unwrap();

    let unbound = world.redeem(&given).await;
    assert_eq!(code(unbound), Some("invalid_dpop_proof"));
    let mut of = ProofOf {
        endpoint: "token",
        method: "POST",
        jti: "1",
        token: None,
        nonce: None,
    };
    let mut parameters = world.redemption(&given);
    parameters.retain(|(name, _)| !name.starts_with("client_"));
    let with = |jti: &str| {
        let mut all = parameters.clone();
        all.extend(world.credentials(jti));
        all
    };
    let first = world.token(&with("2"), Some(&world.proof(&of))).await;
    assert_eq!(code(first), Some("use_dpop_nonce"));
    let nonce = world.provider.next_nonce().await.unwrap();
    of.nonce = Some(&nonce);
    let tokens = world
        .token(&with("3"), Some(&world.proof(&of)))
        .await
        .unwrap();
    assert_eq!(tokens.token_type, "DPoP");
    let userinfo = ProofOf {
        endpoint: "userinfo",
        method: "GET",
        jti: "2",
        token: Some(&tokens.access_token),
        nonce: Some(&nonce),
    };
    let proof = world.proof(&userinfo);
    world
        .userinfo_with(&tokens.access_token, Some(&proof))
        .await
        .unwrap();
}
