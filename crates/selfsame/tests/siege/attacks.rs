//! The attacks, each as an outsider would run it: with many connections, from several addresses.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use selfsame_crypto::encoding::base64url_encode;
use serde_json::{Value, json};
use url::Url;

use crate::foreign::{Asked, Key, ask, holder, now, unsigned};
use crate::host::Host;
use crate::http::{Reply, Request};
use crate::issuer::{Issuer, TYPE};
use crate::rig::{World, post};
use crate::url;

/// All attacks, by name.
pub const ATTACKS: [&str; 14] = [
    "heavy documents",
    "many documents",
    "long documents",
    "silent hosts",
    "slow bodies",
    "heavy answers",
    "guessed passwords",
    "new wallets",
    "idle connections",
    "one address",
    "full wallet",
    "lists of strangers",
    "slow holders",
    "slow proofs",
];

/// Number of heavy cards in the attacker's wallet.
const HEAVY: usize = 40;
/// Number of cards in it with their own status lists.
const LISTED: usize = 200;
/// Number of queries in the attacker's request, so that a preview examines each card for each query. They have as many
/// claims as a request may name.
const QUERIES: usize = 48;

/// What an attacker knows about the instance.
pub struct Target {
    origin: Url,
    host: u16,
    response_uri: Url,
    state: String,
    query: String,
    token: String,
    issuance: Value,
    /// A request for a W3C credential.
    w3c: Value,
}

impl Target {
    /// An attacker has seen the link of a request, as anyone at the counter has. The attacker also has a wallet, filled
    /// by the attacker's own issuer.
    pub fn of(world: &World, host: &Host, issuer: &Issuer) -> Self {
        let wallet = world.person("mallory");
        issuer.fill(&wallet, "heavy", HEAVY);
        issuer.fill(&wallet, "listed", LISTED);
        let asked = Asked::read(&ask(&world.operator));
        let offered = holder(world, &json!({ "format": "jwt_vc_json" }));
        let issuance = json!({
            "token": offered.token(), "nonce": offered.nonce(), "audience": offered.audience(),
            "configuration": offered.configuration(),
        });
        let w3c = json!({
            "type": "immunization", "client_id_prefix": "redirect_uri", "format": "jwt_vc_json",
        });
        let w3c = Asked::read(&post(&world.operator, "/api/verifier/requests", &w3c));
        let w3c = json!({
            "response_uri": w3c.response_uri.as_str(), "state": w3c.state, "query": w3c.query,
            "nonce": w3c.nonce, "client_id": w3c.client_id,
        });
        Self {
            origin: world.operator.origin.clone(),
            host: host.port(),
            response_uri: asked.response_uri,
            state: asked.state,
            query: asked.query,
            token: wallet.token().to_owned(),
            issuance,
            w3c,
        }
    }

    pub fn tell(&self) -> Value {
        json!({
            "origin": self.origin.as_str(), "host": self.host,
            "response_uri": self.response_uri.as_str(), "state": self.state, "query": self.query,
            "token": self.token, "issuance": self.issuance, "w3c": self.w3c,
        })
    }

    pub fn told(told: &Value) -> Self {
        let target = &told["target"];
        let text = |name: &str| target[name].as_str().unwrap().to_owned();
        Self {
            origin: Url::parse(&text("origin")).unwrap(),
            host: target["host"].as_u64().unwrap().try_into().unwrap(),
            response_uri: Url::parse(&text("response_uri")).unwrap(),
            state: text("state"),
            query: text("query"),
            token: text("token"),
            issuance: target["issuance"].clone(),
            w3c: target["w3c"].clone(),
        }
    }
}

/// Runs an attack until then.
pub fn run(name: &str, target: &Target, until: Instant) {
    match name {
        "heavy documents" => documents(target, "m", until),
        "many documents" => documents(target, "f", until),
        "long documents" => documents(target, "x", until),
        "silent hosts" => silent_hosts(target, until),
        "slow bodies" => slow_bodies(target, until),
        "heavy answers" => heavy_answers(target, until),
        "guessed passwords" => guesses(target, until),
        "new wallets" => wallets(target, until),
        "idle connections" => idle(target, until),
        "one address" => one_address(target, until),
        "full wallet" => full_wallet(target, until),
        "lists of strangers" => lists(target, until),
        "slow holders" => slow_holders(target, until),
        "slow proofs" => slow_proofs(target, until),
        other => panic!("no attack is called {other}"),
    }
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

fn next() -> u64 {
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

/// One of this many addresses.
fn address(of: u64) -> String {
    format!("203.0.113.{}", next() % of)
}

/// Repeats an action on this many threads.
fn crowd(threads: usize, until: Instant, act: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while Instant::now() < until {
                    act();
                }
            });
        }
    });
}

/// A DID whose host accepts the connection and never answers.
fn silent(target: &Target) -> String {
    format!("did:web:localhost%3A{}:silent{}", target.host, next())
}

