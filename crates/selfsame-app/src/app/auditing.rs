//! The duties of the audit trail: chaining entries, and anchoring the chains in the registry.

use selfsame_audit::{Act, AuditResult, AuditedActor, ChainHead, Trail};
use selfsame_driver::Result;
use selfsame_openid::{OwnAct, OwnActEntry};

use super::App;

/// Makes the entries of what the instance does by itself in the name of organisations.
pub(super) fn of_own_acts(trail: Trail) -> Box<OwnActEntry> {
    Box::new(move |own: OwnAct| {
        let act = Act {
            organisation: own.organisation,
            actor: AuditedActor::instance(),
            act: own.act.to_owned(),
            object: None,
            detail: Some(own.detail),
            from: None,
        };
        let refused = own.refused.map(AuditResult::Refused);
        trail.entry(act, refused.unwrap_or(AuditResult::Done))
    })
}

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
