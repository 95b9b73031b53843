//! Passkeys, with the authenticator of the browser: added to an account, signed in with, removed.

use crate::{
    browser::{Browser, Scheme},
    instance::Instance,
    people,
    walk::{Desk, PASSWORD, Phone},
};

/// Adds a passkey on the page of the account.
pub async fn add(browser: &Browser, password: &str) {
    browser.expect("No passkeys yet").await;
    browser
        .fill("Its name such as the device it is on", "My laptop")
        .await;
    browser.fill("Your password", password).await;
    browser.press("Continue").await;
    browser.expect("None of them leaves the device").await;
    browser.press("Create the passkey").await;
    browser.expect("last used never").await;
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_holder_signs_in_with_a_passkey_and_without_a_password_until_it_is_removed() {
    let instance = Instance::start().await;
    let browser = Browser::start(Scheme::Light).await;
    browser.resize(390, 844).await;
    browser.plug_in_authenticator().await;
    Phone::open(&instance, &browser).await;
    browser.press("Account").await;
    add(&browser, PASSWORD).await;
    browser.press("Sign out").await;
    browser.expect("Prove it anywhere.").await;

    browser.open(&instance.page("wallet/keys")).await;
    browser.expect("Sign in to continue").await;
    browser.press("Sign in with a passkey").await;
    // The person gets the page that they wanted.
    browser.expect("Create a DID").await;
    browser.press("Account").await;
    browser.expect("My laptop").await;
    assert!(!browser.visible().await.contains("never"));
    browser.expect_no_errors().await;

    browser.press("Change My laptop").await;
    browser.fill("Name", "Old laptop").await;
    browser.press("Rename").await;
    browser.expect("Old laptop").await;
    browser.press("Change Old laptop").await;
    browser.press("Remove this passkey").await;
    browser.expect("No passkeys yet").await;
    browser.press("Sign out").await;
    browser.expect("Prove it anywhere.").await;
    browser.open(&instance.page("wallet/sign-in")).await;
    browser.press("Sign in with a passkey").await;
    browser.expect("his passkey was not accepted").await;
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_clerk_signs_in_with_a_passkey_by_keyboard_and_a_browser_without_one_says_so() {
    let instance = Instance::start().await;
    let (at_desk, clerks) =
        tokio::join!(Browser::start(Scheme::Light), Browser::start(Scheme::Dark));
    clerks.plug_in_authenticator().await;
    let invitation = Desk::open(&instance, &at_desk).await.invite("Issuer").await;
    people::accept(&clerks, &invitation).await;
    clerks.open(&instance.page("operator")).await;
    clerks.press("Account and passkeys").await;
    add(&clerks, people::PASSWORD).await;
    clerks.press("Sign out").await;
    clerks.expect("Prove it anywhere.").await;
    let clerks = clerks.by_keyboard();
    clerks.open(&instance.page("issuer")).await;
    clerks.press("Sign in with a passkey").await;
    clerks.expect("Choose a credential to issue").await;
    clerks.expect_no_errors().await;

    at_desk.plug_in_authenticator().await;
    at_desk.press("Sign out").await;
    at_desk.expect("Prove it anywhere.").await;
    at_desk.open(&instance.page("operator")).await;
    at_desk.press("Sign in with a passkey").await;
    at_desk.expect("No passkey was used.").await;
}
