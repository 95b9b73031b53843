//! Turns events into deliveries: reads the events after a cursor, and in one commit writes a delivery for each event and
//! endpoint and moves the cursor.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use selfsame_book::news::BookNews;
use selfsame_core::Shared;
use selfsame_driver::Result;
use selfsame_store::backend::StoredEvent;
use selfsame_store::{Batch, StoreError, TenantId};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout};

use crate::delivery::ToldEvent;
use crate::event_type::EventType;
use crate::hearing::Hearers;
use crate::records::{self, EndpointAt, FoundEndpoint, ReadSoFar};
use crate::sender::Senders;

/// The maximum number of events in one commit. With as many endpoints as a tenant may have, that is as much as a commit
/// may write.
const EVENTS_AT_ONCE: usize = 200;
/// The number of deliveries after which the next events wait for another commit: one event writes as many as a tenant
/// has endpoints, and a commit has a bound.
const DELIVERIES_AT_ONCE: usize = 3_000;
/// The pause after a commit woke the task, so that one commit of ours follows many of others.
const GATHERED_FOR: Duration = Duration::from_millis(10);
/// How often the task looks for events and endpoints of other processes.
const LOOKED_EVERY: Duration = Duration::from_secs(1);
/// All endpoints are searched for deliveries without a sender once in this many looks.
const SWEPT_EVERY: u32 = 10;

/// The tenant whose endpoints get the events of a tenant; `None` for a tenant whose events are never sent.
pub(crate) type OwnerOf = fn(&TenantId) -> Option<TenantId>;

/// Turns events into deliveries.
pub(crate) struct Dispatcher {
    pub shared: Arc<Shared>,
    pub owner_of: OwnerOf,
    pub senders: Arc<Senders>,
    /// Wakes the task when an endpoint was created here.
    pub created: Arc<Notify>,
    /// Who hears of the records of agents.
    pub hearers: Hearers,
}

/// What one look found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum EventsLook {
    /// No tenant has an endpoint.
    Unused,
    /// There was no event, or another process was faster.
    Nothing,
    /// The number of events that were read.
    Read(usize),
}

/// The endpoints of the tenants that a batch of events concerns, read once each.
struct Receivers<'a> {
    dispatcher: &'a Dispatcher,
    found: HashMap<TenantId, Vec<FoundEndpoint>>,
}

/// Deliveries to be written, and the endpoints that get them.
struct NewDeliveries {
    batch: Batch,
    count: usize,
    woken: Vec<EndpointAt>,
}

impl NewDeliveries {
    const fn none(batch: Batch) -> Self {
        Self {
            batch,
            count: 0,
            woken: Vec::new(),
        }
    }
}

impl Dispatcher {
    /// Works until the instance stops.
    pub async fn run(self, mut stopping: watch::Receiver<bool>) {
        let mut wakings = self.shared.events.wakings();
        let mut looked_at: Option<Instant> = None;
        for look in 0_u32.. {
            if *stopping.borrow() {
                return;
            }
            wakings.borrow_and_update();
            if looked_at.is_none_or(|at| at.elapsed() >= LOOKED_EVERY) {
                looked_at = Some(Instant::now());
                self.look_for_followers().await;
            }
            let found = self.look().await.unwrap_or_else(|error| {
                tracing::error!(%error, "events can't be turned into deliveries of webhooks");
                EventsLook::Nothing
            });
            if look % SWEPT_EVERY == 0 && found != EventsLook::Unused {
                self.sweep().await;
            }
            if matches!(found, EventsLook::Read(EVENTS_AT_ONCE..)) {
                continue;
            }
            tokio::select! {
                _ = stopping.changed() => return,
                () = self.created.notified() => {}
                _ = timeout(LOOKED_EVERY, wakings.changed()), if found != EventsLook::Unused => {}
                () = sleep(LOOKED_EVERY) => {}
            }
            sleep(GATHERED_FOR).await;
        }
    }

    /// Looks which agents are followed by connections, also of other processes.
    pub async fn look_for_followers(&self) {
        match records::followed(&self.shared.store).await {
            Ok(followed) => self.hearers.replace_noted(followed),
            Err(error) => tracing::warn!(%error, "the followers of agents can't be read"),
        }
    }

    /// Turns the next events into deliveries.
    pub async fn look(&self) -> Result<EventsLook> {
        let store = &self.shared.store;
        if !records::has_owner(store).await? {
            return Ok(EventsLook::Unused);
        }
        let so_far = ReadSoFar::read(store).await?;
        let receivers = Receivers {
            dispatcher: self,
            found: HashMap::new(),
        };
        let after = so_far.cursor.as_deref();
        match store.events_after(after, EVENTS_AT_ONCE).await? {
            Some(events) if events.is_empty() => Ok(EventsLook::Nothing),
            Some(events) => receivers.deliver(&events, &so_far).await,
            None => receivers.missed(&so_far).await,
        }
    }

    async fn commit(&self, new: NewDeliveries, events: usize) -> Result<EventsLook> {
        // Without a delivery nothing is lost if the events are read again.
        let batch = match new.woken.is_empty() {
            true => new.batch.deferred(),
            false => new.batch,
        };
        match self.shared.store.commit(batch).await {
            Ok(_) => {}
            Err(StoreError::Conflict { .. }) => return Ok(EventsLook::Nothing),
            Err(error) => return Err(error.into()),
        }
        for at in new.woken {
            self.senders.wake(&at);
        }
        Ok(EventsLook::Read(events))
    }

