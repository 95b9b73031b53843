//! Headless Chromium behind its driver, with helpers that find things on a page as a person does.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use fantoccini::{
    Client, ClientBuilder, Locator, elements::Element, error::CmdError,
    wd::WebDriverCompatibleCommand,
};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

use crate::process::Process;

/// The environment variable that asks for pictures of the pages, in target/screenshots.
const PICTURES: &str = "SELFSAME_PICTURES";
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);

/// The person's colour scheme.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scheme {
    Light,
    Dark,
}

/// How the person operates the page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Hand {
    Mouse,
    Keyboard,
}

/// A browser with a fresh profile; dropping it closes the browser.
pub struct Browser {
    client: Client,
    driver: Process,
    hand: Hand,
}

/// The keys of the protocol (WebDriver §17.4.2).
const ENTER: &str = "\u{E007}";
const SPACE: &str = " ";
const SELECT_ALL: &str = "\u{E009}a\u{E000}";
/// How often the driver may fail to find a port that is free for both kinds of addresses.
const MISSES_MAX: usize = 10;
/// Maximum number of Tab presses; no page of ours has more focusable elements.
const TABS_MAX: usize = 150;
/// A live page may replace an element that was just found, but not this often.
const RENEWALS_MAX: usize = 20;

/// The driver and its address. It lets the system choose a port of `::1`, requests the same port of `127.0.0.1`, and
/// ends if that is taken, so it is started again.
async fn started() -> (Process, String) {
    let ready = "started successfully on port ";
    let mut taken = String::new();
    for _ in 0..MISSES_MAX {
        let mut driver = Process::start("chromedriver", |_| vec!["--port=0".to_owned()])
            .expect("Chromium's driver; `cargo xtask test` installs it");
        match driver.seek(ready).await {
            Ok(line) => {
                let port = line.split(ready).nth(1).expect("a port");
                let address = format!("http://127.0.0.1:{}", port.trim_end_matches('.'));
                return (driver, address);
            }
            Err(why) if why.contains("Address already in use") => taken = why,
            Err(why) => panic!("{why}"),
        }
    }
    panic!("no port in {MISSES_MAX} attempts: the driver {taken}");
}

impl Browser {
    /// Starts Chromium with a window of desktop size.
    pub async fn start(scheme: Scheme) -> Self {
        let (driver, address) = started().await;
        let mut builder = ClientBuilder::new(HttpConnector::new());
        let wishes = capabilities(&driver.folder().join("profile"), scheme);
        builder.capabilities(wishes.as_object().cloned().unwrap_or_default());
        let client = builder
            .connect(&address)
            .await
            .unwrap_or_else(|error| panic!("{error}\n{}", driver.output()));
        let hand = Hand::Mouse;
        Self {
            client,
            driver,
            hand,
        }
    }

    /// Operates the page by keyboard only.
    pub fn by_keyboard(mut self) -> Self {
        self.hand = Hand::Keyboard;
        self
    }

    /// The folder of the browser's profile, which identifies its processes.
    pub fn folder(&self) -> &Path {
        self.driver.folder()
    }

    /// Keeps what is downloaded from now on in a folder of this browser.
    pub async fn keep_downloads(&self) {
        let folder = self.folder().join(DOWNLOADS);
        let params = json!({ "behavior": "allow", "downloadPath": folder });
        self.developer("Browser.setDownloadBehavior", params).await;
    }

    /// The file that the browser has downloaded under this name, once it is complete.
    pub async fn downloaded(&self, name: &str) -> PathBuf {
        let file = self.folder().join(DOWNLOADS).join(name);
        for _ in 0..=PATIENCE.as_millis() / PAUSE.as_millis() {
            if file.exists() {
                return file;
            }
            tokio::time::sleep(PAUSE).await;
        }
        panic!("{name} was not downloaded");
    }

    pub async fn open(&self, address: &str) {
        self.client
            .goto(address)
            .await
            .unwrap_or_else(|error| panic!("{address}: {error}"));
    }

