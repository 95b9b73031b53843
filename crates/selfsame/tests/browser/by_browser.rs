//! Presentations by the browser itself: the verifier's page asks Chromium, whose virtual wallet gives what the wallet here
//! has computed; and a page of another site asks the wallet in a window that it opens.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use serde_json::{Value, json};
use url::Url;

use crate::browser::{Browser, Scheme};
use crate::http::Request;
use crate::instance::Instance;
use crate::walk::{Desk, PASSWORD, PERSON, Phone};

const BUTTON: &str = "Ask a wallet by this browser";
const KIND: &str = "Immunization record";

/// A page of another site that asks a wallet in a window, and shows what comes back.
const SHOP: &str = "<!doctype html><html lang=en><meta charset=utf-8><link rel=icon href='data:,'><title>Shop</title>
<button id=ask>Show it</button> <p id=told>Nothing yet</p>
<script>
  const wallet = 'WALLET', request = REQUEST;
  ask.onclick = () => {
    const opened = open(`${wallet}/wallet/browser`, '_blank', 'popup,width=480,height=820');
    addEventListener('message', ({ source, origin, data }) => {
      if (source !== opened || origin !== wallet) return;
      if (data.type === 'selfsame-digital-ready') {
        // What a page says of itself counts for nothing.
        const lie = { origin: 'https://bank.example', ...request };
        opened.postMessage({ type: 'selfsame-digital-request', ...lie }, wallet);
      }
      if (data.type === 'selfsame-digital-credential') {
        window.got = { protocol: data.protocol, data: data.data };
        told.textContent = data.data.error ? `Refused: ${data.data.error}` : 'Received';
      }
    });
  };
</script>";

