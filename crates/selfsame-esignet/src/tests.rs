//! Whole sign-ins by eSignet's interface, as its user interface and the published plan make them.

mod faults;
mod linked;
mod remote;
mod ui;
mod world;

use serde_json::{Value, json};
use world::{Answered, Setting, UserInterface, World, between};

/// The steps T01 to T07 of the published plan, by its own bodies, expressions and assertions.
#[tokio::test]
async fn the_published_plan_signs_a_person_in() {
    let world = World::legacy().await;
    let client = world.client().await;
    world.person("987654321", "Maja Lind").await;
    let mut interface = UserInterface::new(&world);
    let details = interface.begin(&client).await;
    assert!(details.has("\"errors\":[]"));
    let sent = interface.send_otp("987654321").await;
    assert!(sent.has("\"errors\":[]"), "{sent:?}");
    assert_eq!(sent.json()["response"]["maskedMobile"], "XXXXXX6789");
    let proven = interface.authenticate("987654321", "111111").await;
    assert!(proven.has("\"errors\":[]"), "{proven:?}");
    assert_eq!(proven.json()["response"]["consentAction"], "CAPTURE");
    let coded = interface.auth_code(&["name", "gender", "email"]).await;
    assert!(coded.has("\"errors\":[]"), "{coded:?}");
    let coded = coded.json();
    assert_eq!(coded["response"]["nonce"], "973eieljzng");
    assert_eq!(coded["response"]["state"], "eree2311");
    assert_eq!(coded["response"]["redirectUri"], world::REDIRECT);
    let token = interface.token(&client).await;
    assert!(token.has("\"id_token\""), "{token:?}");
    let access = token.found("\"access_token\":\"", "\"");
    let claims = interface.userinfo(&access).await;
    assert_eq!(claims.status, 200);
    let claims = between(&claims.text, ".", ".").unwrap();
    let claims = selfsame_crypto::encoding::base64url_decode(claims).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    assert_eq!(claims["name"], "Maja Lind");
    assert_eq!(claims["email"], "maja@example.org");
    assert_eq!(claims["sub"], id_token(&token)["sub"]);
}

fn id_token(token: &Answered) -> Value {
    let id_token = token.found("\"id_token\":\"", "\"");
    let claims = selfsame_crypto::jws::Compact::parse(&id_token).unwrap();
    claims.claims().unwrap()
}

#[tokio::test]
async fn the_hash_of_the_details_is_that_of_their_text() {
    let world = World::legacy().await;
    let client = world.client().await;
    let mut interface = UserInterface::new(&world);
    let details = interface.begin(&client).await;
    let response = details.found("\"response\":", ",\"errors\":");
    assert!(response.starts_with("{\"transactionId\":\""), "{response}");
    assert!(response.ends_with("\"clientName\":{\"@none\":\"clienta2\"},\"credentialScopes\":[]}"));
    let read: Value = serde_json::from_str(&response).unwrap();
    assert_eq!(
        read["authFactors"],
        json!([[{"type": "OTP", "count": 0, "subTypes": null}]])
    );
    assert_eq!(read["essentialClaims"], json!([]));
    let voluntary = read["voluntaryClaims"].as_array().unwrap();
    assert!(
        ["name", "gender", "email"]
            .iter()
            .all(|claim| voluntary.contains(&json!(claim)))
    );
    for wrong in ["", "AAAA"] {
        interface.hash = wrong.to_owned();
        assert_eq!(
            interface.send_otp("987654321").await.code(),
            "invalid_request"
        );
    }
}

#[tokio::test]
async fn a_person_who_agreed_before_is_not_asked_again() {
    let world = World::legacy().await;
    let client = world.client().await;
    world.person("987654321", "Maja Lind").await;
    for action in ["CAPTURE", "NOCAPTURE"] {
        let mut interface = UserInterface::new(&world);
        interface.begin(&client).await;
        interface.send_otp("987654321").await;
        let proven = interface.authenticate("987654321", "111111").await;
        assert_eq!(proven.json()["response"]["consentAction"], action);
        // What was agreed to wins over what the second call names.
        let claims = if action == "CAPTURE" {
            vec!["name", "email"]
        } else {
            vec!["gender"]
        };
        interface.auth_code(&claims).await;
        let token = interface.token(&client).await;
        let access = token.found("\"access_token\":\"", "\"");
        let claims = interface.userinfo(&access).await;
        let claims = selfsame_crypto::jws::Compact::parse(&claims.text)
            .unwrap()
            .claims()
            .unwrap();
        assert_eq!(
            (&claims["name"], claims.get("gender")),
            (&json!("Maja Lind"), None)
        );
    }
}

