//! The pages of webhooks.

use http::StatusCode;

use super::instance::{Answered, Instance, form, get, post};
use super::pages::check;

const URL: &str = "https://receiver.example/hook";

/// An operator's browser.
struct Desk {
    instance: Instance,
    cookie: String,
    token: String,
}

impl Desk {
    async fn open() -> Self {
        let instance = Instance::start().await;
        let cookie = instance.operator_cookie().await;
        let page = instance.call(get("/webhooks").cookie(&cookie)).await;
        let token = page.form_token();
        Self {
            instance,
            cookie,
            token,
        }
    }

    async fn read(&self, path: &str) -> String {
        let page = self.instance.call(get(path).cookie(&self.cookie)).await;
        assert_eq!(page.status, StatusCode::OK, "{path}: {}", page.body);
        check(path, &page.body);
        page.body
    }

    async fn send(&self, path: &str, fields: &[(&str, &str)]) -> Answered {
        let mut all = vec![("form_token", self.token.as_str())];
        all.extend(fields);
        let call = post(path).cookie(&self.cookie).form(form(&all));
        self.instance.call(call).await
    }

    /// Sends a form that leads on.
    async fn done(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let sent = self.send(path, fields).await;
        assert_eq!(sent.status, StatusCode::SEE_OTHER, "{path}: {}", sent.body);
        sent.header("location").to_owned()
    }

    /// Creates a webhook; returns the address of its page, and its secret.
    async fn create(&self) -> (String, String) {
        let fields = [("url", URL), ("types", "credential.issued")];
        let page = self.send("/webhooks", &fields).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        check("created", &page.body);
        let within = |before: &str, after: &str| {
            let (_, rest) = page.body.split_once(before).unwrap();
            rest.split_once(after).unwrap().0.to_owned()
        };
        let path = within("class=\"button plain\" href=\"", "\"");
        (path, format!("whsec_{}", within(">whsec_", "<")))
    }
}

#[tokio::test]
async fn a_webhook_is_created_by_the_form_and_its_secret_shown_once() {
    let desk = Desk::open().await;
    let (path, secret) = desk.create().await;
    let page = desk.read(&path).await;
    assert!(page.contains(URL) && page.contains("credential.issued"));
    let list = desk.read("/webhooks").await;
    assert!(list.contains(&path) && list.contains("is-active"));
    assert!(!page.contains(&secret) && !list.contains(&secret));
    let rotated = desk.send(&format!("{path}/rotate"), &[]).await;
    assert!(rotated.body.contains("whsec_") && !rotated.body.contains(&secret));
}

#[tokio::test]
async fn a_webhook_is_changed_disabled_enabled_tested_replayed_and_removed() {
    let desk = Desk::open().await;
    let (path, _) = desk.create().await;
    let fields = [
        ("url", "https://other.example/hook"),
        ("description", "for <billing>"),
        ("types", "offer.created"),
        ("types", "registry.anchored"),
    ];
    assert_eq!(desk.done(&path, &fields).await, path);
    let page = desk.read(&path).await;
    assert!(page.contains("offer.created, registry.anchored"));
    assert!(page.contains("other.example") && page.contains("for &#60;billing&#62;"));

    desk.done(&format!("{path}/test"), &[]).await;
    assert!(desk.read(&path).await.contains("webhook.test"));
    let since = [("since", "2026-01-01T00:00")];
    let replayed = desk.done(&format!("{path}/replay"), &since).await;
    assert!(replayed.starts_with(&format!("{path}?replayed=")));
    desk.read(&replayed).await;

    desk.done(&format!("{path}/enabled"), &[]).await;
    let disabled = desk.read(&path).await;
    assert!(disabled.contains("is-disabled") && disabled.contains("The operator disabled it."));
    assert!(!disabled.contains("Send a test"));
    desk.done(&format!("{path}/enabled"), &[("enabled", "true")])
        .await;
    assert!(desk.read(&path).await.contains("is-active"));

    assert_eq!(desk.done(&format!("{path}/remove"), &[]).await, "/webhooks");
    assert!(desk.read("/webhooks").await.contains("No webhooks yet."));
}

#[tokio::test]
async fn what_is_wrong_with_a_webhook_stands_beside_the_field_and_what_was_typed_stays() {
    let desk = Desk::open().await;
    let (path, _) = desk.create().await;
    let long = "x".repeat(501);
    for (url, description, types, field) in [
        ("http://receiver.example/", "mine", "offer.created", "url"),
        ("https://127.0.0.1/", "mine", "offer.created", "url"),
        ("https://192.168.1.7/", "mine", "offer.created", "url"),
        ("no address", "mine", "offer.created", "url"),
        (URL, long.as_str(), "offer.created", "description"),
        (URL, "mine", "", "types"),
        (URL, "mine", "webhook.test", "types"),
    ] {
        let fields = [("url", url), ("description", description), ("types", types)];
        for form in ["/webhooks", &path] {
            let refused = desk.send(form, &fields).await;
            assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{form} {url}");
            check(form, &refused.body);
            let beside = format!("id=\"{field}-problem\"");
            assert!(
                refused.body.contains(&beside),
                "{form} {url}: {}",
                refused.body
            );
            assert!(
                refused
                    .body
                    .contains(&format!("name=\"url\" value=\"{url}\""))
            );
        }
    }
    let replay = format!("{path}/replay");
    let refused = desk.send(&replay, &[("since", "yesterday")]).await;
    assert!(refused.body.contains("id=\"since-problem\"") && refused.body.contains("yesterday"));
    let nowhere = desk
        .instance
        .call(get("/webhooks/unknown").cookie(&desk.cookie));
    assert_eq!(nowhere.await.status, StatusCode::NOT_FOUND);
}
