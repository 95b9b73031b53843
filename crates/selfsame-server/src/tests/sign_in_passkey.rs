//! Sign-in with a passkey at the OpenID provider.

use http::StatusCode;
use selfsame_crypto::KeyType;
use serde_json::{Value, json};

use super::instance::{Answered, Instance};
use super::passkeys::{Authenticator, HOST, ORIGIN, holders_cookie, with_passkey};
use super::sign_in_pages::AtSignIn;

/// The account whose cookie `holders_cookie` gives.
const HOLDER: &str = "maja@example.org";
const PASSWORD: &str = "a long password";

async fn instance() -> Instance {
    Instance {
        host: HOST.to_owned(),
        ..Instance::at(ORIGIN).await
    }
}

/// What the browser is asked on the page.
fn options(page: &Answered) -> Value {
    let options = page.body.split("data-options=\"").nth(1);
    let options = options.unwrap_or_else(|| panic!("{}", page.body));
    let options = options.split('"').next().unwrap().replace("&#34;", "\"");
    serde_json::from_str(&options).unwrap()
}

#[tokio::test]
async fn a_person_signs_in_with_the_passkey_of_their_account_and_the_class_says_so() {
    let instance = instance().await;
    let cookie = holders_cookie(&instance).await;
    let mut one = with_passkey(&instance, "/wallet", &cookie).await;
    let mut at = AtSignIn::begun(&instance, "", &[("acr_values", "phr")]).await;
    let page = at.page.clone();
    let way = format!("{page}/passkey");
    assert_eq!(at.open(&page).await.header("location"), way);
    let shown = at.open(&way).await;
    assert_eq!(shown.status, StatusCode::OK, "{}", shown.body);
    let answer = one.answer(&options(&shown)).to_string();
    let fields = [("answer", answer.as_str())];
    // What was answered to one sign-in is nothing to another.
    let mut other = AtSignIn::begun(&instance, "", &[("acr_values", "phr")]).await;
    let theirs = format!("{}/passkey", other.page);
    let token = other.open(&theirs).await.form_token();
    let refused = other.submit("/passkey", &token, &fields).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{}", refused.body);
    assert!(refused.body.contains("data-options"), "{}", refused.body);
    let token = shown.form_token();
    let proven = at.submit("/passkey", &token, &fields).await;
    assert_eq!(proven.status, StatusCode::SEE_OTHER, "{}", proven.body);
    assert_eq!(proven.header("location"), page);
    let late = at.open(&way).await;
    assert_eq!(late.header("location"), page, "{}", late.body);
    let sessions = at.open("/signed-in/sessions").await;
    assert!(
        sessions.body.contains("With a passkey"),
        "{}",
        sessions.body
    );
}

#[tokio::test]
async fn an_answer_counts_once_and_malformed_ones_are_refused() {
    let instance = instance().await;
    let cookie = holders_cookie(&instance).await;
    let mut one = with_passkey(&instance, "/wallet", &cookie).await;
    let mut at = AtSignIn::begun(&instance, "", &[]).await;
    let way = format!("{}/passkey", at.page);
    let first_page = at.page.clone();
    let first = at.open(&first_page).await;
    assert!(
        first.body.contains(&format!("href=\"{way}\"")),
        "{}",
        first.body
    );
    let shown = at.open(&way).await;
    let token = shown.form_token();
    for malformed in ["", "{}", "null"] {
        let fields = [("answer", malformed)];
        let refused = at.submit("/passkey", &token, &fields).await;
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{}", refused.body);
    }
    let answer = one.answer(&options(&shown)).to_string();
    let fields = [("answer", answer.as_str())];
    let proven = at.submit("/passkey", &token, &fields).await;
    assert_eq!(proven.status, StatusCode::SEE_OTHER, "{}", proven.body);
    let again = at.submit("/passkey", &token, &fields).await;
    assert_eq!(again.header("location"), first_page, "{}", again.body);
}

