//! The suite: envelopes that wait, and the lines that they go back on, in one process and in two. It runs on every back end.

use std::sync::Arc;
use std::time::Duration;

use selfsame_aries::key::VerKey;
use selfsame_core::config::{OrganisationsConfig, ResolverConfig, SharedConfig, TrustConfig};
use selfsame_core::{Resources, Shared};
use selfsame_crypto::KeyType;
use selfsame_crypto::PrivateKey;
use selfsame_crypto::seal::SealingKey;
use selfsame_driver::ErrorKind;
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::Keys;
use selfsame_mediation::Mediation;
use selfsame_mediation::keys::{create, forget_routes, held};
use selfsame_mediation::line::{ReturnLine, Returning};
use selfsame_mediation::mailbox::Mailbox;
use selfsame_mediation::queue::NewEnvelope;
use selfsame_mediation::terms::MediationTerms;
use selfsame_net::{Net, Settings};
use selfsame_store::backend::Backend;
use selfsame_store::{Store, TenantId, Vault};

const PATIENCE: Duration = Duration::from_secs(60);

/// A store on this back end.
pub async fn store(backend: Arc<dyn Backend>) -> Store {
    let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
    Store::open(backend, vault).await.unwrap()
}

/// A process on this store.
fn process(store: &Store, clock: &Clock) -> Mediation {
    let config = SharedConfig {
        origin: "http://localhost:9/".parse().unwrap(),
        trust: TrustConfig::default(),
        resolver: ResolverConfig::default(),
        organisations: OrganisationsConfig::default(),
    };
    let settings = Settings {
        native_roots: false,
        ..Settings::default()
    };
    let resources = Resources {
        keys: Keys::new(store.clone()),
        store: store.clone(),
        net: Net::new(settings).unwrap(),
        clock: clock.clone(),
        registry: None,
    };
    Mediation::new(Arc::new(Shared::new(config, resources).unwrap()))
}

fn agent() -> TenantId {
    TenantId::parse("clinic").unwrap()
}

fn key() -> VerKey {
    let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
    VerKey::new(key.public().clone()).unwrap()
}

/// Puts an envelope into the mailbox of this key.
async fn add(
    mediation: &Mediation,
    to: &VerKey,
    text: &str,
    terms: &MediationTerms,
) -> Result<(), selfsame_driver::Error> {
    let new = NewEnvelope {
        mailbox: Mailbox::OfKey(to.clone()),
        to: to.clone(),
        thread: Some(format!("thread of {text}")),
        envelope: text.as_bytes().to_vec(),
    };
    let queued = mediation.queue.add(&agent(), new, terms).await?;
    let events = &mediation.shared.events;
    events.commit(queued.batch, queued.event).await?;
    Ok(())
}

/// Opens a line for this key by a message with this identifier.
async fn opened(mediation: &Mediation, key: &VerKey, message_id: &str) -> (ReturnLine, bool) {
    let mut line = ReturnLine::new(mediation.clone(), true);
    let tenant = agent();
    let returning = Returning {
        tenant: &tenant,
        sender: key,
        message_id,
        mailboxes: vec![Mailbox::OfKey(key.clone())],
        thread: None,
        terms: &MediationTerms::default(),
    };
    let is_open = line.open(returning).await.unwrap();
    (line, is_open)
}

async fn next(line: &mut ReturnLine) -> String {
    let returned = tokio::time::timeout(PATIENCE, line.next()).await;
    let returned = returned.unwrap().unwrap();
    let text = String::from_utf8(returned.bytes.clone()).unwrap();
    line.returned(returned).await.unwrap();
    text
}

pub async fn what_waits_goes_back_in_order_and_once(store: Store) {
    let mediation = process(&store, &Clock::default());
    let (key, terms) = (key(), MediationTerms::default());
    for text in ["first", "second"] {
        add(&mediation, &key, text, &terms).await.unwrap();
    }
    let (mut line, _) = opened(&mediation, &key, "1").await;
    assert_eq!(next(&mut line).await, "first");
    assert_eq!(next(&mut line).await, "second");
    let mailbox = Mailbox::OfKey(key.clone());
    let waiting = mediation.queue.waiting(&agent(), &mailbox).await.unwrap();
    assert!(waiting.is_empty());
    add(&mediation, &key, "third", &terms).await.unwrap();
    assert_eq!(next(&mut line).await, "third");
}

pub async fn an_envelope_that_did_not_go_back_waits_on(store: Store) {
    let mediation = process(&store, &Clock::default());
    let key = key();
    add(&mediation, &key, "letter", &MediationTerms::default())
        .await
        .unwrap();
    let (mut line, _) = opened(&mediation, &key, "1").await;
    let handed = line.next().await.unwrap();
    let (mut other, _) = opened(&mediation, &key, "2").await;
    let meanwhile = tokio::time::timeout(Duration::from_millis(200), other.next());
    assert!(meanwhile.await.is_err(), "one line at a time hands it out");
    let waiting = tokio::spawn(async move { next(&mut other).await });
    drop(handed);
    assert_eq!(waiting.await.unwrap(), "letter");
}

