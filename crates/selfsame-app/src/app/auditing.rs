//! The duties of the audit trail: chaining entries, and anchoring the chains in the registry.

use selfsame_audit::ChainHead;
use selfsame_driver::Result;

use super::App;

impl App {
    /// Chains the entries of the audit trail; a failure is only logged, since the next round tries again.
    pub(crate) async fn keep_chained(&self) {
        if let Err(error) = self.trail.chain_all().await {
            tracing::error!(%error, "the audit trail can't be chained");
        }
    }

    /// Anchors the chains that grew since yesterday, if the instance has a DID in a registry; a failure is only logged.
    pub(crate) async fn keep_anchored(&self) {
        if let Err(error) = self.anchor_trails().await {
            tracing::error!(%error, "the audit trail can't be anchored in the registry");
        }
    }

    /// Anchors the head of each chain that has none of today yet.
    ///
    /// # Errors
    /// The store's and the registry's.
    pub async fn anchor_trails(&self) -> Result<()> {
        let identity = self.roles.identities().next();
        let identity = identity.filter(|identity| identity.did().origin().is_registry());
        let Some(identity) = identity.filter(|_| self.registry.is_some()) else {
            return Ok(());
        };
        let mut after = None;
        loop {
            let due = self.trail.unanchored(after.as_deref()).await?;
            for head in &due.heads {
                let anchored = self.trail.anchored(head)?;
                let (uri, digest) = (self.anchor_uri(head), head.hash.0);
                self.dids.anchor(identity, &uri, digest, anchored).await?;
            }
            match due.next {
                Some(next) => after = Some(next),
                None => return Ok(()),
            }
        }
    }

    /// The name under which an organisation's chain is anchored.
    fn anchor_uri(&self, head: &ChainHead) -> String {
        format!("{}audit/{}", self.config.origin, head.organisation)
    }
}
