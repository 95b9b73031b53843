//! The instance's own staples: the registry's proof of its DID, and its credential's status lists, renewed in time.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use selfsame_did::Did;
use selfsame_driver::{Error, Result};
use selfsame_ledger::{MachineRules, Registry};
use selfsame_registry::{Genesis, StateMachine};
use selfsame_tls::identity::{NetworkRules as _, Staple, Staples, Stapling, staple};
use tokio::sync::OnceCell;

use crate::app::App;
use selfsame_core::Shared;
use selfsame_core::gather::Freshness;

/// Maximum number of objects that staples need.
const READS_MAX: usize = 16;
/// How often the objects are read again if the registry's checkpoint changes between two reads.
const ROUNDS_MAX: usize = 3;

/// Makes the staples of one identity. All holders of [`Stapler::staples`] send the newest.
pub struct Stapler {
    shared: Arc<Shared>,
    registry: Option<Arc<dyn Registry>>,
    dids: Vec<Did>,
    lists: Vec<(Did, String)>,
    staples: Staples,
    rules: OnceCell<MachineRules>,
}

impl Stapler {
    /// A stapler for a DID and the status lists that its credential refers to, each with its issuer.
    #[must_use]
    pub fn new(app: &App, did: Did, lists: Vec<(Did, String)>) -> Self {
        let issuers: BTreeSet<Did> = lists.iter().map(|(issuer, _)| issuer.clone()).collect();
        let dids = std::iter::once(did).chain(issuers);
        Self {
            shared: Arc::clone(&app.shared),
            registry: app.registry.clone(),
            dids: dids.collect(),
            lists,
            staples: Staples::default(),
            rules: OnceCell::new(),
        }
    }

    /// The staples, to be put into an identity.
    #[must_use]
    pub fn staples(&self) -> Staples {
        self.staples.clone()
    }

    /// Makes the staples anew. Objects of other registries are not stapled.
    ///
    /// # Errors
    /// The registry's; the previous staples then stay, and are no longer accepted once they are too old.
    pub async fn renew(&self) -> Result<()> {
        let mut made = self.reads().await?;
        for (_, uri) in &self.lists {
            let freshness = Freshness { max_status_age: 0 };
            let Ok(list) = self.shared.status_list(uri, freshness).await.value else {
                continue;
            };
            if !list.is_jwt() {
                continue;
            }
            let text = list.to_text().into_bytes();
            match staple::status_list(uri, &text) {
                Some(list) => made.push(list),
                None => tracing::debug!(uri, "the status list is too long to be stapled"),
            }
        }
        self.staples.set(made);
        Ok(())
    }

    /// Renews the staples repeatedly, for as long as it is polled; peers must accept staples for longer than `every`.
    pub async fn keep(&self, every: Duration) {
        loop {
            if let Err(error) = self.renew().await {
                tracing::warn!(%error, "the staples of this identity could not be renewed");
            }
            tokio::time::sleep(every).await;
        }
    }

    async fn reads(&self) -> Result<Vec<Staple>> {
        let Some(registry) = &self.registry else {
            return Ok(Vec::new());
        };
        let rules = self.rules(registry.as_ref()).await?;
        let is_here = |did: &Did| {
            selfsame_did::selfsame::parts(did)
                .is_some_and(|(network, _)| network == *rules.network())
        };
        let dids = self.dids.iter().filter(|did| is_here(did)).cloned();
        let anchors = self.lists.iter().filter(|(issuer, _)| is_here(issuer));
        let mut stapling = Stapling::new(rules, dids.collect(), anchors.cloned().collect());
        for _ in 0..READS_MAX {
            let Some(key) = stapling.missing() else {
                break;
            };
            stapling.add(registry.read(&key, 0).await?);
        }
        if stapling.missing().is_some() {
            return Err(Error::upstream("registry-answers-endless"));
        }
        // One checkpoint for all is shorter, and its signatures are verified only once.
        for _ in 0..ROUNDS_MAX {
            if stapling.is_of_one_checkpoint() {
                break;
            }
            for key in stapling.keys() {
                stapling.add(registry.read(&key, 0).await?);
            }
        }
        Ok(stapling.staples())
    }

    async fn rules(&self, registry: &dyn Registry) -> Result<&MachineRules> {
        let open = || async {
            let genesis = registry.genesis().await?;
            let genesis = Genesis::from_bytes(&genesis).map_err(Error::internal)?;
            Ok(MachineRules(Arc::new(StateMachine::new(genesis))))
        };
        self.rules.get_or_try_init(open).await
    }
}
