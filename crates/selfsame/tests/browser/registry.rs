//! The registry's pages, as a visitor without any account sees them.

use std::time::Duration;

use serde_json::Value;

use crate::{
    browser::{Browser, Scheme},
    instance::Instance,
};

/// Registers a DID as von-network's clients do; returns the DID as it resolves.
async fn register(browser: &Browser, instance: &Instance, seed: &str) -> String {
    let token = &instance.token;
    let script = format!(
        "return fetch('/register', {{ method: 'POST', headers: {{ authorization: 'Bearer {token}', \
         'content-type': 'application/json' }}, body: JSON.stringify({{ seed: '{seed}' }}) }}) \
         .then(answer => answer.json()).then(answer => answer.id)"
    );
    match browser.evaluate(&script).await {
        Value::String(did) => did,
        other => panic!("the registration was answered with {other}"),
    }
}

#[expect(
    clippy::cognitive_complexity,
    reason = "one story, told in the order in which it happens"
)]
async fn walk(browser: &Browser) {
    let instance = Instance::start().await;
    browser.resize(390, 844).await;
    browser.open(&instance.origin).await;
    let did = register(browser, &instance, "walker").await;
    browser.press("Registry").await;
    browser.expect("Newest blocks").await;

    // From a text search to the list, to the transaction, to its proof.
    browser
        .fill(
            "Search for a DID, a number, a hash, a name, or words",
            "endorser",
        )
        .await;
    browser.press("Look up").await;
    browser.expect("Makes this DID an endorser.").await;
    browser
        .open(&instance.page(&format!("registry/search?q={did}")))
        .await;
    browser.expect("2 operations").await;
    browser
        .press("Show this identifier with its history and proof")
        .await;
    browser.expect("Present, and proven").await;
    browser.expect("signed by embedded").await;
    browser.press("batch").await;
    browser.expect("It is in the log").await;
    browser.expect("validator signed at height").await;
    browser.press("The proof, to check it yourself").await;
    browser
        .expect("As JSON, with the transaction and the checkpoint")
        .await;

    // The validators, and Indy's ledgers.
    browser.open(&instance.page("registry")).await;
    browser.press("Validators").await;
    browser.expect("1 of 1 signed the newest checkpoint").await;
    browser.press("Domain").await;
    browser.choose("Type of transaction", "NYM").await;
    browser.press("Filter").await;
    browser
        .expect("The network began with this DID as a trustee.")
        .await;
    browser.press("Blocks").await;
    browser.expect("Each block orders the transactions").await;
    browser.expect_no_errors().await;
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_person_who_comes_to_check_finds_the_way_to_every_proof() {
    walk(&Browser::start(Scheme::Light).await).await;
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn the_registrys_pages_need_no_mouse() {
    walk(&Browser::start(Scheme::Dark).await.by_keyboard()).await;
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn anybody_registers_a_did_by_keyboard_where_the_operator_lets_everybody() {
    let instance = Instance::with("[registry]\nopen_registration = true\n").await;
    let browser = Browser::start(Scheme::Dark).await.by_keyboard();
    browser.resize(390, 844).await;
    browser.open(&instance.page("registry/register")).await;
    browser.set("#reg-did", "U8WPwFqcFMRAT4jhmNywsT").await;
    browser.set("#reg-key", "no key").await;
    browser.press("Register DID").await;
    browser.expect("Not a valid verkey").await;
    assert_eq!(browser.value("#reg-did").await, "U8WPwFqcFMRAT4jhmNywsT");
    let key = "GJ1SzoWzavQYfNL9XkaJdrQejfztN4XqdsiV4ct3LXKL";
    browser.set("#reg-key", key).await;
    browser.press("Register DID").await;
    browser.expect("Registered").await;
    browser.press_about("U8WPwFqcFMRAT4jhmNywsT").await;
    browser.expect("Present, and proven").await;
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn what_is_written_appears_on_an_open_page() {
    let instance = Instance::start().await;
    let browser = Browser::start(Scheme::Light).await;
    browser.open(&instance.page("registry")).await;
    browser.evaluate("window.stayed = true").await;
    let before = browser
        .evaluate("return document.querySelectorAll('[data-part=transactions] tbody tr').length")
        .await;
    register(&browser, &instance, "newcomer").await;
    let shown = format!(
        "return new Promise(resolve => {{ const look = () => \
         document.querySelectorAll('[data-part=transactions] tbody tr').length > {before} ? resolve(window.stayed === true) \
         : setTimeout(look, 50); look(); }})"
    );
    let stayed = tokio::time::timeout(Duration::from_secs(60), browser.evaluate(&shown)).await;
    assert_eq!(
        stayed.expect("the new row"),
        Value::Bool(true),
        "the page was not loaded again"
    );
    browser.expect_no_errors().await;
}
