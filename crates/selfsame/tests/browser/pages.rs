//! Every page by itself, with real content: on a phone and on a desktop, light and dark, by keyboard, and without
//! errors.

use serde_json::{Value, json};

use crate::{
    agents::{self, Agents},
    browser::{Browser, Scheme},
    instance::Instance,
    organisations::MINISTRY,
    people,
    walk::{Desk, PURPOSE, Phone},
};

/// Pages that exist from the start.
const PAGES: [(&str, &str); 41] = [
    ("start", ""),
    ("api", "api"),
    ("issuer", "issuer"),
    ("issuer-form", "issuer/new/immunization"),
    ("wallet", "wallet"),
    ("wallet-groups", "wallet/groups?by=issuer"),
    ("wallet-wire", "wallet/wire"),
    ("wallet-history", "wallet/history"),
    ("wallet-keys", "wallet/keys"),
    ("wallet-account", "wallet/account"),
    ("wallet-recovery", "wallet/recovery"),
    ("verifier", "verifier"),
    ("verifier-form", "verifier/new/immunization"),
    ("verifier-saved", "verifier/saved/new"),
    ("registry", "registry"),
    ("registry-entry", "registry/view/1"),
    ("registry-genesis", "registry/view/0"),
    ("registry-blocks", "registry/blocks"),
    ("registry-block", "registry/blocks/1"),
    ("registry-validators", "registry/validators"),
    ("registry-search", "registry/search?kind=create_did"),
    ("registry-object", "registry/object?id=validators/changes"),
    ("registry-domain", "browse/domain"),
    ("resolver", "resolver"),
    (
        "resolved",
        "resolver?did=did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
    ),
    ("people", "people"),
    ("audit", "audit"),
    ("operator", "operator"),
    ("organisation-main", "organisation"),
    ("organisations", "organisations"),
    ("webhooks", "webhooks"),
    ("wire", "wire"),
    ("wire-issuances", "issuer/wire"),
    ("wire-presentations", "verifier/wire"),
    ("wire-sign-ins", "wire/sign-ins"),
    ("types", "types"),
    ("book", "book?q=whale"),
    ("book-keeping", "issuer/book"),
    ("type-sample", "types/view/immunization"),
    ("type-new", "types/new"),
    ("type-copy", "types/new?from=immunization"),
];

/// Pages of the story's organisation.
const OWN_PAGES: [(&str, &str); 11] = [
    ("organisation-issuer", "issuer"),
    ("organisation-types", "types"),
    ("organisation-verifier", "verifier"),
    ("organisation-people", "people"),
    ("organisation-webhooks", "webhooks"),
    ("organisation-audit", "audit"),
    ("trust", "trust"),
    ("type", "types/view/library-card"),
    ("type-book", "types/view/library-card/book"),
    ("type-edit", "types/edit/library-card"),
    ("type-form", "issuer/new/library-card"),
];

/// Error pages, with their statuses.
const REFUSALS: [(&str, &str); 3] = [("over", "410"), ("forbidden", "403"), ("lost", "404")];

pub const DEVICES: [(&str, (u32, u32)); 2] = [("desk", (1200, 800)), ("phone", (360, 740))];

async fn record_the_wire(instance: &Instance, browser: &Browser) {
    browser.open(&instance.page("wire")).await;
    browser.press("Switch on for 7 days").await;
    browser.expect("Recording is on until").await;
}

