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