#[tokio::test]
async fn a_code_is_redeemed_once_however_many_race_for_it() {
    let world = World::legacy().await;
    let client = world.client().await;
    world.person("987654321", "Maja Lind").await;
    let mut interface = UserInterface::new(&world);
    interface.begin(&client).await;
    interface.send_otp("987654321").await;
    interface.authenticate("987654321", "111111").await;
    interface.auth_code(&["name"]).await;
    let (one, other, third) = tokio::join!(
        interface.token(&client),
        interface.token(&client),
        interface.token(&client)
    );
    let all = [one, other, third];
    assert_eq!(
        all.iter().filter(|one| one.status == 200).count(),
        1,
        "{all:?}"
    );
    let again = interface.token(&client).await;
    assert_eq!(
        (again.status, again.json()["error"].as_str()),
        (400, Some("invalid_grant"))
    );
}

#[tokio::test]
async fn after_a_wrong_code_another_is_sent_and_works() {
    let world = World::legacy().await;
    let client = world.client().await;
    world.person("987654321", "Maja Lind").await;
    let mut interface = UserInterface::new(&world);
    interface.begin(&client).await;
    interface.send_otp("987654321").await;
    let wrong = interface.authenticate("987654321", "000000").await;
    assert_eq!(wrong.code(), "auth_failed");
    assert_eq!(wrong.json()["response"], Value::Null);
    assert!(interface.send_otp("987654321").await.has("\"errors\":[]"));
    let right = interface.authenticate("987654321", "111111").await;
    assert!(right.has("\"errors\":[]"), "{right:?}");
}

#[tokio::test]
async fn attempts_are_limited_and_the_block_ends() {
    let world = World::legacy().await;
    let client = world.client().await;
    world.person("987654321", "Maja Lind").await;
    let mut interface = UserInterface::new(&world);
    interface.begin(&client).await;
    interface.send_otp("987654321").await;
    for _ in 0..3 {
        let wrong = interface.authenticate("987654321", "000000").await;
        assert_eq!(wrong.code(), "auth_failed");
    }
    let fourth = interface.authenticate("987654321", "111111").await;
    assert_eq!(fourth.code(), "no_attempts_left");
    let mut other = UserInterface::new(&world);
    other.begin(&client).await;
    assert_eq!(
        other.send_otp("987654321").await.code(),
        "individual_id_blocked"
    );
    world.clock.advance(300);
    let mut later = UserInterface::new(&world);
    later.begin(&client).await;
    assert!(later.send_otp("987654321").await.has("\"errors\":[]"));
}

#[tokio::test]
async fn calls_that_cannot_be_right_are_told_by_code_with_status_200() {
    let world = World::legacy().await;
    let client = world.client().await;
    world.person("987654321", "Maja Lind").await;
    let mut interface = UserInterface::new(&world);
    interface.begin(&client).await;
    for (answer, code) in [
        (
            interface.send_otp_by("987654321", "[\"PIGEON\"]").await,
            "invalid_otp_channel",
        ),
        (interface.send_otp(" ").await, "invalid_identifier"),
        (
            interface.authenticate("987654321", "11").await,
            "invalid_challenge_length",
        ),
        (interface.auth_code(&["name"]).await, "invalid_transaction"),
    ] {
        assert_eq!((answer.status, answer.code().as_str()), (200, code));
    }
    interface.send_otp("987654321").await;
    interface.authenticate("987654321", "111111").await;
    let unasked = interface.auth_code(&["name", "salary"]).await;
    assert_eq!(unasked.code(), "invalid_accepted_claim");
}

#[tokio::test]
async fn requests_of_other_sites_are_forbidden() {
    let world = World::legacy().await;
    let client = world.client().await;
    let mut interface = UserInterface::new(&world);
    interface.begin(&client).await;
    interface.cookie = "XSRF-TOKEN=00000000-0000-4000-8000-000000000000".to_owned();
    for answer in [
        interface.send_otp("987654321").await,
        interface.authenticate("987654321", "111111").await,
        interface.auth_code(&[]).await,
    ] {
        assert_eq!((answer.status, answer.code().as_str()), (403, "FORBIDDEN"));
    }
}

#[tokio::test]
async fn parameters_that_are_not_registered_are_refused() {
    let world = World::legacy().await;
    let client = world.client().await;
    let mut interface = UserInterface::new(&world);
    for (change, code) in [
        (("clientId", json!("nobody")), "invalid_client_id"),
        (
            ("redirectUri", json!("https://evil.example/cb")),
            "invalid_redirect_uri",
        ),
        (("responseType", json!("token")), "invalid_response_type"),
        (("scope", json!("profile")), "invalid_scope"),
        (
            ("codeChallengeMethod", json!("plain")),
            "unsupported_pkce_challenge_method",
        ),
    ] {
        let refused = interface.begin_with(&client, Some(change)).await;
        assert_eq!((refused.status, refused.code().as_str()), (200, code));
    }
}

