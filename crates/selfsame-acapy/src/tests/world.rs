//! An instance in memory with agents, and calls of their admin APIs.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::routing::get;
use http::header::{CONTENT_TYPE, HOST};
use http::{HeaderMap, Method, Request, StatusCode};
use selfsame_agent::{AgentSettings, AgentTerms};
use selfsame_app::config::{AgentConfig, AgentController, Config, Roles};
use selfsame_app::{App, Parts};
use selfsame_bulk::Bulks;
use selfsame_core::config::{OrganisationsConfig, ResolverConfig, TrustConfig};
use selfsame_crypto::seal::SealingKey;
use selfsame_endorsement::EndorsementTerms;
use selfsame_ledger::config::RegistryConfig;
use selfsame_mediation::terms::MediationTerms;
use selfsame_net::{Net, Settings as NetSettings};
use selfsame_openid::config::{IssuerConfig, VerifierConfig};
use selfsame_openid::issuer::lists::ListFace;
use selfsame_store::ledger::{LedgerStore, MemoryLedger};
use selfsame_store::{Memory, Store, Vault};
use selfsame_wallet::config::WalletConfig;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tower::ServiceExt as _;

use crate::settings::AdminSettings;

/// The key of each agent's admin API.
pub const KEY: &str = "the key";

/// An instance with one agent for each name.
pub struct World {
    pub agents: Vec<Agent>,
    bulks: Bulks,
    /// Stops the worker of orders.
    working: watch::Sender<bool>,
    pub app: Arc<App>,
    /// Where their peers reach them.
    pub endpoint: url::Url,
}

/// The admin API of one agent.
pub struct Agent {
    pub router: Router,
    pub settings: AdminSettings,
    /// The token that is sent in place of the key.
    token: Option<String>,
}

/// An answer, read to its end.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: String,
}

impl World {
    /// An instance with an agent for each of these organisations, whose settings are as `change` leaves them.
    pub async fn with(names: &[&str], change: impl Fn(&mut AdminSettings)) -> Self {
        Self::heard(names, &[], change).await
    }

    /// An instance with an agent for each of these organisations, of which the holder takes what is offered and answers
    /// requests by itself. The others verify by themselves, and exchanges stay.
    pub async fn of_holder(holder: &str, names: &[&str]) -> Self {
        Self::with(names, |settings| {
            let is_holder = settings.organisation == holder;
            let settings = &mut settings.terms.settings;
            settings.auto_respond_credential_offer = is_holder;
            settings.auto_store_credential = is_holder;
            settings.auto_respond_presentation_request = is_holder;
            settings.auto_verify_presentation = true;
            settings.preserve_exchange_records = true;
        })
        .await
    }

    /// Such an instance, whose agents have these controllers.
    pub async fn heard(
        names: &[&str],
        controllers: &[&str],
        change: impl Fn(&mut AdminSettings),
    ) -> Self {
        let controllers = controllers.iter().map(|url| AgentController::parse(url));
        let controllers: Vec<_> = controllers.map(Result::unwrap).collect();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint: url::Url = format!("http://{}/", listener.local_addr().unwrap())
            .parse()
            .unwrap();
        let settings = |name: &&str| {
            let terms = AgentTerms {
                label: format!("{name} agent"),
                endpoint: endpoint.clone(),
                socket: None,
                settings: AgentSettings::default(),
                mediation: MediationTerms::default(),
                connection_wait: Duration::from_secs(5),
            };
            let mut settings = AdminSettings {
                organisation: (*name).to_owned(),
                terms,
                api_key: Some(KEY.into()),
                hosts: Vec::new(),
                body_max: 1 << 20,
                multitenant: false,
                endorsement: EndorsementTerms::default(),
                invite_base_url: None,
            };
            change(&mut settings);
            settings
        };
        let settings: Vec<_> = names.iter().map(settings).collect();
        let app = open(&settings, &endpoint, &controllers).await;
        app.start().await.unwrap();
        let bulks = Bulks::new(app.agents().clone());
        let working = watch::Sender::new(false);
        tokio::spawn(bulks.clone().work(working.subscribe()));
        let peers = crate::inbound(app.clone()).merge(status_lists(app.clone()));
        tokio::spawn(async move { axum::serve(listener, peers).await });
        let agents = settings.into_iter().map(|settings| Agent {
            router: crate::admin(app.clone(), settings.clone(), bulks.clone()),
            settings,
            token: None,
        });
        let agents: Vec<_> = agents.collect();
        Self {
            agents,
            bulks,
            working,
            app,
            endpoint,
        }
    }

