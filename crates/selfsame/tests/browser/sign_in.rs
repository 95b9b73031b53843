//! Signing in at a service with an instance's OpenID provider: by a code, in two languages.

use std::{fs::OpenOptions, io::Write as _, os::unix::fs::OpenOptionsExt as _, path::Path};

use selfsame_sign_in_pages::{PageLanguage, Saying};
use serde_json::json;

use crate::{
    browser::{Browser, Scheme},
    instance::Instance,
    process::Process,
};

/// People who are made up, and their codes on the screen.
pub const MOCK: &str = "[sign_in]\npeople = 'mock'\ncodes_on_screen = true\n";

/// The sample service, at an origin of its own; dropping it stops it.
pub struct Sample {
    /// The base of its addresses, with a slash at the end.
    pub origin: String,
    _process: Process,
}

impl Sample {
    /// A sample at which people sign in with the first organisation of the instance.
    pub async fn of(instance: &Instance) -> Self {
        let arguments = |folder: &Path| {
            let file = folder.join("token");
            let mut options = OpenOptions::new();
            let made = options.write(true).create_new(true).mode(0o600).open(&file);
            let written = made.and_then(|mut made| made.write_all(instance.token.as_bytes()));
            written.expect("a file for the token");
            let file = file.display().to_string();
            let arguments = [
                "demo",
                "sign-in",
                "--instance",
                &instance.origin,
                "--token-file",
                &file,
                "--listen",
                "127.0.0.1:0",
            ];
            arguments.map(str::to_owned).to_vec()
        };
        let started = Process::start(env!("CARGO_BIN_EXE_selfsame"), arguments);
        let mut process = started.expect("the binary");
        let line = process.line_with("The sample service is at ").await;
        Self {
            origin: line.rsplit(' ').next().unwrap_or_default().to_owned(),
            _process: process,
        }
    }
}

/// A person whom the mock identity system knows.
struct Person {
    id: &'static str,
    name: &'static str,
}

/// Adds the person, as a page of the instance can.
async fn add(browser: &Browser, instance: &Instance, person: &Person) {
    browser.open(&instance.origin).await;
    let said =
        |value| json!([{"language": "eng", "value": value}, {"language": "ara", "value": value}]);
    let members = json!({
        "individualId": person.id, "pin": "1234", "fullName": said(person.name), "email": "maja@example.org",
        "phone": "+41791234572", "dateOfBirth": "1988/05/17",
    });
    let script = format!(
        "const body = {{requestTime: new Date().toISOString(), request: {members}}};
        const sent = {{method: 'POST', headers: {{'content-type': 'application/json'}}, body: JSON.stringify(body)}};
        return (await fetch('/v1/mock-identity-system/identity', sent)).json()"
    );
    let answer = browser.evaluate(&script).await;
    assert_eq!(answer["errors"], json!([]), "{answer}");
}

/// A person at the pages, in a language.
struct AtPages<'a> {
    browser: &'a Browser,
    language: &'static PageLanguage,
    sample: String,
}

impl<'a> AtPages<'a> {
    fn new(browser: &'a Browser, tag: &str, sample: &Sample) -> Self {
        let language = PageLanguage::of(tag).expect("the language");
        Self {
            browser,
            language,
            sample: format!("{}?ui_locales={tag}", sample.origin),
        }
    }

    fn say(&self, key: &str) -> Saying {
        self.language.say(key)
    }

    async fn expect(&self, key: &str) {
        self.browser.expect(&self.say(key).to_string()).await;
    }

    async fn press(&self, key: &str) {
        self.browser.press(&self.say(key).to_string()).await;
    }

    /// Opens the sample service, and goes on to the provider.
    async fn begin(&self) {
        self.browser.open(&self.sample).await;
        let button = self.say("sample-button").fill("organisation", "localhost");
        self.browser.press(&button.to_string()).await;
    }

    /// Types in who they are, a wrong code, and the one on the screen.
    async fn prove(&self, person: &Person) {
        let browser = self.browser;
        browser.set("#identifier", person.id).await;
        let direction = browser.attribute("html", "dir").await;
        assert_eq!(direction.as_deref(), Some(self.language.direction()));
        self.picture("ways").await;
        self.press("send-code").await;
        self.expect("code-title").await;
        browser.set("#code", "000000").await;
        self.press("code-button").await;
        self.expect("wrong-code").await;
        let code = browser.attribute("[data-code]", "data-code").await;
        self.picture("code").await;
        browser.set("#code", &code.expect("the code")).await;
        self.press("code-button").await;
    }

    /// Agrees to the name alone.
    async fn agree(&self) {
        self.expect("consent-voluntary").await;
        self.browser.tick(&self.say("claim-name").to_string()).await;
        let drawn = "const logo = document.querySelector('h1 .logo'); await logo.decode(); return logo.naturalWidth > 0";
        assert_eq!(self.browser.evaluate(drawn).await, true, "no logo");
        self.picture("consent").await;
        self.press("consent-agree").await;
    }

    async fn picture(&self, page: &str) {
        let name = format!("sign-in-{page}-{}", self.language.tag());
        self.browser.picture(&name, (360, 740)).await;
    }
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn people_sign_in_at_a_service_by_a_code_in_english_and_in_arabic() {
    let instance = Instance::with(MOCK).await;
    let sample = Sample::of(&instance).await;
    let people = [
        (
            "en",
            Person {
                id: "8267411072",
                name: "Maja Musterfrau",
            },
        ),
        (
            "ar",
            Person {
                id: "8267411073",
                name: "مريم علي",
            },
        ),
    ];
    let (in_english, in_arabic) =
        tokio::join!(Browser::start(Scheme::Light), Browser::start(Scheme::Dark));
    for (browser, (tag, person)) in [in_english, in_arabic].iter().zip(&people) {
        browser.resize(360, 740).await;
        add(browser, &instance, person).await;
        let at = AtPages::new(browser, tag, &sample);
        at.begin().await;
        at.prove(person).await;
        at.agree().await;
        at.expect("sample-in-title").await;
        browser.expect(person.name).await;
        let learned = browser.visible().await;
        assert!(
            !learned.contains("maja@example.org"),
            "it was not agreed to:\n{learned}"
        );
        at.picture("sample").await;

        at.press("sample-out").await;
        let button = at.say("sample-button").fill("organisation", "localhost");
        browser.expect(&button.to_string()).await;

        // What they agreed to is remembered.
        at.begin().await;
        at.prove(person).await;
        at.expect("sample-in-title").await;
        browser.expect(person.name).await;
    }
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn who_shares_nothing_comes_back_to_the_service_and_is_told_so() {
    let instance = Instance::with(MOCK).await;
    let sample = Sample::of(&instance).await;
    let browser = Browser::start(Scheme::Light).await;
    let person = Person {
        id: "8267411072",
        name: "Maja Musterfrau",
    };
    add(&browser, &instance, &person).await;
    let at = AtPages::new(&browser, "fr", &sample);
    at.begin().await;
    at.prove(&person).await;
    at.press("consent-decline").await;
    at.expect("error-declined").await;
    let service = at.say("sample-title").to_string();
    let back = at.say("error-back").fill("client", service);
    browser.press(&back.to_string()).await;
    at.expect("sample-title").await;
}
