//! Issuing lists, by pages and by programs: a file is sent, checked, issued after a question, printed and fetched.

use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::instance::{Answered, Instance, call, form, get, post};
use super::organisations::with_acme;
use super::pages::check;
use super::types::{Upload, form_with};

const HERE: &str = "/o/acme";

/// An organisation whose clerk is signed in.
struct Clerk {
    instance: Instance,
    cookie: String,
}

impl Clerk {
    async fn new() -> Self {
        let instance = with_acme().await;
        let cookie = instance.operator_cookie().await;
        Self { instance, cookie }
    }

    async fn see(&self, path: &str) -> Answered {
        let page = self.instance.call(get(path).cookie(&self.cookie)).await;
        assert_eq!(page.status, StatusCode::OK, "{path}: {}", page.body);
        page
    }

    async fn sends(&self, file: &str) -> Answered {
        let page = self.see(&format!("{HERE}/issuer/lists")).await;
        check("/issuer/lists", &page.body);
        let token = page.form_token();
        let fields = [("form_token", token.as_str()), ("type", "badge")];
        let upload = Upload {
            field: "file",
            name: "people.csv",
            text: file,
        };
        let sent = post(&format!("{HERE}/issuer/lists")).cookie(&self.cookie);
        let sent = sent.multipart(form_with(&fields, Some(upload)));
        self.instance.call(sent).await
    }

    async fn presses(&self, page: &Answered, path: &str) -> Answered {
        let token = page.form_token();
        let sent = post(path).cookie(&self.cookie);
        let sent = sent.form(form(&[("form_token", token.as_str())]));
        self.instance.call(sent).await
    }

    /// Publishes the type that is issued.
    async fn publishes(&self) {
        let definition = json!({"id": "badge", "title": {"en": "Badge"}, "claims": [
            {"path": ["name"], "kind": "text", "required": true},
            {"path": ["born"], "kind": "date"},
        ]});
        for (method, path, body) in [
            (Method::PUT, "/api/types/badge", definition),
            (Method::POST, "/api/types/badge/publish", json!({})),
        ] {
            let asked = call(method, &format!("{HERE}{path}"));
            let asked = asked.bearer(&self.instance.token).json(&body.to_string());
            let answer = self.instance.call(asked).await;
            assert!(answer.status.is_success(), "{path}: {}", answer.body);
        }
    }

    async fn calls(&self, method: Method, path: &str, body: Option<&Value>) -> Value {
        let asked = call(method, &format!("{HERE}{path}")).bearer(&self.instance.token);
        let asked = match body {
            Some(body) => asked.json(&body.to_string()),
            None => asked,
        };
        let answer = self.instance.call(asked).await;
        assert!(answer.status.is_success(), "{path}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }
}

#[tokio::test]
async fn a_clerk_sends_a_file_and_issues_it_after_a_question() {
    let clerk = Clerk::new().await;
    clerk.publishes().await;
    let example = clerk
        .see(&format!("{HERE}/issuer/lists/example/badge"))
        .await;
    assert!(example.body.starts_with("reference,email,name,born\r\n"));
    let sent = clerk.sends("reference;name\n1;=Maja\n2;Zoe\n").await;
    assert_eq!(sent.status, StatusCode::SEE_OTHER, "{}", sent.body);
    let there = sent.header("location").to_owned();
    assert!(
        there.starts_with(&format!("{HERE}/issuer/lists/")),
        "{there}"
    );
    let asked = clerk.see(&there).await;
    check(&there, &asked.body);
    assert!(asked.body.contains("Issue 2 rows"));
    let pressed = clerk.presses(&asked, &format!("{there}/issue")).await;
    assert_eq!(pressed.status, StatusCode::SEE_OTHER, "{}", pressed.body);
    let mut page = clerk.see(&there).await;
    for _ in 0..1_200 {
        if page.body.contains("results.csv") && page.body.contains(">done<") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        page = clerk.see(&there).await;
    }
    check(&there, &page.body);
    let results = clerk.see(&format!("{there}/results.csv")).await;
    let lines: Vec<&str> = results.body.lines().collect();
    assert_eq!(lines.len(), 3, "{}", results.body);
    assert!(lines[1].starts_with("2,1,offered,") && lines[1].contains("credential_offer_uri"));
    assert_eq!(results.header("cache-control"), "no-store");
    let lines = clerk.see(&format!("{there}/results.ndjson")).await.body;
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[1]["reference"], "2");
    let sheet = clerk.see(&format!("{there}/sheet.pdf?from=1")).await;
    assert_eq!(sheet.header("content-type"), "application/pdf");
    assert!(sheet.body.starts_with("%PDF-1.7"));
}

#[tokio::test]
async fn a_file_with_faults_shows_each_place_and_a_missing_file_is_told_in_the_form() {
    let clerk = Clerk::new().await;
    clerk.publishes().await;
    let sent = clerk
        .sends("reference,name,born\n1,Maja,yesterday\n1,,2001-02-03\n")
        .await;
    let page = clerk.see(sent.header("location")).await;
    check("list", &page.body);
    for told in [
        "Line 2",
        "character 8",
        "Line 3",
        "character 3",
        "Nothing was offered",
    ] {
        assert!(page.body.contains(told), "{told}: {}", page.body);
    }
    assert!(!page.body.contains("/issue\""));
    let again = clerk.sends("").await;
    let there = again.header("location");
    let page = clerk.see(there).await;
    assert!(page.body.contains("no header line"), "{}", page.body);
}

#[tokio::test]
async fn a_program_sends_a_file_in_portions_that_end_anywhere() {
    let clerk = Clerk::new().await;
    clerk.publishes().await;
    let new = json!({"type": "badge", "kind": "ndjson", "tx_code": true});
    let list = clerk
        .calls(Method::POST, "/api/issuer/lists", Some(&new))
        .await;
    let path = format!("/api/issuer/lists/{}", list["id"].as_str().unwrap());
    let file = "{\"reference\": \"a\", \"claims\": {\"name\": \"Zoë\"}}\n";
    let mut from = 0;
    for portion in file.as_bytes().chunks(7) {
        let at = format!("{HERE}{path}/file?from={from}");
        let sent = call(Method::POST, &at).bearer(&clerk.instance.token);
        let answer = clerk.instance.call(sent.multipart(portion.to_vec())).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        from += portion.len();
    }
    let mut list = clerk
        .calls(Method::POST, &format!("{path}/issue"), None)
        .await;
    for _ in 0..1_200 {
        if list["state"] == "done" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        list = clerk.calls(Method::GET, &path, None).await;
    }
    assert_eq!((&list["rows"], &list["offered"]), (&json!(1), &json!(1)));
    let results = clerk
        .calls(Method::GET, &format!("{path}/results"), None)
        .await;
    assert!(results["items"][0]["tx_code"].is_string());
    let unknown = get(&format!("{HERE}/api/issuer/lists/nothing/results.csv"));
    let unknown = unknown.bearer(&clerk.instance.token);
    let answer = clerk.instance.call(unknown).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}
