//! Follows the events of other processes on the same store, so that the status lists of this one show what those changed.

use std::sync::Arc;
use std::time::Duration;

use selfsame_driver::Result;
use selfsame_store::MAX_PAGE;
use tokio::sync::watch;

use super::Roles;
use crate::issuer::lists::is_of_status;

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
        let store = &self.shared.store;
        loop {
            let after = cursor.as_deref();
            let Some(events) = store.events_after(after, MAX_PAGE).await? else {
                *cursor = store.newest_event().await?;
                for issuer in self.open_issuers() {
                    issuer.lists().read_again().await?;
                }
                continue;
            };
            let Some(last) = events.last() else {
                return Ok(());
            };
            for event in events.iter().filter(|event| is_of_status(event)) {
                let issuers = self.open_issuers();
                let mut issuers = issuers.iter();
                if let Some(issuer) = issuers.find(|one| *one.tenant() == event.place.tenant) {
                    issuer.lists().show(&event.place.id).await?;
                }
            }
            self.shared.events.wake();
            *cursor = Some(last.cursor());
        }
    }
}
