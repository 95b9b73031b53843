//! An instance with webhooks, and a clock that the test advances.

use std::sync::Arc;
use std::time::Duration;

use selfsame_book::news::{BookNews, NEWS};
use selfsame_core::config::{ResolverConfig, SharedConfig, TrustConfig};
use selfsame_core::events::{Event, EventKind};
use selfsame_core::{Resources, Shared};
use selfsame_crypto::seal::SealingKey;
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::Keys;
use selfsame_driver::record::encode;
use selfsame_net::{Net, Settings};
use selfsame_store::{Batch, Memory, Put, Sqlite, Store, TenantId, Vault};
use tokio::sync::watch;

use super::receiver::Receiver;
use super::which;
use crate::endpoint::Endpoint;
use crate::records::ENDPOINT;
use crate::view::{CreatedEndpoint, WebhookDelivery};
use crate::{DeliveryState, Webhooks};

/// How often a test looks again, and how often at most.
const LOOKED_EVERY: Duration = Duration::from_millis(10);
const LOOKS_MAX: u32 = 3_000;

/// The tenant with endpoints.
pub fn owner() -> TenantId {
    TenantId::parse("organisation").unwrap()
}

fn owner_of(tenant: &TenantId) -> Option<TenantId> {
    (tenant.as_str() != "person").then(owner)
}

pub struct World {
    pub webhooks: Webhooks,
    pub clock: Clock,
    shared: Arc<Shared>,
    stopping: watch::Sender<bool>,
    _folder: Option<tempfile::TempDir>,
}

impl World {
    /// An instance in memory that may call these receivers, with its tasks running.
    pub async fn of(receivers: &[&Receiver]) -> Self {
        let world = Self::stopped(receivers).await;
        world.webhooks.start();
        world
    }

    /// The same without its tasks.
    pub async fn stopped(receivers: &[&Receiver]) -> Self {
        let clock = Clock::default();
        let now = clock.clone();
        let clock_fn: selfsame_store::ClockFn = Arc::new(move || now.now());
        let opened = Store::open_with_clock(Arc::new(Memory::default()), vault(), clock_fn);
        Self::with(opened.await.unwrap(), clock, receivers)
    }

    /// The same with a store on disk.
    pub async fn on_disk(receivers: &[&Receiver]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let backend = Sqlite::open(folder.path().join("store.sqlite")).unwrap();
        let store = Store::open(Arc::new(backend), vault()).await.unwrap();
        let mut world = Self::with(store, Clock::default(), receivers);
        world._folder = Some(folder);
        world.webhooks.start();
        world
    }

    fn with(store: Store, clock: Clock, receivers: &[&Receiver]) -> Self {
        let own_origins = receivers.iter().map(|receiver| receiver.url.origin());
        let settings = Settings {
            own_origins: own_origins.collect(),
            native_roots: false,
            ..Settings::default()
        };
        let config = SharedConfig {
            origin: "http://localhost:9/".parse().unwrap(),
            trust: TrustConfig::default(),
            resolver: ResolverConfig::default(),
            organisations: selfsame_core::config::OrganisationsConfig::default(),
        };
        let resources = Resources {
            keys: Keys::new(store.clone()),
            store,
            net: Net::new(settings).unwrap(),
            clock: clock.clone(),
            registry: None,
        };
        let shared = Arc::new(Shared::new(config, resources).unwrap());
        let stopping = watch::channel(false).0;
        Self {
            webhooks: Webhooks::new(shared.clone(), owner_of, stopping.subscribe()),
            clock,
            shared,
            stopping,
            _folder: None,
        }
    }

    /// Ends its tasks.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Another process on the same store.
    pub fn process(&self) -> Webhooks {
        Webhooks::new(self.shared.clone(), owner_of, self.stopping.subscribe())
    }

    pub async fn endpoint(&self, receiver: &Receiver) -> CreatedEndpoint {
        let new = receiver.endpoint();
        self.webhooks.create(&owner(), &new).await.unwrap()
    }

    pub async fn tell(&self, kind: EventKind, id: &str) {
        self.tell_of("organisation", kind, id).await;
    }

    pub async fn tell_of(&self, tenant: &str, kind: EventKind, id: &str) {
        let batch = Batch::new(TenantId::parse(tenant).unwrap());
        let event = Event::new(kind, id);
        self.shared.events.commit(batch, event).await.unwrap();
    }

    /// Tells news of a credential book about an entry.
    pub async fn news(&self, id: &str, news: &BookNews) {
        let put = Put::new(NEWS, id, encode(news).unwrap());
        let batch = Batch::new(owner()).put(put).event(NEWS, id);
        self.shared.store.commit(batch).await.unwrap();
        self.shared.events.wake();
    }

    /// Tells news that can't be read.
    pub async fn unreadable_news(&self, id: &str) {
        let put = Put::new(NEWS, id, b"{}".to_vec());
        let batch = Batch::new(owner()).put(put).event(NEWS, id);
        self.shared.store.commit(batch).await.unwrap();
        self.shared.events.wake();
    }

    /// Stores an endpoint that can't be read.
    pub async fn unreadable_endpoint(&self, id: &str) {
        let put = Put::new(ENDPOINT, id, b"{}".to_vec());
        let batch = Batch::new(owner()).put(put);
        self.shared.store.commit(batch).await.unwrap();
    }

    /// Stores an endpoint as it is.
    pub async fn put_endpoint(&self, id: &str, endpoint: &Endpoint) {
        let put = Put::new(ENDPOINT, id, encode(endpoint).unwrap());
        let batch = Batch::new(owner()).put(put);
        self.shared.store.commit(batch).await.unwrap();
    }

    /// Removes the news about an entry, as its erasure does.
    pub async fn forget_news(&self, id: &str) {
        let batch = Batch::new(owner()).delete(NEWS, id);
        self.shared.store.commit(batch).await.unwrap();
    }

    /// Tells many events of different subjects, a hundred in each commit.
    pub async fn tell_many(&self, many: usize) {
        for hundred in 0..many / 100 {
            let mut batch = Batch::new(owner());
            for one in 1..100 {
                batch = batch.event("issued", &format!("{hundred}-{one}"));
            }
            let event = Event::new(EventKind::Issued, format!("{hundred}-0"));
            self.shared.events.commit(batch, event).await.unwrap();
        }
    }

    pub async fn deliveries(&self, id: &str, state: DeliveryState) -> Vec<WebhookDelivery> {
        let (owner, which) = (owner(), which(state));
        let listed = self.webhooks.deliveries(&owner, id, &which).await;
        listed.unwrap().items
    }

    /// Lets time pass, a minute at a time, so that the tasks notice.
    pub async fn pass_for(&self, seconds: u64) {
        for _ in 0..seconds / 60 {
            self.clock.advance(60);
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Lets time pass until something has happened.
    pub async fn pass_until(&self, happened: impl Fn() -> bool) {
        for _ in 0..LOOKS_MAX {
            if happened() {
                return;
            }
            self.clock.advance(2);
            tokio::time::sleep(LOOKED_EVERY).await;
        }
        panic!("it did not happen in time");
    }
}

fn vault() -> Vault {
    Vault::from_master(SealingKey::from_bytes([7; 32]))
}

/// Waits until something has happened, without letting the clock leap.
pub async fn eventually(happened: impl Fn() -> bool) {
    for _ in 0..LOOKS_MAX {
        if happened() {
            return;
        }
        tokio::time::sleep(LOOKED_EVERY).await;
    }
    panic!("it did not happen in time");
}
