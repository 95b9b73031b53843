//! The button on another site's page: docs/examples/embed.html as it is, with its strict content security policy.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::thread;

use crate::browser::{Browser, Scheme};
use crate::instance::Instance;
use crate::walk::{Desk, Phone};

const PAGE: &str = include_str!("../../../../docs/examples/embed.html");
const SCRIPT: &str = include_str!("../../../../docs/examples/embed.js");
/// The verifier of the example.
const VERIFIER: &str = "https://verifier.example";
pub const BUTTON: &str = "selfsame-request";

/// The example page on an origin of its own, for as long as the test runs.
fn shop(verifier: &str) -> String {
    shop_with(PAGE.replace(VERIFIER, verifier))
}

/// The example page with another request behind its button.
pub fn shop_of(verifier: &str, request: &str) -> String {
    let page = PAGE.replace(&format!("{VERIFIER}/ask/age-check"), request);
    shop_with(page.replace(VERIFIER, verifier))
}

fn shop_with(page: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let origin = format!("http://{}", listener.local_addr().expect("its address"));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            serve(&stream, &page);
        }
    });
    origin
}

fn serve(mut stream: &TcpStream, page: &str) -> Option<()> {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    let lines: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let (media, body) = match lines.first()?.split(' ').nth(1)? {
        "/embed.js" => ("text/javascript", SCRIPT),
        "/" => ("text/html", page),
        _ => ("text/plain", ""),
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {media}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body.as_bytes()).ok()
}

/// Saves the request of the example, which these pages may embed.
fn save(instance: &Instance, origins: &[&str], further: &str) {
    let origins: Vec<String> = origins.iter().map(|origin| format!("{origin:?}")).collect();
    let file = tempfile::NamedTempFile::new().expect("a file");
    let text = format!(
        "name = 'age-check'\ntitle = 'Age check'\npurpose = 'To sell you what only adults may buy'\n\
         origins = [{}]\n{further}\n[[questions]]\n\
         alternatives = [{{ type = 'immunization', claims = [['patient', 'birth_date']] }}]\n",
        origins.join(", ")
    );
    std::fs::write(file.path(), text).expect("room for a file");
    let saved = Command::new(env!("CARGO_BIN_EXE_selfsame"))
        .args(["saved-request", "save"])
        .arg(file.path())
        .args(["--instance", &instance.origin])
        .env("SELFSAME_TOKEN", &instance.token)
        .output()
        .expect("the command");
    let errors = String::from_utf8_lossy(&saved.stderr);
    assert!(saved.status.success(), "{errors}");
}

/// An instance, and a browser in which a person has a card.
async fn scene() -> (Instance, Browser) {
    let instance = Instance::start().await;
    let browser = Browser::start(Scheme::Light).await;
    let offer = Desk::open(&instance, &browser)
        .await
        .offer("Immunization record")
        .await;
    let phone = Phone::open(&instance, &browser).await;
    phone.accept(&offer, "Immunization record").await;
    (instance, browser)
}

/// Presses the button on the shop's page, and answers in the window that it opens with the wallet in this browser.
async fn answer(browser: &Browser, shop: &str) {
    browser.open(shop).await;
    browser.expect("Prove your age").await;
    browser.press_element(BUTTON).await;
    browser.to_window("Age check").await;
    browser.expect("To sell you what only adults may buy").await;
    browser.expect("Date of birth").await;
    browser.press("Continue with a wallet").await;
    browser.press("Open in my wallet here").await;
    browser.to_window("What would leave your wallet").await;
    browser.press("Share this").await;
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_page_of_another_site_embeds_the_button_and_is_told_that_the_answer_is_valid() {
    let (instance, browser) = scene().await;
    let verifier = instance.origin.trim_end_matches('/');
    let shop = shop(verifier);
    save(&instance, &[&shop], "");
    answer(&browser, &shop).await;
    browser.to_window("You can go back to the page").await;
    browser.expect("Close this window").await;
    let seen = browser.visible().await;
    assert!(!seen.contains("1990"), "no claim is shown: {seen}");
    browser.picture("visit-valid", (480, 820)).await;
    browser.press("Close this window").await;
    browser.to_window("Order 17").await;
    browser.expect("Proven.").await;
    let reference = browser.attribute("#result", "data-reference").await;
    assert_eq!(reference.as_deref(), Some("order-17"));
    browser.expect_no_errors().await;
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn on_one_device_the_page_is_told_when_the_wallet_has_sent_the_person_back() {
    let (instance, browser) = scene().await;
    let verifier = instance.origin.trim_end_matches('/');
    let shop = shop(verifier);
    save(&instance, &[&shop], "same_device = true");
    answer(&browser, &shop).await;
    browser.to_window("Go back from your wallet").await;
    browser.to_window("Back to the verifier").await;
    browser.press("Back to the verifier").await;
    browser.to_window("Order 17").await;
    browser.expect("Proven.").await;
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_page_that_the_verifier_does_not_list_is_refused_and_told_nothing() {
    let (instance, browser) = scene().await;
    let shop = shop(instance.origin.trim_end_matches('/'));
    save(&instance, &["https://other.example"], "");
    browser.open(&shop).await;
    browser.press_element(BUTTON).await;
    browser
        .to_window("is not one that the verifier permits")
        .await;
    browser.to_window("Order 17").await;
    browser
        .expect("The window was closed before there was a result.")
        .await;
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_verifier_builds_a_request_from_types_and_sees_what_a_person_is_shown() {
    let instance = Instance::start().await;
    let browser = Browser::start(Scheme::Light).await;
    let _desk = Desk::open(&instance, &browser).await;
    browser.open(&instance.page("verifier")).await;
    browser.press("New saved request").await;
    browser.set("#title", "Entry").await;
    browser.set("#purpose", "To let you in").await;
    browser.set("#name", "entry").await;
    browser.choose("Credential", "Immunization record").await;
    browser.press("Show its claims").await;
    browser.expect("Vaccine").await;
    browser.press("Add an alternative").await;
    browser.expect("Alternative 2").await;
    browser.press("Save").await;
    browser.expect("The request is saved.").await;
    browser.expect("Sample cards answer it.").await;
    let snippet = browser.value("#snippet").await;
    assert!(snippet.contains("/ask/entry\" reference="), "{snippet}");
    browser.picture("saved-request", (1200, 900)).await;
    browser.open(&browser.value("#link").await).await;
    browser.expect("Continue with a wallet").await;
    browser.picture("visit", (480, 820)).await;
    browser.press("Continue with a wallet").await;
    browser.expect("Open in my wallet here").await;
    browser.picture("visit-waiting", (480, 820)).await;
    browser.expect_no_errors().await;
}
