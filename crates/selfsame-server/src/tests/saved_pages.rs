//! The pages of saved requests for their verifier.

use http::StatusCode;
use serde_json::Value;

use super::instance::{Answered, Instance, form, get, post};
use super::saved::{read, with_check_in};

const SAVED: &str = "/api/verifier/saved-requests";

/// The operator's browser.
struct OperatorsBrowser<'a> {
    instance: &'a Instance,
    cookie: String,
}

impl<'a> OperatorsBrowser<'a> {
    async fn of(instance: &'a Instance) -> Self {
        let cookie = instance.operator_cookie().await;
        Self { instance, cookie }
    }

    async fn sees(&self, path: &str) -> Answered {
        self.instance.call(get(path).cookie(&self.cookie)).await
    }

    async fn sends(&self, path: &str, fields: &[(&str, &str)]) -> Answered {
        let token = self.sees("/verifier/saved/new").await.form_token();
        let token = [("form_token", token.as_str())];
        let fields = form(&[&token[..], fields].concat());
        let sent = post(path).cookie(&self.cookie);
        self.instance.call(sent.form(fields)).await
    }
}

const ENTRY: [(&str, &str); 11] = [
    ("title", "Entry"),
    ("purpose", "To let you in"),
    ("name", "entry"),
    ("enabled", "true"),
    ("question", "0"),
    ("0.row", "1"),
    ("1.type", "immunization"),
    ("1.shown", "immunization"),
    ("1.format", "dc+sd-jwt"),
    ("1.claim", "vaccine/name"),
    ("origins", "https://shop.example"),
];

fn with<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [&ENTRY[..], more].concat()
}

#[tokio::test]
async fn a_request_is_built_by_buttons_checked_saved_and_opened() {
    let instance = Instance::start().await;
    let browser = OperatorsBrowser::of(&instance).await;
    let new = "/verifier/saved/new";
    let grown = browser.sends(new, &with(&[("do", "add.0")])).await;
    assert!(grown.body.contains("Alternative 2"), "{}", grown.body);
    let checked = browser.sends(new, &with(&[("do", "check")])).await;
    for told in [
        "Nothing is wrong",
        "Sample cards answer it",
        "Vaccine",
        "vct_values",
    ] {
        assert!(checked.body.contains(told), "{told}: {}", checked.body);
    }
    assert!(
        read(&instance, SAVED).await["items"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    let saved = browser.sends(new, &with(&[("do", "save")])).await;
    assert_eq!(saved.status, StatusCode::SEE_OTHER, "{}", saved.body);
    assert_eq!(saved.header("location"), "/verifier/saved/entry?done=saved");
    let page = browser.sees(saved.header("location")).await;
    for told in [
        "http://127.0.0.1:7380/ask/entry",
        "&#60;selfsame-request src=",
        "http://127.0.0.1:7380/embed.js",
    ] {
        assert!(page.body.contains(told), "{told}: {}", page.body);
    }
    let listed = browser.sees("/verifier").await;
    assert!(listed.body.contains("href=\"/verifier/saved/entry\""));
    let opened = browser.sends("/verifier/saved/entry/open", &[]).await;
    assert!(opened.header("location").starts_with("/verifier/view/"));
    let deleted = browser.sends("/verifier/saved/entry/delete", &[]).await;
    assert_eq!(deleted.header("location"), "/verifier");
    assert_eq!(
        browser.sees("/verifier/saved/entry").await.status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn what_is_wrong_is_told_with_the_way_to_its_field_and_nothing_is_lost() {
    let instance = with_check_in(|_| {}).await;
    let browser = OperatorsBrowser::of(&instance).await;
    let mut taken = with(&[("do", "save")]);
    taken[2].1 = "check-in";
    let refused = browser.sends("/verifier/saved/new", &taken).await;
    assert!(refused.body.contains("is taken"), "{}", refused.body);
    assert!(refused.body.contains("href=\"#name\""), "{}", refused.body);
    let wrong = [
        ("1.claim", "shoe"),
        ("issuers", "machine did:web:a.example"),
        ("do", "save"),
    ];
    let refused = browser.sends("/verifier/saved/new", &with(&wrong)).await;
    assert!(
        refused.body.contains("href=\"#question-1\""),
        "{}",
        refused.body
    );
    assert!(
        refused.body.contains("machine did:web:a.example"),
        "{}",
        refused.body
    );
}

#[tokio::test]
async fn a_change_that_came_late_is_refused() {
    let instance = with_check_in(|_| {}).await;
    let browser = OperatorsBrowser::of(&instance).await;
    let version = read(&instance, &format!("{SAVED}/check-in")).await["version"].to_string();
    let path = "/verifier/saved/check-in";
    let fields = with(&[("version", version.as_str()), ("do", "save")]);
    let saved = browser.sends(path, &fields).await;
    assert_eq!(saved.status, StatusCode::SEE_OTHER, "{}", saved.body);
    let late = browser.sends(path, &fields).await;
    assert_eq!(late.status, StatusCode::OK);
    assert!(late.body.contains("Not saved"), "{}", late.body);
}

#[tokio::test]
async fn questions_become_dcql_that_is_edited_and_saved() {
    let instance = Instance::start().await;
    let browser = OperatorsBrowser::of(&instance).await;
    let new = "/verifier/saved/new";
    let written = browser.sends(new, &with(&[("do", "dcql")])).await;
    assert!(written.body.contains("name=\"dcql\""), "{}", written.body);
    let query = r#"{"credentials": [{"id": "a", "format": "dc+sd-jwt", "meta": {"vct_values": ["urn:none"]}}]}"#;
    let raw = [("mode", "dcql"), ("dcql", query)];
    let checked = browser
        .sends(new, &with(&[&raw[..], &[("do", "check")]].concat()))
        .await;
    assert!(
        checked.body.contains("No sample cards answer it"),
        "{}",
        checked.body
    );
    let saved = browser
        .sends(new, &with(&[&raw[..], &[("do", "save")]].concat()))
        .await;
    assert_eq!(saved.status, StatusCode::SEE_OTHER, "{}", saved.body);
    let saved: Value = read(&instance, &format!("{SAVED}/entry")).await;
    assert_eq!(
        saved["definition"]["dcql_query"]["credentials"][0]["id"],
        "a"
    );
}
