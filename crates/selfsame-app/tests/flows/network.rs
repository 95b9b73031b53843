//! A clinic with a registry, and pharmacies that use the registry over HTTP.

use std::sync::Arc;

use selfsame_app::App;
use selfsame_app::config::{Config, Roles};
use selfsame_core::config::{DidMethod, NamedDid, ResolverConfig, TrustConfig};
use selfsame_ledger::config::{RegistryConfig, RegistryNode, STANDSTILL, WitnessQuorum};
use selfsame_openid::config::{IssuerConfig, VerifierConfig};
use selfsame_openid::view::issuer::{Delegation, NewDelegation};
use selfsame_openid::view::verifier::NewRequest;
use selfsame_store::ledger::MemoryLedger;
use selfsame_wallet::config::WalletConfig;
use selfsame_wallet::view::{AnswerRequest, Person};
use tokio::net::TcpListener;
use url::Url;

use crate::backend::Slow;
use crate::world::{Faults, accept, new_offer, open_with, serve};

const NO_ROLES: Roles = Roles {
    issuer: false,
    wallet: false,
    verifier: false,
    registry: false,
};

/// An instance that others can reach over HTTP.
pub struct Member {
    pub app: Arc<App>,
    pub faults: Arc<Faults>,
    pub origin: Url,
    config: Config,
    memory: Arc<Slow>,
}

/// The future address of an instance; bound before any instance opens, so that all can name each other's origins.
struct Place {
    listener: TcpListener,
    origin: Url,
}

impl Place {
    async fn bind() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let origin = format!("http://localhost:{port}/").parse().unwrap();
        Self { listener, origin }
    }
}

/// A clinic alone, whose credentials name this DID of its key.
pub async fn clinic_naming(issuer_did: NamedDid) -> Member {
    let roles = Roles {
        issuer: true,
        verifier: true,
        wallet: true,
        registry: true,
    };
    let registry = RegistryConfig::Embedded {
        name: "test".to_owned(),
        witnesses: Vec::new(),
    };
    let issuer = IssuerConfig {
        issuer_did,
        ..IssuerConfig::default()
    };
    let settings = (issuer, registry, TrustConfig::default());
    Member::start(Place::bind().await, roles, settings).await
}

/// A clinic that issues, verifies, keeps people's cards and runs the registry, and `N` pharmacies that verify.
pub async fn clinic_and_pharmacies<const N: usize>() -> (Member, [Member; N]) {
    let place = Place::bind().await;
    let mut places = Vec::new();
    for _ in 0..N {
        places.push(Place::bind().await);
    }
    let roles = Roles {
        issuer: true,
        verifier: true,
        wallet: true,
        registry: true,
    };
    let registry = RegistryConfig::Embedded {
        name: "test".to_owned(),
        witnesses: Vec::new(),
    };
    let trust = TrustConfig {
        origins: places.iter().map(|place| place.origin.clone()).collect(),
        ..TrustConfig::default()
    };
    let settings = (IssuerConfig::default(), registry, trust);
    let clinic = Member::start(place, roles, settings).await;
    let mut pharmacies = Vec::new();
    for place in places {
        pharmacies.push(Member::pharmacy(place, &clinic).await);
    }
    (clinic, pharmacies.try_into().ok().unwrap())
}

impl Member {
    async fn pharmacy(place: Place, clinic: &Self) -> Self {
        let roles = Roles {
            verifier: true,
            wallet: true,
            ..NO_ROLES
        };
        let registry = RegistryConfig::Remote {
            nodes: vec![RegistryNode {
                origin: clinic.origin.clone(),
                token: "unused".to_owned().into(),
            }],
            pin: None,
            standstill: STANDSTILL,
            witnesses: WitnessQuorum::default(),
        };
        let trust = TrustConfig {
            issuers: vec![
                clinic
                    .app
                    .main()
                    .issuer()
                    .unwrap()
                    .identity()
                    .did()
                    .to_string(),
            ],
            origins: vec![clinic.origin.clone()],
            ..TrustConfig::default()
        };
        let settings = (IssuerConfig::default(), registry, trust);
        let pharmacy = Self::start(place, roles, settings).await;
        let verifier = pharmacy.app.main().verifier().unwrap();
        assert_eq!(verifier.identity().did().method(), "selfsame");
        pharmacy
    }

