//! A credential that needs an approval, by pages: the person's phone waits while a clerk decides.

use crate::browser::{Browser, Scheme};
use crate::instance::Instance;
use crate::walk::{Desk, Phone};

const SETTINGS: &str = "[issuer]\napproval = \"by_offer\"\napproval_interval = 1\n";
const KIND: &str = "Immunization record";

impl Desk<'_> {
    /// Makes an offer whose credential needs an approval; returns its link.
    async fn offer_with_approval(&self) -> String {
        let Self(instance, browser) = self;
        browser.open(&instance.page("issuer")).await;
        browser.press_about(KIND).await;
        browser.press("Fill with sample data").await;
        browser
            .tick("Somebody here must approve the request before the credential is issued")
            .await;
        browser.press("Create offer").await;
        browser.expect("Credential offer").await;
        browser.value("#link").await
    }

    /// Opens the only request that waits.
    async fn open_request(&self) {
        let Self(instance, browser) = self;
        browser.open(&instance.page("issuer")).await;
        browser.press("Requests that wait for an approval").await;
        browser.press_about(KIND).await;
        browser.expect("The credential will say").await;
        browser.expect("Musterfrau").await;
    }
}

impl Phone<'_> {
    /// Accepts an offer whose credential takes its time.
    async fn begin(&self, offer: &str) {
        self.follow(offer).await;
        self.1.expect("It will contain").await;
        self.1.press("Accept").await;
        self.1.expect("Still being prepared").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_phone_waits_until_a_clerk_approves_and_is_told_of_a_refusal() {
    let instance = Instance::with(SETTINGS).await;
    let at_desk = Browser::start(Scheme::Light).await;
    let desk = Desk::open(&instance, &at_desk).await;
    let in_hand = Browser::start(Scheme::Dark).await;
    let phone = Phone::open(&instance, &in_hand).await;
    phone.begin(&desk.offer_with_approval().await).await;
    desk.open_request().await;
    at_desk.resize(390, 844).await;
    at_desk.picture("approval", (390, 844)).await;
    at_desk.press("Approve this request").await;
    at_desk.expect("No request waits.").await;
    at_desk.resize(1200, 900).await;
    phone.arrives().await;
    phone.begin(&desk.offer_with_approval().await).await;
    desk.open_request().await;
    at_desk
        .fill(
            "Why it is refused for those who work here, optional; the person is not told",
            "Not a patient of ours.",
        )
        .await;
    at_desk.press("Refuse this request").await;
    at_desk.expect("No request waits.").await;
    at_desk.press("refused").await;
    at_desk.press_about(KIND).await;
    at_desk.expect("Not a patient of ours.").await;
    in_hand.open(&instance.page("wallet/history")).await;
    phone
        .hears("The issuer decided not to issue this credential.")
        .await;
    at_desk.expect_no_errors().await;
    in_hand.expect_no_errors().await;
}

impl Phone<'_> {
    /// Looks until the card is there.
    async fn arrives(&self) {
        for _ in 0..200 {
            self.1.open(&self.0.page("wallet")).await;
            let patience = std::time::Duration::from_secs(1);
            if self.1.sees("Cards", patience).await
                && !self.1.visible().await.contains("Still being prepared")
            {
                self.1.attribute("[aria-label=Cards]", "class").await;
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        }
        panic!("no card came: {}", self.1.visible().await);
    }

    /// Looks until its history says this.
    async fn hears(&self, text: &str) {
        for _ in 0..60 {
            let patience = std::time::Duration::from_secs(1);
            if self.1.sees(text, patience).await {
                return;
            }
            self.1.open(&self.0.page("wallet/history")).await;
        }
        panic!("{}", self.1.visible().await);
    }
}
