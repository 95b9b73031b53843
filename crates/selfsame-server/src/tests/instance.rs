//! An instance in memory, and calls to its routes.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::header::{CONTENT_TYPE, COOKIE, HOST};
use http::{HeaderMap, Method, Request, StatusCode};
use selfsame_agent::{AgentSettings, AgentTerms};
use selfsame_app::config::{AgentConfig, Config, Roles};
use selfsame_app::{App, Parts};
use selfsame_core::config::{ResolverConfig, TrustConfig};
use selfsame_crypto::seal::SealingKey;
use selfsame_driver::clock::Clock;
use selfsame_ledger::config::{RegistryConfig, RegistryNode, WitnessQuorum};
use selfsame_mediation::terms::MediationTerms;
use selfsame_net::{Net, Settings as NetSettings};
use selfsame_openid::config::{IssuerConfig, VerifierConfig};
use selfsame_store::ledger::{LedgerStore, MemoryLedger};
use selfsame_store::{Memory, Store, Vault};
use selfsame_wallet::config::WalletConfig;
use tokio::net::TcpListener;
use tower::ServiceExt as _;

use crate::peer::Peer;
use crate::server::{ServedSettings, Server};
use crate::{ServerLimits, ServerSettings, router, serve};

pub const HOST_NAME: &str = "127.0.0.1:7380";
pub const ORIGIN: &str = "http://127.0.0.1:7380";

/// An instance's routes and its operator's token.
pub struct Instance {
    pub app: Arc<App>,
    pub router: Router,
    pub token: String,
    /// The name and the port that calls name, unless they name another.
    pub host: String,
}

/// An answer, read to its end.
pub struct Answered {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: String,
}

/// A request to send.
pub struct Call(http::request::Builder, Body);

impl Instance {
    pub async fn start() -> Self {
        Self::with(ServerLimits::default()).await
    }

    /// An instance with this origin.
    pub async fn at(origin: &str) -> Self {
        Self::of(open(origin).await, ServerLimits::default(), false)
    }

    pub async fn with(limits: ServerLimits) -> Self {
        Self::of(open(ORIGIN).await, limits, false)
    }

