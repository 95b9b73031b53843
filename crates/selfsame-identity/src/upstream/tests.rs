//! A sign-in by another provider, which is right, wrong or away.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::{Algorithm, KeyType, PrivateKey};
use selfsame_net::Settings;
use selfsame_sign_in::identity::Challenge;
use selfsame_store::{Memory, Vault};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// A provider whose answers the test sets, by path.
struct Provider {
    issuer: Url,
    key: PrivateKey,
    answers: Arc<Mutex<HashMap<String, GivenAnswer>>>,
}

/// An answer with its media type.
#[derive(Clone)]
struct GivenAnswer {
    media_type: &'static str,
    body: String,
}

impl Provider {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer: Url = format!("http://{}/", listener.local_addr().unwrap())
            .parse()
            .unwrap();
        let answers = Arc::<Mutex<HashMap<String, GivenAnswer>>>::default();
        let given = answers.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(answer(stream, given.clone()));
            }
        });
        let provider = Self {
            issuer,
            key: PrivateKey::generate(KeyType::P256).unwrap(),
            answers,
        };
        let at = |path: &str| provider.issuer.join(path).unwrap();
        let metadata = json!({
            "issuer": provider.issuer,
            "authorization_endpoint": at("authorize"),
            "token_endpoint": at("token"),
            "userinfo_endpoint": at("userinfo"),
            "jwks_uri": at("jwks")
        });
        let jwk = provider.key.public().to_jwk().with_kid("k1").to_value();
        provider.set("/.well-known/openid-configuration", metadata);
        provider.set(
            "/jwks",
            json!({"keys": [{"kty": "another", "x": "AA"}, jwk]}),
        );
        provider
    }

    fn set(&self, path: &str, body: Value) {
        let (media_type, body) = ("application/json", body.to_string());
        let mut answers = self.answers.lock().unwrap();
        answers.insert(path.to_owned(), GivenAnswer { media_type, body });
    }

    fn set_id_token(&self, key: &PrivateKey, claims: Value) {
        self.set("/token", json!({"id_token": signed(key, &claims)}));
    }

    /// Answers a code with this ID token and an access token, and calls with the latter with this userinfo.
    fn set_userinfo(&self, id_token: Value, media_type: &'static str, body: String) {
        let id_token = signed(&self.key, &id_token);
        let tokens = json!({"id_token": id_token, "access_token": "a", "token_type": "Bearer"});
        self.set("/token", tokens);
        let mut answers = self.answers.lock().unwrap();
        answers.insert("/userinfo".to_owned(), GivenAnswer { media_type, body });
    }
}

fn signed(key: &PrivateKey, claims: &Value) -> String {
    let header = json!({"alg": "ES256", "kid": "k1"});
    let unsigned = Unsigned::new(&header, claims);
    let signature = key.sign(unsigned.signing_input()).unwrap();
    unsigned.finish(&signature)
}

async fn answer(mut stream: TcpStream, answers: Arc<Mutex<HashMap<String, GivenAnswer>>>) {
    let mut request = Vec::new();
    let text = loop {
        if stream.read_buf(&mut request).await.unwrap() == 0 {
            return;
        }
        let text = String::from_utf8_lossy(&request).into_owned();
        let is_whole = text.starts_with("GET ") && text.ends_with("\r\n\r\n");
        if is_whole || text.contains("&client_secret=secret") {
            break text;
        }
    };
    let path = text.split(' ').nth(1).unwrap().to_owned();
    let body = answers.lock().unwrap().get(&path).cloned();
    let (status, media_type, body) = match body {
        Some(GivenAnswer { media_type, body }) => ("200 OK", media_type, body),
        None => ("400 Bad Request", "text/plain", String::new()),
    };
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    let _ = stream.write_all(answer.as_bytes()).await;
}

struct World {
    provider: Provider,
    upstream: Upstream,
    clock: Clock,
}

/// What the provider was asked for.
struct Asked {
    state: String,
    nonce: String,
}

impl World {
    async fn new() -> Self {
        Self::with(None).await
    }

