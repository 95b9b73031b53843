//! Sign-in with a passkey at the OpenID provider.

use http::StatusCode;
use serde_json::Value;

use super::instance::{Answered, Instance};
use super::passkeys::{HOST, ORIGIN, holders_cookie, with_passkey};
use super::sign_in_pages::AtSignIn;

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
