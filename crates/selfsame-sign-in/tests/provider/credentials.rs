//! Access tokens that get credentials: by scope, and by authorization details.

use std::collections::BTreeSet;

use selfsame_driver::Result;
use selfsame_oauth::AuthorizationDetail;
use selfsame_oidc::Preset;
use selfsame_oidc::token::GrantedTokens;
use selfsame_sign_in::access::PresentedToken;
use selfsame_sign_in::view::PersonsAgreement;
use selfsame_sign_in::{CredentialScopes, SignedInHolder};
use serde_json::json;

use crate::world::{OnePerson, World, alice, code, everything};

const DETAILS: &str = r#"[{"type":"openid_credential","credential_configuration_id":"pass_1_sd",
    "locations":["http://localhost:9/issuer"]}]"#;

/// The credential `pass`, which is made from a name.
pub fn credentials() -> CredentialScopes {
    let claims = BTreeSet::from(["name".to_owned()]);
    [("pass".to_owned(), claims)].into_iter().collect()
}

async fn wallet() -> World {
    World::new(json!({"token_endpoint_auth_method": "none"})).await
}

async fn holder(world: &World, tokens: &GrantedTokens) -> Result<SignedInHolder> {
    let url = "http://localhost:9/issuer/credential".parse().unwrap();
    let presented = PresentedToken {
        url: &url,
        method: "POST",
        is_dpop: false,
        token: tokens.access_token.expose(),
        proof: None,
    };
    world.provider.holder_of(&presented).await
}

#[tokio::test]
async fn a_scope_for_a_credential_asks_the_person_for_the_claims_it_is_made_from() {
    let mut world = wallet().await;
    let asked = [("scope", "pass"), ("issuer_state", "offer-1")];
    let view = world.asking(&asked).await;
    assert_eq!(view.scopes, ["pass"]);
    assert_eq!(view.essential, ["name"]);
    let tokens = world.tokens(&asked).await;
    assert_eq!((tokens.scope.as_str(), tokens.expires_in), ("pass", 300));
    assert!(tokens.authorization_details.is_empty() && tokens.id_token.is_none());
    let holder = holder(&world, &tokens).await.unwrap();
    assert_eq!(holder.claims.get("name"), Some(&json!("Alice")));
    assert!(holder.scope.has("pass") && holder.details.is_empty());
    assert_eq!(holder.issuer_state.as_deref(), Some("offer-1"));
    assert_eq!(holder.client_id, world.client_id);
}

#[tokio::test]
async fn authorization_details_come_back_with_the_identifiers_of_what_they_grant() {
    let mut world = wallet().await;
    let tokens = world
        .tokens(&[("scope", ""), ("authorization_details", DETAILS)])
        .await;
    let identifiers = vec!["pass_1_sd".to_owned()];
    let granted = [AuthorizationDetail {
        credential_identifiers: Some(identifiers),
        locations: Some(vec!["http://localhost:9/issuer".to_owned()]),
        ..AuthorizationDetail::requesting("pass_1_sd")
    }];
    assert_eq!(tokens.authorization_details, granted);
    assert_eq!(holder(&world, &tokens).await.unwrap().details, granted);
}

#[tokio::test]
async fn a_credential_that_the_person_does_not_permit_is_not_granted() {
    let world = wallet().await;
    let view = world
        .asking(&[("scope", "openid"), ("authorization_details", DETAILS)])
        .await;
    let visitor = world.visitor(&view.id);
    world
        .provider
        .authenticate(&visitor, alice("111111"))
        .await
        .unwrap();
    let without = PersonsAgreement {
        scopes: Vec::new(),
        ..everything(&view)
    };
    let landing = world.provider.agree(&visitor, &without).await.unwrap();
    let tokens = world.redeem(&landing.code.unwrap()).await.unwrap();
    assert_eq!(tokens.scope, "openid");
    assert!(tokens.authorization_details.is_empty());
    let holder = holder(&world, &tokens).await.unwrap();
    assert!(holder.details.is_empty() && !holder.scope.has("pass"));
}

#[tokio::test]
async fn details_of_what_is_not_issued_here_are_refused() {
    let world = wallet().await;
    for details in [
        r#"[{"type":"openid_credential","credential_configuration_id":"other_1_sd"}]"#,
        r#"[{"type":"openid_credential","credential_configuration_id":"pass_1_sd","locations":["https://evil.example"]}]"#,
        r#"[{"type":"payment","credential_configuration_id":"pass_1_sd"}]"#,
        "[]",
    ] {
        let landing = world.landed(&[("authorization_details", details)]).await;
        let error = ("error", "invalid_authorization_details".to_owned());
        assert!(
            landing.parameters.contains(&error),
            "{details}: {landing:?}"
        );
    }
    let nothing = world.landed(&[("scope", "")]).await;
    let error = ("error", "invalid_scope".to_owned());
    assert!(nothing.parameters.contains(&error));
}

#[tokio::test]
async fn a_client_gets_no_credential_whose_claims_it_may_not_know() {
    let members = json!({"token_endpoint_auth_method": "none", "claims": ["email"]});
    let world = World::new(members).await;
    let landing = world.landed(&[("scope", "pass")]).await;
    let error = ("error", "invalid_scope".to_owned());
    assert!(landing.parameters.contains(&error), "{landing:?}");
}

#[tokio::test]
async fn a_code_that_comes_again_or_with_another_verifier_gets_no_credential() {
    let mut world = wallet().await;
    let other = world.code(&[("scope", "pass")]).await;
    let mut wrong = world.redemption(&other);
    wrong.retain(|(name, _)| name != "code_verifier");
    wrong.push(("code_verifier".to_owned(), "w".repeat(43)));
    assert_eq!(code(world.token(&wrong, None).await), Some("invalid_grant"));

    let once = world.code(&[("scope", "pass")]).await;
    let tokens = world.redeem(&once).await.unwrap();
    assert!(holder(&world, &tokens).await.is_ok());
    assert_eq!(code(world.redeem(&once).await), Some("invalid_grant"));
    assert_eq!(code(holder(&world, &tokens).await), Some("invalid_token"));
}

#[tokio::test]
async fn the_metadata_say_which_credentials_can_be_asked_for() {
    let world = wallet().await;
    let metadata = serde_json::to_value(world.provider.metadata().unwrap()).unwrap();
    let scopes = metadata["scopes_supported"].as_array().unwrap();
    assert!(scopes.contains(&json!("pass")));
    let types = &metadata["authorization_details_types_supported"];
    assert_eq!(*types, json!(["openid_credential"]));
}

#[tokio::test]
async fn a_request_for_a_credential_has_a_code_challenge_by_every_preset() {
    let preset = Preset::LegacyEsignet;
    let members = json!({"token_endpoint_auth_method": "private_key_jwt",
        "id_token_signed_response_alg": "RS256"});
    let world = World::with(OnePerson::default(), preset, members).await;
    let without = [("code_challenge", ""), ("code_challenge_method", "")];
    let [one, other] = without;
    let landing = world.landed(&[("scope", "pass"), one, other]).await;
    let error = ("error", "invalid_request".to_owned());
    assert!(landing.parameters.contains(&error), "{landing:?}");
    world.asking(&[("scope", "openid"), one, other]).await;
}
