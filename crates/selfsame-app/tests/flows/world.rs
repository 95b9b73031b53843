//! An issuer and verifier behind a server with injected faults, and wallets whose process can be killed.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use selfsame_app::config::{Config, Roles};
use selfsame_app::{App, Parts};
use selfsame_attester::AttestationConfig;
use selfsame_core::config::{DidMethod, ResolverConfig, TrustConfig};
use selfsame_crypto::encoding::{base64_encode, base64url_decode, base64url_encode};
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::{PrivateKey, SecretString, jws};
use selfsame_driver::clock::Clock;
use selfsame_driver::paging::Paging;
use selfsame_ledger::config::RegistryConfig;
use selfsame_net::{Net, Settings};
use selfsame_openid::config::{IssuerConfig, VerifierConfig, WantedApproval};
use selfsame_openid::view::issuer::{NewOffer, Offer};
use selfsame_openid4vc::wire::credential::WantedEncryption;
use selfsame_store::ledger::LedgerStore;
use selfsame_store::{Batch, Put, Store, TenantId, Vault};
use selfsame_wallet::config::WalletConfig;
use selfsame_wallet::view::{AcceptOffer, CardSummary, HistoryEntry, Person};
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use url::Url;

use crate::backend::Slow;
use crate::routes;

const BACKLOG: u32 = 1024;
/// Where a wallet looks for what takes its time.
pub const DEFERRED: &str = "/issuer/deferred";

