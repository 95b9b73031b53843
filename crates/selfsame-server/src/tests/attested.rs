//! An issuer that wants wallets and their keys to be attested, and the wallet here, which attests both; from the offer to
//! the credential, over a socket.

use http::StatusCode;
use selfsame_attester::AttestationConfig;
use serde_json::{Value, json};

use super::by_sign_in::{Desk, object, read};
use super::instance::{Answered, form, get, post};

const PRE_AUTHORIZED: &str = "urn:ietf:params:oauth:grant-type:pre-authorized_code";

/// An offer that needs no sign-in.
fn staff() -> Value {
    let claims = json!({"name": "Maja Lind", "mail": "maja@example.org"});
    json!({"type": "staff", "claims": claims})
}

fn demands(demands: Value) -> AttestationConfig {
    serde_json::from_value(demands).unwrap()
}

/// An instance whose issuer demands everything of wallets with tokens that are bound to a key.
async fn demanding() -> Desk {
    let all = demands(json!({"wallets": "required", "keys": true}));
    Desk::of_clients("wallets", "attest_jwt_client_auth", all).await
}

async fn document(desk: &Desk, path: &str) -> Value {
    read(&desk.call(get(path)).await)
}

fn refused(answer: &Answered, status: StatusCode, code: &str) {
    assert_eq!(answer.status, status, "{}", answer.body);
    assert!(answer.body.contains(code), "{}", answer.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attested_wallet_gets_a_credential_of_the_person_who_signed_in() {
    let desk = demanding().await;
    let offer = desk.offer().await;
    let url = desk.begin(&offer).await;
    assert!(url.query().unwrap().contains("request_uri="), "{url}");
    let back = desk.sign_in(&url).await;
    let cards = read(&desk.come_back(&back).await);
    assert_eq!(cards["items"].as_array().unwrap().len(), 1, "{cards}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attested_wallet_redeems_a_code_that_it_was_offered() {
    let desk = demanding().await;
    let offer = desk.operator("/api/issuer/offers", &staff()).await;
    let accept = json!({"offer": offer["uri"], "copies": 2});
    let cards = read(&desk.wallet("/api/wallet/offers/accept", &accept).await);
    assert_eq!(cards["items"].as_array().unwrap().len(), 2, "{cards}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_without_attestation_redeems_and_pushes_nothing() {
    let desk = demanding().await;
    let offer = desk.operator("/api/issuer/offers", &staff()).await;
    let code = &object(&offer)["grants"][PRE_AUTHORIZED]["pre-authorized_code"];
    let code = code.as_str().unwrap();
    let redemption = form(&[
        ("grant_type", PRE_AUTHORIZED),
        ("pre-authorized_code", code),
    ]);
    let token = async |attested: bool| {
        let call = post("/issuer/token").form(redemption.clone());
        desk.call(match attested {
            false => call,
            true => call
                .header("oauth-client-attestation", "a.b.c")
                .header("oauth-client-attestation-pop", "a.b.c"),
        })
        .await
    };
    refused(
        &token(false).await,
        StatusCode::UNAUTHORIZED,
        "invalid_client",
    );
    let forged = token(true).await;
    refused(
        &forged,
        StatusCode::UNAUTHORIZED,
        "invalid_client_attestation",
    );
    assert!(
        !forged
            .header("oauth-client-attestation-challenge")
            .is_empty()
    );
    let push = post("/oidc/par").form(form(&[("client_id", "selfsame-wallet")]));
    refused(
        &desk.call(push).await,
        StatusCode::UNAUTHORIZED,
        "invalid_client",
    );
    // Nothing was used up: the wallet here still gets the credential.
    let accept = json!({"offer": offer["uri"]});
    let cards = read(&desk.wallet("/api/wallet/offers/accept", &accept).await);
    assert_eq!(cards["items"].as_array().unwrap().len(), 1, "{cards}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_metadata_say_what_is_demanded() {
    let desk = demanding().await;
    let issuer = document(&desk, "/.well-known/openid-credential-issuer/issuer").await;
    for (_, one) in issuer["credential_configurations_supported"]
        .as_object()
        .unwrap()
    {
        for kind in ["jwt", "attestation"] {
            let proof = &one["proof_types_supported"][kind];
            assert_eq!(proof["key_attestations_required"], json!({}), "{one}");
        }
    }
    for server in [
        "/.well-known/oauth-authorization-server/issuer",
        "/.well-known/oauth-authorization-server/oidc",
    ] {
        let server = document(&desk, server).await;
        let methods = server["token_endpoint_auth_methods_supported"].to_string();
        assert!(methods.contains("attest_jwt_client_auth"), "{methods}");
        let endpoint: url::Url = server["challenge_endpoint"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        let given = desk.call(post(endpoint.path())).await;
        assert_eq!(given.header("cache-control"), "no-store");
        assert!(
            read(&given)["attestation_challenge"].is_string(),
            "{}",
            given.body
        );
    }
    let own = document(&desk, "/.well-known/oauth-authorization-server/issuer").await;
    assert_eq!(
        own["token_endpoint_auth_methods_supported"],
        json!(["attest_jwt_client_auth"])
    );
    assert!(
        own.get("pre-authorized_grant_anonymous_access_supported")
            .is_none(),
        "{own}"
    );
    let keys = document(&desk, "/attester/jwks").await;
    assert_eq!(keys["keys"].as_array().unwrap().len(), 1);
    assert!(keys["keys"][0].get("d").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_that_demands_nothing_says_nothing_and_gives_no_challenge() {
    let desk = Desk::open().await;
    for path in ["/issuer/challenge", "/oidc/challenge"] {
        assert_eq!(desk.call(post(path)).await.status, StatusCode::NOT_FOUND);
    }
    for document in [
        "/.well-known/openid-credential-issuer/issuer",
        "/.well-known/oauth-authorization-server/issuer",
        "/.well-known/oauth-authorization-server/oidc",
    ] {
        let told = desk.call(get(document)).await.body;
        for word in [
            "key_attestations",
            "attest_jwt",
            "client_attestation",
            "challenge_endpoint",
        ] {
            assert!(!told.contains(word), "{document}: {word}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_that_wants_protected_keys_is_told_that_this_wallet_has_none() {
    let protected = demands(json!({"keys": true, "key_storage": ["iso_18045_basic"]}));
    let desk = Desk::of_clients("strict", "none", protected).await;
    let offer = desk.operator("/api/issuer/offers", &staff()).await;
    let accept = json!({"offer": offer["uri"]});
    let answer = desk.wallet("/api/wallet/offers/accept", &accept).await;
    assert!(
        answer.status.is_client_error(),
        "{} {}",
        answer.status,
        answer.body
    );
    assert!(
        answer.body.contains("protection of keys"),
        "{}",
        answer.body
    );
}
