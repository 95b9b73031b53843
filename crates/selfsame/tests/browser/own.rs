//! An organisation issues a credential of its own to a person, asks for it on another site's page, and revokes it. All
//! of it by pages.

use std::io::Write as _;
use std::time::Duration;

use crate::browser::{Browser, Scheme};
use crate::embedded::{BUTTON, shop_of};
use crate::instance::Instance;
use crate::people::{self, CLERK};
use crate::walk::{Desk, Phone};

const LIBRARY: &str = "City Library";
const CARD: &str = "Library card";
/// A chessboard of 16 by 16 pixels.
const LOGO: [u8; 94] = [
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 16, 0, 0, 0, 16, 1, 3,
    0, 0, 0, 37, 61, 109, 34, 0, 0, 0, 6, 80, 76, 84, 69, 255, 214, 10, 0, 70, 60, 161, 231, 236,
    154, 0, 0, 0, 19, 73, 68, 65, 84, 120, 218, 99, 224, 231, 103, 128, 163, 15, 31, 16, 8, 135,
    56, 0, 42, 95, 15, 241, 61, 204, 215, 101, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
];
const LOGO_SIDE: u32 = 16;
/// What the trail of the organisation says of each act, the newest first.
const ACTS: [&str; 6] = [
    "Suspends, reinstates or revokes a credential",
    "One request with its verdict, at once or when the verdict is there",
    "Saves a new request",
    "Makes an offer, for one use or for many",
    "Publishes the draft of a type as its next version, which then does not change",
    "Creates the draft of a type",
];

/// A claim as the editor describes it.
struct Described {
    label: &'static str,
    kind: &'static str,
    name: &'static str,
}

const CLAIMS: [Described; 3] = [
    Described {
        label: "Full name",
        kind: "text",
        name: "full_name",
    },
    Described {
        label: "Kind of membership",
        kind: "one of some values",
        name: "kind_of_membership",
    },
    Described {
        label: "Member since",
        kind: "date",
        name: "member_since",
    },
];

