//! Many credentials issued and presented in one instance over HTTP: temporary records leave nothing behind.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use selfsame_app::config::{Config, Roles};
use selfsame_app::{App, Parts};
use selfsame_core::config::{ResolverConfig, TrustConfig};
use selfsame_crypto::SecretString;
use selfsame_crypto::seal::SealingKey;
use selfsame_driver::clock::Clock;
use selfsame_ledger::config::RegistryConfig;
use selfsame_net::{Net, Settings};
use selfsame_openid::config::{IssuerConfig, VerifierConfig};
use selfsame_openid::view::issuer::NewOffer;
use selfsame_openid::view::verifier::{NewRequest, RequestState};
use selfsame_store::ledger::{LedgerStore, MemoryLedger};
use selfsame_store::{MAX_PAGE, Memory, Page, Store, TenantId, Vault};
use selfsame_wallet::config::WalletConfig;
use selfsame_wallet::view::{AcceptOffer, AnswerRequest, Person};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

const CYCLES: usize = 500;
const PEOPLE: usize = 10;
/// How long a nonce is valid.
const NONCE_SECONDS: u64 = 300;

/// A whole instance, behind the real server, whose records expire by its own clock.
async fn instance() -> (Arc<App>, Store) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let origin: url::Url = format!("http://127.0.0.1:{port}/").parse().unwrap();
    let clock = Arc::new(OnceLock::<Clock>::new());
    let ticking = clock.clone();
    let now = move || {
        ticking
            .get()
            .map_or_else(|| Clock::default().now(), Clock::now)
    };
    let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
    let store = Store::open_with_clock(Arc::new(Memory::new()), vault, Arc::new(now));
    let store = store.await.unwrap();
    let settings = Settings {
        own_origins: vec![origin.origin()],
        native_roots: false,
        ..Settings::default()
    };
    let config = Config {
        origin,
        roles: Roles::ALL,
        issuer: IssuerConfig::default(),
        verifier: VerifierConfig::default(),
        wallet: WalletConfig::default(),
        trust: TrustConfig::default(),
        registry: RegistryConfig::Embedded {
            name: "test".to_owned(),
            witnesses: Vec::new(),
        },
        resolver: ResolverConfig::default(),
        organisations: selfsame_core::config::OrganisationsConfig::default(),
        agents: Vec::new(),
    };
    let parts = Parts {
        store: store.clone(),
        net: Net::new(settings).unwrap(),
        ledger: Some(Arc::new(MemoryLedger::new()) as Arc<dyn LedgerStore>),
        hsm: None,
        book_index: None,
    };
    let (app, _) = App::open(config, parts).await.unwrap();
    clock.set(app.clock().clone()).unwrap();
    let settings = selfsame_server::ServerSettings::default();
    let served = selfsame_server::serve(listener, app.clone(), settings, std::future::pending());
    tokio::spawn(served);
    app.start().await.unwrap();
    (app, store)
}

/// One credential issued, and presented.
async fn cycle(app: &Arc<App>, person: &Person) {
    let new: NewOffer =
        serde_json::from_value(serde_json::json!({"type": "immunization", "examples": true}))
            .unwrap();
    let offer = app
        .main()
        .issuer()
        .unwrap()
        .create_offer(&new)
        .await
        .unwrap();
    let accept = AcceptOffer {
        offer: offer.uri,
        tx_code: None,
        did: None,
        copies: None,
    };
    let wallet = app.wallet().unwrap();
    wallet.accept_offer(person, &accept).await.unwrap();
    let verifier = app.main().verifier().unwrap();
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
}

/// How many records of a kind can be read.
async fn count(store: &Store, tenant: &TenantId, kind: &str) -> usize {
    let page = Page::first(MAX_PAGE);
    store.list(tenant, kind, &page).await.unwrap().len()
}

/// Temporary records, by the tenant that holds them.
async fn passing(store: &Store, people: &[Person]) -> Vec<(String, usize)> {
    let tenant = |name| TenantId::parse(name).unwrap();
    let mut counts = Vec::new();
    for (name, kind) in [
        ("issuer", "nonce"),
        ("issuer", "grant"),
        ("issuer", "offer"),
        ("verifier", "verification"),
    ] {
        counts.push((kind.to_owned(), count(store, &tenant(name), kind).await));
    }
    for kind in ["receiving", "answering", "asked"] {
        let mut all = 0;
        for person in people {
            all += count(store, &person.tenant, kind).await;
        }
        counts.push((kind.to_owned(), all));
    }
    counts
}

fn each(counts: [(&str, usize); 7]) -> Vec<(String, usize)> {
    counts.map(|(kind, count)| (kind.to_owned(), count)).into()
}

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_cycles_leave_the_cards_and_nothing_that_was_for_the_moment() {
    let (app, store) = instance().await;
    let began = app.clock().now();
    let accounts = app.wallet().unwrap().accounts();
    let mut people = Vec::new();
    for number in 0..PEOPLE {
        let password = SecretString::from("correct horse battery".to_owned());
        let email = format!("person-{number}@example.org");
        let session = accounts.register(&email, password).await.unwrap();
        people.push(accounts.person(&session.token).await.unwrap());
    }
    let mut tasks = JoinSet::new();
    for person in people.clone() {
        let app = app.clone();
        tasks.spawn(async move {
            for _ in 0..CYCLES / PEOPLE {
                cycle(&app, &person).await;
            }
        });
    }
    tasks.join_all().await;

    let status = app.status().await.unwrap();
    assert_eq!((status.outbox_waiting, status.outbox_dead), (0, 0));
    // Flows removed their records when they ended; the remaining records expire by time. On a busy machine the first
    // nonces have expired by now.
    let nonces = passing(&store, &people).await[0].1;
    let took = app.clock().now().seconds_since(began);
    assert!(nonces == CYCLES || took >= NONCE_SECONDS, "{nonces}");
    let left = each([
        ("nonce", nonces),
        ("grant", CYCLES),
        ("offer", CYCLES),
        ("verification", CYCLES),
        ("receiving", 0),
        ("answering", 0),
        ("asked", 0),
    ]);
    assert_eq!(passing(&store, &people).await[1..], left[1..]);

    app.clock().advance(8 * 24 * 3600);
    let gone: Vec<(String, usize)> = left.iter().map(|(kind, _)| (kind.clone(), 0)).collect();
    assert_eq!(passing(&store, &people).await, gone);
    // Expired records are not only unreadable: the instance removes them by itself, until none are left.
    let mut purged = u64::MAX;
    for _ in 0..240 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        purged = store.purge_expired(app.clock().now(), 1).await.unwrap();
        if purged == 0 {
            break;
        }
    }
    assert_eq!(purged, 0);
    let issuer = TenantId::parse("issuer").unwrap();
    assert_eq!(count(&store, &issuer, "issued").await, CYCLES);
    let mut cards = 0;
    for person in &people {
        cards += count(&store, &person.tenant, "card").await;
    }
    assert_eq!(cards, CYCLES);
}