/// A call of an instance's API, which must succeed. It waits on a thread of its own.
async fn call(instance: &Instance, token: &str, of: (&'static str, &str, Value)) -> Value {
    let (method, path, body) = of;
    let url: Url = instance.page(path).parse().expect("an address");
    let request = Request::new(method, &url).bearer(token);
    let request = match body {
        Value::Null => request,
        body => request.json(&body),
    };
    let sent = move || {
        let reply = request.send().expect("an answer");
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        assert!(reply.status < 300, "{url}: {text}");
        serde_json::from_str(&text).expect("JSON")
    };
    tokio::task::spawn_blocking(sent).await.expect("a thread")
}

/// An instance, and a browser in which a person has a card.
async fn scene(settings: &str) -> (Instance, Browser) {
    let instance = Instance::with(settings).await;
    let browser = Browser::start(Scheme::Light).await;
    let desk = Desk::open(&instance, &browser).await;
    let offer = desk.offer(KIND).await;
    let phone = Phone::open(&instance, &browser).await;
    phone.accept(&offer, KIND).await;
    (instance, browser)
}

/// What the person's wallet gives back to a page of this origin.
async fn computed(instance: &Instance, origin: &str, request: &Value) -> Value {
    let credentials = json!({"email": PERSON, "password": PASSWORD});
    let session = call(instance, "", ("POST", "api/wallet/sessions", credentials)).await;
    let token = session["token"].as_str().expect("a token");
    let asked = json!({
        "origin": origin, "protocol": request["protocol"], "data": request["data"],
    });
    let preview = call(
        instance,
        token,
        ("POST", "api/wallet/requests/browser", asked),
    )
    .await;
    let answer = json!({"request": preview["id"], "policy": "newest"});
    let answered = call(
        instance,
        token,
        ("POST", "api/wallet/requests/answer", answer),
    )
    .await;
    answered["returned"].clone()
}

/// The request that stands on the open page of the verifier.
async fn request_on_page(instance: &Instance, browser: &Browser) -> Value {
    let address = browser.address().await;
    let id = address.rsplit('/').next().expect("an id").to_owned();
    let path = format!("api/verifier/requests/{id}/browser");
    let asked = call(instance, &instance.token, ("GET", &path, Value::Null)).await;
    asked["requests"][0].clone()
}

fn origin_of(instance: &Instance) -> String {
    instance.origin.trim_end_matches('/').to_owned()
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn the_verifiers_page_asks_the_browser_and_shows_the_verdict() {
    let (instance, browser) = scene("").await;
    let desk = Desk(&instance, &browser);
    desk.ask(crate::walk::PURPOSE).await;
    browser.expect(BUTTON).await;
    browser.picture("by-browser", (1200, 900)).await;
    let request = request_on_page(&instance, &browser).await;
    assert_eq!(request["protocol"], "openid4vp-v1-signed");
    let returned = computed(&instance, &origin_of(&instance), &request).await;
    let behavior = json!({
        "action": "respond", "protocol": returned["protocol"], "response": returned["data"],
    });
    browser.set_virtual_wallet(behavior).await;
    browser.press(BUTTON).await;
    assert_eq!(desk.outcome().await.as_deref(), Some("valid"));
    browser.expect_no_errors().await;
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_wallet_that_declines_in_the_browser_leaves_the_link_and_the_code() {
    let (instance, browser) = scene("").await;
    Desk(&instance, &browser).ask(crate::walk::PURPOSE).await;
    browser.expect(BUTTON).await;
    browser
        .set_virtual_wallet(json!({"action": "decline"}))
        .await;
    browser.press(BUTTON).await;
    browser.expect("No wallet has answered").await;
    browser.expect("Answer with my wallet").await;
}

/// A shop that asks for this, and the instance whose wallet it asks.
struct Shop {
    listener: TcpListener,
    origin: String,
}

impl Shop {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let origin = format!("http://{}", listener.local_addr().expect("its address"));
        Self { listener, origin }
    }

    /// The settings of a verifier with pages at this shop, which the wallet trusts without TLS.
    fn settings(&self) -> String {
        let origin = &self.origin;
        format!("[verifier]\norigins = [{origin:?}]\n[trust]\norigins = [\"{origin}/\"]\n")
    }

    /// Serves the page for as long as the test runs.
    fn opens(self, wallet: &str, request: &Value) {
        let page = SHOP.replace("WALLET", wallet);
        let page = page.replace("REQUEST", &request.to_string());
        thread::spawn(move || {
            for stream in self.listener.incoming().flatten() {
                serve(&stream, &page);
            }
        });
    }
}

fn serve(mut stream: &TcpStream, page: &str) -> Option<()> {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    let _request: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        page.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(page.as_bytes()).ok()
}

/// A new request, as a page elsewhere hands it on.
async fn new_request(instance: &Instance, protocol: &str) -> (String, Value) {
    let new = json!({"type": "immunization"});
    let made = call(
        instance,
        &instance.token,
        ("POST", "api/verifier/requests", new),
    )
    .await;
    let id = made["id"].as_str().expect("an id").to_owned();
    let path = format!("api/verifier/requests/{id}/browser?protocol={protocol}");
    let asked = call(instance, &instance.token, ("GET", &path, Value::Null)).await;
    (id, asked["requests"][0].clone())
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_page_of_another_site_asks_the_wallet_in_a_window_and_gets_the_answer() {
    let shop = Shop::new();
    let (instance, browser) = scene(&shop.settings()).await;
    let origin = shop.origin.clone();
    let (id, request) = new_request(&instance, "openid4vp-v1-unsigned").await;
    shop.opens(&origin_of(&instance), &request);
    browser.open(&origin).await;
    browser.press("Show it").await;
    browser.to_window("What would leave your wallet").await;
    let seen = browser.visible().await;
    assert!(seen.contains(&origin), "the browser says who asks: {seen}");
    assert!(!seen.contains("bank.example"), "{seen}");
    browser.picture("wallet-window", (480, 820)).await;
    let pressed_at_once = "
        dispatchEvent(new Event('focus'));
        const button = document.querySelector('[data-settles]');
        button.click();
        return button.disabled";
    let is_disabled = browser.evaluate(pressed_at_once).await;
    assert_eq!(
        is_disabled, true,
        "a press as the window appears does not share"
    );
    browser.expect("What would leave your wallet").await;
    browser.press("Share this").await;
    browser.expect("Close this window").await;
    browser.expect_no_errors().await;
    browser.press("Close this window").await;
    browser.to_window("Received").await;
    let got = browser.evaluate("return window.got").await;
    let answer = json!({
        "origin": origin, "protocol": got["protocol"], "data": got["data"],
    });
    let path = format!("api/verifier/requests/{id}/browser");
    let status = call(&instance, &instance.token, ("POST", &path, answer)).await;
    assert_eq!(status["verdict"]["outcome"], "valid", "{status}");
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_page_that_passes_on_a_signed_request_of_another_site_is_refused_and_told_the_code() {
    let (shop, elsewhere) = (Shop::new(), Shop::new());
    let settings = shop.settings();
    let settings = settings.replace(
        &format!("\"{}/\"", shop.origin),
        &format!("\"{}/\", \"{}/\"", shop.origin, elsewhere.origin),
    );
    let (instance, browser) = scene(&settings).await;
    let (_, request) = new_request(&instance, "openid4vp-v1-signed").await;
    let origin = elsewhere.origin.clone();
    elsewhere.opens(&origin_of(&instance), &request);
    browser.open(&origin).await;
    browser.press("Show it").await;
    browser.to_window("The request is refused").await;
    browser.expect("Nothing has left your wallet").await;
    browser.to_window("Refused: invalid_request").await;
}