    /// A world where this algorithm is registered for userinfo.
    async fn with(userinfo_alg: Option<Algorithm>) -> Self {
        let provider = Provider::new().await;
        let clock = Clock::default();
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let now = clock.clone();
        let store =
            Store::open_with_clock(Arc::new(Memory::new()), vault, Arc::new(move || now.now()));
        let settings = Settings {
            own_origins: vec![provider.issuer.origin()],
            native_roots: false,
            ..Settings::default()
        };
        let config = UpstreamConfig {
            issuer: provider.issuer.clone(),
            client_id: "us".to_owned(),
            client_secret: "secret".into(),
            redirect_uri: "https://host.example/upstream".parse().unwrap(),
            scope: "openid email".to_owned(),
            userinfo_alg,
        };
        let net = Net::new(settings).unwrap();
        let upstream = Upstream::new(config, net, store.await.unwrap(), clock.clone());
        Self {
            provider,
            upstream,
            clock,
        }
    }

    async fn begin(&self) -> Asked {
        let url = self.upstream.begin("0123456789", &page()).await.unwrap();
        let asked: HashMap<String, String> = url.query_pairs().into_owned().collect();
        assert_eq!(
            (&*asked["client_id"], &*asked["code_challenge_method"]),
            ("us", "S256")
        );
        Asked {
            state: asked["state"].clone(),
            nonce: asked["nonce"].clone(),
        }
    }

    fn claims(&self, asked: &Asked) -> Value {
        let now = self.clock.now().0;
        json!({
            "iss": self.provider.issuer, "aud": "us", "sub": "maja", "nonce": asked.nonce,
            "iat": now, "exp": now + 300, "email": "maja@example.org"
        })
    }

    async fn come_back(&self, query: &str) -> UpstreamAnswer<ProvenPerson> {
        let attempt = SignInAttempt {
            identifier: "".into(),
            challenges: vec![Challenge {
                factor: FactorKind::Upstream,
                format: None,
                value: query.into(),
            }],
        };
        self.upstream.authenticate(&asking(), &attempt).await
    }
}

/// The page of the sign-in.
fn page() -> Url {
    "https://host.example/sign-in/1/upstream".parse().unwrap()
}

fn asking() -> AskingClient {
    AskingClient {
        tenant: TenantId::instance(),
        client_id: "client".to_owned(),
        relying_party: "party".to_owned(),
        transaction: "0123456789".to_owned(),
        from: None,
    }
}

#[tokio::test]
async fn a_person_who_comes_back_is_known_by_the_provider_and_their_claims_are_given_once() {
    let world = World::new().await;
    let mut handles = Vec::new();
    for _ in 0..2 {
        let asked = world.begin().await;
        world
            .provider
            .set_id_token(&world.provider.key, world.claims(&asked));
        let query = format!("code=c&state={}&iss={}", asked.state, world.provider.issuer);
        let proven = world.come_back(&query).await.unwrap();
        assert!(world.come_back(&query).await.is_err());
        let order = ClaimsOrder {
            handle: proven.handle.clone(),
            subject: "subject".to_owned(),
            token: proven.token,
            claims: vec!["email".to_owned(), "name".to_owned()],
            locales: Vec::new(),
        };
        let PersonClaims::Plain(claims) = world.upstream.exchange(&asking(), &order).await.unwrap()
        else {
            panic!("signed");
        };
        assert_eq!(Value::Object(claims), json!({"email": "maja@example.org"}));
        assert!(world.upstream.exchange(&asking(), &order).await.is_err());
        handles.push(proven.handle);
    }
    assert_eq!(handles[0], handles[1]);
}

#[tokio::test]
async fn the_way_back_leads_to_the_page_of_the_sign_in_as_long_as_it_waits() {
    let world = World::new().await;
    let asked = world.begin().await;
    let query = format!("code=c&state={}", asked.state);
    assert_eq!(world.upstream.awaiting(&query).await, Ok(page()));
    for other in ["code=c&state=other", "code=c", ""] {
        let refused = world.upstream.awaiting(other).await.unwrap_err();
        assert_eq!(refused.kind, IdentityFaultKind::WrongChallenge, "{other}");
    }
    world.clock.advance(SECONDS + 1);
    assert!(world.upstream.awaiting(&query).await.is_err());
}

