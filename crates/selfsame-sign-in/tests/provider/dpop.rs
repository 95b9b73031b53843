//! Tokens that are bound to a key.

use serde_json::json;

use crate::world::{ProofOf, World, code};

const TOKEN: ProofOf<'_> = ProofOf {
    endpoint: "token",
    method: "POST",
    jti: "1",
    token: None,
    nonce: None,
};

#[tokio::test]
async fn a_token_that_is_bound_opens_nothing_without_its_key() {
    let mut world = World::new(json!({})).await;
    let given = world.code(&[]).await;
    let proof = world.proof(&TOKEN);
    let tokens = world
        .token(&world.redemption(&given), Some(&proof))
        .await
        .unwrap();
    assert_eq!(tokens.token_type, "DPoP");
    let token = &tokens.access_token;
    let stolen = world.userinfo_with(token, None).await;
    assert_eq!(code(stolen), Some("invalid_token"));
    let of = ProofOf {
        endpoint: "userinfo",
        method: "GET",
        jti: "2",
        token: Some(token),
        nonce: None,
    };
    let proof = world.proof(&of);
    world.userinfo_with(token, Some(&proof)).await.unwrap();
    let replayed = world.userinfo_with(token, Some(&proof)).await;
    assert_eq!(code(replayed), Some("invalid_dpop_proof"));
    let mut thief = World::new(json!({})).await;
    thief.provider = world.provider.clone();
    let forged = thief.proof(&of);
    let refused = world.userinfo_with(token, Some(&forged)).await;
    assert_eq!(code(refused), Some("invalid_token"));
}

#[tokio::test]
async fn a_code_that_is_bound_to_a_key_is_redeemed_with_that_key() {
    let mut world = World::new(json!({})).await;
    let thumbprint = world.key.public().to_jwk().thumbprint();
    let jkt = selfsame_crypto::encoding::base64url_encode(&thumbprint);
    let given = world.code(&[("dpop_jkt", &jkt)]).await;
    assert_eq!(code(world.redeem(&given).await), Some("invalid_grant"));
    let proof = world.proof(&TOKEN);
    world
        .token(&world.redemption(&given), Some(&proof))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_proof_that_was_used_is_refused_as_a_proof_at_the_token_endpoint() {
    let mut world = World::new(json!({})).await;
    let given = world.code(&[]).await;
    let proof = world.proof(&TOKEN);
    let mut wrong = world.redemption(&given);
    wrong.retain(|(name, _)| name != "code_verifier");
    let refused = world.token(&wrong, Some(&proof)).await;
    assert_eq!(code(refused), Some("invalid_grant"));
    let right = world.redemption(&given);
    let replayed = world.token(&right, Some(&proof)).await;
    assert_eq!(code(replayed), Some("invalid_dpop_proof"));
    let fresh = world.proof(&ProofOf { jti: "2", ..TOKEN });
    world.token(&right, Some(&fresh)).await.unwrap();
}

#[tokio::test]
async fn a_proof_that_was_used_is_refused_as_a_proof_where_requests_are_pushed() {
    let world = World::new(json!({})).await;
    let url = world.provider.place().endpoint("par").unwrap();
    let body = selfsame_oauth::form::encode(&world.request(&[]));
    let basic = world.basic();
    let push = async |proof: &str| {
        let called = selfsame_sign_in::CalledEndpoint {
            url: &url,
            method: "POST",
            basic: basic.as_deref(),
            proof: Some(proof),
            attestation: None,
            body: body.as_bytes(),
        };
        world.provider.push(&called).await
    };
    let of = |jti| {
        world.proof(&ProofOf {
            endpoint: "par",
            jti,
            ..TOKEN
        })
    };
    let proof = of("1");
    push(&proof).await.unwrap();
    assert_eq!(code(push(&proof).await), Some("invalid_dpop_proof"));
    push(&of("2")).await.unwrap();
}
