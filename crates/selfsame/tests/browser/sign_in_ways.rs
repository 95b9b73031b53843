//! Signing in at a service by a credential from the wallet, and by a passkey.

use serde_json::{Value, json};

use crate::{
    browser::{Browser, Scheme},
    instance::Instance,
    passkeys,
    sign_in::Sample,
    walk::{Desk, PASSWORD, PERSON, Phone},
};

const RECORD: &str = "Immunization record";
/// The name of an organisation is set apart from the text around it.
const BEGIN: &str = "Sign in with \u{2068}localhost\u{2069}";

/// Has people sign in with the immunization records that the instance issues.
async fn set_rules(browser: &Browser, instance: &Instance) {
    browser.open(&instance.origin).await;
    let called = async |path: &str, method: &str, body: Option<Value>| {
        let body = body.map_or(Value::Null, |body| body.to_string().into());
        let script = format!(
            "const headers = {{authorization: 'Bearer {}', 'content-type': 'application/json'}};
            const answer = await fetch('{path}', {{method: '{method}', headers, body: {body}}});
            return {{status: answer.status, body: await answer.json()}}",
            instance.token
        );
        let answer = browser.evaluate(&script).await;
        assert_eq!(answer["status"], 200, "{answer}");
        answer["body"].clone()
    };
    let status = called("/api/status", "GET", None).await;
    let rules = json!({
        "purpose": "To sign you in",
        "credentials": [{
            "title": RECORD,
            "type": "urn:selfsame:credential:immunization",
            "issuers": status["issuer_dids"],
            "subject": ["patient", "family_name"],
            "claims": {"name": ["patient", "given_name"]}
        }]
    });
    called("/api/sign-in/wallet", "PUT", Some(rules)).await;
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_person_signs_in_at_a_service_with_a_credential_from_their_wallet() {
    let instance = Instance::start().await;
    let sample = Sample::of(&instance).await;
    let (at_desk, browser) =
        tokio::join!(Browser::start(Scheme::Light), Browser::start(Scheme::Dark));
    browser.resize(390, 844).await;
    let desk = Desk::open(&instance, &at_desk).await;
    set_rules(&at_desk, &instance).await;
    let phone = Phone::open(&instance, &browser).await;
    phone.accept(&desk.offer(RECORD).await, RECORD).await;

    browser.open(&sample.origin).await;
    browser.press(BEGIN).await;
    browser.press("With a credential from your wallet").await;
    browser.expect("Waiting for your wallet").await;
    browser.expect(RECORD).await;
    browser.picture("sign-in-wallet", (390, 844)).await;
    let link = browser.attribute("main a[href^=openid4vp]", "href").await;
    browser.expect_no_errors().await;
    // The wallet of this device sends the browser back.
    phone.follow(&link.expect("the link for the wallet")).await;
    browser.expect("What would leave your wallet").await;
    browser.press("Share this").await;
    browser.press("Back to the verifier").await;
    browser.expect("Share with").await;
    browser.tick("Full name").await;
    browser.press("Agree and continue").await;
    browser.expect("You are signed in").await;
    browser.expect("Maja").await;
    assert!(!browser.visible().await.contains("Musterfrau"));
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_person_signs_in_at_a_service_with_the_passkey_of_their_account() {
    let instance = Instance::start().await;
    let sample = Sample::of(&instance).await;
    let browser = Browser::start(Scheme::Light).await;
    browser.resize(390, 844).await;
    browser.plug_in_authenticator().await;
    Phone::open(&instance, &browser).await;
    browser.press("Account").await;
    passkeys::add(&browser, PASSWORD).await;
    browser.press("Sign out").await;
    browser.expect("Prove it anywhere.").await;

    browser.open(&sample.origin).await;
    browser.press(BEGIN).await;
    browser.press("With a passkey").await;
    browser.expect("None of them leaves the device").await;
    browser.picture("sign-in-passkey", (390, 844)).await;
    browser.press("Use my passkey").await;
    browser.expect("Share with").await;
    browser.press("Agree and continue").await;
    browser.expect("You are signed in").await;
    browser.expect_no_errors().await;
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_signed_in_person_adds_and_removes_a_passkey_on_the_pages_of_the_provider() {
    let instance = Instance::start().await;
    let sample = Sample::of(&instance).await;
    let browser = Browser::start(Scheme::Dark).await;
    browser.resize(360, 800).await;
    browser.plug_in_authenticator().await;
    Phone::open(&instance, &browser).await;
    browser.open(&sample.origin).await;
    browser.press(BEGIN).await;
    let identifier = "Your ID, e-mail address or phone number";
    browser.fill(identifier, PERSON).await;
    browser.fill("Password", PASSWORD).await;
    browser.press("Sign in").await;
    browser.expect("Share with").await;
    browser.press("Agree and continue").await;
    browser.expect("You are signed in").await;

    browser.open(&instance.page("signed-in/sessions")).await;
    browser.press("Passkeys").await;
    browser.expect("You have no passkeys yet.").await;
    browser
        .fill("Name, such as the device it is on", "Laptop")
        .await;
    browser.fill("Password", PASSWORD).await;
    browser.press("Continue").await;
    browser.expect("None of them leaves the device").await;
    browser.picture("signed-in-new-passkey", (360, 800)).await;
    browser.press("Create the passkey").await;
    browser.expect("Added:").await;
    browser.picture("signed-in-passkeys", (360, 800)).await;
    browser.press("Change: \u{2068}Laptop\u{2069}").await;
    browser.press("Remove").await;
    browser.expect("You have no passkeys yet.").await;
    browser.expect_no_errors().await;
}