impl Desk<'_> {
    /// Creates the organisation without sample types; ends on its list of types.
    async fn found_library(&self) {
        let Self(instance, browser) = self;
        browser.open(&instance.page("organisations")).await;
        browser.set("#title", LIBRARY).await;
        assert_eq!(browser.value("#name").await, "city-library");
        browser.tick("Sample types").await;
        browser.press("Create the organisation").await;
        browser.expect("The organisation is created.").await;
        let own = instance.page("o/city-library/");
        assert!(browser.address().await.starts_with(&own));
        browser.press_about("Choose credential types").await;
        browser.expect("You have no types of your own yet.").await;
    }

    /// Describes the card in the editor, from the list of types.
    pub async fn describe_card(&self) {
        let Self(_, browser) = self;
        browser.press("New type").await;
        browser.expect("New credential type").await;
        browser.set("#title", CARD).await;
        assert_eq!(browser.value("#id").await, "library-card");
        let lends = "That its holder may borrow books";
        browser.set("#description", lends).await;
        for (row, claim) in CLAIMS.iter().enumerate() {
            if row > 0 {
                browser.press("Add a claim").await;
            }
            self.describe_claim(row, claim).await;
        }
        browser.press_element("[name='0.required']").await;
        browser.press_element("[name='0.front']").await;
        let kinds = "basic = For one reader\nfamily = For a family";
        browser.set("[name='1.values']", kinds).await;
    }

    async fn describe_claim(&self, row: usize, claim: &Described) {
        let Self(_, browser) = self;
        let field = |name: &str| format!("[name='{row}.{name}']");
        browser.set(&field("label"), claim.label).await;
        assert_eq!(browser.value(&field("name")).await, claim.name);
        browser.pick(&field("kind"), claim.kind).await;
    }

    /// Gives the card its logo from a file, and sees it on the card before and after the form is sent.
    pub async fn choose_logo(&self) {
        let Self(_, browser) = self;
        let mut file = tempfile::Builder::new()
            .suffix(".png")
            .tempfile()
            .expect("a file");
        file.write_all(&LOGO).expect("room for a file");
        let path = file.path().display().to_string();
        browser.set("#logo_file", &path).await;
        sees_logo(browser, "[data-card]").await;
        browser.set("#logo_text", "A chessboard").await;
        browser.press("Check").await;
        browser.expect("Nothing is wrong with it.").await;
        browser.expect("It is not saved yet.").await;
        sees_logo(browser, "[data-card]").await;
        let card = "return document.querySelector('[data-card] .face-title').innerText";
        assert_eq!(browser.evaluate(card).await, CARD);
        assert_eq!(browser.value("#logo_text").await, "A chessboard");
        browser.picture("own-type", (1200, 900)).await;
    }

    /// Saves and publishes the type; ends on its page.
    pub async fn publish_card(&self) {
        let Self(_, browser) = self;
        browser.press("Save and publish…").await;
        browser.expect("Publish the draft as version 1").await;
        sees_logo(browser, "main").await;
        for claim in &CLAIMS {
            browser.expect(claim.label).await;
        }
        browser.press("Publish").await;
        browser.expect("The type is published").await;
        browser.expect("Version 1").await;
        let logo = "const link = [...document.links].find(link => link.textContent === 'Logo'); const logo = await (await fetch(link)).blob(); return [logo.type, logo.size]";
        let expected = serde_json::json!(["image/png", LOGO.len()]);
        assert_eq!(browser.evaluate(logo).await, expected);
    }

    /// Offers the card to a person; returns the link.
    async fn offer_card(&self) -> String {
        let Self(_, browser) = self;
        browser.press("Offer this credential").await;
        browser.fill("Full name", "Erika Musterfrau").await;
        browser.choose("Kind of membership", "For a family").await;
        // The same keys whether the day or the month comes first.
        browser.fill("Member since", "05052019").await;
        let since = browser.value("[type=date]").await;
        assert_eq!(since, "2019-05-05");
        browser.press("Create offer").await;
        browser.expect("Credential offer").await;
        browser.value("#link").await
    }

    /// Saves a request for two claims of the card, which pages of this origin may embed; returns its link.
    pub async fn save_request(&self, origin: &str) -> String {
        let Self(_, browser) = self;
        browser.press("Verifier").await;
        browser.press("New saved request").await;
        browser.set("#title", "Reader check").await;
        browser.set("#purpose", "To lend you a book").await;
        browser.set("#name", "reader-check").await;
        browser.choose("Credential", CARD).await;
        browser.press("Show its claims").await;
        // The claim on the card's front was proposed.
        for claim in &CLAIMS {
            browser.tick(claim.label).await;
        }
        browser.set("#origins", origin).await;
        browser.press("Save").await;
        browser.expect("The request is saved.").await;
        browser.expect("Sample cards answer it.").await;
        let asked = "return [...document.querySelectorAll('[aria-label=\"What leaves the wallet\"] li')].map(claim => claim.innerText).join()";
        let asked = browser.evaluate(asked).await;
        assert_eq!(asked, "Kind of membership,Member since");
        let link = browser.value("#link").await;
        let snippet = browser.value("#snippet").await;
        let button = format!("<selfsame-request src=\"{link}\" reference=\"order-17\">");
        assert!(snippet.contains(&button), "{snippet}");
        link
    }

    /// Reads the verdict with the claims that were shown, and not the one that was not asked for.
    async fn read_verdict(&self) {
        let Self(_, browser) = self;
        browser.press("Verifier").await;
        browser.press_about("valid").await;
        assert_eq!(self.outcome().await.as_deref(), Some("valid"));
        browser.expect("family").await;
        browser.expect("2019").await;
        let verdict = browser.visible().await;
        assert!(!verdict.contains("Musterfrau"), "{verdict}");
    }

    async fn revoke_card(&self) {
        let Self(_, browser) = self;
        browser.press("Issuer").await;
        browser.expect(CARD).await;
        // On a phone, where the table is a list.
        browser.resize(390, 844).await;
        browser.press_about("Revoke").await;
        browser.expect("It can’t be undone.").await;
        browser.picture("own-revoke", (390, 844)).await;
        browser.press("Revoke this credential").await;
        browser.attribute(".badge.is-revoked", "class").await;
        browser.resize(1200, 900).await;
        // The status list with the change is published within a second.
        tokio::time::sleep(Duration::from_millis(1_100)).await;
    }

    /// Finds all acts in words in the organisation's trail, in their order and without a claim.
    async fn read_trail(&self) {
        let Self(instance, browser) = self;
        browser.press("Organisation").await;
        browser.press("Audit trail").await;
        browser.expect("What people and programs did here").await;
        let words = "return [...document.querySelectorAll('[data-label=What] b')].map(words => words.innerText)";
        let said = browser.evaluate(words).await;
        assert_eq!(said, serde_json::json!(ACTS));
        let trail = browser.visible().await;
        assert!(!trail.contains("Musterfrau"), "{trail}");
        browser.picture("own-trail", (1200, 900)).await;
        browser.open(&instance.page("audit")).await;
        browser.expect("Creates an organisation").await;
    }
}