    async fn start(
        place: Place,
        roles: Roles,
        (issuer, registry, trust): (IssuerConfig, RegistryConfig, TrustConfig),
    ) -> Self {
        let Place { listener, origin } = place;
        let config = Config {
            origin: origin.clone(),
            roles,
            issuer,
            verifier: VerifierConfig {
                did_method: Some(DidMethod::of(&selfsame_did::selfsame::METHOD)),
                ..VerifierConfig::default()
            },
            wallet: WalletConfig::default(),
            trust,
            registry,
            resolver: ResolverConfig::default(),
            organisations: selfsame_core::config::OrganisationsConfig::default(),
            agents: Vec::new(),
        };
        let memory = Arc::<Slow>::default();
        let app = opened(&config, &memory).await;
        let faults = Arc::new(Faults::default());
        serve(listener, app.clone(), faults.clone());
        app.start().await.unwrap();
        Self {
            app,
            faults,
            origin,
            config,
            memory,
        }
    }

    /// Opens the same records in the next process.
    pub async fn reopened(&self) -> Arc<App> {
        let app = opened(&self.config, &self.memory).await;
        app.start().await.unwrap();
        app
    }

    /// Opens the same records with another DID for its requests.
    pub async fn reopened_as(&self, client_did: NamedDid) -> Arc<App> {
        let mut config = self.config.clone();
        config.verifier.client_did = client_did;
        opened(&config, &self.memory).await
    }

    /// Delegates this action on prescriptions to a pharmacy.
    pub async fn delegate(&self, to: &Self, action: &str) -> Delegation {
        let issuer = self.app.main().issuer().unwrap();
        issuer.delegate(&to.wants(action)).await.unwrap()
    }

    /// A delegation of this action on prescriptions, to this member.
    pub fn wants(&self, action: &str) -> NewDelegation {
        NewDelegation {
            to: self.did(),
            action: action.to_owned(),
            types: vec!["prescription".to_owned()],
            until: None,
        }
    }

    pub fn did(&self) -> String {
        let verifier = self.app.main().verifier().unwrap();
        verifier.identity().did().to_string()
    }

    /// Issues a prescription to a person.
    pub async fn prescribe(&self, person: &Person) {
        let new = new_offer("prescription", "dc+sd-jwt");
        let issuer = self.app.main().issuer().unwrap();
        let offer = issuer.create_offer(&new).await.unwrap();
        let wallet = self.app.wallet().unwrap();
        wallet.accept_offer(person, &accept(&offer)).await.unwrap();
    }

    /// Requests a prescription; returns the request's id and link.
    pub async fn ask(&self, new: NewRequest) -> (String, String) {
        let new = NewRequest {
            type_id: Some("prescription".to_owned()),
            max_status_age: Some(0),
            ..new
        };
        let made = self
            .app
            .main()
            .verifier()
            .unwrap()
            .create_request(&new)
            .await;
        let made = made.unwrap();
        (made.id, made.uri)
    }
}

async fn opened(config: &Config, memory: &Arc<Slow>) -> Arc<App> {
    let ledger = config
        .roles
        .registry
        .then(|| Arc::new(MemoryLedger::new()) as _);
    open_with(config.clone(), &config.trust.origins, memory, ledger).await
}

/// An answer with the newest card.
pub fn newest(uri: &str) -> AnswerRequest {
    AnswerRequest {
        request: uri.to_owned(),
        cards: Default::default(),
        policy: Some("newest".to_owned()),
    }
}
