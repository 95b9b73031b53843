//! An instance whose registry's only node lies about a change of a DID: the effect on the key and the record.

use std::sync::{Arc, Mutex};

use selfsame_app::config::{Config, Roles};
use selfsame_app::{App, Parts};
use selfsame_core::config::{ResolverConfig, TrustConfig};
use selfsame_core::view::InstanceDid;
use selfsame_driver::paging::Paging;
use selfsame_ledger::LocalRegistry;
use selfsame_ledger::config::{RegistryConfig, RegistryNode, WitnessQuorum};
use selfsame_ledger::embedded::Embedded;
use selfsame_net::{Net, Settings};
use selfsame_openid::config::{IssuerConfig, VerifierConfig};
use selfsame_registry::Transaction;
use selfsame_store::Store;
use selfsame_testkit::fake_server::{FakeServer, ReceivedRequest, Reply};
use selfsame_wallet::config::WalletConfig;
use tokio::runtime::Handle;
use url::Url;

use crate::dids::new;
use crate::paper::{refused, store};
use crate::witnesses::answer;
use crate::world::World;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Lie {
    None,
    /// It does not submit the transaction, and claims that it was refused for this reason.
    Refuses(&'static str),
    /// It submits the transaction, and claims that it was refused for this reason.
    Denies(&'static str),
    /// It submits the transaction, and sends a useless answer.
    KeepsQuiet,
    /// It answers all reads as if a transaction were refused.
    RefusesReads,
}

/// A registry with a node that lies.
struct Liar {
    registry: Arc<Embedded>,
    late: FakeServer,
    lie: Arc<Mutex<Lie>>,
}

impl Liar {
    async fn start(world: &World) -> Self {
        let (registry, lie) = (
            Arc::new(world.open().await),
            Arc::new(Mutex::new(Lie::None)),
        );
        let (shown, says) = (registry.clone(), lie.clone());
        let answered = move |asked: &ReceivedRequest| {
            let lie = *says.lock().unwrap();
            let honest = || {
                tokio::task::block_in_place(|| Handle::current().block_on(answer(&shown, asked)))
            };
            match (lie, asked.path == "/registry/transactions") {
                (Lie::RefusesReads, false) => refused("did_exists"),
                (Lie::Refuses(code), true) => refused(code),
                (Lie::Denies(code), true) => {
                    honest();
                    refused(code)
                }
                (Lie::KeepsQuiet, true) => {
                    honest();
                    Reply::default()
                }
                _ => honest(),
            }
        };
        let late = FakeServer::start(answered).await.unwrap();
        Self {
            registry,
            late,
            lie,
        }
    }

    fn does(&self, lie: Lie) {
        *self.lie.lock().unwrap() = lie;
    }

    /// An instance on these records that knows only this node.
    async fn instance(&self, store: &Store) -> Arc<App> {
        let origin: Url = self.late.address().parse().unwrap();
        let net = Net::new(Settings {
            own_origins: vec![origin.origin()],
            ..Settings::default()
        });
        let config = Config {
            origin: "http://localhost:7380/".parse().unwrap(),
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
            registry: RegistryConfig::Remote {
                nodes: vec![RegistryNode {
                    origin,
                    token: "unused".to_owned().into(),
                }],
                pin: None,
                standstill: 0,
                witnesses: WitnessQuorum::default(),
            },
            resolver: ResolverConfig::default(),
            organisations: selfsame_core::config::OrganisationsConfig::default(),
            agents: Vec::new(),
        };
        let parts = Parts {
            store: store.clone(),
            net: net.unwrap(),
            ledger: None,
            hsm: None,
            book_index: None,
        };
        App::open(config, parts).await.unwrap().0
    }

    /// The nonces of all transactions in its log.
    fn nonces(&self) -> Vec<u64> {
        let placed = self.registry.ledger().unwrap().transactions(1, 100);
        let nonce = |bytes: &[u8]| Transaction::from_bytes(bytes).unwrap().body().nonce;
        let placed = placed.unwrap().into_iter();
        placed.map(|placed| nonce(&placed.entry.bytes)).collect()
    }
}

/// For the instance and for the registry.
fn a_minute_passes(world: &World, app: &App) {
    world.clock.advance(60);
    app.clock().advance(60);
}

async fn only(app: &App) -> InstanceDid {
    let all = app.dids().list(&Paging::default()).await.unwrap().items;
    assert_eq!(all.len(), 1);
    all.into_iter().next().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_refuses_or_denies_a_change_takes_neither_key_nor_record_away() {
    let world = World::memory().await;
    let (liar, store) = (Liar::start(&world).await, store().await);
    let app = liar.instance(&store).await;
    let made = app.dids().create(&new("selfsame")).await.unwrap();

    liar.does(Lie::Refuses("wrong_version"));
    let error = app.dids().rotate(&made.did).await.unwrap_err();
    assert!(!error.is_refusal(), "{error}");
    assert_eq!(only(&app).await.key, made.key);
    // The pending change is written first, then the next one.
    liar.does(Lie::None);
    a_minute_passes(&world, &app);
    let rotated = app.dids().rotate(&made.did).await.unwrap();
    assert_eq!((rotated.state.as_str(), liar.nonces().len()), ("active", 3));

    for code in ["wrong_version", "nonce_used", "bad_signature"] {
        liar.does(Lie::Denies(code));
        a_minute_passes(&world, &app);
        let before = only(&app).await.key;
        let rotated = app.dids().rotate(&made.did).await.unwrap();
        assert_ne!(rotated.key, before, "{code}");
    }
    liar.does(Lie::None);
    a_minute_passes(&world, &app);
    app.dids().rotate(&made.did).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_refuses_to_be_read_undoes_no_change_that_was_written() {
    let world = World::memory().await;
    let (liar, store) = (Liar::start(&world).await, store().await);
    let app = liar.instance(&store).await;
    let made = app.dids().create(&new("selfsame")).await.unwrap();
    liar.does(Lie::KeepsQuiet);
    app.dids().rotate(&made.did).await.unwrap_err();
    assert_eq!(liar.nonces().len(), 2, "it is written");
    drop(app);

    // Nothing about the network is known when the pending change is finished.
    liar.does(Lie::RefusesReads);
    let app = liar.instance(&store).await;
    let error = app.dids().rotate(&made.did).await.unwrap_err();
    assert!(!error.is_refusal(), "{error}");
    liar.does(Lie::None);
    a_minute_passes(&world, &app);
    let rotated = app.dids().rotate(&made.did).await.unwrap();
    assert_ne!(rotated.key, made.key);
    assert_eq!(liar.nonces().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_nonce_of_a_change_is_random_so_that_one_which_came_to_nothing_stands_in_no_ones_way() {
    let world = World::memory().await;
    let (liar, store) = (Liar::start(&world).await, store().await);
    let app = liar.instance(&store).await;
    let made = app.dids().create(&new("selfsame")).await.unwrap();
    app.dids().rotate(&made.did).await.unwrap();
    app.dids().deactivate(&made.did).await.unwrap();
    let other = app.dids().create(&new("selfsame")).await.unwrap();
    app.dids().rotate(&other.did).await.unwrap();
    let [_, rotation, end, _, second] = liar.nonces()[..] else {
        panic!("five transactions");
    };
    assert!(rotation != second && rotation != end);
    // A random nonce is as small as a version with probability 2⁻³²; three in a row are not chance.
    for nonce in [rotation, end, second] {
        assert!(nonce > u64::from(u32::MAX), "{nonce}");
    }
}
