//! Two processes on one database whose clocks are 30 seconds apart: any of them serves any step, and what one has used up
//! stays used up.

#![expect(
    clippy::disallowed_methods,
    reason = "a forwarder opens its own connections"
)]

#[path = "../../selfsame-postgres/tests/server/server.rs"]
mod postgres_server;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use postgres_server::Server;
use selfsame_app::config::{Config, Roles};
use selfsame_app::{App, Parts};
use selfsame_core::config::{OrganisationsConfig, ResolverConfig, TrustConfig};
use selfsame_crypto::SecretString;
use selfsame_crypto::seal::SealingKey;
use selfsame_driver::clock::Clock;
use selfsame_ledger::config::RegistryConfig;
use selfsame_net::{Net, Settings};
use selfsame_openid::config::{IssuerConfig, VerifierConfig};
use selfsame_openid::view::issuer::NewOffer;
use selfsame_openid::view::verifier::{NewRequest, RequestState};
use selfsame_postgres::{Address, Company, Postgres};
use selfsame_store::{Batch, Expect, Put, Store, StoreError, TenantId, Vault};
use selfsame_wallet::config::WalletConfig;
use selfsame_wallet::view::{AcceptOffer, AnswerRequest, Person};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use url::Url;

/// How far apart the clocks are.
const APART: u64 = 30;

/// A process: its instance, and its own view of the records.
struct Replica {
    app: Arc<App>,
    store: Store,
    port: u16,
}

/// Starts a process whose clock is this many seconds ahead.
async fn replica(database: &str, origin: &Url, ahead: u64) -> Replica {
    let clock = Arc::new(OnceLock::<Clock>::new());
    let ticking = clock.clone();
    let now = move || {
        let clock = ticking.get().cloned().unwrap_or_default();
        clock.now()
    };
    let address = Address::parse(database).unwrap();
    let backend = Postgres::open(&address, 4, Company::Shared).await.unwrap();
    let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
    let store = Store::open_with_clock(Arc::new(backend), vault, Arc::new(now));
    let store = store.await.unwrap();
    let settings = Settings {
        own_origins: vec![origin.origin()],
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
    let (app, _) = App::open(config(origin), parts).await.unwrap();
    app.clock().set_ahead(ahead);
    clock.set(app.clock().clone()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let settings = selfsame_server::ServerSettings::default();
    let served = selfsame_server::serve(listener, app.clone(), settings, std::future::pending());
    tokio::spawn(served);
    app.start().await.unwrap();
    Replica { app, store, port }
}

fn config(origin: &Url) -> Config {
    Config {
        origin: origin.clone(),
        roles: Roles {
            registry: false,
            ..Roles::ALL
        },
        issuer: IssuerConfig::default(),
        verifier: VerifierConfig::default(),
        wallet: WalletConfig::default(),
        trust: TrustConfig::default(),
        registry: RegistryConfig::None,
        resolver: ResolverConfig::default(),
        organisations: OrganisationsConfig::default(),
        agents: Vec::new(),
    }
}

/// Both processes behind one address, which gives each connection to the next one.
async fn replicas(database: &str) -> [Replica; 2] {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let origin: Url = format!("http://127.0.0.1:{port}/").parse().unwrap();
    let replicas = [
        replica(database, &origin, 0).await,
        replica(database, &origin, APART).await,
    ];
    let ports = [replicas[0].port, replicas[1].port];
    tokio::spawn(async move {
        let turn = AtomicUsize::new(0);
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let port = ports[turn.fetch_add(1, Ordering::Relaxed) % 2];
            tokio::spawn(async move {
                let mut server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                let _closed = copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    replicas
}

/// Offers by one process, accepts and answers by another one, and verifies by a third.
async fn cycle(person: &Person, [issuer, wallet, verifier]: [&Arc<App>; 3]) {
    let new: NewOffer =
        serde_json::from_value(serde_json::json!({"type": "immunization", "examples": true}))
            .unwrap();
    let issuer = issuer.main();
    let offer = issuer.issuer().unwrap().create_offer(&new).await.unwrap();
    let accept = AcceptOffer {
        offer: offer.uri,
        tx_code: None,
        did: None,
        copies: None,
    };
    let wallet = wallet.wallet().unwrap();
    wallet.accept_offer(person, &accept).await.unwrap();
    let verifier = verifier.main();
    let verifier = verifier.verifier().unwrap();
    let request = NewRequest {
        type_id: Some("immunization".to_owned()),
        ..NewRequest::default()
    };
    let request = verifier.create_request(&request).await.unwrap();
    let preview = wallet.preview_request(person, &request.uri).await.unwrap();
    let answer = AnswerRequest {
        request: preview.id,
        cards: Default::default(),
        policy: Some("newest".to_owned()),
    };
    let answered = wallet.answer_request(person, &answer).await.unwrap();
    assert!(answered.delivered);
    let status = verifier.request(&request.id).await.unwrap();
    assert_eq!(status.state, RequestState::Answered);
    let verdict = serde_json::to_value(&status).unwrap();
    assert_eq!(verdict["verdict"]["outcome"], "valid", "{verdict}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_step_succeeds_at_each_of_two_processes_whose_clocks_are_thirty_seconds_apart() {
    let replicas = replicas(&Server::shared().fresh()).await;
    let [slow, fast] = replicas.each_ref().map(|replica| &replica.app);
    assert_eq!(fast.clock().now().seconds_since(slow.clock().now()), APART);
    let accounts = slow.wallet().unwrap().accounts();
    let password = SecretString::from("correct horse battery".to_owned());
    let session = accounts.register("anna@example.org", password).await;
    let token = session.unwrap().token;
    let person = fast.wallet().unwrap().accounts().person(&token).await;
    let person = person.unwrap();
    for issuer in [slow, fast] {
        for wallet in [slow, fast] {
            for verifier in [slow, fast] {
                cycle(&person, [issuer, wallet, verifier]).await;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_used_up_by_the_clock_behind_is_not_forgotten_by_the_process_ahead() {
    let [slow, fast] = replicas(&Server::shared().fresh()).await;
    let tenant = TenantId::parse("issuer").unwrap();
    // By the clock ahead it has expired; by the other one it is valid for some more seconds.
    let until = slow.app.clock().now().plus(APART / 2);
    let spent = Put::new("nonce", "one", Vec::new()).expires(until);
    slow.store
        .commit(Batch::new(tenant.clone()).put(spent))
        .await
        .unwrap();
    let seen = fast.store.read(&tenant, "nonce", "one").await.unwrap();
    assert!(seen.is_none());
    // The process ahead has looked for what has expired several times meanwhile.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let again = Put::new("nonce", "one", Vec::new()).expires(until);
    let again = Batch::new(tenant.clone())
        .expect("nonce", "one", Expect::Absent)
        .put(again);
    let refused = slow.store.commit(again).await;
    assert!(
        matches!(refused, Err(StoreError::Conflict { .. })),
        "{refused:?}"
    );
}
