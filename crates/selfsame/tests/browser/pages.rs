//! Every page by itself: on a phone and at a desk, light and dark, by keyboard, and without errors.

use crate::{
    browser::{Browser, Scheme},
    instance::Instance,
};

const TAB: &str = "\u{E004}";
const ENTER: &str = "\u{E007}";

const PAGES: [(&str, &str); 10] = [
    ("start", ""),
    ("issuer", "issuer"),
    ("issuer-form", "issuer/new/immunization"),
    ("wallet", "wallet"),
    ("verifier", "verifier"),
    ("verifier-form", "verifier/new/immunization"),
    ("registry", "registry"),
    ("resolver", "resolver"),
    (
        "resolved",
        "resolver?did=did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
    ),
    ("operator", "operator"),
];

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn every_page_fits_a_phone_and_a_desk_in_light_and_dark() {
    let instance = Instance::start().await;
    for (scheme, scheme_name) in [(Scheme::Light, "light"), (Scheme::Dark, "dark")] {
        let browser = Browser::start(scheme).await;
        browser.open(&instance.sign_in).await;
        for (device, width, height) in [("desk", 1280, 900), ("phone", 390, 844)] {
            browser.resize(width, height).await;
            for (name, path) in PAGES {
                browser.open(&instance.page(path)).await;
                browser
                    .screenshot(&format!("page-{name}-{device}-{scheme_name}"))
                    .await;
                let fits = "return document.documentElement.scrollWidth <= window.innerWidth";
                assert_eq!(
                    browser.evaluate(fits).await,
                    true,
                    "{name} is wider than a {device}"
                );
                let labelled = "return [...document.querySelectorAll('input:not([type=hidden]), select, textarea')].every(field => field.labels.length || field.ariaLabel)";
                assert_eq!(
                    browser.evaluate(labelled).await,
                    true,
                    "{name} has a field without a label"
                );
            }
        }
        browser.expect_no_errors().await;
    }
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn an_offer_is_made_by_keyboard_alone() {
    let instance = Instance::start().await;
    let browser = Browser::start(Scheme::Light).await;
    browser.open(&instance.sign_in).await;
    browser
        .open(&instance.page("issuer/new/immunization"))
        .await;
    browser.keys(TAB).await;
    assert_eq!(browser.focus().await, "Skip to the content");
    for _ in 0..60 {
        if browser.focus().await == "Make the offer" {
            break;
        }
        browser.keys(TAB).await;
    }
    browser.keys(ENTER).await;
    browser.expect("Credential offer").await;
}