    /// The size of the page, as on a phone or on a desktop.
    pub async fn resize(&self, width: u32, height: u32) {
        let metrics = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600,
        });
        self.developer("Emulation.setDeviceMetricsOverride", metrics)
            .await;
    }

    /// Saves a picture of the whole page, however long, and restores this size; without [`PICTURES`], does nothing: to
    /// draw and compress the pictures takes longer than all checks of the pages.
    #[expect(
        clippy::disallowed_methods,
        reason = "who runs the tests asks for pictures by the environment"
    )]
    pub async fn picture(&self, name: &str, (width, height): (u32, u32)) {
        if std::env::var_os(PICTURES).is_none() {
            return;
        }
        let length = self
            .evaluate("return document.documentElement.scrollHeight")
            .await;
        let length = u32::try_from(length.as_u64().unwrap_or_default()).unwrap_or(height);
        self.resize(width, length.clamp(height, 8000)).await;
        self.screenshot(name).await;
        self.resize(width, height).await;
    }

    async fn developer(&self, command: &'static str, params: Value) {
        self.client
            .issue_cmd(Developer { command, params })
            .await
            .unwrap_or_else(|error| panic!("{command}: {error}"));
    }

    /// Gives the browser an authenticator within the device, which verifies its owner at once (WebAuthn §11.3).
    pub async fn plug_in_authenticator(&self) {
        let plugged = self.client.issue_cmd(VirtualAuthenticator).await;
        plugged.unwrap_or_else(|error| panic!("an authenticator: {error}"));
    }

    /// Sets what the browser's virtual wallet does with the next request of a page (DevTools, `DigitalCredentials`).
    pub async fn set_virtual_wallet(&self, behavior: Value) {
        let command = "DigitalCredentials.setVirtualWalletBehavior";
        self.developer(command, behavior).await;
    }

    /// The current address.
    pub async fn address(&self) -> String {
        self.client
            .current_url()
            .await
            .map(String::from)
            .expect("an address")
    }

    /// Presses the browser's back button.
    pub async fn back(&self) {
        self.client.back().await.expect("a page before this one");
    }

    /// Presses the button or follows the link with this name.
    pub async fn press(&self, name: &str) {
        let name = quoted(name);
        self.click(&format!("normalize-space()={name} or @aria-label={name}"))
            .await;
    }

    /// Presses the first button or link whose text contains this text, such as a card by its title.
    pub async fn press_about(&self, text: &str) {
        self.click(&format!("contains(normalize-space(), {})", quoted(text)))
            .await;
    }

    /// Presses the element that a selector finds, such as one whose button is its own affair.
    pub async fn press_element(&self, selector: &str) {
        let element = self.element(selector).await;
        // The page's head stays at the top, and may cover what was scrolled there.
        let centre =
            format!("document.querySelector(\"{selector}\").scrollIntoView({{block: 'center'}})");
        self.evaluate(&centre).await;
        let pressed = element.click().await;
        pressed.unwrap_or_else(|error| panic!("press {selector}: {error}"));
    }

    /// Goes on in the window or tab that shows this text.
    pub async fn to_window(&self, text: &str) {
        let mut shown = Vec::new();
        for _ in 0..=PATIENCE.as_millis() / PAUSE.as_millis() {
            shown.clear();
            for window in self.client.windows().await.expect("the windows") {
                // A window may close itself meanwhile.
                if self.client.switch_to_window(window).await.is_err() {
                    continue;
                }
                let seen = self.visible().await;
                if seen.contains(text) {
                    return;
                }
                shown.push(seen);
            }
            tokio::time::sleep(PAUSE).await;
        }
        panic!(
            "no window shows {text:?}; they show:\n{}",
            shown.join("\n---\n")
        );
    }

    async fn click(&self, condition: &str) {
        // A button that takes no press yet is waited for.
        let pressable = "self::button[not(@disabled)] or self::a or self::summary";
        let path = format!("//*[{pressable}][{condition}]");
        for _ in 0..RENEWALS_MAX {
            let element = self.find(&path).await;
            let pressed = match self.hand {
                Hand::Keyboard => match self.reach(&element).await {
                    Ok(()) => return self.keys(ENTER).await,
                    renewed => renewed,
                },
                Hand::Mouse => element.click().await,
            };
            match pressed {
                Ok(()) => return,
                Err(error) if is_gone(&error) => {}
                Err(error) => panic!("press {condition}: {error}"),
            }
        }
        panic!("press {condition}: the page takes it away again and again");
    }

    /// Presses Tab until this element has the focus, and checks that the focus is visible. An error if the page has
    /// replaced the element.
    async fn reach(&self, element: &Element) -> Result<(), CmdError> {
        // Whether the focus is there and can be seen; `null` while it is elsewhere.
        let focused = "const e = arguments[0]; if (document.activeElement !== e) return null; return getComputedStyle(e).outlineStyle !== 'none' || !!e.closest('.node')";
        let element_value = serde_json::to_value(element).expect("a reference to an element");
        for _ in 0..TABS_MAX {
            let arguments = vec![element_value.clone()];
            let found = self.client.execute(focused, arguments).await?;
            if !found.is_null() {
                assert_eq!(found, true, "the focus cannot be seen");
                return Ok(());
            }
            self.tab().await;
        }
        panic!("the keyboard does not lead to {:?}", element.text().await?);
    }

    /// Fills in the field with this label.
    pub async fn fill(&self, label: &str, value: &str) {
        for _ in 0..RENEWALS_MAX {
            let field = self.field(label).await;
            if self.hand == Hand::Keyboard {
                self.reach(&field).await.expect("the field");
                return self.keys(&format!("{SELECT_ALL}{value}")).await;
            }
            let filled = match field.clear().await {
                Ok(()) => field.send_keys(value).await,
                error => error,
            };
            match filled {
                Ok(()) => return,
                Err(error) if is_gone(&error) => {}
                Err(error) => panic!("fill {label}: {error}"),
            }
        }
        panic!("fill {label}: the page takes it away again and again");
    }

    /// Fills in the field that a selector finds, for pages where two fields have the same label.
    pub async fn set(&self, selector: &str, value: &str) {
        let field = self.element(selector).await;
        if self.hand == Hand::Keyboard {
            self.reach(&field).await.expect("the field");
            return self.keys(&format!("{SELECT_ALL}{value}")).await;
        }
        field
            .send_keys(value)
            .await
            .unwrap_or_else(|error| panic!("set {selector}: {error}"));
    }

    /// The value of the field that a selector finds.
    pub async fn value(&self, selector: &str) -> String {
        let value = self.element(selector).await.prop("value").await;
        value
            .ok()
            .flatten()
            .unwrap_or_else(|| panic!("{selector} has no value"))
    }

    /// Chooses an option, by its text, of the list with this label.
    pub async fn choose(&self, label: &str, option: &str) {
        for _ in 0..RENEWALS_MAX {
            match self.field(label).await.select_by_label(option).await {
                Ok(()) => return,
                Err(error) if is_gone(&error) => {}
                Err(error) => panic!("choose {option}: {error}"),
            }
        }
        panic!("choose {option}: the page takes {label} away again and again");
    }

    /// Chooses an option, by its text, of the list that a selector finds, for pages where two lists have the same label.
    pub async fn pick(&self, selector: &str, option: &str) {
        let field = self.element(selector).await;
        field
            .select_by_label(option)
            .await
            .unwrap_or_else(|error| panic!("choose {option} of {selector}: {error}"));
    }

    /// Ticks or unticks the box, or picks the radio button, with this label.
    pub async fn tick(&self, label: &str) {
        for _ in 0..RENEWALS_MAX {
            let field = self.field(label).await;
            if self.hand == Hand::Keyboard {
                self.reach(&field).await.expect("the box");
                return self.keys(SPACE).await;
            }
            match field.click().await {
                Ok(()) => return,
                Err(error) if error.is_stale_element_reference() => {}
                Err(error) => panic!("tick {label}: {error}"),
            }
        }
        panic!("tick {label}: the page takes it away again and again");
    }

    /// Types keys into the focused element; `\u{E004}` is Tab, `\u{E007}` Enter.
    pub async fn keys(&self, keys: &str) {
        for _ in 0..RENEWALS_MAX {
            let focus = self.client.active_element().await;
            let focus = focus.expect("an element with the focus");
            match focus.send_keys(keys).await {
                Ok(()) => return,
                Err(error) if error.is_stale_element_reference() => {}
                Err(error) => panic!("keys: {error}"),
            }
        }
        panic!("keys: the page takes the focus away again and again");
    }

    /// Presses Tab. The driver's own way looks the focused element up again for each key.
    async fn tab(&self) {
        for kind in ["rawKeyDown", "keyUp"] {
            let params =
                json!({"type": kind, "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9});
            self.developer("Input.dispatchKeyEvent", params).await;
        }
    }

    /// Waits until the page shows a text.
    pub async fn expect(&self, text: &str) {
        if !self.sees(text, PATIENCE).await {
            let address = self
                .client
                .current_url()
                .await
                .map(String::from)
                .unwrap_or_default();
            self.screenshot("failed").await;
            panic!(
                "{address} does not show {text:?}; it shows:\n{}",
                self.visible().await
            );
        }
    }

    /// Whether the page shows a text within the time-out.
    pub async fn sees(&self, text: &str, patience: Duration) -> bool {
        for _ in 0..=patience.as_millis() / PAUSE.as_millis() {
            if self.visible().await.contains(text) {
                return true;
            }
            tokio::time::sleep(PAUSE).await;
        }
        false
    }

    /// All visible text: a line for each block, and a space between cells. The browser computes it by itself, which
    /// costs a fraction of what the driver's own script does.
    pub async fn visible(&self) -> String {
        const TEXT: &str = "return (document.body?.innerText ?? '').replace(/[^\\S\\n]+/g, ' ').replace(/ ?\\n[ \\n]*/g, '\\n')";
        // A page that is being left answers nothing for a moment.
        let text = self.client.execute(TEXT, Vec::new()).await;
        let text = text.ok().and_then(|text| text.as_str().map(str::to_owned));
        text.unwrap_or_default()
    }

    /// An attribute of the first element that a selector finds, such as the `href` of a link; waits for it.
    pub async fn attribute(&self, selector: &str, name: &str) -> Option<String> {
        for _ in 0..RENEWALS_MAX {
            match self.element(selector).await.attr(name).await {
                Ok(value) => return value,
                Err(error) if error.is_stale_element_reference() => {}
                Err(error) => panic!("{selector}: {error}"),
            }
        }
        panic!("{selector}: the page takes it away again and again");
    }

    async fn element(&self, selector: &str) -> Element {
        let found = self
            .client
            .wait()
            .at_most(PATIENCE)
            .for_element(Locator::Css(selector))
            .await;
        match found {
            Ok(element) => element,
            Err(error) => panic!(
                "{selector}: {error}; the page shows:\n{}",
                self.visible().await
            ),
        }
    }

    /// The value that a script, run in the page, returns; it may be asynchronous.
    pub async fn evaluate(&self, script: &str) -> Value {
        let script = format!("return (async () => {{ {script} }})()");
        self.client
            .execute(&script, Vec::new())
            .await
            .unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// Saves a picture of the page as target/screenshots/NAME.png; returns its path.
    pub async fn screenshot(&self, name: &str) -> PathBuf {
        let picture = self
            .client
            .screenshot()
            .await
            .expect("a picture of the page");
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .parent()
            .expect("the target folder");
        let path = target.join("screenshots").join(name).with_extension("png");
        fs::create_dir_all(path.parent().expect("its folder")).expect("a folder for pictures");
        fs::write(&path, picture).expect("room for a picture");
        path
    }

    /// Fails if the page logged an error since the last check: a script that threw, something blocked or missing.
    pub async fn expect_no_errors(&self) {
        let errors = self.errors().await;
        assert!(
            errors.is_empty(),
            "the page logged errors:\n{}",
            errors.join("\n")
        );
    }

    /// The errors that the page logged since the last check.
    pub async fn errors(&self) -> Vec<String> {
        let log = self.client.issue_cmd(Log).await.expect("the browser's log");
        let entries = log.as_array().cloned().unwrap_or_default();
        let severe = entries
            .into_iter()
            .filter(|entry| entry["level"] == "SEVERE");
        severe
            .map(|entry| entry["message"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    async fn field(&self, label: &str) -> Element {
        let name = quoted(label);
        let inputs = "self::input or self::select or self::textarea";
        let path = format!(
            "//*[{inputs}][@id=//label[normalize-space()={name}]/@for or @aria-label={name} or ancestor::label[starts-with(normalize-space(), {name})]]"
        );
        self.find(&path).await
    }

    async fn find(&self, path: &str) -> Element {
        let found = self
            .client
            .wait()
            .at_most(PATIENCE)
            .for_element(Locator::XPath(path))
            .await;
        match found {
            Ok(element) => element,
            Err(error) => panic!("{path}: {error}; the page shows:\n{}", self.visible().await),
        }
    }
}

/// A text as an XPath literal; our labels have no double quotes.
fn quoted(text: &str) -> String {
    assert!(!text.contains('"'), "a label with a quote: {text}");
    format!("\"{text}\"")
}

/// The folder of what was downloaded, in that of the profile.
const DOWNLOADS: &str = "downloads";

fn capabilities(profile: &Path, scheme: Scheme) -> Value {
    let mut arguments = vec![
        "--headless".to_owned(),
        // Root, as in a container, has no sandbox; the pages are our own.
        "--no-sandbox".to_owned(),
        "--disable-gpu".to_owned(),
        "--disable-quic".to_owned(),
        "--disable-dev-shm-usage".to_owned(),
        "--disable-background-networking".to_owned(),
        "--disable-component-update".to_owned(),
        "--disable-sync".to_owned(),
        "--no-first-run".to_owned(),
        "--window-size=1280,900".to_owned(),
        format!("--user-data-dir={}", profile.display()),
    ];
    if scheme == Scheme::Dark {
        arguments.push("--blink-settings=preferredColorScheme=0".to_owned());
    }
    json!({
        "browserName": "chrome",
        "goog:chromeOptions": { "args": arguments, "binary": chromium() },
        "goog:loggingPrefs": { "browser": "ALL" },
        "timeouts": { "pageLoad": 90_000, "script": 90_000 },
    })
}

/// Where Chromium is; its name differs between distributions.
fn chromium() -> String {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = names.iter().find_map(|name| {
        let output = Command::new("sh")
            .args(["-c", &format!("command -v {name}")])
            .stderr(Stdio::null())
            .output()
            .ok()?;
        let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (!path.is_empty()).then_some(path)
    });
    found.expect("Chromium; `cargo xtask test` installs it")
}

/// A command of the Chrome DevTools Protocol.
#[derive(Debug)]
struct Developer {
    command: &'static str,
    params: Value,
}

impl WebDriverCompatibleCommand for Developer {
    fn endpoint(
        &self,
        base: &url::Url,
        session: Option<&str>,
    ) -> Result<url::Url, url::ParseError> {
        let session = session.unwrap_or_default();
        base.join(&format!("session/{session}/goog/cdp/execute"))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        let body = json!({ "cmd": self.command, "params": self.params });
        (http::Method::POST, Some(body.to_string()))
    }
}

/// The command to add a virtual authenticator (WebAuthn §11.3).
#[derive(Debug)]
struct VirtualAuthenticator;

impl WebDriverCompatibleCommand for VirtualAuthenticator {
    fn endpoint(
        &self,
        base: &url::Url,
        session: Option<&str>,
    ) -> Result<url::Url, url::ParseError> {
        let session = session.unwrap_or_default();
        base.join(&format!("session/{session}/webauthn/authenticator"))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        let body = json!({
            "protocol": "ctap2",
            "transport": "internal",
            "hasResidentKey": true,
            "hasUserVerification": true,
            "isUserConsenting": true,
            "isUserVerified": true,
        });
        (http::Method::POST, Some(body.to_string()))
    }
}

/// Chromium's command to read a page's log.
#[derive(Debug)]
struct Log;

impl WebDriverCompatibleCommand for Log {
    fn endpoint(
        &self,
        base: &url::Url,
        session: Option<&str>,
    ) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (
            http::Method::POST,
            Some(json!({ "type": "browser" }).to_string()),
        )
    }
}

/// Whether the page was replaced before an element of it could be used. The driver has a second answer for it while the
/// next page is loaded.
fn is_gone(error: &CmdError) -> bool {
    let is_loaded = || {
        error
            .to_string()
            .contains("does not belong to the document")
    };
    error.is_stale_element_reference() || is_loaded()
}
