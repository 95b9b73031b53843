//! Subscriptions to a credential book, at the addresses of OrgBook's web hooks.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{Method, StatusCode};
use selfsame_crypto::encoding::base64_encode;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use super::books::{loaded, publish, registration, sent, with_book};
use super::instance::{Answered, Instance, call, form, get, post};
use super::pages::check;

/// A receiver that confirms every message.
struct Receiver {
    origin: Url,
    heard: Arc<Mutex<Vec<Value>>>,
}

impl Receiver {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}/", listener.local_addr().unwrap());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hearing = heard.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(hear(stream, hearing.clone()));
            }
        });
        Self {
            origin: origin.parse().unwrap(),
            heard,
        }
    }

    fn heard(&self) -> Vec<Value> {
        self.heard.lock().unwrap().clone()
    }

    /// Waits for this number of messages, and then for a moment in which no further one must come.
    async fn hears(&self, count: usize) -> Vec<Value> {
        for _ in 0..3_000 {
            if self.heard().len() >= count {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        let heard = self.heard();
        assert_eq!(heard.len(), count, "{heard:?}");
        heard
    }
}

/// Confirms the messages of one connection.
async fn hear(mut stream: TcpStream, heard: Arc<Mutex<Vec<Value>>>) {
    let mut read = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_ascii_lowercase();
            let length = head.split_once("content-length: ").unwrap().1;
            let length: usize = length.lines().next().unwrap().parse().unwrap();
            if let Some(body) = body.get(..length) {
                heard
                    .lock()
                    .unwrap()
                    .push(serde_json::from_str(body).unwrap());
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                let _ = stream.write_all(answer).await;
                return;
            }
        }
        if stream.read_buf(&mut read).await.unwrap_or(0) == 0 {
            return;
        }
    }
}

/// A subscriber, whose programs show its name and password.
struct Subscriber<'a> {
    instance: &'a Instance,
    name: String,
    basic: String,
}

impl<'a> Subscriber<'a> {
    /// A subscriber that those who keep the book have registered.
    async fn registered(instance: &'a Instance, name: &str, url: &str) -> Self {
        let new = json!({"email": "ops@receiver.example", "org_name": "Anon", "target_url": url,
            "hook_token": "known to both", "credentials": {"username": name}});
        let made = sent(instance, "/hooks/register", &new).await;
        assert_eq!(made.status, StatusCode::CREATED, "{}", made.body);
        let made: Value = serde_json::from_str(&made.body).unwrap();
        let password = made["credentials"]["password"].as_str().unwrap();
        Self {
            instance,
            name: name.to_owned(),
            basic: basic(name, password),
        }
    }

    async fn asks(&self, method: Method, rest: &str, body: &Value) -> Answered {
        let path = format!("/hooks/registration/{}{rest}", self.name);
        let asked = call(method, &path).header("authorization", &self.basic);
        let asked = match body {
            Value::Null => asked,
            body => asked.json(&body.to_string()),
        };
        self.instance.call(asked).await
    }

    async fn subscribes(&self, asked: Value) -> Value {
        let made = self.asks(Method::POST, "/subscriptions", &asked).await;
        assert_eq!(made.status, StatusCode::CREATED, "{}", made.body);
        serde_json::from_str(&made.body).unwrap()
    }
}

fn basic(name: &str, password: &str) -> String {
    let encoded = base64_encode(format!("{name}:{password}").as_bytes());
    format!("Basic {encoded}")
}

fn parsed(answered: &Answered) -> Value {
    assert_eq!(answered.status, StatusCode::OK, "{}", answered.body);
    serde_json::from_str(&answered.body).unwrap()
}

/// The credentials of the messages, in their order.
fn entries(heard: &[Value]) -> Vec<&Value> {
    let mut all: Vec<&Value> = heard
        .iter()
        .map(|one| &one["data"]["credential_id"])
        .collect();
    all.sort_by_key(|one| one.to_string());
    all
}