fn documents(target: &Target, kind: &str, until: Instant) {
    crowd(16, until, || {
        let name = format!("did:web:localhost%3A{}:{kind}{}", target.host, next());
        let asked = url(
            &target.origin,
            &format!("1.0/identifiers/{}", encoded(&name)),
        );
        let _ = Request::new("GET", &asked)
            .header("X-Forwarded-For", &address(8))
            .send();
    });
}

fn encoded(name: &str) -> String {
    name.replace('%', "%25")
}

fn silent_hosts(target: &Target, until: Instant) {
    let connect = || {
        let path = format!("/1.0/identifiers/{}", encoded(&silent(target)));
        opened(target, &format!("GET {path} HTTP/1.1"), "")
    };
    hold(450, until, connect);
}

fn slow_bodies(target: &Target, until: Instant) {
    let connect = || {
        let paths = ["/issuer/token", "/api/wallet/sessions", "/operator/sign-in"];
        let path = paths[usize::try_from(next()).unwrap() % paths.len()];
        let head = format!("POST {path} HTTP/1.1");
        opened(
            target,
            &head,
            "Content-Type: application/json\r\nContent-Length: 5000\r\n",
        )
    };
    hold(600, until, connect);
}

fn idle(target: &Target, until: Instant) {
    let port = target.origin.port().unwrap();
    hold(1_500, until, || {
        TcpStream::connect(("127.0.0.1", port)).ok()
    });
}

/// More connections than an instance has, from one address that is not this machine's own.
fn one_address(target: &Target, until: Instant) {
    let Some(address) = outer_address() else {
        println!("this machine has no address beside loopback: nothing is attacked");
        return;
    };
    let port = target.origin.port().unwrap();
    hold(4_500, until, || {
        let mut stream = TcpStream::connect((address, port)).ok()?;
        stream.write_all(b"GET /livez HTTP/1.1\r\n").ok()?;
        Some(stream)
    });
}

/// This machine's address towards others. Nothing is sent.
pub fn outer_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback() && !address.is_unspecified()).then_some(address)
}

/// Previews, six at a time, a request that asks much of a full wallet.
fn full_wallet(target: &Target, until: Instant) {
    let names: Vec<String> = (0..20).map(|number| format!("c{number}")).collect();
    let claims: Vec<Value> = names.iter().map(|name| json!({ "path": [name] })).collect();
    let query = |number: usize| {
        let meta = json!({ "vct_values": [TYPE] });
        json!({ "id": format!("q{number}"), "format": "dc+sd-jwt", "meta": meta, "claims": claims })
    };
    let queries: Vec<Value> = (0..QUERIES).map(query).collect();
    let response = format!("http://localhost:{}/response", target.host);
    let link = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("client_id", &format!("redirect_uri:{response}"))
        .append_pair("response_type", "vp_token")
        .append_pair("response_mode", "direct_post")
        .append_pair("response_uri", &response)
        .append_pair("nonce", "n-0S6_WzA2Mj")
        .append_pair("dcql_query", &json!({ "credentials": queries }).to_string())
        .finish();
    let asked = json!({ "request": format!("openid4vp://?{link}") });
    let path = url(&target.origin, "api/wallet/requests/preview");
    let preview = || {
        let request = Request::new("POST", &path).header("X-Forwarded-For", "203.0.113.9");
        request.bearer(&target.token).json(&asked).send()
    };
    succeeds(preview());
    crowd(6, until, || {
        let _ = preview();
    });
}

/// The attack's requests must succeed: otherwise nothing is attacked.
fn succeeds(reply: std::io::Result<Reply>) -> Value {
    let reply = reply.unwrap();
    let said = String::from_utf8_lossy(&reply.body);
    assert!(reply.is_success(), "{}: {said}", reply.status);
    reply.json()
}

