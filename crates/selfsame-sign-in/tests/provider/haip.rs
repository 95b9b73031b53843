//! What HAIP 1.0 demands of those who get credentials by signing in, where the issuer keeps it.

use selfsame_crypto::SecretString;
use selfsame_haip::WantedProfile;
use selfsame_oidc::Preset;
use selfsame_sign_in::view::BegunSignIn;
use serde_json::json;

use crate::attested::{Attesting, gate};
use crate::credentials::credentials;
use crate::world::{OnePerson, ProofOf, World, alice, code, everything, provider_for};

const SCOPE: (&str, &str) = ("scope", "pass offline_access");

async fn profiled() -> Attesting {
    Attesting::of(credentials().keeping(Some(WantedProfile::Haip))).await
}

fn proof(world: &World, endpoint: &'static str, jti: &'static str) -> String {
    world.proof(&ProofOf {
        endpoint,
        method: "POST",
        jti,
        token: None,
        nonce: None,
    })
}

/// The code of somebody who signed in, for a request that was pushed.
async fn code_of(attesting: &mut Attesting, proof: Option<&str>) -> SecretString {
    let pop = attesting.pop(&json!({}));
    let pushed = attesting.push_with(Some(&pop), &[SCOPE], proof).await;
    let uri = pushed.unwrap().request_uri;
    let asked = [
        ("request_uri", uri.as_str()),
        ("redirect_uri", ""),
        ("response_type", ""),
        ("scope", ""),
        ("state", ""),
        ("nonce", ""),
        ("code_challenge", ""),
        ("code_challenge_method", ""),
    ];
    let world = &attesting.world;
    let view = world.asking(&asked).await;
    let visitor = world.visitor(&view.id);
    let provider = &world.provider;
    provider
        .authenticate(&visitor, alice("111111"))
        .await
        .unwrap();
    let landing = provider.agree(&visitor, &everything(&view)).await;
    landing.unwrap().code.unwrap()
}

fn redemption(world: &World, code: &SecretString) -> Vec<(String, String)> {
    let all = world.redemption(code).into_iter();
    all.filter(|(name, _)| !name.starts_with("client_"))
        .collect()
}

fn borrowed(parameters: &[(String, String)]) -> Vec<(&str, &str)> {
    let all = parameters.iter();
    all.map(|(name, value)| (name.as_str(), value.as_str()))
        .collect()
}

#[tokio::test]
async fn an_attested_wallet_with_a_key_gets_a_token_for_a_request_that_it_pushed() {
    let mut attesting = profiled().await;
    let pushing = proof(&attesting.world, "par", "1");
    let given = code_of(&mut attesting, Some(&pushing)).await;
    let parameters = redemption(&attesting.world, &given);
    let pop = attesting.pop(&json!({}));
    let redeeming = proof(&attesting.world, "token", "2");
    let tokens = attesting
        .token_with(Some(&pop), &borrowed(&parameters), Some(&redeeming))
        .await
        .unwrap();
    assert_eq!(tokens.token_type, "DPoP");
    assert!(tokens.scope.contains("pass"));
}

#[tokio::test]
async fn a_request_for_a_credential_that_is_not_pushed_is_refused_and_its_client_is_told() {
    let attesting = profiled().await;
    let landing = attesting.world.landed(&[SCOPE]).await;
    let parameters = format!("{landing:?}");
    assert!(parameters.contains("invalid_request"), "{parameters}");
    // A request for something else may come as it is.
    let begun = attesting.world.begin(&[]).await.unwrap();
    assert!(matches!(begun, BegunSignIn::Asking(_)));
}

#[tokio::test]
async fn a_wallet_without_attestation_pushes_no_request_for_a_credential() {
    let mut world = World::new(json!({"token_endpoint_auth_method": "none"})).await;
    let shared = world.shared.clone();
    let gate = gate(&shared, "allowed").await;
    let credentials = credentials().keeping(Some(WantedProfile::Haip));
    let system = (OnePerson::default(), Preset::Strict);
    world.provider = provider_for(&shared, system, Some(gate), credentials);
    let push = async |scope: &str| {
        let url = world.provider.place().endpoint("par").unwrap();
        let body = selfsame_oauth::form::encode(&world.request(&[("scope", scope)]));
        let called = selfsame_sign_in::CalledEndpoint {
            url: &url,
            method: "POST",
            basic: None,
            proof: None,
            attestation: None,
            body: body.as_bytes(),
        };
        world.provider.push(&called).await
    };
    assert_eq!(code(push("pass").await), Some("invalid_client"));
    push("openid").await.unwrap();
}

#[tokio::test]
async fn a_code_for_a_credential_is_redeemed_with_an_attestation_and_a_key_alone() {
    let mut attesting = profiled().await;
    let given = code_of(&mut attesting, None).await;
    let parameters = redemption(&attesting.world, &given);
    let pop = attesting.pop(&json!({}));
    let sent = borrowed(&parameters);
    let unbound = attesting.token_with(Some(&pop), &sent, None).await;
    assert_eq!(code(unbound), Some("invalid_dpop_proof"));
    // Nothing was used up but the proof of the attested key.
    let pop = attesting.pop(&json!({}));
    let redeeming = proof(&attesting.world, "token", "3");
    let tokens = attesting
        .token_with(Some(&pop), &borrowed(&parameters), Some(&redeeming))
        .await
        .unwrap();
    // So it is with the refresh token.
    let refresh = tokens.refresh_token.unwrap();
    let parameters = [
        ("grant_type", "refresh_token"),
        ("refresh_token", refresh.expose()),
    ];
    let pop = attesting.pop(&json!({}));
    let unbound = attesting.token_with(Some(&pop), &parameters, None).await;
    assert_eq!(code(unbound), Some("invalid_dpop_proof"));
    let pop = attesting.pop(&json!({}));
    let refreshing = proof(&attesting.world, "token", "4");
    let refreshed = attesting.token_with(Some(&pop), &parameters, Some(&refreshing));
    refreshed.await.unwrap();
}

#[tokio::test]
async fn an_issuer_without_the_profile_demands_none_of_it() {
    let mut attesting = Attesting::of(credentials()).await;
    let given = code_of(&mut attesting, None).await;
    let parameters = redemption(&attesting.world, &given);
    let pop = attesting.pop(&json!({}));
    let sent = borrowed(&parameters);
    let tokens = attesting.token_with(Some(&pop), &sent, None).await;
    assert_eq!(tokens.unwrap().token_type, "Bearer");
}
