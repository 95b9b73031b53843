//! Sign-in with a credential, on the pages: the wallet of this instance answers over HTTP.

use http::{Method, StatusCode};
use selfsame_crypto::SecretString;
use selfsame_did::jwk;
use selfsame_openid::view::issuer::NewOffer;
use selfsame_wallet::view::{AcceptOffer, AnswerRequest, Person};
use serde_json::{Value, json};

use super::instance::{Answered, Instance, call, get};
use super::sign_in_pages::AtSignIn;

const RULES: &str = "/api/sign-in/wallet";

/// An instance with rules for immunization records, and a person with a record in their wallet.
struct Scene {
    instance: Instance,
    person: Person,
}

impl Scene {
    async fn new() -> Self {
        let instance = Instance::listening().await;
        let set = sent(&instance, Method::PUT, &rules(&instance, true).await).await;
        assert_eq!(set.status, StatusCode::OK, "{}", set.body);
        let person = person(&instance).await;
        let new = json!({"type": "immunization", "examples": true});
        let new: NewOffer = serde_json::from_value(new).unwrap();
        let issuer = instance.app.main().issuer().unwrap();
        let offer = AcceptOffer {
            offer: issuer.create_offer(&new).await.unwrap().uri,
            tx_code: None,
            did: None,
            copies: None,
        };
        let wallet = instance.app.wallet().unwrap();
        wallet.accept_offer(&person, &offer).await.unwrap();
        Self { instance, person }
    }

    async fn answer(&self, link: &str) -> selfsame_wallet::view::Answered {
        let answer = AnswerRequest {
            request: link.to_owned(),
            cards: Default::default(),
            policy: Some("newest".to_owned()),
        };
        let wallet = self.instance.app.wallet().unwrap();
        wallet.answer_request(&self.person, &answer).await.unwrap()
    }

    /// The requests of the verifier, newest first.
    async fn requests(&self) -> Value {
        let listed = get("/api/verifier/requests").bearer(&self.instance.token);
        serde_json::from_str(&self.instance.call(listed).await.body).unwrap()
    }

    /// The request that a wallet elsewhere may answer; the page has it as a picture.
    async fn pictured(&self) -> String {
        self.requests().await["items"][0]["uri"]
            .as_str()
            .unwrap()
            .to_owned()
    }
}

async fn person(instance: &Instance) -> Person {
    let accounts = instance.app.wallet().unwrap().accounts();
    let password = SecretString::from("correct horse battery");
    let session = accounts.register("maja@example.org", password);
    let session = session.await.unwrap();
    accounts.person(&session.token).await.unwrap()
}

async fn rules(instance: &Instance, other_device: bool) -> Value {
    let roles = instance.app.main();
    let types = roles.verifier().unwrap().types().await.unwrap();
    json!({
        "purpose": "To sign you in",
        "other_device": other_device,
        "credentials": [{
            "title": "Immunization record",
            "type": types.find("immunization").unwrap().vct,
            "issuers": [jwk::create(roles.issuer().unwrap().identity().public())],
            "subject": ["patient", "family_name"],
            "claims": {"given_name": ["patient", "given_name"]}
        }]
    })
}

async fn sent(instance: &Instance, method: Method, body: &Value) -> Answered {
    let asked = call(method, RULES).bearer(&instance.token);
    instance.call(asked.json(&body.to_string())).await
}

/// What the address of a link in a page begins with.
fn linked<'p>(page: &'p Answered, start: &str) -> &'p str {
    let start = format!("href=\"{start}");
    let (_, rest) = page
        .body
        .split_once(&start)
        .unwrap_or_else(|| panic!("{}", page.body));
    let end = rest.find('"').unwrap();
    let from = page.body.len() - rest.len() - (start.len() - "href=\"".len());
    &page.body[from..page.body.len() - rest.len() + end]
}

/// A link as it is without the escapes of HTML.
fn plain(link: &str) -> String {
    link.replace("&#38;", "&").replace("&amp;", "&")
}

const WALLET_ALONE: (&str, &str) = ("acr_values", "urn:selfsame:acr:presentation");