/// Views cards whose status lists are an outsider's, with two million members each.
fn lists(target: &Target, until: Instant) {
    let all = url(&target.origin, "api/wallet/credentials?limit=200");
    let asked = |url: &Url| {
        let request = Request::new("GET", url).header("X-Forwarded-For", "203.0.113.9");
        request.bearer(&target.token).send()
    };
    let cards = succeeds(asked(&all));
    let ids: Vec<&str> = cards["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|card| card["id"].as_str().unwrap())
        .collect();
    let look = || {
        let id = ids[usize::try_from(next()).unwrap() % ids.len()];
        let card = format!("api/wallet/credentials/{id}");
        asked(&url(&target.origin, &card))
    };
    succeeds(look());
    crowd(8, until, || {
        let _ = look();
    });
}

/// A connection on which a request has begun.
fn opened(target: &Target, first: &str, more: &str) -> Option<TcpStream> {
    let port = target.origin.port().unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let head = format!(
        "{first}\r\nHost: localhost:{port}\r\nX-Forwarded-For: {}\r\n{more}\r\n",
        address(32)
    );
    stream.write_all(head.as_bytes()).ok()?;
    Some(stream)
}

/// Keeps this many connections open, and replaces those that end.
fn hold(count: usize, until: Instant, connect: impl Fn() -> Option<TcpStream>) {
    let mut held: Vec<TcpStream> = Vec::new();
    while Instant::now() < until {
        held.retain_mut(is_open);
        while held.len() < count && Instant::now() < until {
            match connect() {
                Some(stream) => held.push(stream),
                None => break,
            }
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn is_open(stream: &mut TcpStream) -> bool {
    let _ = stream.set_nonblocking(true);
    let read = stream.read(&mut [0; 1024]);
    match read {
        Ok(count) => count > 0,
        Err(error) => error.kind() == std::io::ErrorKind::WouldBlock,
    }
}

/// Answers of a megabyte with disclosures full of small objects, by an issuer on a host that never answers.
fn heavy_answers(target: &Target, until: Instant) {
    let small = vec![json!({ "a": 0 }); 4_900];
    let disclosure = |number: usize| {
        let content = json!(["salt", number.to_string(), small]);
        base64url_encode(content.to_string().as_bytes())
    };
    let disclosures: Vec<String> = (0..12).map(disclosure).collect();
    let part = |value: &Value| base64url_encode(value.to_string().as_bytes());
    let header = json!({ "alg": "ES256", "typ": "dc+sd-jwt" });
    crowd(16, until, || {
        let issuer = format!("https://localhost:{}/silent{}", target.host, next());
        let payload = json!({ "iss": issuer, "vct": "urn:example" });
        let jwt = format!(
            "{}.{}.{}",
            part(&header),
            part(&payload),
            base64url_encode(&[0; 64])
        );
        let presentation = format!("{jwt}~{}~", disclosures.join("~"));
        let token = json!({ &target.query: [presentation] }).to_string();
        let form = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("vp_token", &token)
            .append_pair("state", &target.state)
            .finish();
        let _ = Request::new("POST", &target.response_uri)
            .header("X-Forwarded-For", &address(8))
            .body("application/x-www-form-urlencoded", form)
            .send();
    });
}

/// Answers about a holder whose DID is on a host that never answers, in an unsigned credential.
fn slow_holders(target: &Target, until: Instant) {
    let text = |name: &str| target.w3c[name].as_str().unwrap();
    let path = Url::parse(text("response_uri")).unwrap();
    crowd(64, until, || {
        let (holder, key) = (silent(target), Key::new());
        let header = json!({ "alg": key.alg(), "typ": "JWT", "kid": key.kid() });
        let credential = json!({
            "iss": key.did(), "sub": holder, "nbf": now(),
            "vc": {
                "@context": ["https://www.w3.org/2018/credentials/v1"],
                "type": ["VerifiableCredential"], "credentialSubject": { "id": holder },
            },
        });
        let credential = unsigned(&header, &credential);
        let proof = json!({ "alg": key.alg(), "typ": "JWT", "kid": format!("{holder}#0") });
        let presentation = json!({
            "iss": holder, "aud": text("client_id"), "nonce": text("nonce"),
            "vp": {
                "@context": ["https://www.w3.org/2018/credentials/v1"],
                "type": ["VerifiablePresentation"], "verifiableCredential": [credential],
            },
        });
        let token = json!({ text("query"): [unsigned(&proof, &presentation)] }).to_string();
        let form = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("vp_token", &token)
            .append_pair("state", text("state"))
            .finish();
        let _ = Request::new("POST", &path)
            .header("X-Forwarded-For", &address(4))
            .body("application/x-www-form-urlencoded", form)
            .send();
    });
}

/// Proofs by keys of DIDs whose hosts never answer, all with one access token.
fn slow_proofs(target: &Target, until: Instant) {
    let text = |name: &str| target.issuance[name].as_str().unwrap();
    let path = url(&target.origin, "issuer/credential");
    let key = Key::new();
    crowd(300, until, || {
        let header = json!({
            "typ": "openid4vci-proof+jwt", "alg": key.alg(), "kid": format!("{}#0", silent(target)),
        });
        let claims = json!({ "aud": text("audience"), "iat": now(), "nonce": text("nonce") });
        let asked = json!({
            "credential_configuration_id": text("configuration"),
            "proofs": { "jwt": [key.sign(&header, &claims)] },
        });
        let _ = Request::new("POST", &path)
            .header("X-Forwarded-For", &address(250))
            .bearer(text("token"))
            .json(&asked)
            .send();
    });
}

/// Wrong passwords for an account whose address is known.
fn guesses(target: &Target, until: Instant) {
    let path = url(&target.origin, "api/wallet/sessions");
    crowd(8, until, || {
        let guess =
            json!({ "email": "honest@example.org", "password": format!("guess {}", next()) });
        let _ = Request::new("POST", &path)
            .header("X-Forwarded-For", &address(250))
            .json(&guess)
            .send();
    });
}

fn wallets(target: &Target, until: Instant) {
    let path = url(&target.origin, "api/wallet/register");
    crowd(8, until, || {
        let account = json!({
            "email": format!("wallet{}@example.org", next()), "password": "a long enough password",
        });
        let _ = Request::new("POST", &path)
            .header("X-Forwarded-For", "203.0.113.1")
            .json(&account)
            .send();
    });
}
