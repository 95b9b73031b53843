//! The provider's own keys.

use selfsame_crypto::Algorithm;
use serde_json::json;

use crate::world::{World, beside, jwt};

#[tokio::test]
async fn keys_rotate_without_a_refused_token() {
    let mut world = World::new(json!({})).await;
    let before = world.tokens(&[]).await;
    let published = world.keys().await;
    world.provider.rotate_keys().await.unwrap();
    world.userinfo(&before.access_token).await.unwrap();
    let after = world.tokens(&[]).await;
    let kid = |token| jwt(token).header().kid.clone();
    assert_ne!(kid(&before.access_token), kid(&after.access_token));
    // A client that has not fetched the keys again knows the new one already.
    let id_token = jwt(after.id_token.as_ref().unwrap());
    assert_eq!(
        id_token.verify_with(&published, &[Algorithm::Es256]),
        Ok(())
    );
    let old = jwt(before.id_token.as_ref().unwrap());
    assert_eq!(
        old.verify_with(&world.keys().await, &[Algorithm::Es256]),
        Ok(())
    );
}

#[tokio::test]
async fn a_process_that_missed_two_rotations_accepts_a_token_of_the_newest_key() {
    let mut world = World::new(json!({})).await;
    let other = beside(&world.shared);
    other.keys().await.unwrap();
    for _ in 0..2 {
        world.provider.rotate_keys().await.unwrap();
    }
    let tokens = world.tokens(&[]).await;
    world.provider = other;
    world.userinfo(&tokens.access_token).await.unwrap();
}

#[tokio::test]
async fn each_algorithm_signs_and_is_verified_by_the_published_keys() {
    for alg in ["RS256", "PS256", "ES256", "EdDSA"] {
        let mut world = World::new(json!({"id_token_signed_response_alg": alg})).await;
        let tokens = world.tokens(&[]).await;
        let id_token = jwt(tokens.id_token.as_ref().unwrap());
        let alg: Algorithm = alg.parse().unwrap();
        assert_eq!(id_token.verify_with(&world.keys().await, &[alg]), Ok(()));
        assert_eq!(id_token.header().alg, alg);
        world.userinfo(&tokens.access_token).await.unwrap();
    }
}
