//! Controllers hear of records on a WebSocket (RFC 6455), through the kernel that serves it.
#![expect(clippy::disallowed_methods, reason = "these tests are the client")]

use std::time::Duration;

use selfsame_http::limits::ConnectionLimits;
use selfsame_http::pulse::Pulse;
use selfsame_http::serve::{Door, HttpService, serve};
use selfsame_http::shares::Shares;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;

use super::world::{Agent, KEY, World};

/// The end of a controller.
struct Ear(TcpStream);

/// Serves an agent's admin API, and returns where.
async fn served(agent: &Agent) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap().to_string();
    let service = HttpService {
        router: agent.router.clone(),
        door: Door::Plain,
        limits: ConnectionLimits::default(),
        shares: Shares::default(),
        requests: Shares::default(),
        pulse: Pulse::default(),
        stopping: watch::Sender::new(false),
    };
    tokio::spawn(async move { serve(listener, service, std::future::pending()).await });
    at
}

impl Ear {
    /// A connection whose request has these headers, and the head of the answer.
    async fn open(at: &str, headers: &str) -> (Self, String) {
        let mut stream = TcpStream::connect(at).await.unwrap();
        // The key is that of RFC 6455 §1.3.
        let request = format!(
            "GET /ws HTTP/1.1\r\nHost: {at}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        (Self(stream), String::from_utf8(head).unwrap())
    }

    /// A connection that was accepted.
    async fn accepted(at: &str, headers: &str) -> Self {
        let (ear, head) = Self::open(at, headers).await;
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        assert!(head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{head}");
        ear
    }

    /// The next message (§5.2); `None` if the other side ends.
    async fn next(&mut self) -> Option<Value> {
        let first = self.0.read_u8().await.ok()?;
        if first == 0x88 {
            return None;
        }
        assert_eq!(first, 0x81, "a whole text");
        let length = match self.0.read_u8().await.unwrap() {
            126 => u64::from(self.0.read_u16().await.unwrap()),
            127 => self.0.read_u64().await.unwrap(),
            short => u64::from(short),
        };
        let mut text = vec![0; usize::try_from(length).unwrap()];
        self.0.read_exact(&mut text).await.unwrap();
        Some(serde_json::from_slice(&text).unwrap())
    }

    /// The next message of a topic.
    async fn of(&mut self, topic: &str) -> Value {
        let found = async {
            loop {
                let message = self.next().await.unwrap();
                if message["topic"] == topic {
                    return message;
                }
            }
        };
        timeout(Duration::from_secs(60), found).await.unwrap()
    }

    /// Sends a text, masked with zeros (§5.3).
    async fn say(&mut self, text: &str) {
        let length = u16::try_from(text.len()).unwrap();
        let mut frame = vec![0x81, 0x80 | 126];
        frame.extend(length.to_be_bytes());
        frame.extend([0; 4]);
        frame.extend(text.as_bytes());
        self.0.write_all(&frame).await.unwrap();
    }
}

fn with_key() -> String {
    format!("X-API-Key: {KEY}\r\n")
}

#[tokio::test]
async fn a_controller_with_the_key_hears_of_records_on_a_connection() {
    let world = World::of(&["clinic", "holder"]).await;
    let [clinic, holder] = &world.agents[..] else {
        panic!("two agents");
    };
    let at = served(clinic).await;
    let mut ear = Ear::accepted(&at, &with_key()).await;
    let settings = ear.next().await.unwrap();
    assert_eq!(settings["topic"], "settings");
    assert_eq!(settings["payload"]["authenticated"], true);
    assert_eq!(settings["payload"]["label"], "clinic agent");
    // The records of other agents are not told.
    holder.post("/connections/create-invitation", "").await;
    let made = clinic
        .post("/connections/create-invitation?alias=Ward", "")
        .await;
    let heard = ear.of("connections").await;
    assert_eq!(heard["payload"]["connection_id"], made["connection_id"]);
    assert_eq!(heard["payload"]["alias"], "Ward");
    assert!(heard.get("wallet_id").is_none());
    let ping = ear.of("ping").await;
    assert_eq!(ping, json!({"topic": "ping", "authenticated": true}));
}

#[tokio::test]
async fn a_controller_sends_the_key_in_a_message() {
    let world = World::of(&["clinic"]).await;
    let clinic = &world.agents[0];
    let at = served(clinic).await;
    let mut ear = Ear::accepted(&at, "").await;
    let settings = ear.next().await.unwrap();
    assert_eq!(settings["payload"]["authenticated"], false);
    ear.say(r#"{"x-api-key":"another"}"#).await;
    ear.say("no JSON").await;
    clinic.post("/connections/create-invitation", "").await;
    // Nothing but pings comes before the key.
    assert_eq!(
        ear.next().await.unwrap(),
        json!({"topic": "ping", "authenticated": false})
    );
    ear.say(&json!({ "x-api-key": KEY }).to_string()).await;
    let mut ping = ear.of("ping").await;
    while ping["authenticated"] != true {
        ping = ear.of("ping").await;
    }
    let made = clinic.post("/connections/create-invitation", "").await;
    let heard = ear.of("connections").await;
    assert_eq!(heard["payload"]["connection_id"], made["connection_id"]);
    // A controller sends no more than the key.
    ear.say(&"x".repeat(5000)).await;
    let ended = async { while ear.next().await.is_some() {} };
    timeout(Duration::from_secs(60), ended).await.unwrap();
}

#[tokio::test]
async fn the_records_of_sub_wallets_are_told_with_their_identifiers() {
    let world = World::with(&["clinic"], |settings| settings.multitenant = true).await;
    let clinic = &world.agents[0];
    let at = served(clinic).await;
    let mut ear = Ear::accepted(&at, &with_key()).await;
    let made = clinic
        .post("/multitenancy/wallet", r#"{"wallet_name":"ward"}"#)
        .await;
    let ward = clinic.with(made["token"].as_str().unwrap());
    ward.post("/connections/create-invitation", "").await;
    let heard = ear.of("connections").await;
    assert_eq!(heard["wallet_id"], made["wallet_id"]);
}

#[tokio::test]
async fn listeners_are_bounded_and_pages_are_refused_without_a_key() {
    let world = World::of(&["clinic"]).await;
    let at = served(&world.agents[0]).await;
    let mut ears = Vec::new();
    for _ in 0..32 {
        ears.push(Ear::accepted(&at, "").await);
    }
    let (_, head) = Ear::open(&at, &with_key()).await;
    assert!(head.starts_with("HTTP/1.1 429 "), "{head}");
    ears.pop();
    let began = tokio::time::Instant::now();
    while !Ear::open(&at, "").await.1.starts_with("HTTP/1.1 101 ") {
        assert!(began.elapsed() < Duration::from_secs(60));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let world = World::with(&["clinic"], |settings| settings.api_key = None).await;
    let at = served(&world.agents[0]).await;
    let (_, head) = Ear::open(&at, &format!("Origin: http://{at}\r\n")).await;
    assert!(head.starts_with("HTTP/1.1 401 "), "{head}");
    Ear::accepted(&at, "").await;
    let plain = "GET /ws HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut stream = TcpStream::connect(&at).await.unwrap();
    stream.write_all(plain.as_bytes()).await.unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 400");
}