pub async fn a_peer_that_is_connected_to_one_process_gets_what_another_one_took(store: Store) {
    let clock = Clock::default();
    let (here, there) = (process(&store, &clock), process(&store, &clock));
    let key = key();
    let (mut line, _) = opened(&here, &key, "1").await;
    let waiting = tokio::spawn(async move { next(&mut line).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    add(&there, &key, "letter", &MediationTerms::default())
        .await
        .unwrap();
    assert_eq!(waiting.await.unwrap(), "letter");
}

pub async fn a_copy_of_a_message_opens_no_way_back(store: Store) {
    let mediation = process(&store, &Clock::default());
    let (owner, other) = (key(), key());
    assert!(opened(&mediation, &owner, "1").await.1);
    let (line, is_open) = opened(&mediation, &owner, "1").await;
    assert!(!is_open && !line.is_open());
    assert!(opened(&mediation, &other, "1").await.1);
}

pub async fn a_line_for_one_thread_leaves_the_others_in_the_queue(store: Store) {
    let mediation = process(&store, &Clock::default());
    let key = key();
    for text in ["a", "b", "c"] {
        add(&mediation, &key, text, &MediationTerms::default())
            .await
            .unwrap();
    }
    let (mut line, tenant) = (ReturnLine::new(mediation.clone(), false), agent());
    let returning = Returning {
        tenant: &tenant,
        sender: &key,
        message_id: "1",
        mailboxes: vec![Mailbox::OfKey(key.clone())],
        thread: Some("thread of b"),
        terms: &MediationTerms {
            return_wait: Duration::from_millis(100),
            ..MediationTerms::default()
        },
    };
    assert!(line.open(returning).await.unwrap());
    assert_eq!(line.soon().await.unwrap(), Some(b"b".to_vec()));
    assert_eq!(line.soon().await.unwrap(), None);
}

pub async fn a_peer_has_its_room_and_all_have_theirs(store: Store) {
    let mediation = process(&store, &Clock::default());
    let terms = MediationTerms {
        each: 2,
        each_bytes: 10,
        all: 3,
        ..MediationTerms::default()
    };
    let full = |added: Result<(), selfsame_driver::Error>| {
        added.is_err_and(|error| error.kind == ErrorKind::Full)
    };
    let (first, second, third) = (key(), key(), key());
    assert!(full(add(&mediation, &first, "eleven char", &terms).await));
    add(&mediation, &first, "12345", &terms).await.unwrap();
    assert!(full(add(&mediation, &first, "123456", &terms).await));
    add(&mediation, &first, "1", &terms).await.unwrap();
    assert!(full(add(&mediation, &first, "2", &terms).await));
    add(&mediation, &second, "1", &terms).await.unwrap();
    assert!(full(add(&mediation, &third, "1", &terms).await));
}

pub async fn what_waits_too_long_is_gone(store: Store) {
    let clock = Clock::default();
    let terms = MediationTerms::default();
    let mediation = process(&store, &clock);
    let key = key();
    add(&mediation, &key, "letter", &terms).await.unwrap();
    let until = clock.now().plus(terms.kept_seconds + 1);
    store.purge_expired(until, 10).await.unwrap();
    let mailbox = Mailbox::OfKey(key);
    let waiting = mediation.queue.waiting(&agent(), &mailbox).await.unwrap();
    assert!(waiting.is_empty());
}

pub async fn a_mailbox_has_room_again_when_what_waits_has_gone(store: Store) {
    let mediation = process(&store, &Clock::default());
    let terms = MediationTerms {
        each: 3,
        ..MediationTerms::default()
    };
    let key = key();
    for text in ["a", "b", "c"] {
        add(&mediation, &key, text, &terms).await.unwrap();
    }
    let more = add(&mediation, &key, "d", &terms).await.unwrap_err();
    assert_eq!(more.kind, ErrorKind::Full);
    let (mut line, _) = opened(&mediation, &key, "1").await;
    assert_eq!(next(&mut line).await, "a");
    add(&mediation, &key, "e", &terms).await.unwrap();
    for text in ["b", "c", "e"] {
        assert_eq!(next(&mut line).await, text);
    }
}

pub async fn the_routes_to_the_keys_of_an_erased_agent_are_removed(store: Store) {
    let mediation = process(&store, &Clock::default());
    let [erased, kept] = ["clinic", "holder"].map(|name| TenantId::parse(name).unwrap());
    let mut keys = Vec::new();
    for tenant in [&erased, &kept] {
        let (key, writes) = create(&mediation.shared, tenant).unwrap();
        store.commit(writes).await.unwrap();
        keys.push(key.to_base58());
    }
    assert!(forget_routes(&store, &erased).await.unwrap());
    let [gone, there] = [&keys[..1], &keys[1..]];
    assert!(held(&mediation.shared, gone).await.unwrap().is_none());
    let found = held(&mediation.shared, there).await.unwrap().unwrap();
    assert_eq!(found.tenant, kept);
}
