//! The parts that every use case needs: store, network, keys, clock, events, and the trust settings.

use std::sync::{Arc, OnceLock, Weak};

use async_trait::async_trait;
use selfsame_crypto::seal::SealingKey;
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::{Keys, instance_key};
use selfsame_driver::{CpuPool, Error, Result};
use selfsame_ledger::Registry;
use selfsame_net::Net;
use selfsame_openid4vc::Transport;
use selfsame_store::{Batch, Leased, Store};
use url::Url;

use crate::certificate::Certificate;
use crate::config::Config;
use crate::events::Events;
use crate::fetches::Fetches;
use crate::resolver::Resolver;
use crate::trust::Trust;

/// A machine as the outbox knows it: by its name in entries, whatever its protocol.
#[async_trait]
pub(crate) trait Correspondent: Send + Sync {
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
    pub config: Config,
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
    pub registry: Option<Arc<dyn Registry>>,
    /// Its DID resolver.
    pub resolver: Resolver,
    /// Caches of what verification fetches.
    pub fetched: Fetches,
    /// The parties it trusts.
    pub trust: Trust,
    /// The machines that get answers to calls; set once the roles exist, which own them.
    pub(crate) correspondents: OnceLock<Vec<Weak<dyn Correspondent>>>,
    /// The names under which this instance issues; set once its issuer exists.
    pub own_issuers: OnceLock<Vec<String>>,
    /// The client identifier of this instance's own verifier; set once that exists.
    pub own_verifier: OnceLock<String>,
    /// The verifier's certificate, if it has one.
    pub verifier_certificate: Option<Certificate>,
    /// The issuer's certificate, if its SD-JWT VCs are signed by certificate.
    pub issuer_certificate: Option<Certificate>,
}

impl Shared {
    /// Which URLs of other parties are allowed: https, and plain http for this instance's own and trusted origins.
    #[must_use]
    pub fn transport(&self) -> Transport {
        let own = std::iter::once(&self.config.origin);
        Transport::with_plain_origins(own.chain(&self.config.trust.origins))
    }

    /// A symmetric key of the instance for one purpose, created at its first use.
    ///
    /// # Errors
    /// The store's.
    pub async fn instance_key(&self, purpose: &'static str) -> Result<SealingKey> {
        instance_key(&self.store, &self.clock, purpose).await
    }

    /// The registry.
    ///
    /// # Errors
    /// `BadRequest` if this instance has none.
    pub(crate) fn own_registry(&self) -> Result<&Arc<dyn Registry>> {
        self.registry.as_ref().ok_or_else(|| {
            Error::bad_request("this instance has no registry")
                .with_hint("set one with --registry and --registry-token-file, or in [registry]; or use another DID method, such as did_method = \"web\" in [issuer]")
        })
    }

    /// The names under which this instance itself issues.
    #[must_use]
    pub fn own_issuers(&self) -> Vec<String> {
        self.own_issuers.get().cloned().unwrap_or_default()
    }

    /// Whether the wallet shows this issuer as trusted.
    #[must_use]
    pub fn trusts_issuer(&self, issuer: &str) -> bool {
        let trusted = self.trust.now();
        trusted.issuers.iter().any(|trusted| trusted == issuer)
            || self.own_issuers().iter().any(|own| own == issuer)
    }

    /// Whether the wallet shows this verifier as trusted.
    #[must_use]
    pub fn trusts_verifier(&self, client_id: &str) -> bool {
        let trusted = self.trust.now();
        trusted.verifiers.iter().any(|trusted| trusted == client_id)
            || self.own_verifier.get().is_some_and(|own| own == client_id)
    }
}

/// The URL of a document below an origin.
pub(crate) fn below(origin: &Url, path: &str) -> Result<Url> {
    origin.join(path).map_err(Error::internal)
}
