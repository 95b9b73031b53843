//! The whole way through the pages, with an operator at a desk and a person with a phone:
//! issue, accept, present, verify, revoke, refuse.

use crate::{
    browser::{Browser, Scheme},
    instance::Instance,
};

/// The operator, who issues and verifies.
struct Desk<'a>(&'a Instance, Browser);

/// The person, who holds.
struct Phone<'a>(&'a Instance, Browser);

impl<'a> Desk<'a> {
    async fn open(instance: &'a Instance) -> Self {
        let browser = Browser::start(Scheme::Light).await;
        browser.open(&instance.sign_in).await;
        Self(instance, browser)
    }

    /// Makes an offer and hands over its link.
    async fn offer(&self, template: &str) -> String {
        let Self(instance, browser) = self;
        browser.open(&instance.page("issuer")).await;
        browser.press_about(template).await;
        browser.press("Make the offer").await;
        browser.expect("Credential offer").await;
        browser.screenshot("walk-1-offer").await;
        browser.value("#link").await
    }

    /// Asks for a presentation and hands over the link.
    async fn ask(&self, purpose: &str) -> String {
        let Self(instance, browser) = self;
        browser.open(&instance.page("verifier")).await;
        browser.press_about(purpose).await;
        browser.press("Ask").await;
        browser.expect("Presentation request").await;
        browser.screenshot("walk-4-request").await;
        browser.value("#link").await
    }

    /// The outcome, which the page shows by itself when it is there.
    async fn outcome(&self) -> Option<String> {
        self.1.attribute("[data-outcome]", "data-outcome").await
    }

    async fn revoke(&self) {
        let Self(instance, browser) = self;
        browser.open(&instance.page("issuer")).await;
        browser.press_about("Revoke").await;
        browser.attribute(".badge.is-revoked", "class").await;
        browser.screenshot("walk-7-revoked").await;
    }
}

impl<'a> Phone<'a> {
    async fn open(instance: &'a Instance) -> Self {
        let browser = Browser::start(Scheme::Dark).await;
        browser.resize(390, 844).await;
        browser.open(&instance.page("wallet")).await;
        browser.press("New here? Make a wallet").await;
        browser.set("#new-email", "person@example.org").await;
        browser
            .set("#new-password", "a long walk in the rain")
            .await;
        browser.press("Make my wallet").await;
        browser.expect("No cards yet.").await;
        Self(instance, browser)
    }

    async fn follow(&self, link: &str) {
        let Self(instance, browser) = self;
        browser.open(&instance.page("wallet")).await;
        browser
            .fill("Somebody sent you an offer or asks for something?", link)
            .await;
        browser.press("Open").await;
    }

    async fn accept(&self, offer: &str, template: &str) {
        self.follow(offer).await;
        self.1.expect("It will say:").await;
        self.1.screenshot("walk-2-consent-to-receive").await;
        self.1.press("Accept").await;
        self.1.attribute("[aria-label=Cards]", "class").await;
        self.1.expect(template).await;
        self.1.screenshot("walk-3-card").await;
    }

    /// Looks at what would be shown, and shows it.
    async fn share(&self, request: &str) -> String {
        self.follow(request).await;
        self.1.expect("What would leave your wallet").await;
        self.1.screenshot("walk-5-consent-to-show").await;
        let consent = self.1.visible().await;
        self.1.press("Share this").await;
        self.1.attribute(".big-mark", "class").await;
        consent
    }
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_credential_is_issued_accepted_presented_verified_revoked_and_refused() {
    let instance = Instance::start().await;
    let (desk, phone) = (Desk::open(&instance).await, Phone::open(&instance).await);
    let purpose = "Proof of vaccination at a border or an event";

    phone
        .accept(
            &desk.offer("Immunization record").await,
            "Immunization record",
        )
        .await;

    let consent = phone.share(&desk.ask(purpose).await).await;
    for shown in [purpose, "COVID-19", "208", "2026-03-23"] {
        assert!(
            consent.contains(shown),
            "consent does not show {shown}:\n{consent}"
        );
    }
    assert!(
        !consent.contains("Musterfrau"),
        "consent shows what was not asked for:\n{consent}"
    );
    assert_eq!(desk.outcome().await.as_deref(), Some("valid"));
    desk.1.expect("RFC 9901").await;
    let verdict = desk.1.visible().await;
    assert!(
        !verdict.contains("Musterfrau"),
        "the verifier learned what it did not ask for:\n{verdict}"
    );
    desk.1.screenshot("walk-6-valid").await;

    desk.revoke().await;
    phone.share(&desk.ask(purpose).await).await;
    assert_eq!(desk.outcome().await.as_deref(), Some("revoked"));
    desk.1.screenshot("walk-8-refused").await;

    phone.1.open(&instance.page("wallet/history")).await;
    phone.1.expect("Immunization record").await;
    phone.1.screenshot("walk-9-history").await;
    desk.1.expect_no_errors().await;
    phone.1.expect_no_errors().await;
}