#[tokio::test(flavor = "multi_thread")]
async fn a_person_signs_in_by_the_code_on_the_page_and_the_page_leads_on() {
    let scene = Scene::new().await;
    let mut at = AtSignIn::begun(&scene.instance, "", &[]).await;
    let page = at.page.clone();
    let first = at.open(&page).await;
    let way = linked(&first, &format!("{page}/wallet")).to_owned();
    let shown = at.open(&way).await;
    assert_eq!(shown.status, StatusCode::OK, "{}", shown.body);
    for told in [
        "Immunization record",
        "<svg",
        "openid4vp://",
        "data-awaited",
    ] {
        assert!(shown.body.contains(told), "{told}: {}", shown.body);
    }
    let look = plain(linked(&shown, &format!("{way}?seen=")));
    assert_eq!(at.open(&look).await.status, StatusCode::OK);
    let given = scene.answer(&scene.pictured().await).await;
    assert!(given.delivered, "{}", scene.requests().await);
    let led = at.open(&look).await;
    assert_eq!(led.status, StatusCode::SEE_OTHER, "{}", led.body);
    let answered = led.header("location").to_owned();
    // Another browser that learns of the address gets nothing.
    let elsewhere = scene.instance.call(get(&answered)).await;
    assert_eq!(elsewhere.status, StatusCode::NOT_FOUND);
    let proven = at.open(&answered).await;
    assert_eq!(proven.status, StatusCode::SEE_OTHER, "{}", proven.body);
    assert_eq!(proven.header("location"), page);
    assert!(!proven.header("set-cookie").is_empty(), "a session");
    // The page that still waits leads on too, and so does the answer that comes a second time.
    for late in [&look, &answered] {
        let late = at.open(late).await;
        assert_eq!(late.status, StatusCode::SEE_OTHER, "{}", late.body);
        assert_eq!(late.header("location"), page);
    }
    let asked = at.open(&page).await;
    assert!(asked.body.contains("name=\"decision\""), "{}", asked.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_on_the_same_device_leads_back_to_the_browser_that_asked() {
    let scene = Scene::new().await;
    let mut at = AtSignIn::begun(&scene.instance, "", &[WALLET_ALONE]).await;
    let page = at.page.clone();
    let led = at.open(&page).await;
    let way = format!("{page}/wallet");
    assert_eq!(led.header("location"), way);
    let shown = at.open(&way).await;
    assert!(!shown.body.contains("Other ways"), "{}", shown.body);
    let link = plain(linked(&shown, "openid4vp://"));
    let back = scene.answer(&link).await.redirect_uri.unwrap();
    let origin = format!("http://{}", scene.instance.host);
    let back = back.strip_prefix(&origin).unwrap().to_owned();
    assert!(back.starts_with(&format!("{way}/")), "{back}");
    let waiting = at.open(&way).await;
    assert_eq!(waiting.status, StatusCode::OK, "{}", waiting.body);
    let elsewhere = scene.instance.call(get(&back)).await;
    assert_eq!(elsewhere.status, StatusCode::NOT_FOUND);
    // Somebody else's sign-in does not take it either, and their wallet is asked anew.
    let mut other = AtSignIn::begun(&scene.instance, "", &[WALLET_ALONE]).await;
    let theirs = format!("{}/wallet", other.page);
    other.open(&theirs).await;
    let stolen = back.replace(&way, &theirs);
    let refused = other.open(&stolen).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{}", refused.body);
    assert!(
        refused.body.contains("was not accepted"),
        "{}",
        refused.body
    );
    let proven = at.open(&back).await;
    assert_eq!(proven.header("location"), page, "{}", proven.body);
}

fn read(answer: &Answered) -> Value {
    assert!(answer.status.is_success(), "{}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

fn challenge(value: &str) -> Value {
    json!({"challenges": [{"factor": "presentation", "value": value}]})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_asks_a_wallet_elsewhere_and_signs_the_person_in_once_it_has_answered() {
    let scene = Scene::new().await;
    let mut at = AtSignIn::begun(&scene.instance, "", &[]).await;
    let asked = read(&at.step("/wallet", &json!({})).await);
    assert_eq!(asked["credentials"], json!(["Immunization record"]));
    assert_eq!(asked["answered"], false);
    assert_eq!(asked, read(&at.step("/wallet", &json!({})).await));
    let id = asked["id"].as_str().unwrap();
    let early = at.step("/authentication", &challenge(id)).await;
    assert!(early.status.is_client_error(), "{}", early.body);
    let given = scene.answer(asked["elsewhere"].as_str().unwrap()).await;
    assert!(given.delivered, "{}", scene.requests().await);
    let answered = read(&at.step("/wallet", &json!({})).await);
    assert_eq!(answered["answered"], true);
    // In another browser's sign-in the answer is worth nothing.
    let mut other = AtSignIn::begun(&scene.instance, "", &[]).await;
    read(&other.step("/wallet", &json!({})).await);
    let stolen = other.step("/authentication", &challenge(id)).await;
    assert!(stolen.status.is_client_error(), "{}", stolen.body);
    let proven = read(&at.step("/authentication", &challenge(id)).await);
    assert_eq!(proven["stage"], "consent");
    let late = at.step("/wallet", &json!({})).await;
    assert_eq!(late.status, StatusCode::CONFLICT, "{}", late.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_on_the_same_device_leads_to_the_page_of_the_program_that_asked() {
    let scene = Scene::new().await;
    let mut at = AtSignIn::begun(&scene.instance, "", &[WALLET_ALONE]).await;
    for page in ["https://evil.example/", "//evil.example", "../ui", ""] {
        let refused = at.step("/wallet", &json!({"page": page})).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{page}");
    }
    let asked = read(&at.step("/wallet", &json!({"page": "ui/wallet"})).await);
    let link = asked["here"].as_str().unwrap();
    let back = scene.answer(link).await.redirect_uri.unwrap();
    let start = format!("http://{}/ui/wallet/", scene.instance.host);
    let (id, code) = back.strip_prefix(&start).unwrap().split_once('?').unwrap();
    let code = code.strip_prefix("response_code=").unwrap();
    let wrong = challenge(&format!("{id}.wrong"));
    let wrong = at.step("/authentication", &wrong).await;
    assert!(wrong.status.is_client_error(), "{}", wrong.body);
    let right = challenge(&format!("{id}.{code}"));
    let right = at.step("/authentication", &right).await;
    assert_eq!(read(&right)["stage"], "consent");
}

#[tokio::test]
async fn the_rules_are_set_read_and_removed_and_wrong_ones_are_refused() {
    let instance = Instance::start().await;
    let read = async || instance.call(get(RULES).bearer(&instance.token)).await;
    assert_eq!(read().await.status, StatusCode::NOT_FOUND);
    let wanted = rules(&instance, false).await;
    let set = sent(&instance, Method::PUT, &wanted).await;
    assert_eq!(set.status, StatusCode::OK, "{}", set.body);
    let kept: Value = serde_json::from_str(&read().await.body).unwrap();
    assert_eq!(kept, wanted);
    let wrong = [
        ("issuers", json!([]), "saved-issuers-none"),
        ("issuers", json!(["nobody"]), "saved-issuer"),
        ("subject", json!([]), "sign-in-wallet-path"),
        ("claims", json!({"iss": ["a"]}), "sign-in-wallet-claim-name"),
        ("format", json!("smoke-signals"), "format-unsupported"),
        ("issuers", json!("nobody"), "sign-in-wallet-malformed"),
    ];
    for (member, value, reason) in wrong {
        let mut rules = wanted.clone();
        rules["credentials"][0][member] = value;
        let refused = sent(&instance, Method::PUT, &rules).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
        assert!(refused.body.contains(reason), "{reason}: {}", refused.body);
    }
    let mut at = AtSignIn::begun(&instance, "", &[WALLET_ALONE]).await;
    let way = format!("{}/wallet", at.page);
    let shown = at.open(&way).await;
    assert!(shown.body.contains("openid4vp://") && !shown.body.contains("<svg"));
    let removed = sent(&instance, Method::DELETE, &json!({})).await;
    assert_eq!(removed.status, StatusCode::NO_CONTENT);
    assert_eq!(read().await.status, StatusCode::NOT_FOUND);
    let refused = at.open(&way).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
    let anonymous = instance.call(get(RULES)).await;
    assert_eq!(anonymous.status, StatusCode::UNAUTHORIZED);
}