/// Pages of a story in which everything happens once, by name and address.
#[expect(
    clippy::cognitive_complexity,
    reason = "one story, told in the order in which it happens"
)]
async fn story(instance: &Instance, browser: &Browser) -> Vec<(&'static str, String)> {
    let own = PAGES.iter();
    let mut pages: Vec<_> = own
        .map(|(name, path)| (*name, instance.page(path)))
        .collect();
    let desk = Desk::open(instance, browser).await;
    people::accept(browser, &desk.invite("Issuer").await).await;
    browser.press("Sign out").await;
    // Signing out is done before the next page is opened.
    browser.expect("Prove it anywhere.").await;
    browser.open(&instance.page("operator")).await;
    browser.press("Sign in with the operator token").await;
    browser.fill("Operator token", instance.token.trim()).await;
    browser.press("Sign in with the token").await;
    browser.expect("Choose a credential to issue").await;
    record_the_wire(instance, browser).await;
    pages.push(("invited", desk.invite("Verifier").await));
    desk.create_key("Admissions office", "Make offers").await;
    browser.open(&instance.page("people")).await;
    browser.press_about("since").await;
    browser.expect("Save the roles").await;
    pages.push(("person", browser.address().await));
    let offers = [
        desk.offer("Immunization record").await,
        desk.offer("Drug prescription").await,
        desk.offer("Laboratory report").await,
        desk.offer("Clinical note").await,
    ];
    pages.push(("offer", browser.address().await));
    let waiting = desk.ask(PURPOSE).await;
    pages.push(("request", browser.address().await));
    let to_answer = desk.ask(PURPOSE).await;
    let valid = browser.address().await;
    let to_refuse = desk.ask("Blood group only").await;
    let revoked = browser.address().await;

    pages.extend(organisation(&desk).await);
    desk.hook().await;
    pages.push(("webhook", browser.address().await));

    pages.push(("wallet-sign-in", instance.page("wallet/sign-in")));
    let phone = Phone::open(instance, browser).await;
    phone.accept(&offers[0], "Immunization record").await;
    phone.accept(&offers[1], "Drug prescription").await;
    phone.accept(&offers[2], "Laboratory report").await;
    browser.expect_no_errors().await;
    phone.follow(&offers[2]).await;
    browser.expect("No longer available").await;
    pages.push(("over", browser.address().await));
    // Chromium logs the status of the page.
    browser.errors().await;
    phone.follow(&offers[3]).await;
    browser.expect("It will contain").await;
    pages.push(("wallet-offer", browser.address().await));
    phone.share(&to_answer).await;
    desk.revoke().await;
    phone.share(&to_refuse).await;
    phone.follow(&waiting).await;
    browser.expect("What would leave your wallet").await;
    pages.push(("wallet-request", browser.address().await));
    phone.1.open(&instance.page("wallet")).await;
    browser.press_about("Immunization record").await;
    browser.expect("Musterfrau").await;
    pages.push(("wallet-card", browser.address().await));
    let drawn = valid.replace("/verifier/view/", "/verifier/wire/of/");
    pages.push(("wire-presentation", drawn));
    // The result of another browser's request.
    let result = valid.replace("/view/", "/results/") + "?response_code=guessed";
    pages.extend([("verdict-valid", valid), ("verdict-revoked", revoked)]);
    pages.push(("forbidden", result));
    pages.push(("lost", instance.page("nowhere/at/all")));
    browser.expect_no_errors().await;
    pages
}

/// Pages of an organisation with a type and a saved request of its own, and those of a person who is asked.
async fn organisation(desk: &Desk<'_>) -> Vec<(&'static str, String)> {
    let Desk(instance, browser) = desk;
    let own = |path: &str| instance.page(&format!("o/ministry-of-health/{path}"));
    desk.organise(MINISTRY).await;
    let mut pages = vec![
        ("organisation-new", browser.address().await),
        ("organisation", own("organisation")),
        (
            "organisation-erase",
            instance.page("organisations/ministry-of-health/erase"),
        ),
    ];
    browser.press_about("Choose credential types").await;
    desk.describe_card().await;
    browser.tick("AnonCreds: schema").await;
    desk.choose_logo().await;
    desk.publish_card().await;
    browser.press("New version").await;
    browser.press("Save draft").await;
    browser.expect("The draft is saved.").await;
    let link = desk.save_request("https://shop.example").await;
    pages.push(("saved-request", browser.address().await));
    browser.open(&link).await;
    browser.press("Continue with a wallet").await;
    browser.expect("Open in my wallet here").await;
    pages.push(("asked", browser.address().await));
    pages.push(("ask", link));
    pages.extend(OWN_PAGES.map(|(name, path)| (name, own(path))));
    desk.settle("o/ministry-of-health").await;
    pages
}

/// Fails if something on the page was loaded from elsewhere.
async fn expect_own(browser: &Browser, instance: &Instance) {
    let loaded = browser
        .evaluate("return performance.getEntriesByType('resource').map(entry => entry.name)")
        .await;
    let foreign: Vec<&Value> = loaded
        .as_array()
        .into_iter()
        .flatten()
        .filter(|name| {
            !name
                .as_str()
                .is_some_and(|name| name.starts_with(&instance.origin))
        })
        .collect();
    assert!(foreign.is_empty(), "loaded from elsewhere: {foreign:?}");
}

/// Faults that no page may have, and the script that finds them.
const FAULTS: [(&str, &str); 5] = [
    ("is wider than the screen", WIDER),
    ("has fields without a label", UNLABELLED),
    ("has text that is hard to read", FAINT),
    ("has what is too small to press", SMALL),
    ("has fields too narrow to read what is typed", NARROW),
];