#[tokio::test]
async fn a_receiver_gets_one_message_for_each_new_credential_of_the_kind_and_none_for_others() {
    let receiver = Receiver::start().await;
    let instance = with_book(Instance::calling(&receiver.origin).await).await;
    let one = Subscriber::registered(&instance, "anon", receiver.origin.as_str()).await;
    one.subscribes(json!({"subscription_type": "New"})).await;
    one.subscribes(json!({"subscription_type": "Topic", "topic_source_id": "BC0001"}))
        .await;
    let stream = json!({"subscription_type": "Stream", "topic_source_id": "BC0001", "credential_type": "permit"});
    let stream = one.subscribes(stream).await;
    let rows = json!([
        {"claims": {"number": "BC0001", "name": "Blue Whale Ltd.", "director": "Ada Lovelace"}},
        {"claims": {"number": "BC0002", "name": "Grey Whale Ltd."}},
    ]);
    let made = loaded(&instance, "registration", rows).await;
    // The first topic is told as new and as the one that is followed, the second one as new.
    let heard = receiver.hears(3).await;
    let (first, second) = (&made[0]["credential_id"], &made[1]["credential_id"]);
    let mut expected = vec![first, first, second];
    expected.sort_by_key(|one| one.to_string());
    assert_eq!(entries(&heard), expected);
    assert!(!format!("{heard:?}").contains("Lovelace"), "{heard:?}");
    assert_eq!(heard[0]["subscription"]["hook_token"], "known to both");
    let row = json!([{"claims": {"company": "BC0001", "permit": "7", "street": "1 Main Street"}}]);
    let permit = loaded(&instance, "permit", row).await;
    // The topic is followed, and so is the stream of its permits.
    let heard = receiver.hears(5).await;
    for one in &heard[3..] {
        assert_eq!(one["data"]["credential_id"], permit[0]["credential_id"]);
        assert_eq!(one["data"]["corp_num"], "BC0001");
        assert_eq!(one["data"]["credential_type"], "permit");
        let shown = &one["data"]["credential_json"]["attributes"];
        assert_eq!(shown["street"], "1 Main Street");
    }
    let of_stream = heard
        .iter()
        .filter(|one| one["subscription"]["id"] == stream["id"]);
    assert_eq!(of_stream.count(), 1);
    // Neither an entry about another topic nor one that comes again is told.
    let row = json!([{"claims": {"company": "BC0002", "permit": "8"}}]);
    loaded(&instance, "permit", row).await;
    let id = "5e1f1f5e-0c5d-4c1e-9b0a-0d9f3f1a7c11";
    let row = json!([{"id": id, "claims": {"number": "BC0003", "name": "Seal"}}]);
    for _ in 0..2 {
        loaded(&instance, "registration", row.clone()).await;
    }
    let heard = receiver.hears(6).await;
    assert_eq!(heard[5]["data"]["credential_id"], id);
    assert_eq!(heard[5]["data"]["new_topic"], true);
}

