//! The whole flow through the pages, with an operator on a desktop and a person with a phone: issue, accept, present,
//! verify, revoke, refuse.

use std::time::Duration;

use crate::{
    browser::{Browser, Scheme},
    instance::Instance,
};

/// The operator, who issues and verifies credentials.
pub struct Desk<'a>(pub &'a Instance, pub &'a Browser);

/// The person, who holds credentials.
pub struct Phone<'a>(pub &'a Instance, pub &'a Browser);

pub const PURPOSE: &str = "Proof of vaccination at a border or an event";
/// Makes the next result that the page requests fail on its way.
const LOSES_ONE_RESULT: &str = "
const real = window.fetch;
window.fetch = (address, ...more) => {
  if (!address.endsWith('/result')) return real(address, ...more);
  window.fetch = real;
  return Promise.reject(new TypeError('lost'));
};";
/// Shows the page again as it is while a credential is being used up.
const WAITS_AGAIN: &str = "
const place = document.querySelector('[data-result]');
place.innerHTML = '<p class=waiting>It is being used up.</p>';
const address = document.querySelector('script[type=module]').src.replace('app.js', 'result.js');
(await import(address)).liveResult();";
pub const PERSON: &str = "person@example.org";
pub const PASSWORD: &str = "a long walk in the rain";

impl<'a> Desk<'a> {
    pub async fn open(instance: &'a Instance, browser: &'a Browser) -> Self {
        browser.open(&instance.sign_in).await;
        // The page of the sign-in link redirects by itself.
        browser.expect("Choose a credential to issue").await;
        Self(instance, browser)
    }

    /// Makes an offer; returns its link.
    pub async fn offer(&self, kind: &str) -> String {
        let Self(instance, browser) = self;
        browser.open(&instance.page("issuer")).await;
        browser.press_about(kind).await;
        browser.press("Fill with sample data").await;
        browser.press("Create offer").await;
        browser.expect("Credential offer").await;
        browser.value("#link").await
    }

    /// Requests a presentation; returns its link.
    pub async fn ask(&self, purpose: &str) -> String {
        let Self(instance, browser) = self;
        browser.open(&instance.page("verifier")).await;
        browser.press_about(purpose).await;
        browser.press("Ask").await;
        browser.expect("Presentation request").await;
        browser.value("#link").await
    }

    /// Requests a prescription, with these boxes of the form ticked or unticked.
    async fn ask_for_prescription(&self, changed: &[&str]) -> String {
        let Self(instance, browser) = self;
        browser
            .open(&instance.page("verifier/new/prescription"))
            .await;
        for label in changed {
            browser.tick(label).await;
        }
        browser.press("Ask").await;
        browser.expect("Presentation request").await;
        browser.value("#link").await
    }

    /// Delegates an action on prescriptions to another party, on the issuer's behalf.
    async fn delegate(&self, to: &str, what: &str) {
        let Self(instance, browser) = self;
        browser.open(&instance.page("issuer")).await;
        browser.press("Delegate to another DID").await;
        browser.set("#to", to).await;
        browser.choose("May", what).await;
        browser.press("Delegate").await;
        browser.expect(&format!("{what} prescription")).await;
        browser.attribute(".badge.is-active", "class").await;
    }

    /// The outcome, which the page shows by itself when it arrives.
    pub async fn outcome(&self) -> Option<String> {
        self.1.attribute("[data-outcome]", "data-outcome").await
    }

    pub async fn revoke(&self) {
        let Self(instance, browser) = self;
        browser.open(&instance.page("issuer")).await;
        browser.press_about("Revoke").await;
        browser.expect("It can’t be undone.").await;
        browser.press("Revoke this credential").await;
        browser.attribute(".badge.is-revoked", "class").await;
        // The status list with the change is published within a second.
        tokio::time::sleep(Duration::from_millis(1_100)).await;
    }
}

impl<'a> Phone<'a> {
    /// Creates a wallet.
    pub async fn open(instance: &'a Instance, browser: &'a Browser) -> Self {
        browser.open(&instance.page("wallet")).await;
        browser.press("New here? Create a wallet").await;
        browser.set("#new-email", PERSON).await;
        browser.set("#new-password", PASSWORD).await;
        browser.press("Create my wallet").await;
        browser.expect("No cards yet.").await;
        Self(instance, browser)
    }

    pub async fn follow(&self, link: &str) {
        let Self(instance, browser) = self;
        browser.open(&instance.page("wallet")).await;
        browser.fill("Received a link or a QR code?", link).await;
        browser.press("Open").await;
    }

    pub async fn accept(&self, offer: &str, kind: &str) {
        self.follow(offer).await;
        self.1.expect("It will contain").await;
        self.1.press("Accept").await;
        self.1.attribute("[aria-label=Cards]", "class").await;
        self.1.expect(kind).await;
    }