#[tokio::test]
async fn a_program_asks_for_a_passkey_and_signs_in_with_what_the_authenticator_answered() {
    let instance = instance().await;
    let cookie = holders_cookie(&instance).await;
    let mut one = with_passkey(&instance, "/wallet", &cookie).await;
    let mut at = AtSignIn::begun(&instance, "", &[]).await;
    let asked = at.step("/passkey", &json!({})).await;
    assert_eq!(asked.status, StatusCode::OK, "{}", asked.body);
    let options: Value = serde_json::from_str(&asked.body).unwrap();
    let answer = one.answer(&options).to_string();
    let challenge = |value: &str| json!({"challenges": [{"factor": "passkey", "value": value}]});
    for wrong in ["", "{}"] {
        let refused = at.step("/authentication", &challenge(wrong)).await;
        assert!(refused.status.is_client_error(), "{}", refused.body);
    }
    let proven = at.step("/authentication", &challenge(&answer)).await;
    assert_eq!(proven.status, StatusCode::OK, "{}", proven.body);
    let view: Value = serde_json::from_str(&proven.body).unwrap();
    assert_eq!(view["stage"], "consent");
}

#[tokio::test]
async fn a_signed_in_person_adds_names_and_removes_passkeys_on_the_pages_of_the_provider() {
    let instance = instance().await;
    let cookie = holders_cookie(&instance).await;
    with_passkey(&instance, "/wallet", &cookie).await;
    let mut at = AtSignIn::begun(&instance, "", &[]).await;
    let fields = [("identifier", HOLDER), ("password", PASSWORD)];
    let proven = at.send("/proof", &fields).await;
    assert_eq!(proven.status, StatusCode::SEE_OTHER, "{}", proven.body);
    let sessions = at.open("/signed-in/sessions").await;
    let pages = "/signed-in/passkeys";
    assert!(sessions.body.contains(&format!("href=\"{pages}\"")));
    at.page = pages.to_owned();
    let wrong = [("name", "Laptop"), ("password", "another password")];
    let refused = at.send("", &wrong).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{}", refused.body);
    assert!(
        refused.body.contains("value=\"Laptop\""),
        "{}",
        refused.body
    );
    let right = [("name", "Laptop"), ("password", PASSWORD)];
    let begun = at.send("", &right).await;
    assert_eq!(begun.status, StatusCode::OK, "{}", begun.body);
    let mut laptop = Authenticator::new(KeyType::P256, "localhost", ORIGIN);
    let answer = laptop.create(&options(&begun)).to_string();
    // What one session asked for is nothing to another.
    let mut other = AtSignIn::begun(&instance, "", &[]).await;
    assert_eq!(
        other.send("/proof", &fields).await.status,
        StatusCode::SEE_OTHER
    );
    other.page = pages.to_owned();
    let added = [("name", "Laptop"), ("answer", answer.as_str())];
    let stolen = other.send("/add", &added).await;
    assert_eq!(stolen.status, StatusCode::BAD_REQUEST, "{}", stolen.body);
    let led = at.send("/add", &added).await;
    assert_eq!(led.header("location"), pages, "{}", led.body);
    let listed = at.open(pages).await;
    assert!(listed.body.contains("Laptop") && listed.body.contains("My phone"));

    let laptops = listed.body.split("<b><bdi>Laptop").nth(1).unwrap();
    let step = laptops.split(&format!("action=\"{pages}")).nth(1).unwrap();
    let step = step.split("/name\"").next().unwrap();
    let renamed = at
        .send(&format!("{step}/name"), &[("name", "Tablet")])
        .await;
    assert_eq!(renamed.header("location"), pages, "{}", renamed.body);
    assert!(at.open(pages).await.body.contains("Tablet"));
    let mut signing = AtSignIn::begun(&instance, "", &[]).await;
    let asked = signing.step("/passkey", &json!({})).await;
    let asked: Value = serde_json::from_str(&asked.body).unwrap();
    let answer = laptop.answer(&asked).to_string();
    let challenge = json!({"challenges": [{"factor": "passkey", "value": answer}]});
    let proven = signing.step("/authentication", &challenge).await;
    assert_eq!(proven.status, StatusCode::OK, "{}", proven.body);
    let removed = at.send(&format!("{step}/remove"), &[]).await;
    assert_eq!(removed.header("location"), pages, "{}", removed.body);
    assert!(!at.open(pages).await.body.contains("Tablet"));
}

#[tokio::test]
async fn without_a_session_nobody_sees_or_changes_passkeys() {
    let instance = instance().await;
    let mut at = AtSignIn::begun(&instance, "", &[]).await;
    let refused = at.open("/signed-in/passkeys").await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{}", refused.body);
    let token = {
        let page = at.page.clone();
        at.open(&page).await.form_token()
    };
    at.page = "/signed-in/passkeys".to_owned();
    let fields = [("name", "Laptop"), ("password", PASSWORD)];
    let refused = at.submit("", &token, &fields).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{}", refused.body);
}