#[tokio::test]
async fn a_subscriber_lists_changes_and_ends_its_subscriptions_with_its_name_and_password() {
    let receiver = Receiver::start().await;
    let instance = with_book(Instance::calling(&receiver.origin).await).await;
    let url = receiver.origin.as_str();
    let one = Subscriber::registered(&instance, "anon", url).await;
    let topic = json!({"subscription_type": "Topic", "topic_source_id": "BC0001", "topic_type": "registration.registries.ca"});
    let made = one.subscribes(topic).await;
    assert!(made["secret"].as_str().unwrap().starts_with("whsec_"));
    let at = format!("/subscriptions/{}", made["id"].as_str().unwrap());
    let listed = parsed(&one.asks(Method::GET, "/subscriptions", &Value::Null).await);
    assert_eq!(listed["items"][0]["topic_source_id"], "BC0001");
    assert_eq!(listed["items"][0].get("secret"), None);
    let shown = parsed(&one.asks(Method::GET, "", &Value::Null).await);
    assert_eq!(shown["credentials"], json!({"username": "anon"}));
    assert_eq!(shown["subscriptions"][0]["id"], made["id"]);
    let off = parsed(
        &one.asks(Method::PATCH, &at, &json!({"enabled": false}))
            .await,
    );
    assert_eq!(off["enabled"], false);
    assert!(off["paused_because"].as_str().unwrap().contains("paused"));
    let stream = json!({"subscription_type": "Stream", "topic_source_id": "BC0009", "credential_type": "permit"});
    let other = parsed(&one.asks(Method::PUT, &at, &stream).await);
    assert_eq!(
        (&other["subscription_type"], &other["enabled"]),
        (&json!("Stream"), &json!(false))
    );
    let changed = json!({"org_name": "Anon Solutions"});
    let changed = parsed(&one.asks(Method::PATCH, "", &changed).await);
    assert_eq!(changed["org_name"], "Anon Solutions");
    let ended = one.asks(Method::DELETE, &at, &Value::Null).await;
    assert_eq!(ended.status, StatusCode::NO_CONTENT, "{}", ended.body);
    let gone = one.asks(Method::GET, &at, &Value::Null).await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
    let removed = one.asks(Method::DELETE, "", &Value::Null).await;
    assert_eq!(removed.status, StatusCode::NO_CONTENT);
    let denied = one.asks(Method::GET, "", &Value::Null).await;
    assert_eq!(denied.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn nobody_registers_unasked_or_sees_anothers_subscriptions() {
    let receiver = Receiver::start().await;
    let instance = with_book(Instance::calling(&receiver.origin).await).await;
    let url = receiver.origin.as_str();
    let new = json!({"email": "a@b.example", "org_name": "A", "target_url": url, "credentials": {"username": "a"}});
    let unasked = instance
        .call(post("/hooks/register").json(&new.to_string()))
        .await;
    assert_eq!(unasked.status, StatusCode::UNAUTHORIZED);
    let one = Subscriber::registered(&instance, "anon", url).await;
    let other = Subscriber::registered(&instance, "other", url).await;
    let made = one.subscribes(json!({"subscription_type": "New"})).await;
    let path = "/hooks/registration/anon";
    for authorization in [
        "",
        "Basic",
        "Basic !!!",
        "Bearer anon",
        &basic("anon", "wrong"),
        &basic("anon", ""),
        &other.basic,
    ] {
        let asked = get(path).header("authorization", authorization);
        let denied = instance.call(asked).await;
        assert_eq!(denied.status, StatusCode::UNAUTHORIZED, "{authorization}");
        let challenge = denied.header("www-authenticate");
        assert_eq!(challenge, "Basic realm=\"subscriber\", charset=\"UTF-8\"");
    }
    let at = format!("/subscriptions/{}", made["id"].as_str().unwrap());
    for method in [Method::GET, Method::DELETE] {
        let foreign = other.asks(method, &at, &Value::Null).await;
        assert_eq!(foreign.status, StatusCode::NOT_FOUND, "{}", foreign.body);
    }
    let taken = sent(
        &instance,
        "/hooks/register",
        &json!({"email": "a@b.example", "org_name": "A", "target_url": url, "credentials": {"username": "anon"}}),
    )
    .await;
    assert_eq!(taken.status, StatusCode::CONFLICT, "{}", taken.body);
}

#[tokio::test]
async fn a_subscriber_or_a_subscription_that_cannot_work_is_refused_with_its_field() {
    let receiver = Receiver::start().await;
    let instance = with_book(Instance::calling(&receiver.origin).await).await;
    let url = receiver.origin.as_str();
    let good = json!({"email": "a@b.example", "org_name": "A", "target_url": url, "credentials": {"username": "a"}});
    for (place, value, named) in [
        ("/email", json!("nobody"), "e-mail"),
        ("/org_name", json!(""), "org_name"),
        ("/org_name", json!("x".repeat(255)), "org_name"),
        (
            "/target_url",
            json!("http://192.168.1.7/"),
            "[trust] origins",
        ),
        ("/target_url", json!("ftp://a.example/"), "URL"),
        ("/credentials/username", json!("a/b"), "letters"),
        (
            "/credentials",
            json!({"username": "a", "password": "short"}),
            "24",
        ),
    ] {
        let mut new = good.clone();
        *new.pointer_mut(place).unwrap() = value;
        let refused = sent(&instance, "/hooks/register", &new).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
        assert!(refused.body.contains(named), "{place}: {}", refused.body);
    }
    let one = Subscriber::registered(&instance, "anon", url).await;
    for (asked, named) in [
        (json!({"subscription_type": "Topic"}), "topic_source_id"),
        (
            json!({"subscription_type": "Topic", "topic_source_id": " "}),
            "topic_source_id",
        ),
        (
            json!({"subscription_type": "New", "topic_source_id": "1"}),
            "topic_source_id",
        ),
        (
            json!({"subscription_type": "Stream", "topic_source_id": "1"}),
            "credential_type",
        ),
        (
            json!({"subscription_type": "Topic", "topic_source_id": "1", "credential_type": "permit"}),
            "credential_type",
        ),
        (
            json!({"subscription_type": "Stream", "topic_source_id": "1", "credential_type": "absent"}),
            "absent",
        ),
        (json!({"subscription_type": "Other"}), ""),
        (json!({"subscription_type": "New", "more": 1}), ""),
        (
            json!({"subscription_type": "New", "target_url": "https://10.0.0.1/"}),
            "[trust] origins",
        ),
    ] {
        let refused = one.asks(Method::POST, "/subscriptions", &asked).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{asked}");
        assert!(refused.body.contains(named), "{asked}: {}", refused.body);
    }
    for _ in 0..10 {
        one.subscribes(json!({"subscription_type": "New"})).await;
    }
    let many = json!({"subscription_type": "New"});
    let many = one.asks(Method::POST, "/subscriptions", &many).await;
    assert_eq!(many.status, StatusCode::CONFLICT, "{}", many.body);
}

#[tokio::test]
async fn those_who_keep_the_book_see_and_end_subscriptions_on_a_page_and_by_the_api() {
    let receiver = Receiver::start().await;
    let instance = with_book(Instance::calling(&receiver.origin).await).await;
    let cookie = instance.operator_cookie().await;
    let shown = async || {
        let page = instance.call(get("/issuer/book").cookie(&cookie)).await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.body);
        check("/issuer/book", &page.body);
        page
    };
    let token = shown().await.form_token();
    let send = async |path: &str, fields: &[(&str, &str)]| {
        let token = [("form_token", token.as_str())];
        let fields = form(&[&token[..], fields].concat());
        instance.call(post(path).cookie(&cookie).form(fields)).await
    };
    let url = receiver.origin.as_str();
    let fields = [
        ("org_name", "Anon & Co"),
        ("email", "ops@receiver.example"),
        ("username", "anon"),
        ("target_url", url),
    ];
    let registered = send("/issuer/book/subscribers", &fields).await;
    assert_eq!(registered.status, StatusCode::OK, "{}", registered.body);
    check("registered", &registered.body);
    let (_, rest) = registered.body.split_once("<dt>Password</dt>").unwrap();
    let (_, rest) = rest.split_once("wrap\">").unwrap();
    let password = rest.split_once('<').unwrap().0;
    let one = Subscriber {
        instance: &instance,
        name: "anon".to_owned(),
        basic: basic("anon", password),
    };
    let made = one.subscribes(json!({"subscription_type": "New"})).await;
    let id = made["id"].as_str().unwrap();
    let at = format!("/issuer/book/subscribers/anon/subscriptions/{id}");
    assert!(shown().await.body.contains("new topics"));
    let off = send(&format!("{at}/enabled"), &[("enabled", "false")]).await;
    assert_eq!(off.status, StatusCode::SEE_OTHER);
    assert!(shown().await.body.contains("Let it go on"));
    let api = format!("/api/book/subscribers/anon/subscriptions/{id}");
    let on = call(Method::PATCH, &api).bearer(&instance.token);
    let on = parsed(&instance.call(on.json(r#"{"enabled": true}"#)).await);
    assert_eq!(on["enabled"], true);
    let listed = get("/api/book/subscribers").bearer(&instance.token);
    let listed = parsed(&instance.call(listed).await);
    assert_eq!(listed["items"][0]["subscriptions"][0]["id"], id);
    let ended = send(&format!("{at}/end"), &[]).await;
    assert_eq!(ended.status, StatusCode::SEE_OTHER);
    assert!(!shown().await.body.contains("new topics"));
    let wrong = send("/issuer/book/subscribers", &fields).await;
    assert_eq!(wrong.status, StatusCode::CONFLICT);
    assert!(
        wrong.body.contains("a subscriber of this name"),
        "{}",
        wrong.body
    );
    let removed = send("/issuer/book/subscribers/anon/remove", &[]).await;
    assert_eq!(removed.status, StatusCode::SEE_OTHER);
    assert!(!shown().await.body.contains("Anon"));
}

#[tokio::test]
async fn a_book_that_nobody_follows_tells_nothing() {
    let instance = Instance::start().await;
    publish(&instance, &registration()).await;
    let before = instance.app.events().reader().await.unwrap();
    let rows = json!([{"claims": {"number": "1", "name": "Whale"}}]);
    loaded(&instance, "registration", rows).await;
    let after = instance.app.events().reader().await.unwrap();
    assert_eq!(before.cursor(), after.cursor());
}
