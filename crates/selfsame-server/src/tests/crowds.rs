//! What many, or one who wants to be many, cannot do to others: sockets again.
#![expect(clippy::disallowed_methods, reason = "these tests are the client")]

use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use selfsame_app::config::ResolverConfig;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};

use super::instance::{HOST_NAME, Instance, ORIGIN, form, get, post};
use super::sockets::{Listening, ask, read_to_end, read_until};
use crate::settings::Budget;
use crate::{Limits, Settings};

/// What protocols read.
const METADATA: &str = "/.well-known/openid-credential-issuer/issuer";

/// A place for one, and nobody waits for it.
const ONE: Budget = Budget {
    running: 1,
    waiting: 0,
    patience: Duration::from_secs(1),
};

/// A request whose body does not come.
async fn begin(listening: &Listening, path: &str) -> TcpStream {
    let mut stream = listening.connect().await;
    let about = "content-type: application/json\r\ncontent-length: 5000";
    let head = format!("POST {path} HTTP/1.1\r\nhost: {HOST_NAME}\r\n{about}\r\n\r\n{{");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn bodies_that_do_not_come_take_nobodys_place_and_are_given_up() {
    let listening = Listening::plain(Limits {
        people: ONE,
        protocol: ONE,
        operator: ONE,
        body: Duration::from_secs(3),
        ..Limits::default()
    })
    .await;
    let mut slow = Vec::new();
    for path in [
        "/api/wallet/sessions",
        "/wallet/sign-in",
        "/operator/sign-in",
        "/api/issuer/offers",
        "/issuer/token",
        "/register",
    ] {
        for _ in 0..4 {
            slow.push(begin(&listening, path).await);
        }
    }
    // They have been read as far as they go.
    tokio::time::sleep(Duration::from_millis(300)).await;
    for path in ["/wallet/sign-in", "/operator", METADATA] {
        let mut other = listening.connect().await;
        ask(&mut other, path, HOST_NAME).await;
        let answer = read_until(&mut other, "\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
    for mut stream in slow {
        let refused = read_to_end(&mut stream).await;
        assert!(refused.starts_with("HTTP/1.1 408"), "{refused}");
        assert!(refused.contains("connection: close"), "{refused}");
    }
    listening.stop().await;
}

/// A host that takes connections and says nothing.
async fn silent() -> (TcpListener, ResolverConfig) {
    let host = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/", host.local_addr().unwrap());
    let resolver = ResolverConfig {
        universal: Some(address.parse().unwrap()),
        universal_methods: vec!["slow".to_owned()],
        ..ResolverConfig::default()
    };
    (host, resolver)
}

/// What of this is under way once there is nothing more to do for now.
async fn under_way(call: impl Future<Output = ()> + Send + 'static) -> tokio::task::JoinHandle<()> {
    let task = tokio::spawn(call);
    tokio::time::sleep(Duration::from_millis(50)).await;
    task
}

#[tokio::test]
async fn who_has_slow_dids_resolved_keeps_nobody_from_anything_else_and_few_from_that() {
    let (_host, resolver) = silent().await;
    let limits = Limits {
        public: ONE,
        lists: ONE,
        registry: ONE,
        abroad: Budget {
            running: 3,
            waiting: 8,
            patience: Duration::from_secs(9),
        },
        abroad_each: 2,
        ..Limits::default()
    };
    let instance = Arc::new(Instance::resolving_within(limits, resolver).await);
    let ask = |did: String, from: &'static str| {
        let instance = instance.clone();
        async move {
            let call = get(&format!("/1.0/identifiers/{did}")).from(from);
            instance.call(call).await
        }
    };
    let mut slow = Vec::new();
    for number in 0..6 {
        let answer = ask(format!("did:slow:{number}"), "203.0.113.1");
        slow.push(under_way(async move { drop(answer.await) }).await);
    }
    assert!(slow.iter().all(|asked| !asked.is_finished()));
    for path in ["/", "/status/0", "/registry/checkpoint", METADATA] {
        let answer = instance.call(get(path).from("203.0.113.1")).await;
        assert_eq!(answer.status.as_u16(), 200, "{path}: {}", answer.body);
    }
    let key = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK";
    let other = ask(key.to_owned(), "203.0.113.2").await;
    assert_eq!(other.status.as_u16(), 200, "{}", other.body);
    for asked in slow {
        asked.abort();
    }
}

#[tokio::test]
async fn who_looks_at_offers_of_silent_issuers_keeps_no_other_wallet_closed() {
    let (_host, resolver) = silent().await;
    let address = resolver.universal.clone().unwrap();
    let limits = Limits {
        people: ONE,
        abroad: Budget {
            running: 3,
            waiting: 8,
            patience: Duration::from_secs(9),
        },
        abroad_each: 2,
        ..Limits::default()
    };
    let instance = Arc::new(Instance::resolving_within(limits, resolver).await);
    let greedy = instance.person_cookie("greedy@example.org").await;
    let other = instance.person_cookie("other@example.org").await;
    let code = "urn:ietf:params:oauth:grant-type:pre-authorized_code";
    let offer = serde_json::json!({
        "credential_issuer": address,
        "credential_configuration_ids": ["x"],
        "grants": { code: { "pre-authorized_code": "y" } },
    });
    let query = form(&[("credential_offer", &offer.to_string())]);
    let offer = format!("openid-credential-offer://?{query}");
    let preview = |cookie: &str, offer: &str| {
        let body = serde_json::json!({ "offer": offer }).to_string();
        let token = crate::auth::form::token(cookie.split_once('=').unwrap().1);
        post("/api/wallet/offers/preview")
            .cookie(cookie)
            .header("x-form-token", &token)
            .json(&body)
    };
    let mut slow = Vec::new();
    for _ in 0..5 {
        let (instance, call) = (instance.clone(), preview(&greedy, &offer));
        let call = async move { panic!("answered: {}", instance.call(call).await.body) };
        slow.push(under_way(call).await);
    }
    assert!(slow.iter().all(|asked| !asked.is_finished()));
    for cookie in [&greedy, &other] {
        let page = instance.call(get("/wallet").cookie(cookie)).await;
        assert_eq!(page.status.as_u16(), 200, "{}", page.body);
    }
    let looked = instance.call(preview(&other, "no offer")).await;
    assert_eq!(looked.status.as_u16(), 400, "{}", looked.body);
    for asked in slow {
        asked.abort();
    }
}

#[tokio::test]
async fn who_watches_over_the_process_is_answered_however_busy_it_is() {
    let health = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = health.local_addr().unwrap();
    let settings = Settings {
        health: Some(health),
        ..Settings::default()
    };
    let listening = Listening::start(ORIGIN, settings).await;
    let mut first = listening.connect().await;
    ask(&mut first, "/livez", HOST_NAME).await;
    read_until(&mut first, "alive").await;
    // What comes to the main listener is accepted on this thread, which does nothing else until the answers are there.
    let answers = std::thread::spawn(move || {
        let ask = |path: &str, host: &str| {
            let mut stream = std::net::TcpStream::connect(at).unwrap();
            stream
                .set_read_timeout(Some(Duration::from_secs(20)))
                .unwrap();
            write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        };
        let host = at.to_string();
        let answers = ["/livez", "/readyz", "/metrics", "/"].map(|path| ask(path, &host));
        (answers, ask("/metrics", "rebound.example"))
    });
    let ([alive, ready, figures, other], rebound) = answers.join().unwrap();
    assert!(rebound.starts_with("HTTP/1.1 421"), "{rebound}");
    assert!(alive.ends_with("alive\n"), "{alive}");
    assert!(ready.ends_with("ready\n"), "{ready}");
    assert!(
        figures.contains("selfsame_store_commits_total"),
        "{figures}"
    );
    assert!(other.starts_with("HTTP/1.1 404"), "{other}");
    listening.stop().await;
}
