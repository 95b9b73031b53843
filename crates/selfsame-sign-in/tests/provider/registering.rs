//! Dynamic registration behind an initial token.

use selfsame_oidc::Preset;
use selfsame_sign_in::registering::WantedInitialToken;
use serde_json::{Value, json};

use crate::world::{OnePerson, URI, code, provider};

fn registration(members: Value) -> Vec<u8> {
    let mut all = json!({"redirect_uris": [URI], "client_name": "A"});
    all.as_object_mut()
        .unwrap()
        .extend(members.as_object().unwrap().clone());
    all.to_string().into_bytes()
}

#[tokio::test]
async fn a_program_registers_a_client_with_an_initial_token_as_often_as_that_says() {
    let (_, provider) = provider(OnePerson::default(), Preset::Strict).await;
    let wanted = WantedInitialToken {
        uses: 1,
        lifetime: 60,
    };
    let token = provider.initial_token(wanted).await.unwrap();
    let body = registration(json!({}));
    let refused = provider.register_dynamically(None, &body).await;
    assert_eq!(code(refused), Some("invalid_token"));
    let made = provider
        .register_dynamically(Some(&token), &body)
        .await
        .unwrap();
    assert!(made.client_secret.is_some());
    let again = provider.register_dynamically(Some(&token), &body).await;
    assert_eq!(code(again), Some("invalid_token"));

    let manager = made.registration_access_token.as_ref();
    let id = &made.client_id;
    let own = provider.own_registration(id, manager).await.unwrap();
    assert!(own.client_secret.is_none());
    assert_eq!(
        code(provider.own_registration(id, Some(&token)).await),
        Some("invalid_token")
    );
    let changed = registration(json!({"client_name": "B", "client_id": id}));
    let changed = provider
        .change_own_registration(id, manager, &changed)
        .await
        .unwrap();
    assert_eq!(changed.registration.client_name.as_deref(), Some("B"));
    provider.remove_own_registration(id, manager).await.unwrap();
    assert_eq!(
        code(provider.own_registration(id, manager).await),
        Some("invalid_token")
    );
}

#[tokio::test]
async fn a_registration_with_an_error_is_refused_by_the_codes_of_the_specification() {
    let (_, provider) = provider(OnePerson::default(), Preset::Strict).await;
    let wanted = WantedInitialToken {
        uses: 10,
        lifetime: 60,
    };
    let token = provider.initial_token(wanted).await.unwrap();
    for (members, expected) in [
        (
            json!({"redirect_uris": ["http://rp.example/cb"]}),
            "invalid_redirect_uri",
        ),
        (
            json!({"redirect_uris": ["https://rp.example/#a"]}),
            "invalid_redirect_uri",
        ),
        (
            json!({"jwks_uri": "file:///etc/passwd"}),
            "invalid_client_metadata",
        ),
        (
            json!({"id_token_signed_response_alg": "none"}),
            "invalid_client_metadata",
        ),
        (
            json!({"sector_identifier_uri": "https://127.0.0.1/x"}),
            "invalid_client_metadata",
        ),
    ] {
        let body = registration(members.clone());
        let refused = provider.register_dynamically(Some(&token), &body).await;
        assert_eq!(code(refused), Some(expected), "{members}");
    }
}
