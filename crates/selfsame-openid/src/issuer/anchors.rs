//! Anchors the status lists in the registry, so that a list served to only one verifier would be detected.

use std::sync::Arc;
use std::time::Duration;

use selfsame_driver::Result;
use selfsame_store::{Batch, Put};
use tokio::sync::watch;

use super::list_faces::ListFace;
use super::lists::ANCHORED;
use super::{Issuer, tenant};
use selfsame_core::dids::Dids;

/// Interval between anchorings; changes within it go into one transaction.
const EVERY: Duration = Duration::from_secs(1);

/// Anchors changed lists each second, until the instance stops.
pub(crate) async fn anchors(issuer: Arc<Issuer>, dids: Dids, mut stopping: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            _ = stopping.changed() => return,
        }
        if let Err(error) = anchor(&issuer, &dids).await {
            tracing::warn!(%error, "status lists can't be anchored now");
        }
    }
}

async fn anchor(issuer: &Issuer, dids: &Dids) -> Result<()> {
    if issuer.shared.registry.is_none() || !issuer.identity().did().origin().is_registry() {
        return Ok(());
    }
    let mut outcome = Ok(());
    for list in issuer.lists().take_unanchored() {
        let anchored = anchor_one(issuer, dids, list).await;
        if anchored.is_err() {
            issuer.lists().is_unanchored(list);
            outcome = anchored;
        }
    }
    outcome
}

/// Stores the new digest together with the call that anchors it, so that a crash loses neither.
async fn anchor_one(issuer: &Issuer, dids: &Dids, list: u64) -> Result<()> {
    let digest = issuer.lists().digest(list)?;
    let id = list.to_string();
    let known = issuer.shared.store.read(tenant(), ANCHORED, &id).await?;
    if known.is_some_and(|record| record.value == digest) {
        return Ok(());
    }
    let uri = issuer.lists().uri(list, ListFace::Token);
    let anchored = Batch::new(tenant().clone()).put(Put::new(ANCHORED, id, digest.to_vec()));
    dids.anchor(issuer.identity(), &uri, digest, anchored).await
}
