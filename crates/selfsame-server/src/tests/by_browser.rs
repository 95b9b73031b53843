//! Presentations by browsers: the addresses for pages and programs of verifiers, and the window of a wallet.

use http::StatusCode;
use selfsame_crypto::SecretString;
use selfsame_openid::view::issuer::NewOffer;
use selfsame_wallet::view::AcceptOffer;
use serde_json::{Value, json};

use super::instance::{Answered, Instance, form, get, post};

const OPENER: &str = "cross-origin-opener-policy";
const UNSIGNED: &str = "openid4vp-v1-unsigned";
const SIGNED: &str = "openid4vp-v1-signed";

fn read(answer: &Answered) -> Value {
    assert!(answer.status.is_success(), "{}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

/// An instance, and a person with a card in a wallet there.
struct Scene {
    instance: Instance,
    /// The person's token.
    token: String,
}

impl Scene {
    async fn new() -> Self {
        let instance = Instance::listening().await;
        let wallet = instance.app.wallet().unwrap();
        let accounts = wallet.accounts();
        let password = SecretString::from("correct horse battery");
        let session = accounts.register("maja@example.org", password);
        let token = session.await.unwrap().token;
        let person = accounts.person(&token).await.unwrap();
        let new = json!({"type": "immunization", "examples": true});
        let new: NewOffer = serde_json::from_value(new).unwrap();
        let issuer = instance.app.main().issuer().unwrap().clone();
        let offer = AcceptOffer {
            offer: issuer.create_offer(&new).await.unwrap().uri,
            tx_code: None,
            did: None,
            copies: None,
        };
        wallet.accept_offer(&person, &offer).await.unwrap();
        Self { instance, token }
    }

    /// The origin of the verifier's own pages.
    fn own(&self) -> String {
        format!("http://{}", self.instance.host)
    }

    fn cookie(&self) -> String {
        let port = self.instance.host.rsplit(':').next().unwrap();
        format!("selfsame-wallet-{port}={}", self.token)
    }

    /// A new request's id, and what its page hands to the browser.
    async fn asks(&self, protocol: &str) -> (String, Value) {
        let new = post("/api/verifier/requests").bearer(&self.instance.token);
        let new = new.json(&json!({"type": "immunization"}).to_string());
        let made = read(&self.instance.call(new).await);
        let id = made["id"].as_str().unwrap().to_owned();
        let path = format!("/api/verifier/requests/{id}/browser?protocol={protocol}");
        let asked = get(&path).bearer(&self.instance.token);
        let asked = read(&self.instance.call(asked).await);
        (id, asked["requests"][0].clone())
    }

    /// What the person's program gets from the wallet for a page of this origin.
    async fn answered(&self, origin: &str, request: &Value) -> Value {
        let mut message = request.clone();
        message["origin"] = json!(origin);
        let asked = post("/api/wallet/requests/browser").bearer(&self.token);
        let preview = read(&self.instance.call(asked.json(&message.to_string())).await);
        let answer = json!({"request": preview["id"], "policy": "newest"});
        let sent = post("/api/wallet/requests/answer").bearer(&self.token);
        let answered = read(&self.instance.call(sent.json(&answer.to_string())).await);
        answered["returned"].clone()
    }

    /// The window's page, and the token of its form.
    async fn window(&self) -> Answered {
        let page = get("/wallet/browser").cookie(&self.cookie());
        let page = self.instance.call(page).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        page
    }

    /// The window's script sends what it has heard.
    async fn heard(&self, origin: &str, request: &Value) -> Answered {
        let token = self.window().await.form_token();
        let mut message = request.clone();
        message["origin"] = json!(origin);
        let fields = [("form_token", &*token), ("message", &*message.to_string())];
        let sent = post("/wallet/browser/request").cookie(&self.cookie());
        self.instance.call(sent.form(form(&fields))).await
    }
}

/// The text of an attribute, without the escapes of HTML.
fn attribute(page: &Answered, name: &str) -> String {
    let (_, rest) = page
        .body
        .split_once(&format!("{name}=\""))
        .unwrap_or_else(|| panic!("{}", page.body));
    let text = rest.split('"').next().unwrap();
    let text = text.replace("&#34;", "\"").replace("&quot;", "\"");
    text.replace("&#39;", "'").replace("&#38;", "&")
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_hand_a_request_to_a_page_and_its_answer_to_the_verifier() {
    let scene = Scene::new().await;
    let (id, request) = scene.asks(SIGNED).await;
    let answer = scene.answered(&scene.own(), &request).await;
    assert_eq!(answer["protocol"], SIGNED);
    let path = format!("/api/verifier/requests/{id}/browser");
    let foreign = json!({
        "origin": "https://evil.example", "protocol": SIGNED, "data": answer["data"],
    });
    let sent = post(&path).bearer(&scene.instance.token);
    let refused = scene.instance.call(sent.json(&foreign.to_string())).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
    assert!(refused.body.contains("invalid_request"), "{}", refused.body);
    let sent = post(&path).bearer(&scene.instance.token);
    let status = read(&scene.instance.call(sent.json(&answer.to_string())).await);
    assert_eq!(status["verdict"]["outcome"], "valid", "{status}");
    for call in [get(&path), post(&path).json("{}")] {
        let unknown = scene.instance.call(call).await;
        assert_eq!(unknown.status, StatusCode::UNAUTHORIZED, "{}", unknown.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_verifiers_page_sends_what_its_browser_brought_back() {
    let scene = Scene::new().await;
    let (id, _) = scene.asks(SIGNED).await;
    let operator = scene.instance.operator_cookie().await;
    let view = format!("/verifier/view/{id}");
    let page = scene.instance.call(get(&view).cookie(&operator)).await;
    let action = attribute(&page, "data-browser");
    assert_eq!(action, format!("{view}/browser"));
    let asked = scene.instance.call(get(&action).cookie(&operator)).await;
    let request = read(&asked)["requests"][0].clone();
    let answer = scene.answered(&scene.own(), &request).await;
    let fields = [
        ("form_token", &*page.form_token()),
        ("message", &*answer.to_string()),
    ];
    let sent = post(&action).cookie(&operator).form(form(&fields));
    let sent = scene.instance.call(sent).await;
    assert_eq!(sent.status, StatusCode::SEE_OTHER, "{}", sent.body);
    assert_eq!(sent.header("location"), view);
    let shown = scene.instance.call(get(&view).cookie(&operator)).await;
    assert!(
        shown.body.contains("data-outcome=\"valid\""),
        "{}",
        shown.body
    );
    assert!(!shown.body.contains("data-browser"), "it is answered");
    let strange = [("form_token", &*page.form_token()), ("message", "no JSON")];
    let strange = post(&action).cookie(&operator).form(form(&strange));
    let refused = scene.instance.call(strange).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_shows_what_a_page_asks_and_gives_it_the_answer() {
    let scene = Scene::new().await;
    let page = scene.window().await;
    assert_eq!(page.header(OPENER), "unsafe-none");
    assert!(!page.body.contains("Immunization"), "{}", page.body);
    let (_, request) = scene.asks(UNSIGNED).await;
    let shop = "https://shop.example";
    let consent = scene.heard(shop, &request).await;
    assert_eq!(consent.status, StatusCode::OK, "{}", consent.body);
    assert_eq!(consent.header(OPENER), "unsafe-none");
    // The page that opened the window may have somebody press twice: its script takes a press after a moment.
    let settles = "value=\"share\" class=\"button\" data-settles>";
    for told in [shop, "Your browser vouches", "Immunization record", settles] {
        assert!(consent.body.contains(told), "{told}: {}", consent.body);
    }
    let (_, rest) = consent
        .body
        .split_once("name=\"request\" value=\"")
        .unwrap();
    let id = rest.split('"').next().unwrap();
    let (_, rest) = consent.body.split_once("name=\"card.").unwrap();
    let query = rest.split('"').next().unwrap();
    let card = rest.split("value=\"").nth(1).unwrap();
    let card = card.split('"').next().unwrap();
    let query = format!("card.{query}");
    let fields = [
        ("form_token", &*consent.form_token()),
        ("request", id),
        (&*query, card),
        ("decision", "share"),
    ];
    let sent = post("/wallet/browser/answer").cookie(&scene.cookie());
    let done = scene.instance.call(sent.form(form(&fields))).await;
    assert_eq!(done.status, StatusCode::OK, "{}", done.body);
    assert_eq!(done.header(OPENER), "unsafe-none");
    assert_eq!(attribute(&done, "data-to"), shop);
    let message: Value = serde_json::from_str(&attribute(&done, "data-returned")).unwrap();
    assert_eq!(message["protocol"], UNSIGNED);
    assert!(message["data"]["vp_token"].is_object(), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_refuses_a_signed_request_on_another_page_and_tells_that_page_the_code() {
    let scene = Scene::new().await;
    let (_, request) = scene.asks(SIGNED).await;
    let refused = scene.heard("https://evil.example", &request).await;
    assert_eq!(refused.status, StatusCode::OK, "{}", refused.body);
    assert!(refused.body.contains("another origin"), "{}", refused.body);
    assert_eq!(attribute(&refused, "data-to"), "https://evil.example");
    let message = attribute(&refused, "data-returned");
    let message: Value = serde_json::from_str(&message).unwrap();
    assert_eq!(message["data"], json!({"error": "invalid_request"}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_takes_nothing_without_a_session_and_without_its_own_form() {
    let scene = Scene::new().await;
    let stranger = scene.instance.call(get("/wallet/browser")).await;
    assert_eq!(stranger.status, StatusCode::SEE_OTHER, "{}", stranger.body);
    assert_eq!(
        stranger.header(OPENER),
        "same-origin",
        "it shows nothing to the page"
    );
    let (_, request) = scene.asks(UNSIGNED).await;
    let mut message = request;
    message["origin"] = json!("https://shop.example");
    let fields = [
        ("form_token", "made-up"),
        ("message", &*message.to_string()),
    ];
    let forged = post("/wallet/browser/request").cookie(&scene.cookie());
    let refused = scene.instance.call(forged.form(form(&fields))).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.body);
}
