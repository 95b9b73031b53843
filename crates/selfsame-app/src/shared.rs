//! What every use case stands on: store, network, keys, clock, events, and whom the instance trusts.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use selfsame_crypto::seal::SealingKey;
use selfsame_net::Net;
use selfsame_openid4vc::Transport;
use selfsame_store::{Batch, Expect, Leased, Put, Store, StoreError, TenantId};
use url::Url;

use crate::certificate::Certificate;
use crate::clock::Clock;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::events::Events;
use crate::fetches::Fetches;
use crate::keys::Keys;
use crate::registry::Registry;
use crate::resolver::Resolver;
use crate::trust::Trust;
use crate::work::Work;

const INSTANCE_KEY: &str = "instance_key";

/// What the roles make of an effect in the outbox that is given up.
#[async_trait]
pub(crate) trait Abandon: Send + Sync {
    /// The batch that buries the entry, with what ends beside it.
    async fn given_up(&self, shared: &Shared, leased: &Leased, error: &Error) -> Result<Batch>;
}

/// The parts that the roles of one process share.
pub struct Shared {
    /// What this instance was told.
    pub config: Config,
    /// Its records.
    pub store: Store,
    /// Its outbound calls.
    pub net: Net,
    /// Its keys.
    pub keys: Keys,
    /// Its time and randomness.
    pub clock: Clock,
    /// What happens in it.
    pub events: Events,
    /// Its pool for long computations.
    pub work: Work,
    /// Its pool for reading what strangers and people bring.
    pub reading: Work,
    /// Its registry, here or elsewhere.
    pub registry: Option<Arc<dyn Registry>>,
    /// Its resolver of DIDs.
    pub resolver: Resolver,
    /// What verification fetches.
    pub fetched: Fetches,
    /// Whom it trusts.
    pub trust: Trust,
    /// What the roles make of what is given up, known once they are.
    pub(crate) abandon: OnceLock<Box<dyn Abandon>>,
    /// The names under which this instance issues, known once its issuer is.
    pub own_issuers: OnceLock<Vec<String>>,
    /// The client identifier under which this instance itself asks, known once its verifier is.
    pub own_verifier: OnceLock<String>,
    /// The verifier's certificate, if it has one.
    pub verifier_certificate: Option<Certificate>,
    /// The issuer's certificate, if its SD-JWT VCs are known by one.
    pub issuer_certificate: Option<Certificate>,
}

impl Shared {
    /// Which URLs of others are used at all: https, and plain http for this instance's own and sister origins.
    #[must_use]
    pub fn transport(&self) -> Transport {
        let own = std::iter::once(&self.config.origin);
        Transport::with_plain_origins(own.chain(&self.config.trust.origins))
    }

    /// A symmetric key of the instance for one purpose, made at the first use.
    ///
    /// # Errors
    /// The store's.
    pub async fn instance_key(&self, purpose: &'static str) -> Result<SealingKey> {
        let instance = TenantId::instance();
        loop {
            if let Some(record) = self.store.read(&instance, INSTANCE_KEY, purpose).await? {
                let key = <[u8; 32]>::try_from(record.value.as_slice()).map_err(Error::internal)?;
                return Ok(SealingKey::from_bytes(key));
            }
            let key = self.clock.ctx().random::<32>(purpose);
            let batch = Batch::new(instance.clone())
                .expect(INSTANCE_KEY, purpose, Expect::Absent)
                .put(Put::new(INSTANCE_KEY, purpose, key.to_vec()));
            match self.store.commit(batch).await {
                // Read again: what is in the store is the key.
                Ok(_) | Err(StoreError::Conflict { .. }) => {}
                Err(other) => return Err(other.into()),
            }
        }
    }

    /// The names under which this instance itself issues.
    #[must_use]
    pub fn own_issuers(&self) -> Vec<String> {
        self.own_issuers.get().cloned().unwrap_or_default()
    }

    /// Whether the wallet calls this issuer trusted.
    #[must_use]
    pub fn trusts_issuer(&self, issuer: &str) -> bool {
        let trusted = self.trust.now();
        trusted.issuers.iter().any(|trusted| trusted == issuer)
            || self.own_issuers().iter().any(|own| own == issuer)
    }

    /// Whether the wallet calls this verifier trusted.
    #[must_use]
    pub fn trusts_verifier(&self, client_id: &str) -> bool {
        let trusted = self.trust.now();
        trusted.verifiers.iter().any(|trusted| trusted == client_id)
            || self.own_verifier.get().is_some_and(|own| own == client_id)
    }
}

/// The address of a document below an origin.
pub(crate) fn below(origin: &Url, path: &str) -> Result<Url> {
    origin.join(path).map_err(Error::internal)
}
