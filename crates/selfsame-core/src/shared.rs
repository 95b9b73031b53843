//! The parts that every use case needs: store, network, keys, clock, events, and the trust settings.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use async_trait::async_trait;
use selfsame_crypto::seal::SealingKey;
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::{Keys, instance_key};
use selfsame_driver::{CpuPool, Error, Result};
use selfsame_net::Net;
use selfsame_store::{Batch, Leased, Store};
use url::Url;

use crate::config::SharedConfig;
use crate::fetches::Fetches;
use crate::host_cache::HostCache;
use crate::registry::RegistryClient;
use crate::resolver::Resolver;
use crate::trust::Trust;
use selfsame_driver::record::events::Events;

/// A machine as the outbox knows it: by its name in entries, whatever its protocol.
#[async_trait]
pub trait Correspondent: Send + Sync {
    /// The name.
    fn name(&self) -> &'static str;

    /// Carries out the call of an entry, whose lease the caller holds, and takes the step that its answer leads to.
    async fn carry_out(self: Arc<Self>, shared: &Arc<Shared>, leased: &Leased) -> Result<()>;

    /// The batch that buries the entry, and ends what depended on it.
    async fn given_up(&self, shared: &Shared, leased: &Leased, error: &Error) -> Result<Batch>;
}

/// The parts that the roles of one process share.
pub struct Shared {
    /// Its configuration.
    pub config: SharedConfig,
    /// Its records.
    pub store: Store,
    /// Its outbound calls.
    pub net: Net,
    /// Its keys.
    pub keys: Keys,
    /// Its time and randomness.
    pub clock: Clock,
    /// Its events.
    pub events: Events,
    /// Its pool for long computations.
    pub work: CpuPool,
    /// Its pool for parsing input from outside and from people.
    pub reading: CpuPool,
    /// Its registry, in this process or remote.
    pub registry: Option<Arc<dyn RegistryClient>>,
    /// Its DID resolver.
    pub resolver: Resolver,
    /// Caches of what verification fetches.
    pub(crate) fetched: Fetches,
    /// Which organisations have host names.
    pub(crate) hosts: HostCache,
    /// The parties it trusts.
    pub trust: Trust,
    /// The machines that get answers to calls; set once the roles exist, which own them.
    pub(crate) correspondents: OnceLock<Vec<Weak<dyn Correspondent>>>,
    /// The symmetric keys of the instance that were needed, by purpose; a key never changes.
    instance_keys: Mutex<HashMap<&'static str, SealingKey>>,
}

/// What the parts of an instance are made from.
pub struct Resources {
    /// Its records.
    pub store: Store,
    /// Its outbound calls.
    pub net: Net,
    /// Its keys.
    pub keys: Keys,
    /// Its time and randomness.
    pub clock: Clock,
    /// Its registry, in this process or remote.
    pub registry: Option<Arc<dyn RegistryClient>>,
}

impl Shared {
    /// The parts of an instance with these settings.
    ///
    /// # Errors
    /// `BadRequest` for settings that cannot work; `Internal` if no threads can be started.
    pub fn new(config: SharedConfig, resources: Resources) -> Result<Self> {
        let Resources {
            store,
            net,
            keys,
            clock,
            registry,
        } = resources;
        let trust = Trust::of(&config.trust)?;
        config.resolver.check(&config.trust)?;
        crate::contexts::settle(&config.trust.contexts)?;
        let reading = CpuPool::new("reading")?;
        Ok(Self {
            resolver: Resolver::new(net.clone(), registry.clone(), reading.clone(), &config),
            registry,
            keys,
            events: Events::new(store.clone()),
            store,
            net,
            clock,
            work: CpuPool::new("work")?,
            reading,
            fetched: Fetches::default(),
            hosts: HostCache::default(),
            trust,
            correspondents: OnceLock::new(),
            instance_keys: Mutex::default(),
            config,
        })
    }

    /// Sets the machines that get answers to calls, once, since their owners are made after this.
    pub fn set_correspondents<'a>(&self, all: impl Iterator<Item = &'a Arc<dyn Correspondent>>) {
        let _ = self.correspondents.set(all.map(Arc::downgrade).collect());
    }

    /// A symmetric key of the instance for one purpose, created at its first use.
    ///
    /// # Errors
    /// The store's.
    pub async fn instance_key(&self, purpose: &'static str) -> Result<SealingKey> {
        let known = || {
            let keys = self.instance_keys.lock();
            keys.unwrap_or_else(PoisonError::into_inner)
        };
        if let Some(key) = known().get(purpose) {
            return Ok(key.clone());
        }
        let key = instance_key(&self.store, &self.clock, purpose).await?;
        known().insert(purpose, key.clone());
        Ok(key)
    }

    /// The registry.
    ///
    /// # Errors
    /// `BadRequest` if this instance has none.
    pub fn own_registry(&self) -> Result<&Arc<dyn RegistryClient>> {
        self.registry
            .as_ref()
            .ok_or_else(|| Error::bad_request("registry-absent"))
    }
}

/// The URL of a document below an origin.
pub fn below(origin: &Url, path: &str) -> Result<Url> {
    origin.join(path).map_err(Error::internal)
}