    /// Reviews what would be shared, and shares it.
    pub async fn share(&self, request: &str) -> String {
        self.follow(request).await;
        self.1.expect("What would leave your wallet").await;
        let consent = self.1.visible().await;
        self.1.press("Share this").await;
        self.1.attribute(".big-mark", "class").await;
        consent
    }
}

#[expect(
    clippy::cognitive_complexity,
    reason = "one story, told in the order in which it happens"
)]
async fn walk(desk: &Browser, phone: &Browser) {
    let instance = Instance::start().await;
    phone.resize(390, 844).await;
    let desk = Desk::open(&instance, desk).await;
    let phone = Phone::open(&instance, phone).await;

    let offer = desk.offer("Immunization record").await;
    phone.accept(&offer, "Immunization record").await;
    desk.1.expect("Accepted at").await;
    let accepted = desk.1.visible().await;
    assert!(!accepted.contains("Open in my wallet"), "{accepted}");

    let request = desk.ask(PURPOSE).await;
    desk.1.evaluate(LOSES_ONE_RESULT).await;
    let consent = phone.share(&request).await;
    for shown in [
        "localhost",
        "did:jwk:",
        "Selfsame Clinic",
        "COVID-19",
        "208",
        "2026",
        "Stays hidden: Given name, Family name,",
    ] {
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
    desk.1.press_about("It is written as specified.").await;
    desk.1.expect("RFC 9901").await;
    let verdict = desk.1.visible().await;
    assert!(
        !verdict.contains("Musterfrau"),
        "the verifier learned what it did not ask for:\n{verdict}"
    );

    desk.revoke().await;
    phone.share(&desk.ask(PURPOSE).await).await;
    assert_eq!(desk.outcome().await.as_deref(), Some("revoked"));

    phone.1.open(&instance.page("wallet/history")).await;
    phone.1.expect("Immunization record").await;
    desk.1.expect_no_errors().await;
    phone.1.expect_no_errors().await;
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_credential_is_issued_accepted_presented_verified_revoked_and_refused() {
    walk(
        &Browser::start(Scheme::Light).await,
        &Browser::start(Scheme::Dark).await,
    )
    .await;
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn the_whole_way_needs_no_mouse() {
    walk(
        &Browser::start(Scheme::Dark).await.by_keyboard(),
        &Browser::start(Scheme::Light).await.by_keyboard(),
    )
    .await;
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_prescription_is_used_up_another_revoked_by_its_pharmacy_and_all_pages_say_by_whom() {
    let instance = Instance::start().await;
    let (at_desk, at_hand) =
        tokio::join!(Browser::start(Scheme::Light), Browser::start(Scheme::Dark));
    at_hand.resize(390, 844).await;
    let desk = Desk::open(&instance, &at_desk).await;
    at_desk
        .open(&instance.page("verifier/new/prescription"))
        .await;
    let script = "return document.querySelector('#spender').textContent";
    let pharmacy = at_desk.evaluate(script).await;
    let pharmacy = pharmacy.as_str().expect("a DID").to_owned();
    assert!(pharmacy.starts_with("did:selfsame:"), "{pharmacy}");
    desk.delegate(&pharmacy, "revoke").await;

    let first = desk.offer("Drug prescription").await;
    let phone = Phone::open(&instance, &at_hand).await;
    phone.accept(&first, "Drug prescription").await;
    // The form uses it up unless told otherwise, and the own issuer lets the own verifier do so.
    let consent = phone.share(&desk.ask_for_prescription(&[]).await).await;
    assert!(consent.contains("This can be used once"), "{consent}");
    assert_eq!(desk.outcome().await.as_deref(), Some("valid"));
    let used = at_desk.attribute("[data-spending]", "data-spending").await;
    assert_eq!(used.as_deref(), Some("done"));
    at_desk.expect("Used up").await;
    at_desk.expect(&pharmacy).await;

    let use_it = "Mark as used: if valid, it can’t be used again anywhere";
    let consent = phone
        .share(&desk.ask_for_prescription(&[use_it]).await)
        .await;
    assert!(!consent.contains("can be used once"), "{consent}");
    assert_eq!(desk.outcome().await.as_deref(), Some("spent"));
    at_desk.expect(&format!("spent by {pharmacy}")).await;

    at_hand.open(&instance.page("wallet/history")).await;
    at_hand.expect("Used up").await;
    at_hand.expect(&pharmacy).await;
    at_hand.open(&instance.page("wallet")).await;
    at_hand.press_about("Drug prescription").await;
    at_hand.attribute(".badge.is-spent", "class").await;
    at_hand.expect(&pharmacy).await;
    at_hand.press("Remove this card").await;
    at_hand.press("Remove").await;
    at_hand.expect("No cards yet.").await;

    let second = desk.offer("Drug prescription").await;
    phone.accept(&second, "Drug prescription").await;
    let handle = "Ask for the right to revoke it later on the issuer’s behalf";
    phone
        .share(&desk.ask_for_prescription(&[use_it, handle]).await)
        .await;
    assert_eq!(desk.outcome().await.as_deref(), Some("valid"));
    at_desk.press("Revoke on the issuer’s behalf…").await;
    at_desk.expect("It can’t be undone").await;
    at_desk.press("Revoke this credential").await;
    at_desk.expect("Revoked on the issuer’s behalf").await;
    phone.share(&desk.ask_for_prescription(&[]).await).await;
    assert_eq!(desk.outcome().await.as_deref(), Some("revoked"));

    at_desk.open(&instance.page("issuer")).await;
    for (action, badge) in [
        ("spent", ".badge.is-spent"),
        ("revoked", ".badge.is-revoked"),
    ] {
        at_desk.attribute(badge, "class").await;
        let seen = format!("[data-used={action}]");
        at_desk.attribute(&seen, "class").await;
    }
    at_desk.expect(&format!("by {pharmacy}")).await;
    at_desk.picture("issuer-uses", (1200, 800)).await;
    at_desk.expect_no_errors().await;
    at_hand.expect_no_errors().await;
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_person_who_asks_and_answers_in_one_browser_comes_back_to_the_verdict() {
    let instance = Instance::start().await;
    let browser = Browser::start(Scheme::Light).await;
    let desk = Desk::open(&instance, &browser).await;
    let offer = desk.offer("Drug prescription").await;
    let phone = Phone::open(&instance, &browser).await;
    phone.accept(&offer, "Drug prescription").await;
    browser
        .open(&instance.page("verifier/new/prescription"))
        .await;
    browser
        .tick("The wallet is in this browser: bring the person back here")
        .await;
    browser.press("Ask").await;
    browser.press("Answer with my wallet").await;
    browser.press("Share this").await;
    browser.press("Back to the verifier").await;
    assert_eq!(desk.outcome().await.as_deref(), Some("valid"));
    let followed = browser.attribute("[data-result]", "data-result").await;
    assert_eq!(
        followed.as_deref(),
        Some(""),
        "not by the operator's events"
    );
    browser.evaluate(WAITS_AGAIN).await;
    assert_eq!(desk.outcome().await.as_deref(), Some("valid"));
    browser.expect_no_errors().await;
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn who_lost_the_way_is_told_where_to_go_on() {
    let instance = Instance::start().await;
    let browser = Browser::start(Scheme::Light).await;

    // Without a valid session, the pages ask for sign-in.
    browser.open(&instance.page("verifier")).await;
    browser.press("Sign in with the operator token").await;
    browser.expect("prints a sign-in link").await;
    browser.fill("Operator token", "not the token").await;
    browser.press("Sign in with the token").await;
    browser.expect("Wrong operator token.").await;
    browser
        .open(&instance.page("operator/sign-in?code=abc"))
        .await;
    browser.press("Sign in another way").await;
    browser.expect("operator token").await;

    // A person opens an accepted offer again; and a form is sent a second time.
    let desk = Desk::open(&instance, &browser).await;
    let offer = desk.offer("Clinical note").await;
    let phone = Phone::open(&instance, &browser).await;
    phone.accept(&offer, "Clinical note").await;
    browser.back().await;
    browser.press("Accept").await;
    browser.expect("No longer available").await;
    browser
        .expect("The offer was accepted or has expired.")
        .await;
    phone.follow(&offer).await;
    browser.expect("No longer available").await;
    browser
        .expect("The offer was accepted or has expired.")
        .await;
    browser.expect("Ask the issuer for a new one.").await;

    // A person opens an answered request again.
    let request = desk.ask("Second opinion").await;
    phone.share(&request).await;
    phone.follow(&request).await;
    browser
        .expect("The request was already answered or has expired.")
        .await;
    browser.expect("Ask for a new one.").await;

    // A wrong password, and a text that is not a link.
    browser.open(&instance.page("wallet")).await;
    browser.fill("Received a link or a QR code?", "hello").await;
    browser.press("Open").await;
    browser
        .expect("This link is neither an offer nor a request.")
        .await;
    browser.open(&instance.page("wallet")).await;
    browser.press("Sign out").await;
    // Waits for this page, so that signing out is done before the next page is opened.
    browser.expect("Prove it anywhere.").await;
    browser.open(&instance.page("wallet/keys")).await;
    browser.expect("continue to the page you wanted").await;
    browser.fill("E-mail address", PERSON).await;
    browser.fill("Password", "a wrong password").await;
    browser.press("Sign in").await;
    browser.expect("Create one below").await;
    let focus = "return document.activeElement.id";
    assert_eq!(browser.evaluate(focus).await, "problem");
    browser.fill("Password", PASSWORD).await;
    browser.press("Sign in").await;
    browser.expect("Create a DID").await;

    browser.open(&instance.page("nowhere")).await;
    browser.expect("There is nothing at this address.").await;
    browser.press("Start page").await;
    browser.expect("Prove it anywhere.").await;
}