/// What a server does to a request instead of answering it normally.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// Refuses it as busy.
    Busy,
    /// Processes it, then answers with this status, as a balancer does that lost the server behind it.
    Gateway(u16),
    /// Closes the connection without processing it.
    CutBefore,
    /// Processes it, then closes the connection.
    CutAfter,
    /// Reads it, then does not answer.
    HangBefore,
    /// Processes it, then does not answer.
    HangAfter,
    /// Processes it and keeps the answer for a later look; answers with this JSON, as one that takes its time.
    Defer(&'static str),
    /// Answers a look for what was kept with this status and JSON.
    Look(u16, &'static str),
    /// Answers with a credential that its issuer did not sign.
    Forge,
    /// Answers with credentials signed with a self-made certificate for this issuer.
    CertifyAs(&'static str),
    /// Answers with credentials whose claims are longer by this number of bytes, which their issuer did not sign.
    Pad(usize),
    /// Answers with one bit flipped, at this percentage of the body.
    Alter(usize),
    /// Answers with this JSON.
    Give(&'static str),
    /// Answers with this JWT.
    Sign(&'static str),
    /// Answers with this JSON, which must not be cached.
    GiveUncached(&'static str),
}

/// The faults to inject, by path, and the bodies of the requests that met them.
#[derive(Default)]
pub struct Faults {
    coming: Mutex<VecDeque<(String, Fault)>>,
    pub met: Counter,
    pub bodies: Mutex<Vec<(Option<String>, Vec<u8>)>>,
    /// The answer that a look gets.
    kept: Mutex<Option<Reply>>,
}

/// A semaphore that begins without permits.
pub struct Counter(Semaphore);

impl Default for Counter {
    fn default() -> Self {
        Self(Semaphore::new(0))
    }
}

impl Faults {
    pub fn add(&self, path: &str, fault: Fault) {
        let mut coming = self.coming.lock().unwrap();
        coming.push_back((path.to_owned(), fault));
    }

    /// Answers with this document, this number of times.
    pub fn give(&self, path: &str, document: &serde_json::Value, times: usize) {
        let text: &str = document.to_string().leak();
        (0..times).for_each(|_| self.add(path, Fault::Give(text)));
    }

    pub fn clear(&self) {
        self.coming.lock().unwrap().clear();
    }

    /// Waits until a fault has been met.
    pub async fn is_met(&self) {
        self.met.0.acquire().await.unwrap().forget();
    }

    /// The bearer token and the body of the request that met the last fault.
    pub fn last_request(&self) -> (Option<String>, Vec<u8>) {
        self.bodies.lock().unwrap().last().unwrap().clone()
    }

    fn take(&self, path: &str) -> Option<Fault> {
        let mut coming = self.coming.lock().unwrap();
        let at = coming
            .iter()
            .position(|(prefix, _)| path.starts_with(prefix))?;
        coming.remove(at).map(|(_, fault)| fault)
    }
}

/// An instance that is issuer and verifier, over HTTP on loopback.
pub struct Site {
    pub app: Arc<App>,
    pub faults: Arc<Faults>,
    pub origin: Url,
    issuer: IssuerConfig,
    memory: Arc<Slow>,
    server: JoinHandle<()>,
    /// Bound but not listening: reserves the port while the server is away.
    _port: TcpSocket,
}

impl Site {
    pub async fn start() -> Self {
        Self::with(DidMethod::of(&selfsame_did::key::METHOD)).await
    }

    pub async fn with(did_method: DidMethod) -> Self {
        let (issuer, verifier) = (issuing_by(did_method), verifying());
        Self::of(issuer, verifier).await
    }

    /// A site that signs its lists every half an hour, with a verifier that limits the age of the signature.
    pub async fn signing_seldom(max_status_signed_age: Option<u64>) -> Self {
        let issuer = IssuerConfig {
            status_ttl: 3600,
            ..issuing_by(DidMethod::of(&selfsame_did::key::METHOD))
        };
        let verifier = VerifierConfig {
            max_status_signed_age,
            ..verifying()
        };
        Self::of(issuer, verifier).await
    }

    /// A site whose credential endpoint encrypts messages.
    pub async fn encrypting(encryption: WantedEncryption) -> Self {
        let issuer = IssuerConfig {
            encryption,
            ..issuing_by(DidMethod::of(&selfsame_did::key::METHOD))
        };
        Self::of(issuer, verifying()).await
    }

    /// A site with these demands of wallets.
    pub async fn attesting(attestation: AttestationConfig) -> Self {
        let issuer = IssuerConfig {
            attestation,
            ..issuing_by(DidMethod::of(&selfsame_did::key::METHOD))
        };
        Self::of(issuer, verifying()).await
    }

    /// A site that wants to hear what became of credentials.
    pub async fn notified() -> Self {
        let issuer = IssuerConfig {
            notifications: true,
            ..issuing_by(DidMethod::of(&selfsame_did::key::METHOD))
        };
        Self::of(issuer, verifying()).await
    }

    /// A site whose credentials can need an approval.
    pub async fn approving() -> Self {
        let issuer = IssuerConfig {
            approval: WantedApproval::ByOffer,
            ..issuing_by(DidMethod::of(&selfsame_did::key::METHOD))
        };
        Self::of(issuer, verifying()).await
    }

    async fn of(issuer: IssuerConfig, verifier: VerifierConfig) -> Self {
        let held = bound(0);
        let port = held.local_addr().unwrap().port();
        let listener = bound(port).listen(BACKLOG).unwrap();
        let origin: Url = format!("http://localhost:{port}/").parse().unwrap();
        let memory = Arc::new(Slow::default());
        let app = site_of(&origin, (issuer.clone(), verifier), &memory).await;
        let faults = Arc::new(Faults::default());
        let server = serve(listener, app.clone(), faults.clone());
        Self {
            app,
            faults,
            origin,
            issuer,
            memory,
            server,
            _port: held,
        }
    }

    /// Opens the same records in another process.
    pub async fn reopened(&self) -> Arc<App> {
        let settings = (self.issuer.clone(), verifying());
        site_of(&self.origin, settings, &self.memory).await
    }

    /// Stops listening.
    pub async fn hang_up(&mut self) {
        self.server.abort();
        // The listener is closed once the task has ended.
        let _ = (&mut self.server).await;
    }

    /// Starts anew with the same records, at the same address.
    pub async fn restart(&mut self) {
        self.hang_up().await;
        self.app = self.reopened().await;
        self.listen().await;
    }

    /// Listens again at the same address.
    pub async fn listen(&mut self) {
        let socket = bound(self.origin.port().unwrap());
        let listener = socket.listen(BACKLOG).unwrap();
        self.server = serve(listener, self.app.clone(), self.faults.clone());
    }

    pub async fn offer(&self, kind: &str) -> Offer {
        self.offer_as(kind, "dc+sd-jwt").await
    }

    pub async fn offer_as(&self, kind: &str, format: &str) -> Offer {
        self.offer_of(new_offer(kind, format)).await
    }

    pub async fn offer_of(&self, new: NewOffer) -> Offer {
        self.app
            .main()
            .issuer()
            .unwrap()
            .create_offer(&new)
            .await
            .unwrap()
    }

    /// Adds `more` records of one kind for a tenant.
    pub async fn keep(&self, tenant: &TenantId, kind: &'static str, more: usize) {
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let store = Store::open(self.memory.clone(), vault).await.unwrap();
        let put = |batch: Batch, number| batch.put(Put::new(kind, format!("seed{number}"), vec![]));
        // A batch has a limit.
        for first in (0..more).step_by(1_000) {
            let numbers = first..more.min(first + 1_000);
            let batch = numbers.fold(Batch::new(tenant.clone()), put);
            store.commit(batch).await.unwrap();
        }
    }

    pub async fn issued(&self) -> usize {
        let issuer = self.app.main().issuer().unwrap();
        issuer
            .issued(None, &Paging::default())
            .await
            .unwrap()
            .items
            .len()
    }
}

/// An offer with the type's example claims.
pub fn new_offer(kind: &str, format: &str) -> NewOffer {
    NewOffer {
        type_id: kind.to_owned(),
        format: Some(format.to_owned()),
        claims: serde_json::Map::new(),
        examples: true,
        uses: None,
        tx_code: false,
        by_sign_in: false,
        needs_approval: None,
        by_reference: false,
        expires_in: None,
        label: None,
    }
}

/// A socket bound to this loopback port, or to a free one; may share it with sockets that do not listen.
fn bound(port: u16) -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind(([127, 0, 0, 1], port).into()).unwrap();
    socket
}

fn issuing_by(did_method: DidMethod) -> IssuerConfig {
    IssuerConfig {
        did_method: Some(did_method),
        ..IssuerConfig::default()
    }
}

fn verifying() -> VerifierConfig {
    VerifierConfig {
        did_method: Some(DidMethod::of(&selfsame_did::key::METHOD)),
        ..VerifierConfig::default()
    }
}

/// An instance with these issuer settings, without a server.
pub async fn site_with(issuer: IssuerConfig) -> Arc<App> {
    let origin = "http://localhost:9/".parse().unwrap();
    site_of(&origin, (issuer, verifying()), &Arc::default()).await
}

async fn site_of(
    origin: &Url,
    (issuer, verifier): (IssuerConfig, VerifierConfig),
    memory: &Arc<Slow>,
) -> Arc<App> {
    let config = Config {
        origin: origin.clone(),
        roles: Roles {
            issuer: true,
            wallet: false,
            verifier: true,
            registry: false,
        },
        issuer,
        verifier,
        wallet: WalletConfig::default(),
        trust: TrustConfig::default(),
        registry: RegistryConfig::None,
        resolver: ResolverConfig::default(),
        organisations: selfsame_core::config::OrganisationsConfig::default(),
        agents: Vec::new(),
    };
    open(config, origin, memory).await
}

/// Opens an instance whose records expire by its own clock.
async fn open(config: Config, reach: &Url, memory: &Arc<Slow>) -> Arc<App> {
    open_with(config, std::slice::from_ref(reach), memory, None).await
}

/// Opens an instance with the ledger of its own registry.
pub async fn open_with(
    config: Config,
    reach: &[Url],
    memory: &Arc<Slow>,
    ledger: Option<Arc<dyn LedgerStore>>,
) -> Arc<App> {
    let clock = Arc::new(OnceLock::<Clock>::new());
    let ticking = clock.clone();
    let now = move || {
        ticking
            .get()
            .map_or_else(|| Clock::default().now(), Clock::now)
    };
    let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
    let store = Store::open_with_clock(memory.clone(), vault, Arc::new(now))
        .await
        .unwrap();
    let settings = Settings {
        own_origins: reach
            .iter()
            .chain([&config.origin])
            .map(Url::origin)
            .collect(),
        native_roots: false,
        ..Settings::default()
    };
    let parts = Parts {
        store,
        net: Net::new(settings).unwrap(),
        ledger,
        hsm: None,
        book_index: None,
    };
    let (app, _) = App::open(config, parts).await.unwrap();
    clock.set(app.clock().clone()).unwrap();
    app
}

/// A wallet's records, and the processes that open them.
pub struct WalletHost {
    memory: Arc<Slow>,
    issuer: Url,
}

impl WalletHost {
    pub fn new(site: &Site) -> Self {
        Self {
            memory: Arc::default(),
            issuer: site.origin.clone(),
        }
    }

    pub async fn open(&self) -> Arc<App> {
        self.keeping(WalletConfig::default()).await
    }

    /// Opens the wallet with these limits.
    pub async fn keeping(&self, wallet: WalletConfig) -> Arc<App> {
        self.trusting(wallet, Vec::new()).await
    }

    /// Opens the wallet with these settings and trusted issuers.
    pub async fn trusting(&self, wallet: WalletConfig, issuers: Vec<String>) -> Arc<App> {
        let config = Config {
            origin: "http://127.0.0.1:9/".parse().unwrap(),
            roles: Roles {
                issuer: false,
                wallet: true,
                verifier: false,
                registry: false,
            },
            issuer: IssuerConfig::default(),
            verifier: VerifierConfig::default(),
            wallet,
            trust: TrustConfig {
                issuers,
                origins: vec![self.issuer.clone()],
                ..TrustConfig::default()
            },
            registry: RegistryConfig::None,
            resolver: ResolverConfig::default(),
            organisations: selfsame_core::config::OrganisationsConfig::default(),
            agents: Vec::new(),
        };
        let app = open(config, &self.issuer, &self.memory).await;
        app.start().await.unwrap();
        app
    }

    /// Sets whether its disk is full.
    pub fn fill(&self, full: bool) {
        self.memory.fill(full);
    }

    /// The number of a person's private keys.
    pub async fn keys(&self, person: &Person) -> u64 {
        self.kept(person, selfsame_driver::keys::KIND).await
    }

    /// The number of a person's records of one kind.
    pub async fn kept(&self, person: &Person, kind: &str) -> u64 {
        let store = self.store().await;
        let weight = store.weight(&person.tenant, kind, u64::MAX);
        weight.await.unwrap().records
    }

    /// Adds `more` records of one kind for a person.
    pub async fn keep(&self, person: &Person, kind: &'static str, more: usize) {
        let put = |batch: Batch, number| batch.put(Put::new(kind, format!("seed{number}"), vec![]));
        let batch = (0..more).fold(Batch::new(person.tenant.clone()), put);
        self.store().await.commit(batch).await.unwrap();
    }

    /// Its records, beside the process.
    pub async fn store(&self) -> Store {
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        Store::open(self.memory.clone(), vault).await.unwrap()
    }

    /// Opens the wallet in a runtime of its own, which can be ended at any time.
    pub fn process(&self) -> Process {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let app = runtime.block_on(self.open());
        Process { runtime, app }
    }
}

/// A wallet's process.
pub struct Process {
    pub runtime: Runtime,
    pub app: Arc<App>,
}

impl Process {
    /// Ends the process at once.
    pub fn kill(self) {
        self.runtime.shutdown_timeout(Duration::from_secs(5));
    }
}

pub async fn person(app: &App) -> Person {
    let accounts = app.wallet().unwrap().accounts();
    let password = SecretString::from("correct horse battery".to_owned());
    let session = accounts
        .register("maja@example.org", password)
        .await
        .unwrap();
    accounts.person(&session.token).await.unwrap()
}

pub fn accept(offer: &Offer) -> AcceptOffer {
    AcceptOffer {
        offer: offer.uri.clone(),
        tx_code: None,
        did: None,
        copies: None,
    }
}

/// A person's cards and history.
pub async fn belongings(app: &App, person: &Person) -> (Vec<CardSummary>, Vec<HistoryEntry>) {
    let wallet = app.wallet().unwrap();
    // The history first: whatever it mentions is stored by then.
    let history = wallet
        .history(person, &Paging::default())
        .await
        .unwrap()
        .items;
    let cards = wallet
        .cards(person, &Paging::default())
        .await
        .unwrap()
        .items;
    (cards, history)
}

/// A person's cards and history, once the history has an entry.
pub async fn outcome(app: &App, person: &Person) -> (Vec<CardSummary>, Vec<HistoryEntry>) {
    for _ in 0..1_200 {
        let (cards, history) = belongings(app, person).await;
        if !history.is_empty() {
            assert_eq!(app.status().await.unwrap().outbox_waiting, 0);
            return (cards, history);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("no entry came into the wallet's history");
}

pub fn serve(listener: TcpListener, app: Arc<App>, faults: Arc<Faults>) -> JoinHandle<()> {
    tokio::spawn(async move {
        // Connections end with the task that holds them.
        let mut connections = tokio::task::JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            let (app, faults) = (app.clone(), faults.clone());
            connections.spawn(async move {
                let service = service_fn(|request| answered(&app, &faults, request));
                // An error means that the connection was closed, by this side or the other.
                let _ = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    })
}

type Reply = http::Response<Full<Bytes>>;

async fn answered(
    app: &App,
    faults: &Faults,
    request: http::Request<Incoming>,
) -> Result<Reply, &'static str> {
    let (head, body) = request.into_parts();
    let body = body
        .collect()
        .await
        .map_err(|_| "the body broke off")?
        .to_bytes();
    let path = head.uri.path().to_owned();
    let bearer = head.headers.get(http::header::AUTHORIZATION);
    let bearer = bearer.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let issuer = app.main().issuer();
    let is_played = issuer.is_ok_and(|issuer| issuer.approval().is_none());
    let fault = faults.take(&path);
    if fault.is_some() {
        let seen = (bearer.map(str::to_owned), body.to_vec());
        faults.bodies.lock().unwrap().push(seen);
    }
    let before = matches!(
        fault,
        Some(Fault::Busy | Fault::CutBefore | Fault::HangBefore)
    );
    let reply = match before {
        true => None,
        false => Some(routes::answer(app, &head, &body).await),
    };
    if fault.is_some() {
        faults.met.0.add_permits(1);
    }
    match (fault, reply) {
        (Some(Fault::Busy), _) => Ok(status(503)),
        (Some(Fault::Gateway(code)), _) => Ok(status(code)),
        (Some(Fault::CutBefore | Fault::CutAfter), _) => Err("cut"),
        (Some(Fault::HangBefore | Fault::HangAfter), _) => {
            let never: Result<Reply, Infallible> = std::future::pending().await;
            never.map_err(|never| match never {})
        }
        (Some(Fault::Defer(text)), Some(reply)) => {
            *faults.kept.lock().unwrap() = Some(reply);
            Ok(later(202, text))
        }
        (Some(Fault::Look(code, text)), _) => Ok(later(code, text)),
        (None, _) if path == DEFERRED && is_played => {
            let kept = faults.kept.lock().unwrap().take();
            let spent = r#"{"error":"invalid_transaction_id"}"#;
            Ok(kept.unwrap_or_else(|| later(400, spent)))
        }
        (Some(Fault::Forge), Some(reply)) => Ok(altered_credentials(reply, forged).await),
        (Some(Fault::CertifyAs(name)), Some(reply)) => {
            Ok(altered_credentials(reply, |raw| self_certified(raw, name)).await)
        }
        (Some(Fault::Pad(bytes)), Some(reply)) => {
            Ok(altered_credentials(reply, |raw| padded(raw, bytes)).await)
        }
        (Some(Fault::Alter(percent)), Some(reply)) => Ok(altered(reply, percent).await),
        (Some(Fault::Give(text)), _) => Ok(given(text, "max-age=300")),
        (Some(Fault::Sign(token)), _) => {
            let mut reply = given(token, "no-store");
            let kind = http::HeaderValue::from_static("application/jwt");
            reply.headers_mut().insert(http::header::CONTENT_TYPE, kind);
            Ok(reply)
        }
        (Some(Fault::GiveUncached(text)), _) => Ok(given(text, "no-store")),
        (_, Some(reply)) => Ok(reply),
        (_, None) => Err("nothing to answer"),
    }
}

fn status(code: u16) -> Reply {
    let reply = http::Response::builder().status(code);
    reply.body(Full::default()).unwrap()
}

fn later(code: u16, text: &'static str) -> Reply {
    let mut reply = given(text, "no-store");
    *reply.status_mut() = http::StatusCode::from_u16(code).unwrap();
    reply
}

fn given(text: &'static str, kept: &str) -> Reply {
    http::Response::builder()
        .header(http::header::CONTENT_TYPE, "application/json")
        .header(http::header::CACHE_CONTROL, kept)
        .body(Full::from(text))
        .unwrap()
}

/// Flips one bit.
async fn altered(reply: Reply, percent: usize) -> Reply {
    let (head, body) = reply.into_parts();
    let mut body = body.collect().await.unwrap().to_bytes().to_vec();
    let at = body.len() * percent / 100;
    body[at] ^= 1;
    http::Response::from_parts(head, Full::from(body))
}

/// Alters each credential.
async fn altered_credentials(reply: Reply, alter: impl Fn(&str) -> String) -> Reply {
    let (head, body) = reply.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let mut body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    for credential in body["credentials"].as_array_mut().unwrap() {
        let raw = credential["credential"].as_str().unwrap();
        credential["credential"] = alter(raw).into();
    }
    http::Response::from_parts(head, Full::from(body.to_string()))
}

/// Alters the signature.
fn forged(raw: &str) -> String {
    let signature = raw.match_indices('.').nth(1).unwrap().0 + 5;
    let other = if raw.as_bytes()[signature] == b'A' {
        "B"
    } else {
        "A"
    };
    let mut raw = raw.to_owned();
    raw.replace_range(signature..=signature, other);
    raw
}

/// The SD-JWT with an additional claim.
fn padded(raw: &str, bytes: usize) -> String {
    let (jwt, disclosures) = raw.split_once('~').unwrap();
    let [header, payload, signature] = jwt.split('.').collect::<Vec<_>>()[..] else {
        panic!("no JWT: {jwt}");
    };
    let payload = base64url_decode(payload).unwrap();
    let mut claims: serde_json::Value = serde_json::from_slice(&payload).unwrap();
    claims["padding"] = "x".repeat(bytes).into();
    let payload = base64url_encode(claims.to_string().as_bytes());
    format!("{header}.{payload}.{signature}~{disclosures}")
}

/// The SD-JWT in this issuer's name, signed with a self-signed certificate for it.
fn self_certified(raw: &str, issuer: &str) -> String {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut names = rcgen::CertificateParams::default();
    let name = rcgen::SanType::URI(issuer.try_into().unwrap());
    names.subject_alt_names.push(name);
    let leaf = names.self_signed(&key).unwrap();
    let (jwt, disclosures) = raw.split_once('~').unwrap();
    let mut claims = jws::Compact::parse(jwt).unwrap().claims().unwrap();
    claims["iss"] = issuer.into();
    let chain = [base64_encode(leaf.der())];
    let header = serde_json::json!({"alg": "ES256", "typ": "dc+sd-jwt", "x5c": chain});
    let jwt = jws::Unsigned::new(&header, &claims);
    let key = PrivateKey::from_pkcs8(&key.serialize_der()).unwrap();
    let signature = key.sign(jwt.signing_input()).unwrap();
    format!("{}~{disclosures}", jwt.finish(&signature))
}