#[tokio::test]
async fn answers_of_another_sign_in_or_provider_are_refused() {
    let world = World::new().await;
    let queries: [fn(&Asked) -> String; 5] = [
        |_| "code=c&state=other".to_owned(),
        |_| "code=c".to_owned(),
        |asked| format!("code=c&state={0}&state={0}", asked.state),
        |asked| format!("code=c&state={}&iss=https://evil.example", asked.state),
        |asked| format!("error=access_denied&state={}", asked.state),
    ];
    for query in queries {
        let asked = world.begin().await;
        world
            .provider
            .set_id_token(&world.provider.key, world.claims(&asked));
        let fault = world.come_back(&query(&asked)).await.unwrap_err();
        assert_eq!(fault.kind, IdentityFaultKind::WrongChallenge);
    }
}

#[tokio::test]
async fn id_tokens_that_are_not_as_they_must_be_are_refused() {
    let world = World::new().await;
    let now = world.clock.now().0;
    let changes = [
        ("iss", json!("https://evil.example/")),
        ("aud", json!("other")),
        ("aud", json!(["us", "other"])),
        ("nonce", json!("other")),
        ("exp", json!(now - 61)),
        ("iat", json!(now + 120)),
        ("sub", json!("")),
    ];
    for (name, value) in changes {
        let asked = world.begin().await;
        let mut claims = world.claims(&asked);
        claims[name] = value;
        world.provider.set_id_token(&world.provider.key, claims);
        let query = format!("code=c&state={}", asked.state);
        assert!(world.come_back(&query).await.is_err(), "{name}");
    }
    let asked = world.begin().await;
    let stranger = PrivateKey::generate(KeyType::P256).unwrap();
    world.provider.set_id_token(&stranger, world.claims(&asked));
    let query = format!("code=c&state={}", asked.state);
    assert!(world.come_back(&query).await.is_err());
}

#[tokio::test]
async fn a_provider_that_redeems_nothing_or_is_away_lets_nobody_in() {
    let world = World::new().await;
    let asked = world.begin().await;
    let query = format!("code=c&state={}", asked.state);
    let fault = world.come_back(&query).await.unwrap_err();
    assert_eq!(fault.kind, IdentityFaultKind::WrongChallenge);
    let other = World::new().await;
    other.provider.answers.lock().unwrap().clear();
    let away = other.upstream.begin("0123456789", &page()).await;
    let away = away.unwrap_err();
    assert_eq!(away.reason.id(), "upstream-provider-away");
}

/// The e-mail address that is learned where userinfo is this.
async fn learned(
    world: &World,
    media_type: &'static str,
    userinfo: impl Fn(&World) -> String,
) -> UpstreamAnswer<Value> {
    let asked = world.begin().await;
    let mut claims = world.claims(&asked);
    claims.as_object_mut().unwrap().remove("email");
    let body = userinfo(world);
    world.provider.set_userinfo(claims, media_type, body);
    let query = format!("code=c&state={}", asked.state);
    let proven = world.come_back(&query).await?;
    let order = ClaimsOrder {
        handle: proven.handle,
        subject: "subject".to_owned(),
        token: proven.token,
        claims: vec!["email".to_owned()],
        locales: Vec::new(),
    };
    match world.upstream.exchange(&asking(), &order).await? {
        PersonClaims::Plain(claims) => Ok(claims.get("email").cloned().unwrap_or_default()),
        PersonClaims::Signed(_) => panic!("signed"),
    }
}

const JSON: &str = "application/json";
const JWT: &str = "application/jwt";

fn userinfo_claims(world: &World) -> Value {
    let issuer = world.provider.issuer.as_str();
    json!({"iss": issuer, "aud": "us", "sub": "maja", "email": "at@userinfo.example"})
}

#[tokio::test]
async fn claims_of_userinfo_count_as_json_and_as_a_token_of_the_provider_for_us() {
    let world = World::new().await;
    let plain = learned(&world, JSON, |world| userinfo_claims(world).to_string());
    assert_eq!(plain.await, Ok(json!("at@userinfo.example")));
    let token = |world: &World| signed(&world.provider.key, &userinfo_claims(world));
    assert_eq!(
        learned(&world, "application/jwt; charset=utf-8", token).await,
        Ok(json!("at@userinfo.example"))
    );
    let several = |world: &World| {
        let mut claims = userinfo_claims(world);
        claims["aud"] = json!(["other", "us"]);
        signed(&world.provider.key, &claims)
    };
    assert!(learned(&world, JWT, several).await.is_ok());
}

