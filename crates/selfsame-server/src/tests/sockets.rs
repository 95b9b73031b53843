//! What only a socket shows: limits on connections, time-outs, streams, TLS, shutdown.
#![expect(clippy::disallowed_methods, reason = "these tests are the client")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::{CertificateDer, ServerName};
use selfsame_app::App;
use selfsame_core::events::{Event, EventKind};
use selfsame_openid::view::verifier::NewRequest;
use selfsame_store::{Batch, TenantId};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::instance::{HOST_NAME, ORIGIN, open};
use crate::{ConnectionLimits, ServerLimits, ServerSettings, Tls, serve};

pub const PATIENCE: Duration = Duration::from_secs(60);

pub struct Listening {
    pub app: Arc<App>,
    pub token: String,
    pub address: std::net::SocketAddr,
    stop: oneshot::Sender<()>,
    served: JoinHandle<std::io::Result<()>>,
}

impl Listening {
    pub async fn start(origin: &str, settings: ServerSettings) -> Self {
        let (app, token) = open(origin).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let stopped = async move { stopped.await.unwrap_or_default() };
        let served = tokio::spawn(serve(listener, app.clone(), settings, stopped));
        Self {
            app,
            token,
            address,
            stop,
            served,
        }
    }

    pub async fn plain(limits: ServerLimits) -> Self {
        Self::start(
            ORIGIN,
            ServerSettings {
                limits,
                ..ServerSettings::default()
            },
        )
        .await
    }

    async fn tell(&self, kind: EventKind, id: &str) {
        let batch = Batch::new(TenantId::instance());
        let told = self.app.events().commit(batch, Event::new(kind, id));
        told.await.unwrap();
    }

    /// A stream of events that the operator follows, from its beginning or from the event seen last.
    async fn follow(&self, path: &str, last_seen: Option<&str>) -> TcpStream {
        let mut stream = self.connect().await;
        let who = format!("Host: {HOST_NAME}\r\nAuthorization: Bearer {}", self.token);
        let last_seen = last_seen.map(|id| format!("Last-Event-ID: {id}\r\n"));
        let last_seen = last_seen.unwrap_or_default();
        let request = format!("GET {path} HTTP/1.1\r\n{who}\r\n{last_seen}\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    pub async fn stop(self) {
        self.stop.send(()).unwrap();
        tokio::time::timeout(PATIENCE, self.served)
            .await
            .unwrap()
            .unwrap()
            .unwrap();
    }
}

pub async fn ask(stream: &mut (impl AsyncWrite + Unpin), path: &str, host: &str) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
}

/// Reads until `text` has arrived; returns everything read.
pub async fn read_until(stream: &mut (impl AsyncRead + Unpin), text: &str) -> String {
    let mut read = Vec::new();
    let mut buffer = [0; 4096];
    while !String::from_utf8_lossy(&read).contains(text) {
        let count = tokio::time::timeout(PATIENCE, stream.read(&mut buffer))
            .await
            .unwrap()
            .unwrap();
        assert!(
            count > 0,
            "ended without {text:?}: {}",
            String::from_utf8_lossy(&read)
        );
        read.extend_from_slice(&buffer[..count]);
    }
    String::from_utf8_lossy(&read).into_owned()
}

/// Reads to the end of the connection, however it ends.
pub async fn read_to_end(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut read = Vec::new();
    let _ended_or_reset = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut read))
        .await
        .unwrap();
    String::from_utf8_lossy(&read).into_owned()
}

