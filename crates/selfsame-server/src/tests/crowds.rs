//! What many clients, or one client that poses as many, cannot do to others; over sockets.
#![expect(clippy::disallowed_methods, reason = "these tests are the client")]

use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use selfsame_core::config::ResolverConfig;
use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::jws;
use selfsame_crypto::{KeyType, PrivateKey};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::instance::{Call, HOST_NAME, Instance, ORIGIN, form, get, post};
use super::sockets::{Listening, PATIENCE, ask, encrypted, read_to_end, read_until, self_made};
use crate::{Budget, ConnectionLimits, ServerLimits, ServerSettings};

/// An address of a protocol.
const METADATA: &str = "/.well-known/openid-credential-issuer/issuer";

/// Room for one request, and no queue.
const ONE: Budget = Budget {
    running: 1,
    waiting: 0,
    patience: Duration::from_secs(1),
};

/// Sends a request whose body does not arrive.
async fn begin(listening: &Listening, path: &str) -> TcpStream {
    let mut stream = listening.connect().await;
    let about = "content-type: application/json\r\ncontent-length: 5000";
    let head = format!("POST {path} HTTP/1.1\r\nhost: {HOST_NAME}\r\n{about}\r\n\r\n{{");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn bodies_that_do_not_come_take_no_place_and_are_given_up() {
    let listening = Listening::plain(ServerLimits {
        people: ONE,
        protocol: ONE,
        operator: ONE,
        connections: ConnectionLimits {
            body: Duration::from_secs(3),
            ..ConnectionLimits::default()
        },
        ..ServerLimits::default()
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
    // By now the server has read as much of them as was sent.
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

/// A host that accepts connections and sends nothing.
async fn silent() -> (TcpListener, ResolverConfig) {
    let host = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://localhost:{}/", host.local_addr().unwrap().port());
    let resolver = ResolverConfig {
        universal: Some(address.parse().unwrap()),
        universal_methods: vec!["slow".to_owned()],
        ..ResolverConfig::default()
    };
    (host, resolver)
}

/// Starts a call and waits until it can go no further for now.
async fn under_way(call: impl Future<Output = ()> + Send + 'static) -> tokio::task::JoinHandle<()> {
    let task = tokio::spawn(call);
    tokio::time::sleep(Duration::from_millis(50)).await;
    task
}

#[tokio::test]
async fn slow_resolutions_delay_no_other_work_and_few_other_resolutions() {
    let (_host, resolver) = silent().await;
    let limits = ServerLimits {
        public: ONE,
        lists: ONE,
        registry: ONE,
        abroad: Budget {
            running: 3,
            waiting: 8,
            patience: Duration::from_secs(9),
        },
        abroad_each: 2,
        ..ServerLimits::default()
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
    let limits = ServerLimits {
        people: ONE,
        abroad: Budget {
            running: 3,
            waiting: 8,
            patience: Duration::from_secs(9),
        },
        abroad_each: 2,
        ..ServerLimits::default()
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
        let token = selfsame_http::form::token(cookie.split_once('=').unwrap().1);
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

/// The answer's body as JSON.
async fn told(instance: &Instance, call: Call) -> Value {
    let answer = instance.call(call).await;
    assert!(answer.status.is_success(), "{}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

/// An answer to a request of the operator's, by a trusted issuer whose DID does not resolve.
async fn answer_of_a_silent_issuer(instance: &Instance) -> (String, String) {
    let query = json!({"credentials": [
        {"id": "x", "format": "dc+sd-jwt", "meta": {"vct_values": ["urn:x"]}},
    ]});
    let asked = json!({ "dcql_query": query }).to_string();
    let create = post("/api/verifier/requests").bearer(&instance.token);
    let request = told(instance, create.json(&asked)).await;
    let id = request["id"].as_str().unwrap();
    let object = instance
        .call(get(&format!("/verifier/requests/{id}")))
        .await;
    let payload = base64url_decode(object.body.split('.').nth(1).unwrap()).unwrap();
    let object: Value = serde_json::from_slice(&payload).unwrap();
    let part = |value: Value| base64url_encode(value.to_string().as_bytes());
    let header = json!({"alg": "ES256", "typ": "dc+sd-jwt", "kid": "did:slow:issuer#key"});
    let payload = json!({"iss": "did:slow:issuer", "vct": "urn:x"});
    let signature = base64url_encode(&[1; 64]);
    let shown = format!("{}.{}.{signature}~", part(header), part(payload));
    let token = json!({ "x": [shown] }).to_string();
    let state = object["state"].as_str().unwrap();
    let body = form(&[("vp_token", &token), ("state", state)]);
    (format!("/verifier/responses/{id}"), body)
}

#[tokio::test]
async fn answers_that_wait_for_a_silent_host_delay_no_other_answer() {
    let (_host, resolver) = silent().await;
    let limits = ServerLimits {
        answers: Budget {
            running: 3,
            waiting: 8,
            patience: Duration::from_secs(9),
        },
        answers_each: 2,
        ..ServerLimits::default()
    };
    let instance =
        Arc::new(Instance::trusting_within(limits, resolver, &["did:slow:issuer"]).await);
    let (path, body) = answer_of_a_silent_issuer(&instance).await;
    let mut slow = Vec::new();
    for _ in 0..6 {
        let call = post(&path).form(body.clone()).from("203.0.113.1");
        let instance = instance.clone();
        let call = async move { panic!("answered: {}", instance.call(call).await.body) };
        slow.push(under_way(call).await);
    }
    assert!(slow.iter().all(|asked| !asked.is_finished()));
    let other = post(&path).form("state=x".to_owned()).from("203.0.113.2");
    let other = tokio::time::timeout(Duration::from_secs(60), instance.call(other));
    let other = other.await.expect("another network's answer is judged");
    assert_eq!(other.status.as_u16(), 400, "{}", other.body);
    // It did not wait until one of them was given up.
    assert!(slow.iter().all(|asked| !asked.is_finished()));
    for asked in slow {
        asked.abort();
    }
}

/// A request for the credential of one offer, with a proof whose key is named by this DID.
async fn asking_with(instance: &Instance, did: &str) -> impl Fn() -> Call {
    let new = json!({"type": "immunization", "format": "jwt_vc_json", "examples": true});
    let create = post("/api/issuer/offers").bearer(&instance.token);
    let offer = told(instance, create.json(&new.to_string())).await;
    let link = url::Url::parse(offer["uri"].as_str().unwrap()).unwrap();
    let offer = link.query_pairs().next().unwrap().1.into_owned();
    let offer: Value = serde_json::from_str(&offer).unwrap();
    let grant = "urn:ietf:params:oauth:grant-type:pre-authorized_code";
    let code = offer["grants"][grant]["pre-authorized_code"]
        .as_str()
        .unwrap();
    let redeem = form(&[("grant_type", grant), ("pre-authorized_code", code)]);
    let token = told(instance, post("/issuer/token").form(redeem)).await;
    let token = token["access_token"].as_str().unwrap().to_owned();
    let nonce = told(instance, post("/issuer/nonce")).await;
    let key = PrivateKey::generate(KeyType::P256).unwrap();
    let proof = jws::Unsigned::new(
        &json!({"typ": "openid4vci-proof+jwt", "alg": "ES256", "kid": format!("{did}#key")}),
        &json!({
            "aud": offer["credential_issuer"], "nonce": nonce["c_nonce"],
            "iat": instance.app.clock().now().0,
        }),
    );
    let signature = key.sign(proof.signing_input()).unwrap();
    let body = json!({
        "credential_configuration_id": offer["credential_configuration_ids"][0],
        "proofs": {"jwt": [proof.finish(&signature)]},
    });
    let body = body.to_string();
    move || post("/issuer/credential").bearer(&token).json(&body)
}

#[tokio::test]
async fn proofs_by_dids_of_silent_hosts_keep_no_other_wallet_waiting() {
    let (host, resolver) = silent().await;
    let limits = ServerLimits {
        protocol: ONE,
        abroad: Budget {
            running: 4,
            waiting: 8,
            patience: Duration::from_secs(9),
        },
        abroad_each: 2,
        ..ServerLimits::default()
    };
    let instance = Arc::new(Instance::resolving_within(limits, resolver).await);
    let did = format!("did:web:localhost%3A{}", host.local_addr().unwrap().port());
    let ask = asking_with(&instance, &did).await;
    let mut slow = Vec::new();
    // One token, from many networks.
    for from in ["203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4"] {
        for _ in 0..2 {
            let (instance, call) = (instance.clone(), ask().from(from));
            let call = async move { panic!("answered: {}", instance.call(call).await.body) };
            slow.push(under_way(call).await);
        }
    }
    assert!(slow.iter().all(|asked| !asked.is_finished()));
    let nonce = instance.call(post("/issuer/nonce")).await;
    assert_eq!(nonce.status.as_u16(), 200, "{}", nonce.body);
    // Nor do they take all places of the budget.
    let other = asking_with(&instance, "did:web:localhost%3A1").await;
    let other = tokio::time::timeout(
        Duration::from_secs(60),
        instance.call(other().from("203.0.113.2")),
    );
    let other = other.await.expect("another wallet's proof is judged");
    assert_eq!(other.status.as_u16(), 400, "{}", other.body);
    // It did not wait until one of them was given up.
    assert!(slow.iter().all(|asked| !asked.is_finished()));
    for asked in slow {
        asked.abort();
    }
}

#[tokio::test]
async fn who_watches_over_the_process_is_answered_however_busy_it_is() {
    let health = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = health.local_addr().unwrap();
    let settings = ServerSettings {
        health: Some(health),
        ..ServerSettings::default()
    };
    let listening = Listening::start(ORIGIN, settings).await;
    let mut first = listening.connect().await;
    ask(&mut first, "/livez", HOST_NAME).await;
    read_until(&mut first, "alive").await;
    // This thread accepts the main listener's connections, and does nothing else until the answers have arrived.
    let answers = std::thread::spawn(move || {
        let ask = |path: &str, host: &str| {
            let mut stream = std::net::TcpStream::connect(at).unwrap();
            stream
                .set_read_timeout(Some(Duration::from_secs(60)))
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

/// Sends a request as a proxy on this machine would, for a client at `address`.
async fn ask_for(listening: &Listening, address: &str, path: &str) -> (TcpStream, String) {
    let mut stream = listening.connect().await;
    let head = format!("GET {path} HTTP/1.1\r\nhost: public.example");
    let request = format!("{head}\r\nx-forwarded-for: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let head = read_until(&mut stream, "\r\n\r\n").await;
    (stream, head["HTTP/1.1 ".len()..][..3].to_owned())
}

#[tokio::test]
async fn one_address_has_its_share_of_streams_and_of_requests_under_way_and_others_have_theirs() {
    let settings = ServerSettings {
        limits: ServerLimits {
            streams_each: 2,
            connections: ConnectionLimits {
                each: 3,
                ..ConnectionLimits::default()
            },
            ..ServerLimits::default()
        },
        ..ServerSettings::default()
    };
    let listening = Listening::start("https://public.example", settings).await;
    let follow = async |address: &str| ask_for(&listening, address, "/events").await;
    let (one, other) = ("203.0.113.1", "2001:db8:1:2::1");
    let (_first, status) = follow(one).await;
    assert_eq!(status, "200");
    let (second, status) = follow(one).await;
    assert_eq!(status, "200");
    assert_eq!(follow(one).await.1, "429");
    let (_third, status) = follow(other).await;
    assert_eq!(status, "200");
    drop(second);

    // A /64 counts as one client.
    let (_fourth, status) = follow("2001:db8:1:2::9").await;
    assert_eq!(status, "200");
    assert_eq!(follow("2001:db8:1:2:3::").await.1, "429");
    assert_eq!(follow("2001:db8:1:3::1").await.1, "200");
    listening.stop().await;
}

#[tokio::test]
async fn requests_under_way_of_one_address_by_a_proxy_are_bounded() {
    let settings = ServerSettings {
        limits: ServerLimits {
            connections: ConnectionLimits {
                each: 2,
                ..ConnectionLimits::default()
            },
            ..ServerLimits::default()
        },
        ..ServerSettings::default()
    };
    let listening = Listening::start("https://public.example", settings).await;
    let ask = async |address: &str, path: &str| ask_for(&listening, address, path).await;
    let _under_way = [
        ask("203.0.113.1", "/events").await,
        ask("203.0.113.1", "/events").await,
    ];
    assert_eq!(ask("203.0.113.1", "/operator").await.1, "503");
    assert_eq!(ask("203.0.113.2", "/operator").await.1, "200");
    listening.stop().await;
}

#[tokio::test]
async fn the_wallets_that_one_address_makes_in_an_hour_are_limited() {
    let instance = Instance::with(ServerLimits {
        registrations_each: 2,
        ..ServerLimits::default()
    })
    .await;
    let register = async |number: u32, from: &str| {
        let body = format!(r#"{{"email":"p{number}@example.org","password":"not to be guessed"}}"#);
        let call = post("/api/wallet/register").from(from).json(&body);
        instance.call(call).await
    };
    for number in 0..2 {
        let made = register(number, "203.0.113.1").await;
        assert_eq!(made.status.as_u16(), 201, "{}", made.body);
    }
    let refused = register(2, "203.0.113.1").await;
    assert_eq!(refused.status.as_u16(), 429, "{}", refused.body);
    assert!(refused.header("retry-after").parse::<u64>().unwrap() > 3000);
    assert_eq!(register(2, "203.0.113.2").await.status.as_u16(), 201);
}

#[tokio::test]
async fn who_takes_no_answer_over_http2_is_not_waited_for() {
    let settings = ServerSettings {
        tls: Some(self_made()),
        limits: ServerLimits {
            connections: ConnectionLimits {
                idle: Duration::from_secs(2),
                handshake: PATIENCE,
                ..ConnectionLimits::default()
            },
            ..ServerLimits::default()
        },
        ..ServerSettings::default()
    };
    let certificate = settings.tls.as_ref().unwrap().certificates[0].clone();
    let listening = Listening::start("https://localhost:7380", settings).await;
    let mut stream = encrypted(&listening, certificate, &[b"h2"]).await;
    // RFC 9113: the preface, SETTINGS_INITIAL_WINDOW_SIZE = 0, and a GET of a page on stream 1.
    let mut sent = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    sent.extend([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0]);
    let mut fields = vec![0x82, 0x87, 0x44, 9];
    fields.extend(b"/operator");
    fields.extend([0x41, 14]);
    fields.extend(b"localhost:7380");
    sent.extend([0, 0, u8::try_from(fields.len()).unwrap(), 1, 5, 0, 0, 0, 1]);
    sent.extend(fields);
    stream.write_all(&sent).await.unwrap();
    let began = Instant::now();
    let mut answer = Vec::new();
    let _closed = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
    assert!(began.elapsed() < PATIENCE / 4, "{:?}", began.elapsed());
    // HEADERS have arrived on stream 1, and no DATA.
    let has = |kind: u8| {
        answer
            .windows(5)
            .any(|at| at[0] == kind && at[2..] == [0, 0, 1])
    };
    assert!(
        answer.windows(6).any(|at| at == [1, 4, 0, 0, 0, 1]),
        "{answer:?}"
    );
    assert!(!has(0), "{answer:?}");
    listening.stop().await;
}

#[tokio::test]
async fn a_browser_that_has_signed_in_before_is_not_slowed_down_by_who_guesses() {
    let instance = Instance::start().await;
    let (right, wrong) = ("not to be guessed", "guessed it is");
    let door = async |path: &str, password: &str, cookies: &str| {
        let page = instance.call(get("/wallet/sign-in")).await;
        let visitor = page.cookie("selfsame-visitor-7380");
        let form = form(&[
            ("form_token", &page.form_token()),
            ("email", "maja@example.org"),
            ("password", password),
        ]);
        let call = post(path).cookie(&format!("{visitor}; {cookies}"));
        instance.call(call.from("203.0.113.1").form(form)).await
    };
    let made = door("/wallet/register", right, "a=b").await;
    assert_eq!(made.status.as_u16(), 303, "{}", made.body);
    let known = made.cookie("selfsame-known-7380");
    for _ in 0..10 {
        let refused = door("/wallet/sign-in", wrong, "a=b").await;
        assert_eq!(refused.status.as_u16(), 401);
    }
    let slowed = door("/wallet/sign-in", right, "a=b").await;
    assert_eq!(slowed.status.as_u16(), 429);
    assert!(slowed.header("retry-after").parse::<u64>().unwrap() <= 2);
    let signed_in = door("/wallet/sign-in", right, &known).await;
    assert_eq!(signed_in.status.as_u16(), 303, "{}", signed_in.body);
    // The device stays known, with a new cookie.
    assert_ne!(signed_in.cookie("selfsame-known-7380"), known);
}