    /// Begins to send what waits at any endpoint: after a start, or after another process ended.
    async fn sweep(&self) {
        if let Err(error) = self.swept().await {
            tracing::warn!(%error, "the endpoints of webhooks can't be read");
        }
    }

    async fn swept(&self) -> Result<()> {
        let store = &self.shared.store;
        // Another process may have added a controller.
        self.hearers.replace(records::heard_owners(store).await?);
        for owner in records::owners(store).await? {
            for found in records::endpoints(store, &owner).await? {
                let (id, owner) = (found.id, owner.clone());
                let at = EndpointAt { owner, id };
                let is_enabled = found.endpoint.disabled.is_none();
                if is_enabled
                    && !records::pending_after(store, &at, None, 1)
                        .await?
                        .is_empty()
                {
                    self.senders.wake(&at);
                }
            }
        }
        Ok(())
    }
}

impl Receivers<'_> {
    /// The endpoints of this tenant.
    async fn of(&mut self, owner: &TenantId) -> Result<&[FoundEndpoint]> {
        if !self.found.contains_key(owner) {
            let store = &self.dispatcher.shared.store;
            let found = records::endpoints(store, owner).await?;
            self.found.insert(owner.clone(), found);
        }
        Ok(self.found.get(owner).map_or(&[], Vec::as_slice))
    }

    /// Writes the deliveries of the first of these events, as many as one commit takes.
    async fn deliver(mut self, events: &[StoredEvent], so_far: &ReadSoFar) -> Result<EventsLook> {
        let mut new = NewDeliveries::none(Batch::new(TenantId::instance()));
        let (mut end, mut read) = (None, events.len());
        for event in events {
            if new.count >= DELIVERIES_AT_ONCE {
                // The rest is read at once.
                read = EVENTS_AT_ONCE;
                break;
            }
            end = Some(event.cursor());
            let owner = (self.dispatcher.owner_of)(&event.place.tenant);
            if let (Some(owner), Some(told)) = (owner, ToldEvent::of(event)) {
                let (kind, id) = (&event.place.kind, &event.place.id);
                let trace = self.dispatcher.shared.events.take_trace(kind, id);
                new = self.add(new, &owner, &ToldEvent { trace, ..told }).await?;
            }
        }
        new.batch = new.batch.and(so_far.moved_to(end.as_deref())?);
        self.dispatcher.commit(new, read).await
    }

    /// Tells every endpoint that events were removed before they were read, and goes on with what happens now. After
    /// an interruption it begins again with the same messages.
    async fn missed(mut self, so_far: &ReadSoFar) -> Result<EventsLook> {
        tracing::error!("events were removed before they became deliveries of webhooks");
        let dispatcher = self.dispatcher;
        let newest = dispatcher.shared.store.newest_event().await?;
        let told = ToldEvent {
            event_type: EventType::EventsMissed,
            subject: format!("missed before {}", newest.as_deref().unwrap_or_default()),
            at: dispatcher.shared.clock.now(),
            cursor: None,
            notice: None,
            trace: None,
        };
        for owner in records::owners(&dispatcher.shared.store).await? {
            let new = NewDeliveries::none(Batch::new(owner.clone()));
            let new = self.add(new, &owner, &told).await?;
            dispatcher.commit(new, 0).await?;
        }
        let moved = NewDeliveries::none(so_far.moved_to(newest.as_deref())?);
        dispatcher.commit(moved, 0).await
    }

    /// Adds the deliveries of what is told to the endpoints of a tenant.
    async fn add(
        &mut self,
        new: NewDeliveries,
        owner: &TenantId,
        told: &ToldEvent,
    ) -> Result<NewDeliveries> {
        let now = self.dispatcher.shared.clock.now();
        let news = self.news(owner, told).await?;
        let NewDeliveries {
            batch,
            mut count,
            mut woken,
        } = new;
        let mut batch = batch.for_tenant(owner.clone());
        let wanting = |found: &&FoundEndpoint| match &news {
            Some(news) => found.endpoint.wants(told.event_type) && found.endpoint.wants_news(news),
            None => !told.is_news() && found.endpoint.wants(told.event_type),
        };
        for found in self.of(owner).await?.iter().filter(wanting) {
            let delivery = told.clone().to(&found.id, now);
            batch = batch.put(records::delivery_put(
                &told.message_id(&found.id),
                &delivery,
            )?);
            count = count.saturating_add(1);
            let (owner, id) = (owner.clone(), found.id.clone());
            let at = EndpointAt { owner, id };
            if !woken.contains(&at) {
                woken.push(at);
            }
        }
        Ok(NewDeliveries {
            batch,
            count,
            woken,
        })
    }

    /// The news that a book's event tells, if anybody may want it and its entry is not erased.
    async fn news(&mut self, owner: &TenantId, told: &ToldEvent) -> Result<Option<BookNews>> {
        let may_want = |found: &FoundEndpoint| found.endpoint.wants(told.event_type);
        if !told.is_news() || !self.of(owner).await?.iter().any(may_want) {
            return Ok(None);
        }
        records::news(&self.dispatcher.shared.store, told).await
    }
}