#[tokio::test]
async fn userinfo_tokens_that_are_not_of_the_provider_for_us_and_this_person_let_nobody_in() {
    let world = World::new().await;
    let stranger = PrivateKey::generate(KeyType::P256).unwrap();
    let forged = |world: &World| signed(&stranger, &userinfo_claims(world));
    let unsigned = |world: &World| {
        let part = |value: &Value| encoding::base64url_encode(value.to_string().as_bytes());
        let claims = part(&userinfo_claims(world));
        format!("{}.{claims}.", part(&json!({"alg": "none"})))
    };
    assert!(learned(&world, JWT, forged).await.is_err());
    assert!(learned(&world, JWT, unsigned).await.is_err());
    let encrypted = |_: &World| "a.b.c.d.e".to_owned();
    assert!(learned(&world, JWT, encrypted).await.is_err());
    // A token where JSON is announced is refused, and the reverse.
    let token = |world: &World| signed(&world.provider.key, &userinfo_claims(world));
    assert!(learned(&world, JSON, token).await.is_err());
    let plain = |world: &World| userinfo_claims(world).to_string();
    assert!(learned(&world, JWT, plain).await.is_err());
    for (name, value) in [
        ("iss", json!("https://evil.example/")),
        ("iss", Value::Null),
        ("aud", json!("other")),
        ("aud", Value::Null),
        ("aud", json!([])),
        ("sub", json!("somebody else")),
        ("sub", Value::Null),
    ] {
        let changed = |world: &World| {
            let mut claims = userinfo_claims(world);
            claims[name] = value.clone();
            signed(&world.provider.key, &claims)
        };
        let fault = learned(&world, JWT, changed).await.unwrap_err();
        assert_eq!(fault.kind, IdentityFaultKind::WrongChallenge, "{name}");
    }
}

#[tokio::test]
async fn userinfo_has_the_signature_that_was_registered_or_that_the_metadata_list() {
    let token = |world: &World| signed(&world.provider.key, &userinfo_claims(world));
    let plain = |world: &World| userinfo_claims(world).to_string();
    let strict = World::with(Some(Algorithm::Es256)).await;
    assert!(learned(&strict, JWT, token).await.is_ok());
    assert!(learned(&strict, JSON, plain).await.is_err());
    let other = World::with(Some(Algorithm::Rs256)).await;
    assert!(learned(&other, JWT, token).await.is_err());
    for (listed, is_right) in [("ES256", true), ("RS256", false), ("none", false)] {
        let world = World::new().await;
        let at = |path: &str| world.provider.issuer.join(path).unwrap();
        let metadata = json!({
            "issuer": world.provider.issuer, "authorization_endpoint": at("authorize"),
            "token_endpoint": at("token"), "userinfo_endpoint": at("userinfo"),
            "jwks_uri": at("jwks"), "userinfo_signing_alg_values_supported": [listed]
        });
        let path = "/.well-known/openid-configuration";
        world.provider.set(path, metadata);
        assert_eq!(
            learned(&world, JWT, token).await.is_ok(),
            is_right,
            "{listed}"
        );
    }
}

#[tokio::test]
async fn a_provider_that_always_names_itself_is_believed_in_no_answer_without_its_name() {
    let world = World::new().await;
    let at = |path: &str| world.provider.issuer.join(path).unwrap();
    let metadata = json!({
        "issuer": world.provider.issuer, "authorization_endpoint": at("authorize"),
        "token_endpoint": at("token"), "jwks_uri": at("jwks"),
        "authorization_response_iss_parameter_supported": true
    });
    let path = "/.well-known/openid-configuration";
    world.provider.set(path, metadata);
    for (named, is_right) in [(true, true), (false, false)] {
        let asked = world.begin().await;
        let claims = world.claims(&asked);
        world.provider.set_id_token(&world.provider.key, claims);
        let mut query = format!("code=c&state={}", asked.state);
        if named {
            query = format!("{query}&iss={}", world.provider.issuer);
        }
        assert_eq!(world.come_back(&query).await.is_ok(), is_right);
    }
}
