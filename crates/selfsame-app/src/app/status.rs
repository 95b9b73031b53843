//! The status of an instance.

use selfsame_driver::Result;
use selfsame_ledger::view::{Misbehaviour, WitnessFigures};

use super::App;
use crate::view::instance::InstanceStatus;

impl App {
    /// The status of the instance.
    ///
    /// # Errors
    /// The store's.
    pub async fn status(&self) -> Result<InstanceStatus> {
        let shared = &self.shared;
        let roles = self.config.roles;
        let named = [
            (roles.issuer, "issuer"),
            (roles.wallet, "wallet"),
            (roles.verifier, "verifier"),
            (roles.registry, "registry"),
        ];
        let outbox = self.outbox().await?;
        let (commits, commits_took) = self.commits();
        let did = self.roles.identities().next();
        let network = match &self.registry {
            Some(registry) => registry.status().await.ok().map(|status| status.network),
            None => None,
        };
        let since = self
            .ready_since
            .get()
            .copied()
            .unwrap_or(shared.clock.now());
        Ok(InstanceStatus {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            origin: self.config.origin.to_string(),
            roles: named
                .iter()
                .filter(|(has, _)| *has)
                .map(|(_, name)| (*name).to_owned())
                .collect(),
            uptime_s: shared.clock.now().seconds_since(since),
            issuer: (self.roles.main.issuer.as_ref()).map(|issuer| issuer.identifier()),
            did: did.map(|identity| identity.did().as_str().to_owned()),
            issuer_dids: (self.roles.main.issuer.as_ref())
                .map_or_else(Vec::new, |issuer| issuer.identity().names()),
            issues_to_few: self.issues_to_few(),
            network,
            commits,
            commits_took_ms: commits_took.as_micros() as f64 / 1e3,
            commit_ms: shared
                .store
                .meter()
                .median()
                .map(|time| time.as_micros() as f64 / 1e3),
            outbound_requests: shared.net.requests(),
            outbox_waiting: outbox.pending,
            outbox_dead: outbox.dead,
        })
    }

    /// Figures of the witnesses of the registry that runs here, since the start.
    #[must_use]
    pub fn witnesses(&self) -> Vec<WitnessFigures> {
        let registry = self.registry.as_ref();
        registry.map_or_else(Vec::new, |registry| registry.witnesses())
    }

    /// Protocol violations by validators of the network that this process is a node of.
    #[must_use]
    pub fn misbehaviour(&self) -> Vec<Misbehaviour> {
        let registry = self.registry.as_ref();
        let health = registry.and_then(|registry| registry.health().ok().flatten());
        health.map_or_else(Vec::new, |health| health.misbehaviour)
    }
}
