//! Follows the events of other processes on the same store, so that the status lists of this one show what those changed.

use std::sync::Arc;
use std::time::Duration;

use selfsame_driver::Result;
use tokio::sync::watch;

use super::Roles;
use crate::issuer::lists::is_of_status;

/// How often new events are looked for: a change of status is shown within a second of its commit, as one made here.
const LOOKED_EVERY: Duration = Duration::from_millis(250);
/// The number of events read at once.
const EVENTS_AT_ONCE: usize = 200;

/// Works until the instance stops.
pub(super) async fn run(roles: Arc<Roles>, mut stopping: watch::Receiver<bool>) {
    let mut place = None;
    loop {
        if let Err(error) = roles.follow(&mut place).await {
            tracing::warn!(%error, "changes of other processes can't be read now");
        }
        tokio::select! {
            () = tokio::time::sleep(LOOKED_EVERY) => {}
            _ = stopping.changed() => return,
        }
    }
}

/// Where a follower is among the events.
pub(super) struct Followed {
    cursor: Option<String>,
}

impl Roles {
    /// Follows the events since the last call.
    async fn follow(&self, place: &mut Option<Followed>) -> Result<()> {
        let store = &self.shared.store;
        let followed = match place {
            Some(followed) => followed,
            None => {
                let cursor = store.newest_event().await?;
                for issuer in self.open_issuers() {
                    issuer.lists().catch_up().await?;
                }
                place.insert(Followed { cursor })
            }
        };
        loop {
            let cursor = followed.cursor.as_deref();
            let Some(events) = store.events_after(cursor, EVENTS_AT_ONCE).await? else {
                let newest = store.newest_event().await?;
                for issuer in self.open_issuers() {
                    issuer.lists().read_again().await?;
                }
                followed.cursor = newest;
                continue;
            };
            let Some(last) = events.last() else {
                return Ok(());
            };
            for event in events.iter().filter(|event| is_of_status(event)) {
                let issuers = self.open_issuers();
                let issuer = issuers
                    .iter()
                    .find(|one| *one.tenant() == event.place.tenant);
                if let Some(issuer) = issuer {
                    issuer.lists().show(&event.place.id).await?;
                }
            }
            self.shared.events.wake();
            followed.cursor = Some(last.cursor());
        }
    }
}