#[tokio::test]
async fn a_connection_beyond_the_bound_is_there_for_supervisors_only_and_there_is_room_again_later()
{
    let listening = Listening::plain(ServerLimits {
        connections: ConnectionLimits {
            open: 1,
            ..ConnectionLimits::default()
        },
        ..ServerLimits::default()
    })
    .await;
    let mut first = listening.connect().await;
    ask(&mut first, "/livez", HOST_NAME).await;
    read_until(&mut first, "alive").await;
    let mut beyond = listening.connect().await;
    ask(&mut beyond, "/", HOST_NAME).await;
    let refused = read_to_end(&mut beyond).await;
    assert!(
        refused.starts_with("HTTP/1.1 503") && refused.contains("retry-after: 1"),
        "{refused}"
    );
    for path in ["/livez", "/readyz", "/metrics"] {
        let mut supervisor = listening.connect().await;
        ask(&mut supervisor, path, HOST_NAME).await;
        let answer = read_until(&mut supervisor, "\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
    let mut more = Vec::new();
    for _ in 0..20 {
        more.push(listening.connect().await);
    }
    let refused = read_to_end(more.last_mut().unwrap()).await;
    assert!(
        refused.starts_with("HTTP/1.1 503") && refused.contains("Retry-After: 1"),
        "{refused}"
    );
    drop(more);
    drop(first);
    for _ in 0..3_000 {
        let mut next = listening.connect().await;
        ask(&mut next, "/operator", HOST_NAME).await;
        if read_to_end_or(&mut next, "</html>")
            .await
            .contains("</html>")
        {
            return listening.stop().await;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("there is no room again");
}

async fn read_to_end_or(stream: &mut TcpStream, text: &str) -> String {
    let mut read = String::new();
    let mut buffer = [0; 1024];
    while !read.contains(text) {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(count) => read.push_str(&String::from_utf8_lossy(&buffer[..count])),
        }
    }
    read
}

#[tokio::test]
async fn connections_that_say_nothing_or_half_a_head_are_closed() {
    let listening = Listening::plain(ServerLimits {
        connections: ConnectionLimits {
            idle: Duration::from_millis(300),
            ..ConnectionLimits::default()
        },
        ..ServerLimits::default()
    })
    .await;
    for said in ["", "P", "GET /livez HTTP/1.1\r\nHost: x"] {
        let mut stream = listening.connect().await;
        stream.write_all(said.as_bytes()).await.unwrap();
        read_to_end(&mut stream).await;
    }
    listening.stop().await;
}

#[tokio::test]
async fn the_start_page_hears_what_happens_and_the_stream_ends_when_the_server_stops() {
    // Long enough for a request, on a busy machine.
    let idle = Duration::from_secs(2);
    let listening = Listening::plain(ServerLimits {
        connections: ConnectionLimits {
            idle,
            ..ConnectionLimits::default()
        },
        ..ServerLimits::default()
    })
    .await;
    let mut stream = listening.connect().await;
    ask(&mut stream, "/events", HOST_NAME).await;
    // The first event is the current count, for a page that reconnects.
    let head = read_until(&mut stream, "}\n\n").await;
    assert!(head.contains("content-type: text/event-stream"), "{head}");
    assert!(head.contains(r#""kind":null"#), "{head}");
    // Longer than the idle time-out: a stream does not count as idle.
    tokio::time::sleep(2 * idle).await;
    listening
        .tell(EventKind::Issued, "an id that stays here")
        .await;
    let event = read_until(&mut stream, "\n\n").await;
    assert!(
        event.contains("event: tally") && event.contains(r#""kind":"issued""#),
        "{event}"
    );
    assert!(!event.contains("an id that stays here"), "{event}");
    listening.stop().await;
    read_to_end(&mut stream).await;
}

/// Reads until an event with this text has arrived whole; returns its id.
async fn id_of(stream: &mut TcpStream, text: &str) -> String {
    let mut read = String::new();
    loop {
        let byte = tokio::time::timeout(PATIENCE, stream.read_u8()).await;
        read.push(char::from(byte.unwrap().unwrap()));
        if read.ends_with("\n\n") && read.contains(text) {
            let mut ids = read.lines().filter_map(|line| line.strip_prefix("id: "));
            return ids.next_back().expect("an event with an id").to_owned();
        }
    }
}

#[tokio::test]
async fn a_start_page_that_lost_its_connection_hears_what_happened_meanwhile_once() {
    let listening = Listening::plain(ServerLimits::default()).await;
    let mut stream = listening.follow("/events", None).await;
    read_until(&mut stream, r#""kind":null"#).await;
    listening.tell(EventKind::Issued, "1").await;
    let id = id_of(&mut stream, r#""kind":"issued""#).await;
    drop(stream);
    listening.tell(EventKind::Received, "2").await;
    listening.tell(EventKind::Presented, "3").await;

    let mut stream = listening.follow("/events", Some(&id)).await;
    let read = read_until(&mut stream, r#""kind":"presented""#).await;
    let kinds: Vec<_> = read.match_indices(r#""kind":"#).collect();
    assert_eq!(kinds.len(), 3, "{read}");
    assert!(read.contains(r#""kind":null"#), "{read}");
    assert!(read.contains(r#""kind":"received""#), "{read}");
    listening.tell(EventKind::Anchored, "4").await;
    read_until(&mut stream, r#""kind":"anchored""#).await;

    // After an id that the server never sent, the stream begins with new events.
    for unknown in ["", "0-0", "1-0", "1-1"] {
        let mut stream = listening.follow("/events", Some(unknown)).await;
        read_until(&mut stream, r#""kind":null"#).await;
        listening.tell(EventKind::StatusChanged, "5").await;
        let read = read_until(&mut stream, r#""kind":"#).await;
        assert!(read.contains(r#""kind":"status_changed""#), "{read}");
    }
    listening.stop().await;
}

#[tokio::test]
async fn who_follows_a_request_again_is_told_its_state_only_if_it_may_have_changed() {
    let listening = Listening::plain(ServerLimits::default()).await;
    let verifier = listening.app.main().verifier().unwrap();
    let asked: NewRequest = serde_json::from_value(json!({"type": "immunization"})).unwrap();
    let id = verifier.create_request(&asked).await.unwrap().id;
    let path = format!("/verifier/view/{id}/events");
    let state = r#"{"state":"created"}"#;
    let mut stream = listening.follow(&path, None).await;
    let seen = id_of(&mut stream, state).await;
    drop(stream);

    let mut stream = listening.follow(&path, Some(&seen)).await;
    read_until(&mut stream, "\r\n\r\n").await;
    listening
        .tell(EventKind::Verification, "another request")
        .await;
    let nothing = tokio::time::timeout(Duration::from_secs(1), stream.read_u8()).await;
    assert!(nothing.is_err(), "{nothing:?}");
    listening.tell(EventKind::Verification, &id).await;
    read_until(&mut stream, state).await;
    drop(stream);
    // The stream sends the state if it has changed since the last id, and if the last id is unknown or absent.
    for last_seen in [Some(&*seen), Some("1-1"), None] {
        let mut stream = listening.follow(&path, last_seen).await;
        read_until(&mut stream, state).await;
    }
    listening.stop().await;
}

#[tokio::test]
async fn who_follows_an_offer_is_told_its_state_and_nothing_while_it_stays_the_same() {
    let listening = Listening::plain(ServerLimits::default()).await;
    let new = json!({"type": "immunization", "examples": true});
    let new = serde_json::from_value(new).unwrap();
    let issuer = listening.app.main().issuer().unwrap();
    let id = issuer.create_offer(&new).await.unwrap().id;
    let path = format!("/issuer/view/{id}/events");
    let mut stream = listening.follow(&path, None).await;
    read_until(&mut stream, r#"{"state":"open","uses_left":1}"#).await;
    read_until(&mut stream, "\n\n").await;
    listening.tell(EventKind::Issued, "another offer's").await;
    let nothing = tokio::time::timeout(Duration::from_secs(1), stream.read_u8()).await;
    assert!(nothing.is_err(), "{nothing:?}");
    listening.stop().await;
}

#[tokio::test]
async fn a_stream_beyond_the_bound_is_refused_until_another_ends_and_other_requests_are_not() {
    let listening = Listening::plain(ServerLimits {
        streams: 2,
        ..ServerLimits::default()
    })
    .await;
    let follow = async |path: &str| {
        let mut stream = listening.connect().await;
        let token = &listening.token;
        let head = format!("GET {path} HTTP/1.1\r\nHost: {HOST_NAME}");
        let request = format!("{head}\r\nAuthorization: Bearer {token}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let head = read_until(&mut stream, "\r\n\r\n").await;
        (stream, head)
    };
    let (first, _) = follow("/events").await;
    let (_second, head) = follow("/registry/events").await;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let (mut third, head) = follow("/events").await;
    assert!(head.starts_with("HTTP/1.1 429"), "{head}");
    assert!(head.contains("retry-after: 1"), "{head}");
    // Its connection ends as well.
    read_to_end(&mut third).await;

    let asked: NewRequest = serde_json::from_value(json!({"type": "immunization"})).unwrap();
    let verifier = listening.app.main().verifier().unwrap();
    let id = verifier.create_request(&asked).await.unwrap().id;
    let operators = format!("/verifier/view/{id}/events");
    for path in ["/livez", "/operator", &operators] {
        let (_stream, head) = follow(path).await;
        assert!(head.starts_with("HTTP/1.1 200"), "{path}: {head}");
    }

    drop(first);
    for _ in 0..3_000 {
        if follow("/events").await.1.starts_with("HTTP/1.1 200") {
            return listening.stop().await;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("no place is free again");
}

#[tokio::test]
async fn who_waits_for_a_verdict_is_told_how_it_stands_when_the_server_stops() {
    let listening = Listening::plain(ServerLimits {
        connections: ConnectionLimits {
            stop: PATIENCE,
            ..ConnectionLimits::default()
        },
        ..ServerLimits::default()
    })
    .await;
    let asked: NewRequest = serde_json::from_value(json!({"type": "immunization"})).unwrap();
    let verifier = listening.app.main().verifier().unwrap();
    let id = verifier.create_request(&asked).await.unwrap().id;
    let mut stream = listening.connect().await;
    let token = &listening.token;
    let path = format!("/api/verifier/requests/{id}?wait=25");
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {HOST_NAME}\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    // The request is in progress: nothing arrives.
    let nothing = tokio::time::timeout(Duration::from_secs(1), stream.read_u8()).await;
    assert!(nothing.is_err(), "{nothing:?}");
    let at = Instant::now();
    listening.stop().await;
    let answer = read_to_end(&mut stream).await;
    assert!(answer.contains(r#""state":"created""#), "{answer}");
    assert!(at.elapsed() < Duration::from_secs(20), "{:?}", at.elapsed());
}

#[tokio::test]
async fn who_follows_a_request_hears_that_its_time_is_over_unless_he_has_signed_out() {
    let listening = Listening::plain(ServerLimits::default()).await;
    let (verifier, operator) = (
        listening.app.main().verifier().unwrap(),
        listening.app.operator(),
    );
    let asked: NewRequest = serde_json::from_value(json!({"type": "immunization"})).unwrap();
    let id = verifier.create_request(&asked).await.unwrap().id;
    let left = verifier.request(&id).await.unwrap().open_for.unwrap();
    // Long enough for three requests, on a busy machine.
    listening.app.clock().advance(left.as_secs() - 10);

    let session = operator.sign_in(&listening.token).await.unwrap();
    let bearer = format!("Authorization: Bearer {}", listening.token);
    let cookie = format!("Cookie: selfsame-operator-7380={}", session.expose());
    let follow = async |path: String, who: &str| {
        let mut stream = listening.connect().await;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {HOST_NAME}\r\n{who}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    };
    let events = format!("/verifier/view/{id}/events");
    let mut program = follow(events.clone(), &bearer).await;
    let mut page = follow(events, &cookie).await;
    let mut waiting = follow(format!("/api/verifier/requests/{id}?wait=25"), &bearer).await;
    for stream in [&mut program, &mut page] {
        read_until(stream, r#"{"state":"created"}"#).await;
    }
    operator.sign_out(session.expose()).await.unwrap();
    // Each ends by itself: the last chunk of a body.
    assert!(
        read_until(&mut program, "0\r\n\r\n")
            .await
            .contains(r#"{"state":"expired"}"#)
    );
    assert!(!read_until(&mut page, "0\r\n\r\n").await.contains("state"));
    read_until(&mut waiting, r#""state":"expired""#).await;
    listening.stop().await;
}

/// A TLS connection to `localhost` that trusts this certificate and offers these protocols.
pub async fn encrypted(
    listening: &Listening,
    certificate: Vec<u8>,
    protocols: &[&[u8]],
) -> TlsStream<TcpStream> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from(certificate)).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    client.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let name = ServerName::try_from("localhost").unwrap();
    let tcp = listening.connect().await;
    let connector = TlsConnector::from(Arc::new(client));
    connector.connect(name, tcp).await.unwrap()
}

pub fn self_made() -> Tls {
    let made = Tls::self_made("localhost").unwrap();
    let key = made.key_pem.expose().as_bytes();
    Tls::from_pem(made.certificate_pem.as_bytes(), key).unwrap()
}

#[tokio::test]
async fn a_place_beyond_the_bound_is_not_kept_for_who_is_silent_in_its_handshake() {
    let settings = ServerSettings {
        tls: Some(self_made()),
        limits: ServerLimits {
            connections: ConnectionLimits {
                open: 1,
                handshake: PATIENCE,
                ..ConnectionLimits::default()
            },
            ..ServerLimits::default()
        },
        ..ServerSettings::default()
    };
    let listening = Listening::start("https://localhost:7380", settings).await;
    let mut silent = Vec::new();
    for _ in 0..17 {
        silent.push(listening.connect().await);
    }
    let at = Instant::now();
    for beyond in &mut silent[1..] {
        assert_eq!(read_to_end(beyond).await, "");
    }
    assert!(at.elapsed() < PATIENCE / 2, "{:?}", at.elapsed());
    drop(silent);
    listening.stop().await;
}

#[tokio::test]
async fn an_https_origin_is_served_with_a_self_made_certificate() {
    let tls = self_made();
    let certificate = tls.certificates[0].clone();
    let settings = ServerSettings {
        tls: Some(tls),
        ..ServerSettings::default()
    };
    let listening = Listening::start("https://localhost:7380", settings).await;
    let mut stream = encrypted(&listening, certificate, &[]).await;
    ask(&mut stream, "/operator", "localhost:7380").await;
    let page = read_until(&mut stream, "\r\n\r\n").await;
    assert!(page.contains("strict-transport-security"), "{page}");
    assert!(
        page.contains("set-cookie: __Host-selfsame-visitor-7380=") && page.contains("; Secure"),
        "{page}"
    );
    listening.stop().await;
}

#[tokio::test]
async fn who_says_nothing_where_tls_is_awaited_does_not_hold_up_the_stop() {
    let made = Tls::self_made("localhost").unwrap();
    let key = made.key_pem.expose().as_bytes();
    let settings = ServerSettings {
        tls: Some(Tls::from_pem(made.certificate_pem.as_bytes(), key).unwrap()),
        limits: ServerLimits {
            connections: ConnectionLimits {
                handshake: 2 * PATIENCE,
                stop: 2 * PATIENCE,
                ..ConnectionLimits::default()
            },
            ..ServerLimits::default()
        },
        ..ServerSettings::default()
    };
    let listening = Listening::start("https://localhost:7380", settings).await;
    let _silent = listening.connect().await;
    // A connection opened afterwards is accepted afterwards.
    let mut other = listening.connect().await;
    other.write_all(b"no TLS").await.unwrap();
    let mut alert = Vec::new();
    let _ended = other.read_to_end(&mut alert).await;
    listening.stop().await;
}

#[tokio::test]
async fn an_https_origin_without_a_certificate_is_served_plainly_to_a_proxy_on_this_machine() {
    let listening = Listening::start("https://public.example", ServerSettings::default()).await;
    let mut proxy = listening.connect().await;
    ask(&mut proxy, "/operator", "public.example").await;
    let page = read_until(&mut proxy, "\r\n\r\n").await;
    assert!(page.contains("strict-transport-security"), "{page}");
    assert!(page.contains("; Secure"), "{page}");
    let mut other = listening.connect().await;
    ask(&mut other, "/operator", "localhost").await;
    let refused = read_until(&mut other, "\r\n\r\n").await;
    assert!(refused.starts_with("HTTP/1.1 421"), "{refused}");
    listening.stop().await;
}

#[tokio::test]
async fn an_attacker_who_guesses_passwords_by_a_proxy_locks_no_other_client_out() {
    let listening = Listening::start("https://public.example", ServerSettings::default()).await;
    let guess = async |number: u32, address: &str| {
        let body = format!(r#"{{"email":"p{number}@example.org","password":"guessed it is"}}"#);
        let mut proxy = listening.connect().await;
        let head =
            "POST /api/wallet/sessions HTTP/1.1\r\nhost: public.example\r\nconnection: close";
        let about = format!(
            "content-type: application/json\r\ncontent-length: {}",
            body.len()
        );
        let request =
            format!("{head}\r\n{about}\r\nx-forwarded-for: 9.9.9.9, {address}\r\n\r\n{body}");
        proxy.write_all(request.as_bytes()).await.unwrap();
        let answer = read_until(&mut proxy, "\r\n\r\n").await;
        answer["HTTP/1.1 ".len()..][..3].to_owned()
    };
    for number in 0..50 {
        assert_eq!(guess(number, "203.0.113.1").await, "401");
    }
    assert_eq!(guess(50, "203.0.113.1").await, "429");
    assert_eq!(guess(51, "203.0.113.2").await, "401");
    listening.stop().await;
}
