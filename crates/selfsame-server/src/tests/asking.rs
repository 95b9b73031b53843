//! Saved requests as visitors of their link meet them.

use http::{Method, StatusCode};
use serde_json::json;

use super::instance::{Answered, Instance, form, get, post};
use super::saved::{read, sent, with_check_in};
use crate::settings::ServerLimits;

const SHOP: &str = "https://shop.example";
const OPENER: &str = "cross-origin-opener-policy";

/// A visitor's browser at the link of the saved request.
struct VisitorsBrowser<'a> {
    instance: &'a Instance,
    cookie: String,
    token: String,
}

impl<'a> VisitorsBrowser<'a> {
    async fn at(instance: &'a Instance, query: &str) -> Self {
        let page = instance.call(get(&format!("/ask/check-in{query}"))).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        Self {
            instance,
            cookie: page.cookie("selfsame-visitor-7380"),
            token: page.form_token(),
        }
    }

    async fn opens(&self, fields: &[(&str, &str)]) -> Answered {
        let token = [("form_token", self.token.as_str())];
        let fields = [&token[..], fields].concat();
        let opened = post("/ask/check-in").cookie(&self.cookie);
        let opened = opened.header("origin", "http://127.0.0.1:7380");
        self.instance.call(opened.form(form(&fields))).await
    }

    async fn sees(&self, path: &str) -> Answered {
        self.instance.call(get(path).cookie(&self.cookie)).await
    }
}

/// The id of the request at the end of a path, before its query.
fn id(path: &str) -> &str {
    let path = path.split('?').next().unwrap();
    path.rsplit('/').next().unwrap()
}

#[tokio::test]
async fn a_visitor_is_told_who_asks_for_what_and_opens_a_request_of_their_own() {
    let instance = with_check_in(|_| {}).await;
    let page = instance.call(get("/ask/check-in")).await;
    for told in [
        "Check-in",
        "To let you in",
        "Immunization record",
        "Vaccine",
        "Selfsame Border Control",
    ] {
        assert!(page.body.contains(told), "{told}: {}", page.body);
    }
    assert!(!page.body.contains("Family name"), "{}", page.body);
    let browser = VisitorsBrowser::at(&instance, "?reference=order-17").await;
    let opened = browser.opens(&[("reference", "order-17")]).await;
    assert_eq!(opened.status, StatusCode::SEE_OTHER, "{}", opened.body);
    let path = opened.header("location");
    let shown = browser.sees(path).await;
    assert!(shown.body.contains("openid4vp://"), "{}", shown.body);
    let status = read(&instance, &format!("/api/verifier/requests/{}", id(path))).await;
    assert_eq!(
        (&status["reference"], &status["saved"]),
        (&json!("order-17"), &json!("check-in"))
    );
    assert_eq!(status["state"], "created");
}