#[tokio::test]
async fn the_strict_preset_has_none_of_the_tolerances() {
    let world = World::of(Setting::Strict).await;
    let wildcards = world.register(|_| {}).await;
    assert_eq!(wildcards.code(), "invalid_redirect_uri");
    let exact = world
        .register(|client| client["redirectUris"] = json!([world::REDIRECT]))
        .await;
    assert!(exact.has("\"status\":\"ACTIVE\""), "{exact:?}");
    let client = world.registered().await;
    world.person("987654321", "Maja Lind").await;
    let mut interface = UserInterface::new(&world);
    interface.begin(&client).await;
    interface.send_otp("987654321").await;
    interface.authenticate("987654321", "111111").await;
    interface.auth_code(&["name"]).await;
    let without_jti = interface.token(&client).await;
    assert_eq!(without_jti.json()["error"], "invalid_client");
    interface.jti = Some("once".to_owned());
    let with_jti = interface.token(&client).await;
    assert!(with_jti.has("\"id_token\""), "{with_jti:?}");
}

#[tokio::test]
async fn in_the_strict_preset_strangers_register_no_clients() {
    let world = World::of(Setting::Stranger).await;
    let refused = world
        .register(|client| client["redirectUris"] = json!([world::REDIRECT]))
        .await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (401, "UNAUTHORIZED")
    );
}

#[tokio::test]
async fn clients_are_registered_once_and_changed() {
    let world = World::legacy().await;
    let client = world.client().await;
    assert_eq!(world.register(|_| {}).await.code(), "duplicate_client_id");
    let change = json!({"status": "INACTIVE", "clientName": "Other"});
    let changed = world.change(&client, change).await;
    assert_eq!(changed.json()["response"]["status"], "INACTIVE");
    let mut interface = UserInterface::new(&world);
    assert_eq!(interface.begin(&client).await.code(), "invalid_client_id");
    let active = json!({"status": "ACTIVE", "clientName": "Other"});
    world.change(&client, active).await;
    let details = interface.begin(&client).await;
    assert!(details.has("\"@none\":\"Other\""), "{details:?}");
}

#[tokio::test]
async fn the_metadata_are_under_both_addresses_and_the_keys_verify_what_clients_get() {
    let world = World::legacy().await;
    for path in [
        "oidc/.well-known/openid-configuration",
        "oauth/.well-known/oauth-authorization-server",
    ] {
        let metadata = world.get(path).await.json();
        assert_eq!(
            metadata["token_endpoint"],
            format!("{}oauth/v2/token", world::BASE_URL)
        );
    }
    let keys = world.get("oauth/.well-known/jwks.json").await.json();
    assert!(keys["keys"].as_array().unwrap().len() >= 2);
    let missing = world.get("oidc/userinfo").await;
    assert_eq!(missing.status, 401);
}

#[tokio::test]
async fn a_network_that_calls_too_often_is_told_to_wait_and_goes_on_afterwards() {
    let world = World::legacy().await;
    let client = world.client().await;
    let mut interface = UserInterface::new(&world);
    interface.begin(&client).await;
    for _ in 1..selfsame_sign_in::CALLS_EACH {
        assert_eq!(interface.send_otp(" ").await.status, 200);
    }
    let refused = interface.send_otp(" ").await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (429, "too_many_requests")
    );
    world.clock.advance(refused.wait.unwrap() + 600);
    let begun = interface.begin(&client).await;
    assert!(begun.has("\"errors\":[]"), "{begun:?}");
}

#[tokio::test]
async fn an_identifier_that_nobody_has_is_answered_as_one_that_somebody_has() {
    let world = World::legacy().await;
    let client = world.client().await;
    world.person("987654321", "Maja Lind").await;
    let mut interface = UserInterface::new(&world);
    interface.begin(&client).await;
    for identifier in ["987654321", "123454321"] {
        let sent = interface.send_otp(identifier).await.json();
        let masked = sent["response"]["maskedMobile"].as_str().unwrap();
        assert!(
            masked.starts_with("XXXXXX") && masked.len() == 10,
            "{masked}"
        );
        let wrong = interface.authenticate(identifier, "000000").await;
        assert_eq!(wrong.code(), "auth_failed");
    }
}
