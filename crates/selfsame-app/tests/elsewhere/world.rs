//! An instance that uses a stand-in for a cheqd network.

use std::sync::Arc;

use selfsame_app::config::{Config, Roles};
use selfsame_app::{App, Parts};
use selfsame_core::config::{ResolverConfig, TrustConfig};
use selfsame_core::view::NewDid;
use selfsame_crypto::seal::SealingKey;
use selfsame_did::{Did, Options, Resolution};
use selfsame_ledger::config::RegistryConfig;
use selfsame_net::{Net, Settings};
use selfsame_openid::config::{IssuerConfig, VerifierConfig};
use selfsame_store::{Memory, Store, Vault};
use selfsame_testkit::cheqd::Cheqd;
use selfsame_wallet::config::WalletConfig;
use serde_json::{Value, json};

pub const DID: &str = "did:cheqd:testnet:c1685ca0-1f5b-439c-8eb8-5c0e85ab7cd0";
/// From the example document of cheqd's resolver.
const MULTIKEY: &str = "z6Mkjhidm3FJxUo4FekqyhXGMqrDLnrw9NtuzfmGQ61UXW1e";

pub struct World {
    pub cheqd: Cheqd,
    pub app: Arc<App>,
    store: Store,
    config: Config,
}

impl World {
    /// Starts with the stand-in's resolver and registrar.
    pub async fn start() -> Self {
        Self::with(|cheqd, resolver| {
            resolver.cheqd = Some(cheqd.address());
            resolver.cheqd_registrar = Some(cheqd.address());
        })
        .await
    }

    /// Starts with other settings.
    pub async fn with(settings: impl FnOnce(&Cheqd, &mut ResolverConfig)) -> Self {
        let cheqd = Cheqd::start().await;
        let mut resolver = ResolverConfig::default();
        settings(&cheqd, &mut resolver);
        let config = config(resolver);
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let store = Store::open(Arc::new(Memory::new()), vault).await.unwrap();
        let app = open(&config, &store).await;
        Self {
            cheqd,
            app,
            store,
            config,
        }
    }

    /// Ends the process; another one opens its records.
    pub async fn restart(&mut self) {
        self.app.stop().await;
        self.app = open(&self.config, &self.store).await;
    }

    pub async fn resolve(&self, did: &str) -> Arc<Resolution> {
        self.resolve_at(did, &Options::default()).await
    }

    pub async fn resolve_at(&self, did: &str, options: &Options) -> Arc<Resolution> {
        self.app.resolve(&Did::parse(did).unwrap(), options).await
    }

    /// Waits until the outbox is empty; its worker must run.
    pub async fn settle(&self) {
        for _ in 0..1_200 {
            let status = self.app.status().await.unwrap();
            if status.outbox_waiting == 0 {
                return;
            }
            self.app.clock().advance(30);
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        panic!("the outbox does not empty");
    }
}

pub fn new() -> NewDid {
    NewDid {
        method: "cheqd".to_owned(),
        kind: None,
    }
}

/// A document as the network stores it.
pub fn document(did: &str) -> Value {
    json!({
        "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/suites/ed25519-2020/v1"],
        "id": did,
        "controller": [did],
        "verificationMethod": [{
            "id": format!("{did}#key-1"),
            "type": "Ed25519VerificationKey2020",
            "controller": did,
            "publicKeyMultibase": MULTIKEY,
        }],
        "authentication": [format!("{did}#key-1")],
    })
}

pub fn config(resolver: ResolverConfig) -> Config {
    Config {
        origin: "http://127.0.0.1:9/".parse().unwrap(),
        roles: Roles {
            issuer: false,
            wallet: false,
            verifier: false,
            registry: false,
        },
        issuer: IssuerConfig::default(),
        verifier: VerifierConfig::default(),
        wallet: WalletConfig::default(),
        trust: TrustConfig::default(),
        registry: RegistryConfig::None,
        resolver,
        organisations: selfsame_core::config::OrganisationsConfig::default(),
        agents: Vec::new(),
    }
}

pub async fn open(config: &Config, store: &Store) -> Arc<App> {
    let settings = Settings {
        own_origins: config
            .resolver
            .addresses()
            .chain(&config.trust.origins)
            .map(|url| url.origin())
            .collect(),
        native_roots: false,
        ..Settings::default()
    };
    let parts = Parts {
        store: store.clone(),
        net: Net::new(settings).unwrap(),
        ledger: None,
        hsm: None,
        book_index: None,
    };
    App::open(config.clone(), parts).await.unwrap().0
}
