//! An organisation is created by the pages, and works from its own pages.

use crate::{
    browser::{Browser, Scheme},
    instance::Instance,
    walk::{Desk, Phone},
};

pub const MINISTRY: &str = "Ministry of Health";

/// Chooses a file as a person does in the dialog of the system.
const CHOOSE_LOGO: &str = r##"
const drawing = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><circle cx="12" cy="12" r="11" fill="#1f4e79"/><path d="M10 5h4v5h5v4h-5v5h-4v-5H5v-4h5z" fill="#fff"/></svg>';
const chosen = new DataTransfer();
chosen.items.add(new File([drawing], 'ministry.svg', {type: 'image/svg+xml'}));
document.querySelector('#logo').files = chosen.files;
return null;"##;

impl Desk<'_> {
    /// Creates an organisation with the suggested name, and ends on its page.
    pub async fn organise(&self, title: &str) {
        let Self(instance, browser) = self;
        browser.open(&instance.page("organisation")).await;
        browser.press("All organisations").await;
        browser.expect("New organisation").await;
        browser.set("#title", title).await;
        browser.press("Create the organisation").await;
        browser.expect("The organisation is created.").await;
    }

    /// Gives the organisation of this path a logo, a colour and an issuer that it trusts, and ends on the list of such issuers.
    pub async fn settle(&self, organisation: &str) {
        let Self(instance, browser) = self;
        browser
            .open(&instance.page(&format!("{organisation}/organisation")))
            .await;
        browser.press("Change the logo or the colour").await;
        browser.evaluate(CHOOSE_LOGO).await;
        browser.set("#colour", "#FFD400").await;
        browser.press("Save").await;
        browser.expect("#ffd400").await;
        browser.press("Trusted issuers").await;
        browser.set("#issuer", "did:web:pharmacy.example").await;
        browser.set("#name", "Pharmacy at the Lake").await;
        browser.press("Trust this issuer").await;
        browser.expect("Pharmacy at the Lake").await;
    }

    /// Creates a webhook, and ends on its page, where a test waits to be sent.
    pub async fn hook(&self) {
        let Self(instance, browser) = self;
        browser.open(&instance.page("webhooks")).await;
        browser.set("#url", "https://receiver.invalid/hook").await;
        browser.press("Create the webhook").await;
        browser.expect("You will not see it again").await;
        browser.press("Copy the secret").await;
        browser.press("Continue").await;
        browser.press("Send a test").await;
        browser.expect("webhook.test").await;
    }
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn an_organisation_is_created_and_its_first_offer_issued_from_its_own_pages() {
    let instance = Instance::start().await;
    let browser = Browser::start(Scheme::Light).await.by_keyboard();
    let desk = Desk::open(&instance, &browser).await;
    browser.open(&instance.page("organisations")).await;
    browser.set("#title", "Bürgeramt Straße").await;
    assert_eq!(browser.value("#name").await, "buergeramt-strasse");
    browser.expect("/o/buergeramt-strasse").await;
    desk.organise(MINISTRY).await;
    let own = instance.page("o/ministry-of-health/");
    assert!(browser.address().await.starts_with(&own));

    browser.press_about("Issue the first credential").await;
    browser.press_about("Immunization record").await;
    browser.press("Fill with sample data").await;
    browser.press("Create offer").await;
    browser.expect("Credential offer").await;
    assert!(browser.address().await.starts_with(&own));
    let offer = browser.value("#link").await;
    assert!(offer.contains("ministry-of-health"), "{offer}");
    let phone = Phone::open(&instance, &browser).await;
    phone.accept(&offer, "Immunization record").await;

    browser.open(&format!("{own}organisation")).await;
    browser.press("Issuer").await;
    browser.expect("Revoke").await;
    assert!(browser.address().await.starts_with(&own));
    browser.press("Organisation").await;
    browser.press("Suspend").await;
    browser.expect("verifiers can still check it").await;
    browser.expect_no_errors().await;
}