    /// An instance that listens on this machine, so that its wallets can call it.
    pub async fn listening() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = format!("127.0.0.1:{}", listener.local_addr().unwrap().port());
        let opened = open(&format!("http://{host}")).await;
        let (app, settings) = (opened.0.clone(), ServerSettings::default());
        tokio::spawn(serve(listener, app, settings, std::future::pending()));
        Self {
            host,
            ..Self::of(opened, ServerLimits::default(), false)
        }
    }

    /// An instance that resolves DIDs through other hosts.
    pub async fn resolving(resolver: ResolverConfig) -> Self {
        Self::of(
            open_with(ORIGIN, resolver).await,
            ServerLimits::default(),
            false,
        )
    }

    /// Such an instance, within these limits.
    pub async fn resolving_within(limits: ServerLimits, resolver: ResolverConfig) -> Self {
        Self::of(open_with(ORIGIN, resolver).await, limits, false)
    }

    /// Such an instance that trusts these issuers.
    pub async fn trusting_within(
        limits: ServerLimits,
        resolver: ResolverConfig,
        issuers: &[&str],
    ) -> Self {
        let instance = Self::resolving_within(limits, resolver).await;
        let trust = TrustConfig {
            issuers: issuers.iter().map(|&issuer| issuer.to_owned()).collect(),
            ..instance.app.config().trust.clone()
        };
        instance.app.renew_trust(&trust).unwrap();
        instance
    }

    /// An instance that may call this origin, though it is on this machine.
    pub async fn calling(origin: &url::Url) -> Self {
        let mut config = config_of(ORIGIN);
        config.trust.origins.push(origin.clone());
        Self::of(opened(config).await, ServerLimits::default(), false)
    }

    /// An instance that keeps only wallets; its registry is in another process.
    pub async fn with_registry_at(origin: &str) -> Self {
        let registry = RegistryConfig::Remote {
            nodes: vec![RegistryNode {
                origin: origin.parse().unwrap(),
                token: "token".into(),
            }],
            pin: None,
            standstill: 0,
            witnesses: WitnessQuorum::default(),
        };
        let roles = Roles {
            issuer: false,
            wallet: true,
            verifier: false,
            registry: false,
        };
        let opened = open_as(ORIGIN, (roles, registry), Default::default()).await;
        Self::of(opened, ServerLimits::default(), false)
    }

    /// An instance where anyone may register DIDs.
    pub async fn registering() -> Self {
        Self::of(open(ORIGIN).await, ServerLimits::default(), true)
    }

    /// An instance with these wallet settings.
    pub async fn keeping(wallet: WalletConfig) -> Self {
        let of = (Roles::ALL, embedded());
        let opened = open_as(ORIGIN, of, (ResolverConfig::default(), wallet)).await;
        Self::of(opened, ServerLimits::default(), false)
    }

    /// An instance with an agent for each of these organisations, which cannot be reached from outside.
    pub async fn with_agents(organisations: &[&str]) -> Self {
        let endpoint: url::Url = "http://127.0.0.1:9/".parse().unwrap();
        let agent = |name: &&str| AgentConfig {
            organisation: (*name).to_owned(),
            terms: AgentTerms {
                label: format!("Agent of {name}"),
                endpoint: endpoint.clone(),
                socket: None,
                settings: AgentSettings::default(),
                mediation: MediationTerms::default(),
                connection_wait: Duration::ZERO,
            },
            endorsement: Default::default(),
            controllers: Vec::new(),
            invite_base_url: None,
        };
        let config = Config {
            origin: format!("{ORIGIN}/").parse().unwrap(),
            roles: Roles::ALL,
            issuer: IssuerConfig::default(),
            verifier: VerifierConfig::default(),
            wallet: WalletConfig::default(),
            trust: TrustConfig::default(),
            registry: embedded(),
            resolver: ResolverConfig::default(),
            organisations: selfsame_core::config::OrganisationsConfig::default(),
            agents: organisations.iter().map(agent).collect(),
        };
        Self::of(opened(config).await, ServerLimits::default(), false)
    }

    pub fn of((app, token): (Arc<App>, String), limits: ServerLimits, open: bool) -> Self {
        let settings = ServedSettings {
            limits,
            open_registration: open,
            ..ServedSettings::default()
        };
        Self::served((app, token), settings)
    }

    /// An instance with these settings, called at its main listener.
    pub fn served((app, token): (Arc<App>, String), settings: ServedSettings) -> Self {
        let server = Server::new(app.clone(), settings).unwrap();
        Self {
            app,
            router: router::build(&server),
            token,
            host: HOST_NAME.to_owned(),
        }
    }

    pub async fn call(&self, Call(request, body): Call) -> Answered {
        let mut request = request.body(body).unwrap();
        let host = request.headers_mut().entry(HOST);
        host.or_insert_with(|| self.host.parse().unwrap());
        let here = peer("127.0.0.1");
        request.extensions_mut().get_or_insert(here);
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, 10 << 20).await.unwrap();
        Answered {
            status: parts.status,
            headers: parts.headers,
            body: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    /// A link that signs the operator in, without its origin.
    pub async fn sign_in_link(&self) -> String {
        let answer = self
            .call(post("/api/operator/links").bearer(&self.token))
            .await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        let told: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
        let url = told["url"].as_str().unwrap();
        url.split_once("/operator")
            .map(|(_, path)| format!("/operator{path}"))
            .unwrap()
    }

    /// The cookie of the operator's browser.
    pub async fn operator_cookie(&self) -> String {
        let answer = self.call(get(&self.sign_in_link().await)).await;
        assert_eq!(answer.status, StatusCode::OK);
        let port = self.host.rsplit(':').next().unwrap();
        answer.cookie(&format!("selfsame-operator-{port}"))
    }

    /// The cookie of a person's browser, registered by the page's own form.
    pub async fn person_cookie(&self, email: &str) -> String {
        let page = self.call(get("/wallet/sign-in")).await;
        let visitor = page.cookie("selfsame-visitor-7380");
        let form = form(&[
            ("form_token", &page.form_token()),
            ("email", email),
            ("password", "a long password"),
        ]);
        let answer = self
            .call(post("/wallet/register").cookie(&visitor).form(form))
            .await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
        answer.cookie("selfsame-wallet-7380")
    }
}

/// A whole instance in memory: every role, an embedded registry, no network.
pub async fn open(origin: &str) -> (Arc<App>, String) {
    open_with(origin, ResolverConfig::default()).await
}

async fn open_with(origin: &str, resolver: ResolverConfig) -> (Arc<App>, String) {
    let wallet = WalletConfig::default();
    open_as(origin, (Roles::ALL, embedded()), (resolver, wallet)).await
}

fn embedded() -> RegistryConfig {
    RegistryConfig::Embedded {
        name: "test".to_owned(),
        witnesses: Vec::new(),
    }
}

async fn open_as(
    origin: &str,
    of: (Roles, RegistryConfig),
    with: (ResolverConfig, WalletConfig),
) -> (Arc<App>, String) {
    opened(config(origin, of, with)).await
}

