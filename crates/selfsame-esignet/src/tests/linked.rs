//! A wallet that takes over a sign-in from a browser's screen.

use serde_json::{Value, json};

use super::world::{Answered, UserInterface, World};

async fn call(caller: &UserInterface<'_>, path: &str, request: Value) -> Answered {
    let path = format!("linked-authorization/{path}");
    caller.post(&path, &caller.enveloped(request)).await
}

#[tokio::test]
async fn a_person_goes_on_in_their_wallet_and_the_browser_gets_the_code() {
    let world = World::legacy().await;
    let client = world.client().await;
    world.person("987654321", "Maja Lind").await;
    let mut browser = UserInterface::new(&world);
    browser.begin(&client).await;
    let mut wallet = UserInterface::new(&world);
    wallet.begin(&client).await;
    let own = &browser.transaction;
    let made = call(&browser, "link-code", json!({"transactionId": own})).await;
    let code = made.found("\"linkCode\":\"", "\"");
    assert_eq!(code.len(), 15, "{made:?}");
    let taken = call(&wallet, "v2/link-transaction", json!({"linkCode": code})).await;
    let linked = taken.found("\"linkTransactionId\":\"", "\"");
    assert!(
        taken.has("\"clientName\":{\"@none\":\"clienta2\"}"),
        "{taken:?}"
    );
    let scanned = json!({"transactionId": own, "linkCode": code});
    let status = call(&browser, "link-status", scanned).await;
    assert!(status.has("\"linkStatus\":\"LINKED\""), "{status:?}");
    proven_in_wallet(&wallet, &linked).await;
    for (claims, outcome) in [(["salary"], "invalid_accepted_claim"), (["name"], "")] {
        let agreement = json!({
            "linkedTransactionId": linked, "acceptedClaims": claims, "permittedAuthorizeScopes": []
        });
        let agreed = call(&wallet, "v2/consent", agreement).await;
        assert_eq!(agreed.code(), outcome);
    }
    let asked = json!({"transactionId": own, "linkedCode": code});
    let coded = call(&browser, "link-auth-code", asked.clone()).await;
    assert!(coded.has("\"code\":\""), "{coded:?}");
    let again = call(&browser, "link-auth-code", asked).await;
    assert_eq!(again.code(), "invalid_transaction");
}

/// The person proves in the wallet who they are.
async fn proven_in_wallet(wallet: &UserInterface<'_>, linked: &str) {
    let order = json!({
        "transactionId": linked, "individualId": "987654321", "otpChannels": ["email"]
    });
    let sent = call(wallet, "send-otp", order).await;
    assert!(sent.has("\"errors\":[]"), "{sent:?}");
    let challenge = json!({
        "linkedTransactionId": linked,
        "individualId": "987654321",
        "challengeList": [{"authFactorType": "OTP", "challenge": "111111", "format": "alpha-numeric"}]
    });
    let proven = call(wallet, "v2/authenticate", challenge).await;
    assert!(proven.has("\"consentAction\":\"CAPTURE\""), "{proven:?}");
}

#[tokio::test]
async fn a_code_that_nobody_made_links_nothing() {
    let world = World::legacy().await;
    let client = world.client().await;
    let mut browser = UserInterface::new(&world);
    browser.begin(&client).await;
    let (own, code) = (&browser.transaction, "AAAAAAAAAAAAAAA");
    for (path, request) in [
        ("link-transaction", json!({"linkCode": code})),
        (
            "link-status",
            json!({"transactionId": own, "linkCode": code}),
        ),
        (
            "link-auth-code",
            json!({"transactionId": own, "linkedCode": code}),
        ),
    ] {
        let refused = call(&browser, path, request).await;
        assert_eq!(refused.code(), "invalid_link_code", "{path}");
    }
}