    /// Ends the worker of orders in the midst of its work, and begins another, as after a restart.
    pub fn begin_work_again(&mut self) {
        self.working.send_replace(true);
        self.working = watch::Sender::new(false);
        let working = self.working.subscribe();
        tokio::spawn(self.bulks.clone().work(working));
    }

    /// An instance with an agent for each of these organisations.
    pub async fn of(names: &[&str]) -> Self {
        Self::with(names, |_| {}).await
    }
}

/// The status lists of the organisation that every instance has.
fn status_lists(app: Arc<App>) -> Router {
    let serve = async move |list: u64, face: Option<String>| {
        let lists = app.main().issuer().unwrap().lists().clone();
        let face = ListFace::parse(face.as_deref()).unwrap();
        let served = lists.serve(list, face).await.unwrap();
        ([(CONTENT_TYPE, served.content_type)], served.body.to_vec())
    };
    let of_face = serve.clone();
    Router::new()
        .route(
            "/status/{list}",
            get(async move |Path(list)| serve(list, None).await),
        )
        .route(
            "/status/{list}/{face}",
            get(async move |Path((list, face))| of_face(list, Some(face)).await),
        )
}

async fn open(
    settings: &[AdminSettings],
    endpoint: &url::Url,
    controllers: &[AgentController],
) -> Arc<App> {
    let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
    let store = Store::open(Arc::new(Memory::new()), vault).await.unwrap();
    let config = Config {
        origin: endpoint.clone(),
        roles: Roles::ALL,
        issuer: IssuerConfig::default(),
        verifier: VerifierConfig {
            max_status_age: 0,
            ..VerifierConfig::default()
        },
        wallet: WalletConfig::default(),
        trust: TrustConfig::default(),
        registry: RegistryConfig::Embedded {
            name: "test".to_owned(),
            witnesses: Vec::new(),
        },
        resolver: ResolverConfig::default(),
        organisations: OrganisationsConfig::default(),
        agents: settings
            .iter()
            .map(|one| AgentConfig {
                organisation: one.organisation.clone(),
                terms: one.terms.clone(),
                endorsement: one.endorsement.clone(),
                controllers: controllers.to_vec(),
                invite_base_url: one.invite_base_url.clone(),
            })
            .collect(),
    };
    let net = Net::new(NetSettings {
        own_origins: controllers
            .iter()
            .map(|one| one.url.origin())
            .chain([endpoint.origin()])
            .collect(),
        native_roots: false,
        ..NetSettings::default()
    });
    let ledger: Arc<dyn LedgerStore> = Arc::new(MemoryLedger::new());
    let parts = Parts {
        store,
        net: net.unwrap(),
        ledger: Some(ledger),
        hsm: None,
        book_index: None,
    };
    App::open(config, parts).await.unwrap().0
}

impl Agent {
    /// The answer to a request, sent with the key.
    pub async fn send(&self, method: Method, path: &str, body: &str) -> Reply {
        let (name, value) = match &self.token {
            None => ("x-api-key", KEY.to_owned()),
            Some(token) => ("authorization", format!("Bearer {token}")),
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, "agent.example")
            .header(name, value)
            .header(CONTENT_TYPE, "application/json");
        self.call(request.body(Body::from(body.to_owned())).unwrap())
            .await
    }

    /// The same, called with the token of a sub-wallet.
    pub fn with(&self, token: &str) -> Self {
        Self {
            router: self.router.clone(),
            settings: self.settings.clone(),
            token: Some(token.to_owned()),
        }
    }

    /// The answer to a request as it is.
    pub async fn call(&self, request: Request<Body>) -> Reply {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, 10 << 20).await.unwrap();
        Reply {
            status: parts.status,
            headers: parts.headers,
            body: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    /// The JSON of a GET that must succeed.
    #[track_caller]
    pub fn get(&self, path: &str) -> impl Future<Output = Value> {
        let sent = self.send(Method::GET, path, "");
        async move { sent.await.json() }
    }

    /// The JSON of a POST that must succeed.
    #[track_caller]
    pub fn post(&self, path: &str, body: &str) -> impl Future<Output = Value> {
        let sent = self.send(Method::POST, path, body);
        async move { sent.await.json() }
    }

    /// Waits until what a GET gives fits.
    pub async fn until(&self, path: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let began = tokio::time::Instant::now();
        loop {
            let found = self.get(path).await;
            if fits(&found) {
                return found;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{path}: {found}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Reply {
    /// The JSON of an answer that must be a success.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.status, StatusCode::OK, "{}", self.body);
        serde_json::from_str(&self.body).unwrap()
    }
}
