//! Follows the events of other processes on the same store, so that the status lists of this one show what those changed.

use std::sync::Arc;
use std::time::Duration;

use selfsame_driver::Result;
use tokio::sync::watch;

use super::Roles;
use crate::issuer::lists::changes;

/// How often new events are looked for: a change of status is shown within a second of its commit, as one made here.
const LOOKED_EVERY: Duration = Duration::from_millis(250);

/// Works until the instance stops.
pub(super) async fn run(roles: Arc<Roles>, mut stopping: watch::Receiver<bool>) {
    let mut cursor = None;
    loop {
        let followed = match &mut cursor {
            Some(cursor) => roles.follow(cursor).await,
            None => roles.caught_up().await.map(|at| cursor = Some(at)),
        };
        if let Err(error) = followed {
            tracing::warn!(%error, "changes of other processes can't be read now");
        }
        tokio::select! {
            () = tokio::time::sleep(LOOKED_EVERY) => {}
            _ = stopping.changed() => return,
        }
    }
}

impl Roles {
    /// The cursor up to which the lists that are open now are as the store says.
    async fn caught_up(&self) -> Result<Option<String>> {
        let newest = self.shared.store.newest_event().await?;
        for issuer in self.open_issuers() {
            issuer.lists().catch_up().await?;
        }
        Ok(newest)
    }

    /// Follows the events after this cursor.
    async fn follow(&self, cursor: &mut Option<String>) -> Result<()> {
        while let Some(new) = changes(&self.shared.store, cursor.as_deref()).await? {
            let issuers = self.open_issuers();
            for event in new.changed.iter().flatten() {
                let mut issuers = issuers.iter();
                if let Some(issuer) = issuers.find(|one| *one.tenant() == event.place.tenant) {
                    issuer.lists().show(&event.place.id).await?;
                }
            }
            if new.changed.is_none() {
                for issuer in issuers {
                    issuer.lists().read_again().await?;
                }
            }
            self.shared.events.wake();
            *cursor = new.cursor;
        }
        Ok(())
    }
}