#[tokio::test]
async fn a_visitors_request_is_shown_to_their_browser_alone() {
    let instance = with_check_in(|_| {}).await;
    let browser = VisitorsBrowser::at(&instance, "").await;
    let path = browser.opens(&[]).await.header("location").to_owned();
    assert_eq!(browser.sees(&path).await.status, StatusCode::OK);
    let other = VisitorsBrowser::at(&instance, "").await;
    assert_eq!(other.sees(&path).await.status, StatusCode::NOT_FOUND);
    assert_eq!(
        instance.call(get(&path)).await.status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn a_request_is_opened_by_the_pages_own_form_alone() {
    let instance = with_check_in(|_| {}).await;
    let browser = VisitorsBrowser::at(&instance, "").await;
    let foreign = post("/ask/check-in").cookie(&browser.cookie);
    let foreign = foreign.header("origin", SHOP);
    let fields = form(&[("form_token", &browser.token)]);
    let refused = instance.call(foreign.form(fields)).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let without = post("/ask/check-in").cookie(&browser.cookie);
    let refused = instance.call(without.form(form(&[]))).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.body);
    let made = read(&instance, "/api/verifier/requests").await;
    assert!(made["items"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn only_a_window_opened_by_a_listed_page_keeps_the_way_back_to_it() {
    let instance = with_check_in(|_| {}).await;
    let alone = instance.call(get("/ask/check-in")).await;
    assert_eq!(alone.header(OPENER), "same-origin");
    let query = "?from=https%3A%2F%2Fshop.example";
    let listed = instance.call(get(&format!("/ask/check-in{query}"))).await;
    assert_eq!(listed.header(OPENER), "unsafe-none");
    let other = "/ask/check-in?from=https%3A%2F%2Fother.example";
    let refused = instance.call(get(other)).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.body);
    assert_eq!(refused.header(OPENER), "same-origin");

    let browser = VisitorsBrowser::at(&instance, query).await;
    let opened = browser.opens(&[("from", SHOP)]).await;
    assert_eq!(
        opened.header(OPENER),
        "unsafe-none",
        "a redirect counts too"
    );
    let shown = browser.sees(opened.header("location")).await;
    assert_eq!(shown.header(OPENER), "unsafe-none");
    assert!(
        shown.body.contains("data-to=\"https://shop.example\""),
        "{}",
        shown.body
    );
    let refused = browser.opens(&[("from", "https://other.example")]).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let page = instance.call(get("/verifier/nowhere")).await;
    assert_eq!(page.header(OPENER), "same-origin");
}

#[tokio::test]
async fn a_link_of_nothing_and_one_that_is_switched_off_say_so() {
    let off = with_check_in(|definition| definition["enabled"] = json!(false)).await;
    let gone = off.call(get("/ask/check-in")).await;
    assert_eq!(gone.status, StatusCode::GONE);
    assert!(
        gone.body.contains("switched this request off"),
        "{}",
        gone.body
    );
    let nothing = off.call(get("/ask/nothing")).await;
    assert_eq!(nothing.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_number_of_requests_that_one_network_opens_is_limited() {
    let instance = Instance::with(ServerLimits {
        visits_each: 2,
        ..ServerLimits::default()
    })
    .await;
    let saved = "/api/verifier/saved-requests";
    let made = sent(&instance, Method::POST, saved, &super::saved::check_in()).await;
    assert_eq!(made.status, StatusCode::CREATED);
    let browser = VisitorsBrowser::at(&instance, "").await;
    let fields = form(&[("form_token", &browser.token)]);
    let opens = async |from: &str| {
        let opened = post("/ask/check-in").cookie(&browser.cookie).from(from);
        instance.call(opened.form(fields.clone())).await
    };
    for _ in 0..2 {
        assert_eq!(opens("203.0.113.1").await.status, StatusCode::SEE_OTHER);
    }
    let refused = opens("203.0.113.1").await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(!refused.header("retry-after").is_empty());
    assert_eq!(opens("203.0.113.2").await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn any_page_may_load_the_script_of_the_button() {
    let instance = Instance::start().await;
    let script = instance.call(get("/embed.js").header("origin", SHOP)).await;
    assert_eq!(script.status, StatusCode::OK);
    assert_eq!(script.header("access-control-allow-origin"), "*");
    assert_eq!(
        script.header("cross-origin-resource-policy"),
        "cross-origin"
    );
    assert_eq!(
        script.header("content-type"),
        "text/javascript; charset=utf-8"
    );
    assert!(script.body.len() <= 3 * 1024, "{} bytes", script.body.len());
    let page = instance.call(get("/")).await;
    assert_eq!(page.header("access-control-allow-origin"), "");
}

#[tokio::test]
async fn a_visitor_sees_who_asks_and_no_way_into_the_instance() {
    let instance = with_check_in(|_| {}).await;
    let look = json!({"logo": "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4="});
    let changed = sent(&instance, Method::PATCH, "/api/look", &look).await;
    assert_eq!(changed.status, StatusCode::OK, "{}", changed.body);
    let browser = VisitorsBrowser::at(&instance, "").await;
    let opened = browser.opens(&[]).await;
    for path in ["/ask/check-in", opened.header("location")] {
        let page = browser.sees(path).await.body;
        assert!(
            page.contains("<bdi>Selfsame Border Control</bdi>"),
            "{page}"
        );
        assert!(page.contains("class=\"logo\" src=\"/logo/"), "{page}");
        for way in [
            "<nav",
            "href=\"/\"",
            "href=\"/operator\"",
            "href=\"/api\"",
            "href=\"/wallet\"",
        ] {
            assert!(!page.contains(way), "{way}: {page}");
        }
    }
}
