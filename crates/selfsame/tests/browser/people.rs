//! People with roles and API keys, as they meet the pages: invited, signed in, at work, and in the audit trail.

use crate::{
    browser::{Browser, Scheme},
    instance::Instance,
    walk::Desk,
};

pub const CLERK: &str = "clerk@example.org";
pub const PASSWORD: &str = "a long walk in the rain";

impl Desk<'_> {
    /// Invites a person to have a role; returns the link.
    pub async fn invite(&self, role: &str) -> String {
        self.invite_to("people", role).await
    }

    /// Invites a person to have a role in the organisation with this page; returns the link.
    pub async fn invite_to(&self, people: &str, role: &str) -> String {
        let Self(instance, browser) = self;
        browser.open(&instance.page(people)).await;
        browser.press("Invite a person").await;
        browser.tick(role).await;
        browser.press("Make the invitation").await;
        browser.expect("you will not see it again").await;
        browser.value("#link").await
    }

    /// Creates an API key with one right; returns it.
    pub async fn create_key(&self, name: &str, scope: &str) -> String {
        self.create_key_of("people", name, scope).await
    }

    /// Creates an API key of the organisation with this page; returns it.
    pub async fn create_key_of(&self, people: &str, name: &str, scope: &str) -> String {
        let Self(instance, browser) = self;
        browser.open(&instance.page(people)).await;
        browser.press("Create an API key").await;
        browser.set("#name", name).await;
        browser.tick(scope).await;
        browser.press("Create the key").await;
        browser.expect("You will not see it again").await;
        browser.value("#key").await
    }
}

/// Accepts an invitation with a new account.
pub async fn accept(browser: &Browser, invitation: &str) {
    browser.open(invitation).await;
    browser.set("#email", CLERK).await;
    browser.set("#password", PASSWORD).await;
    browser.press("Accept and sign in").await;
    browser.expect(CLERK).await;
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_clerk_is_invited_signs_in_issues_and_may_not_see_people() {
    let instance = Instance::start().await;
    let (at_desk, clerks) =
        tokio::join!(Browser::start(Scheme::Light), Browser::start(Scheme::Dark));
    clerks.resize(390, 844).await;
    let desk = Desk::open(&instance, &at_desk).await;
    let invitation = desk.invite("Issuer").await;

    accept(&clerks, &invitation).await;
    clerks.expect("Choose a credential to issue").await;
    clerks.press("Sign out").await;
    // Signing out is done before the next page is opened.
    clerks.expect("Prove it anywhere.").await;
    clerks.open(&instance.page("issuer")).await;
    clerks.expect("SIGN IN TO CONTINUE").await;
    clerks.fill("E-mail address", CLERK).await;
    clerks.fill("Password", "a short walk in the sun").await;
    clerks.press("Sign in").await;
    clerks.expect("Wrong e-mail or password.").await;
    clerks.errors().await;
    clerks.fill("Password", PASSWORD).await;
    clerks.press("Sign in").await;
    clerks.expect("Choose a credential to issue").await;
    Desk(&instance, &clerks).offer("Immunization record").await;
    clerks.expect_no_errors().await;
    clerks.open(&instance.page("people")).await;
    clerks.expect("his needs the right people:read").await;
}