/// A clerk of the library and a program of it are let in, and each makes an offer; the trail says who did what.
async fn let_in(desk: &Desk<'_>, clerks: &Browser) {
    let Desk(instance, browser) = desk;
    let people = "o/city-library/people";
    let invitation = desk.invite_to(people, "Issuer").await;
    people::accept(clerks, &invitation).await;
    clerks.expect("Choose a credential to issue").await;
    clerks.press("Issuer").await;
    clerks.expect(CARD).await;
    let offers = instance.page("o/city-library/api/issuer/offers");
    let key = desk.create_key_of(people, "Counter", "Make offers").await;
    let offered = format!(
        "const offer = await fetch('{offers}', {{method: 'POST', headers: {{authorization: 'Bearer {key}', 'content-type': 'application/json'}}, body: JSON.stringify({{type: 'library-card', examples: true}})}}); return offer.status"
    );
    assert_eq!(browser.evaluate(&offered).await, 201);
    browser.open(&instance.page("o/city-library/audit")).await;
    let words = "return [...document.querySelectorAll('[data-label=What] b')].map(words => words.innerText)";
    let said = browser.evaluate(words).await;
    let newest = [
        "Makes an offer, for one use or for many",
        "Creates an API key",
        "Accepts an invitation",
        "Invites a person",
    ];
    for (place, words) in newest.iter().enumerate() {
        let told = said[place].as_str().unwrap_or_default();
        assert!(told.starts_with(words), "{place}: {told}");
    }
    let trail = browser.visible().await;
    assert!(
        trail.contains(CLERK) && trail.contains("Counter"),
        "{trail}"
    );
    // The credential that was revoked is named by its type and number.
    assert!(trail.contains("library-card "), "{trail}");
    assert!(!trail.contains(&key), "{trail}");
    browser.picture("own-people-trail", (1200, 900)).await;
}

/// Checks that the card in this place has its logo, and that it can be drawn.
async fn sees_logo(browser: &Browser, place: &str) {
    let logo = format!("{place} .face-logo");
    browser.attribute(&logo, "src").await;
    let script = format!(
        "const logo = document.querySelector('{logo}'); await logo.decode(); return logo.naturalWidth"
    );
    assert_eq!(browser.evaluate(&script).await, LOGO_SIDE, "{place}");
}

/// The person accepts the card, and sees it in the wallet as the organisation has described it.
async fn accept_card(phone: &Phone<'_>, offer: &str) {
    let browser = phone.1;
    phone.follow(offer).await;
    browser.expect(LIBRARY).await;
    browser.expect("It will contain").await;
    for claim in &CLAIMS {
        browser.expect(claim.label).await;
    }
    sees_logo(browser, ".offered").await;
    browser.press("Accept").await;
    browser.attribute("[aria-label=Cards]", "class").await;
    sees_logo(browser, "[aria-label=Cards]").await;
    browser.press_about(CARD).await;
    for shown in [LIBRARY, "Erika Musterfrau", "family", "2019"] {
        browser.expect(shown).await;
    }
    browser.picture("own-card", (1200, 900)).await;
}

/// Presses the button on the shop's page, and shares in the window that it opens; ends there.
async fn answer(browser: &Browser, shop: &str) {
    browser.open(shop).await;
    browser.expect("Not proven yet.").await;
    browser.press_element(BUTTON).await;
    browser.to_window("To lend you a book").await;
    browser.expect("Reader check").await;
    let asked = browser.visible().await;
    assert!(asked.contains("Member since"), "{asked}");
    assert!(!asked.contains("Full name"), "{asked}");
    browser.press("Continue with a wallet").await;
    browser.press("Open in my wallet here").await;
    browser.to_window("What would leave your wallet").await;
    browser.expect("family").await;
    browser.expect("Stays hidden: Full name").await;
    browser.press("Share this").await;
    browser.to_window("You can go back to the page").await;
}

/// Closes the window of the request; the shop's page shows this.
async fn told(browser: &Browser, words: &str) {
    browser.press("Close this window").await;
    browser.to_window("Order 17").await;
    browser.expect(words).await;
    let reference = browser.attribute("#result", "data-reference").await;
    assert_eq!(reference.as_deref(), Some("order-17"));
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn an_organisation_issues_its_own_card_asks_for_it_on_another_site_and_revokes_it() {
    let instance = Instance::start().await;
    let (at_desk, at_hand) =
        tokio::join!(Browser::start(Scheme::Light), Browser::start(Scheme::Light));
    let desk = Desk::open(&instance, &at_desk).await;
    let phone = Phone::open(&instance, &at_hand).await;

    desk.found_library().await;
    desk.describe_card().await;
    desk.choose_logo().await;
    let issuer = "return document.querySelector('[data-card] .face-foot').innerText";
    assert_eq!(at_desk.evaluate(issuer).await, LIBRARY);
    desk.publish_card().await;
    let offer = desk.offer_card().await;
    accept_card(&phone, &offer).await;
    at_desk.expect("Accepted at").await;

    let link = instance.page("o/city-library/ask/reader-check");
    let shop = shop_of(instance.origin.trim_end_matches('/'), &link);
    assert_eq!(desk.save_request(&shop).await, link);
    answer(&at_hand, &shop).await;
    told(&at_hand, "Proven.").await;
    desk.read_verdict().await;

    desk.revoke_card().await;
    answer(&at_hand, &shop).await;
    at_hand.expect("revoked by its issuer").await;
    told(&at_hand, "Not proven: revoked.").await;

    desk.read_trail().await;
    let_in(&desk, &at_hand).await;
    at_desk.expect_no_errors().await;
    at_hand.expect_no_errors().await;
}