const WIDER: &str = "const width = document.documentElement.clientWidth; if (document.documentElement.scrollWidth <= width) return []; return [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > width + 1).map(e => e.outerHTML.slice(0, 120))";

const UNLABELLED: &str = "return [...document.querySelectorAll('input:not([type=hidden]), select, textarea')].filter(field => !field.labels.length && !field.ariaLabel).map(field => field.outerHTML)";

/// Text whose contrast with its background is below WCAG 2.2 §1.4.3; text on drawn cards is excluded.
const FAINT: &str = r"
const pen = document.createElement('canvas').getContext('2d', {willReadFrequently: true}), known = new Map();
const read = text => { pen.clearRect(0, 0, 1, 1); pen.fillStyle = text; pen.fillRect(0, 0, 1, 1); return [...pen.getImageData(0, 0, 1, 1).data]; };
const parse = text => { if (!known.has(text)) known.set(text, read(text)); return known.get(text); };
const light = ([r, g, b]) => { const f = v => { v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }; return .2126 * f(r) + .7152 * f(g) + .0722 * f(b); };
const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] === 255) return c; } return [255, 255, 255]; };
const found = [];
for (const e of document.querySelectorAll('body *')) {
  if (e.closest('.face, .qr, svg, .visually-hidden, .skip, [hidden]') || !e.checkVisibility()) continue;
  if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
  const style = getComputedStyle(e), [a, b] = [light(parse(style.color)), light(behind(e))].sort((x, y) => y - x);
  const ratio = (a + .05) / (b + .05), large = parseFloat(style.fontSize) >= 24;
  if (ratio < (large ? 3 : 4.5)) found.push(`${ratio.toFixed(2)} ${e.outerHTML.slice(0, 100)}`);
}
return found;";

/// Controls that are too small for a finger on a phone (WCAG 2.2 §2.5.8), except links within text.
const SMALL: &str = "return [...document.querySelectorAll('button, input:not([type=hidden]), select, summary, a.button, nav a')].filter(e => e.checkVisibility() && !e.classList.contains('visually-hidden')).filter(e => { const target = (e.type === 'checkbox' || e.type === 'radio') ? e.closest('label') : e; const r = target.getBoundingClientRect(); return r.height < 24 || r.width < 24; }).map(e => e.outerHTML.slice(0, 120))";

const NARROW: &str = "return [...document.querySelectorAll('input[type=text], input[type=email], input[type=date], select, textarea')].filter(e => !e.closest('.visually-hidden') && e.checkVisibility() && e.getBoundingClientRect().width < 80).map(e => e.outerHTML.slice(0, 120))";

/// Opens what is folded; returns whether there was any.
const UNFOLDS: &str = "const folded = [...document.querySelectorAll('details:not([open])')]; for (const one of folded) one.open = true; return folded.length > 0";

/// The faults of the page as it is now.
pub async fn seen(browser: &Browser, picture: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (what, script) in FAULTS {
        let found = browser.evaluate(script).await;
        if found != json!([]) {
            faults.push(format!("{picture} {what}: {found}"));
        }
    }
    faults
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn every_page_fits_a_phone_and_a_desk_in_light() {
    every_page(Scheme::Light, "light").await;
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn every_page_fits_a_phone_and_a_desk_in_the_dark() {
    every_page(Scheme::Dark, "dark").await;
}

/// Looks at every page of an instance of its own.
async fn every_page(scheme: Scheme, scheme_name: &str) {
    let mut faults = Vec::new();
    let agents = Agents::of_clinic_and_pharmacy();
    let instance = Instance::with(&agents.settings).await;
    let browser = Browser::start(scheme).await;
    let mut pages = story(&instance, &browser).await;
    pages.extend(agents::pages(&Desk(&instance, &browser), &agents).await);
    for (device, size) in DEVICES {
        browser.resize(size.0, size.1).await;
        for (name, address) in &pages {
            browser.open(address).await;
            let picture = format!("{name}-{device}-{scheme_name}");
            browser.picture(&picture, size).await;
            faults.extend(seen(&browser, &picture).await);
            if browser.evaluate(UNFOLDS).await == true {
                let picture = format!("{picture}-unfolded");
                browser.picture(&picture, size).await;
                faults.extend(seen(&browser, &picture).await);
            }
            expect_own(&browser, &instance).await;
            let errors = browser.errors().await;
            let refusal = REFUSALS.iter().find(|(page, _)| page == name);
            if let Some((_, status)) = refusal {
                browser.expect(status).await;
            }
            // Chromium logs the status of an error page.
            let expected = usize::from(refusal.is_some());
            if errors.len() > expected {
                faults.push(format!("{picture} logged: {errors:?}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
