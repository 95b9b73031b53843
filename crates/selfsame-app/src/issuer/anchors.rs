//! Anchors the status lists in the registry, so that a list served to one verifier only would be found out.

use std::sync::Arc;
use std::time::Duration;

use selfsame_crypto::encoding;
use selfsame_store::Batch;
use tokio::sync::watch;

use super::lists::Face;
use super::tenant;
use crate::app::App;
use crate::error::Result;
use crate::outbox::Job;

/// Changes within so long go into one transaction.
const EVERY: Duration = Duration::from_secs(1);

/// Anchors what changed, each second, until the instance stops.
pub(crate) async fn anchors(app: Arc<App>, mut stopping: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            _ = stopping.changed() => return,
        }
        if let Err(error) = anchor(&app).await {
            tracing::warn!(%error, "status lists can't be anchored now");
        }
    }
}

async fn anchor(app: &App) -> Result<()> {
    let issuer = app.issuer()?;
    if app.shared.registry.is_none() || issuer.identity().did().method() != "selfsame" {
        return Ok(());
    }
    for list in issuer.lists().take_unanchored() {
        let uri = issuer.lists().uri(list, Face::Token);
        let digest = issuer.lists().digest(list)?;
        let transaction = app
            .dids()
            .anchor_transaction(issuer.identity(), &uri, digest)
            .await?;
        let job = Job::Submit {
            transaction: encoding::base64url_encode(&transaction),
        };
        let entry = job.entry(
            "registry",
            issuer.identity().did().as_str(),
            app.shared.clock.now(),
        )?;
        let committed = app
            .shared
            .store
            .commit(Batch::new(tenant()).enqueue(entry))
            .await?;
        // The next transaction's nonce follows this one's: it is carried out before.
        if let Some(id) = committed.outbox.first()
            && let Some(leased) = app.shared.store.lease(*id).await?
        {
            crate::outbox::perform(app, leased).await;
        }
    }
    Ok(())
}
