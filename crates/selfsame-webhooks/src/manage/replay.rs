//! Sends events again that are still kept, to one endpoint.

use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, Result};
use selfsame_store::backend::StoredEvent;
use selfsame_store::{Batch, MAX_PAGE, TenantId};

use crate::delivery::ToldEvent;
use crate::records::{self, FoundEndpoint};
use crate::view::{EventReplay, Replayed};
use crate::webhooks::Webhooks;

/// Where a replay begins.
struct ReplayStart {
    after: Option<String>,
    since: UnixTime,
    /// The first events, if they are not those after a cursor.
    first: Vec<StoredEvent>,
}

impl Webhooks {
    /// Sends the events after a cursor or since a time once more, with the ids that their messages had. Those of
    /// today's types are sent, in order, behind what waits. If it is interrupted, it can be begun again.
    ///
    /// # Errors
    /// `NotFound` if this tenant has no such endpoint; `Conflict` if it is disabled; `BadRequest` for a cursor that is
    /// not kept, or a malformed time.
    pub async fn replay(
        &self,
        owner: &TenantId,
        id: &str,
        replay: &EventReplay,
    ) -> Result<Replayed> {
        let found = self.enabled(owner, id).await?;
        let store = &self.shared.store;
        let Some(end) = store.newest_event().await? else {
            return Ok(Replayed { deliveries: 0 });
        };
        let ReplayStart {
            after,
            since,
            first,
        } = self.start_of(replay).await?;
        let (mut cursor, mut deliveries) = (after, 0_u64);
        let mut events = match &cursor {
            Some(cursor) => self.kept_after(cursor).await?,
            None => first,
        };
        while let Some(last) = events.last() {
            cursor = Some(last.cursor());
            let is_end = events.iter().any(|event| event.cursor() == end);
            let recent = events.iter().filter(|event| event.at >= since);
            deliveries = deliveries.saturating_add(self.write_again(owner, &found, recent).await?);
            self.wake(owner, id);
            events = match &cursor {
                Some(cursor) if !is_end => self.kept_after(cursor).await?,
                _ => Vec::new(),
            };
        }
        Ok(Replayed { deliveries })
    }

    async fn start_of(&self, replay: &EventReplay) -> Result<ReplayStart> {
        Ok(match replay {
            EventReplay::After(cursor) => ReplayStart {
                after: Some(cursor.clone()),
                since: UnixTime(0),
                first: Vec::new(),
            },
            EventReplay::Since(time) => ReplayStart {
                after: None,
                since: UnixTime::parse_rfc3339(time)
                    .ok_or_else(|| Error::bad_request("webhook-replay-time"))?,
                first: self.shared.store.oldest_events(MAX_PAGE).await?,
            },
        })
    }

    async fn kept_after(&self, cursor: &str) -> Result<Vec<StoredEvent>> {
        let events = self.shared.store.events_after(Some(cursor), MAX_PAGE);
        let unknown = || Error::bad_request("webhook-replay-cursor");
        events.await?.ok_or_else(unknown)
    }

    /// Writes the deliveries of these events for one endpoint.
    async fn write_again<'a>(
        &self,
        owner: &TenantId,
        found: &FoundEndpoint,
        events: impl Iterator<Item = &'a StoredEvent>,
    ) -> Result<u64> {
        let now = self.shared.clock.now();
        let is_owners =
            |event: &&StoredEvent| (self.owner_of)(&event.place.tenant).as_ref() == Some(owner);
        let told = events.filter(is_owners).filter_map(ToldEvent::of);
        let told = told.filter(|told| found.endpoint.wants(told.event_type));
        let mut batch = Batch::new(owner.clone());
        let mut deliveries = 0_u64;
        for told in told {
            if told.is_news() {
                let news = records::news(&self.shared.store, &told).await?;
                if !news.is_some_and(|news| found.endpoint.wants_news(&news)) {
                    continue;
                }
            }
            let message = told.message_id(&found.id);
            batch = batch.put(records::delivery_put(&message, &told.to(&found.id, now))?);
            deliveries = deliveries.saturating_add(1);
        }
        self.shared.store.commit(batch).await?;
        Ok(deliveries)
    }
}