/// The settings of a whole instance at this origin.
pub fn config_of(origin: &str) -> Config {
    let with = (ResolverConfig::default(), WalletConfig::default());
    config(origin, (Roles::ALL, embedded()), with)
}

fn config(
    origin: &str,
    (roles, registry): (Roles, RegistryConfig),
    (resolver, wallet): (ResolverConfig, WalletConfig),
) -> Config {
    Config {
        origin: format!("{origin}/").parse().unwrap(),
        roles,
        issuer: IssuerConfig::default(),
        verifier: VerifierConfig::default(),
        wallet,
        trust: TrustConfig {
            origins: resolver.addresses().cloned().collect(),
            ..TrustConfig::default()
        },
        registry,
        resolver,
        organisations: selfsame_core::config::OrganisationsConfig::default(),
        agents: Vec::new(),
    }
}

pub async fn opened(config: Config) -> (Arc<App>, String) {
    let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
    // The store needs the application's clock, which exists only after the store.
    let clock = Arc::new(OnceLock::<Clock>::new());
    let ticking = clock.clone();
    let now = move || ticking.get().cloned().unwrap_or_default().now();
    let memory = Arc::new(Memory::new());
    let store = Store::open_with_clock(memory, vault, Arc::new(now))
        .await
        .unwrap();
    let net = Net::new(NetSettings {
        own_origins: config
            .resolver
            .addresses()
            .chain([&config.origin])
            .chain(&config.trust.origins)
            .map(url::Url::origin)
            .collect(),
        ..NetSettings::default()
    })
    .unwrap();
    let ledger = Some(Arc::new(MemoryLedger::new()) as Arc<dyn LedgerStore>);
    let (app, token) = App::open(
        config,
        Parts {
            store,
            net,
            ledger,
            hsm: None,
            book_index: None,
        },
    )
    .await
    .unwrap();
    clock.set(app.clock().clone()).unwrap();
    app.start().await.unwrap();
    (app, token.unwrap().expose().to_owned())
}

fn peer(address: &str) -> Peer {
    Peer::from(SocketAddr::new(address.parse().unwrap(), 1))
}

pub fn get(path: &str) -> Call {
    call(Method::GET, path)
}

pub fn post(path: &str) -> Call {
    call(Method::POST, path)
}

pub fn call(method: Method, path: &str) -> Call {
    Call(Request::builder().method(method).uri(path), Body::empty())
}

/// A form's body.
pub fn form(fields: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish()
}

impl Call {
    pub fn header(self, name: &str, value: &str) -> Self {
        Self(self.0.header(name, value), self.1)
    }

    /// Sets the client's address.
    pub fn from(self, address: &str) -> Self {
        Self(self.0.extension(peer(address)), self.1)
    }

    /// Sets the `Host` header.
    pub fn host(mut self, host: &str) -> Self {
        self.0
            .headers_mut()
            .unwrap()
            .insert(HOST, host.parse().unwrap());
        self
    }

    pub fn cookie(self, cookie: &str) -> Self {
        self.header(COOKIE.as_str(), cookie)
    }

    pub fn bearer(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub fn form(self, body: String) -> Self {
        Self(
            self.0
                .header(CONTENT_TYPE, "application/x-www-form-urlencoded"),
            Body::from(body),
        )
    }

    /// A form with files, with the boundary `b`.
    pub fn multipart(self, body: impl Into<Body>) -> Self {
        Self(
            self.0
                .header(CONTENT_TYPE, "multipart/form-data; boundary=b"),
            body.into(),
        )
    }

    pub fn json(self, body: &str) -> Self {
        Self(
            self.0.header(CONTENT_TYPE, "application/json"),
            Body::from(body.to_owned()),
        )
    }
}

impl Answered {
    /// `name=value` of the cookie that the answer sets.
    pub fn cookie(&self, name: &str) -> String {
        let set = self
            .headers
            .get_all("set-cookie")
            .iter()
            .map(|cookie| cookie.to_str().unwrap());
        let cookie = set
            .into_iter()
            .find(|cookie| cookie.starts_with(&format!("{name}=")));
        cookie
            .unwrap_or_else(|| panic!("no cookie {name}"))
            .split(';')
            .next()
            .unwrap()
            .to_owned()
    }

    /// The token that the page's forms carry.
    pub fn form_token(&self) -> String {
        let marked = self
            .body
            .split("name=\"form_token\" value=\"")
            .nth(1)
            .expect("a form");
        marked.split('"').next().unwrap().to_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map(|value| value.to_str().unwrap())
            .unwrap_or_default()
    }
}
