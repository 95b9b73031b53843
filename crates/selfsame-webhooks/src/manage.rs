//! What a tenant does with its webhooks: creates, changes and removes endpoints, lists deliveries, sends them again.

mod controllers;
mod replay;
mod subscriptions;

use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_store::{Batch, Expect, MAX_PAGE, Page, Put, StoreError, TenantId};
use url::Url;

use crate::delivery::{Delivery, DeliveryState, ToldEvent};
use crate::endpoint::Endpoint;
use crate::event_type::EventType;
use crate::records::{self, DELIVERY, ENDPOINT, EndpointAt, FoundEndpoint, OwnedCount, ReadSoFar};
use crate::view::{CreatedEndpoint, EndpointChange, EndpointView, NewEndpoint, WebhookDelivery};
use crate::webhooks::Webhooks;

pub use controllers::AgentController;
pub use subscriptions::{
    CreatedSubscription, NewSubscription, SubscriptionChange, SubscriptionView,
};

/// How often something is tried again that changed meanwhile.
const RACES_MAX: u32 = 4;

/// The largest number of deliveries that is counted.
pub const COUNTED_MAX: usize = 200;

/// How many deliveries of an endpoint are kept.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DeliveryCounts {
    /// Those that wait.
    pub pending: usize,
    /// Those that were given up.
    pub failed: usize,
}

/// Which deliveries to list.
#[derive(Clone, Debug)]
pub struct WhichDeliveries {
    /// Their state.
    pub state: DeliveryState,
    /// The page.
    pub paging: Paging,
}

impl Webhooks {
    /// Creates an endpoint. It is sent the events from now on.
    ///
    /// # Errors
    /// `BadRequest` for a URL that is not called; `Conflict` if the tenant has too many endpoints.
    pub async fn create(&self, owner: &TenantId, new: &NewEndpoint) -> Result<CreatedEndpoint> {
        let ctx = self.shared.clock.ctx();
        let endpoint = Endpoint {
            description: new.description.clone(),
            types: new.types.clone(),
            ..Endpoint::new(self.called(&new.url)?, &ctx)
        };
        endpoint.check()?;
        let id = ctx.token("webhook/endpoint");
        self.insert(owner, &id, &endpoint).await?;
        Ok(CreatedEndpoint::named(&id, &endpoint))
    }

    /// Stores a new endpoint. One that has its identifier already stays.
    async fn insert(&self, owner: &TenantId, id: &str, endpoint: &Endpoint) -> Result<()> {
        let store = &self.shared.store;
        let put = Put::new(ENDPOINT, id, encode(endpoint)?);
        for _ in 0..RACES_MAX {
            if store.version(owner, ENDPOINT, id).await?.is_some() {
                return Ok(());
            }
            let owned = OwnedCount::read(store, owner).await?;
            // Whoever adds another one meanwhile changes the count, and this is looked at again.
            self.is_within(owner, endpoint).await?;
            let batch = Batch::new(owner.clone()).expect(ENDPOINT, id, Expect::Absent);
            let mut batch = batch.put(put.clone());
            batch = owned.one_more(batch, owner, &endpoint.form)?;
            let so_far = ReadSoFar::read(store).await?;
            // The first endpoint of all is not sent what happened before it was there.
            if !so_far.is_begun() || records::owners(store).await?.is_empty() {
                let newest = store.newest_event().await?;
                batch = batch.and(so_far.moved_to(newest.as_deref())?);
            }
            match store.commit(batch).await {
                Ok(_) => {
                    self.created.notify_one();
                    return Ok(());
                }
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(changed())
    }

    /// The endpoints of a tenant, the oldest first, without those of subscribers of its credential book.
    ///
    /// # Errors
    /// The store's.
    pub async fn endpoints(&self, owner: &TenantId) -> Result<Vec<EndpointView>> {
        let found = records::endpoints(&self.shared.store, owner).await?;
        let own = found
            .iter()
            .filter(|one| one.endpoint.subscriber().is_none());
        Ok(own.map(EndpointView::of).collect())
    }

    /// An endpoint.
    ///
    /// # Errors
    /// `NotFound` if this tenant has no such endpoint.
    pub async fn endpoint(&self, owner: &TenantId, id: &str) -> Result<EndpointView> {
        Ok(EndpointView::of(&self.found(owner, id).await?))
    }

    /// Changes an endpoint.
    ///
    /// # Errors
    /// As [`Self::create`]; `NotFound` if this tenant has no such endpoint.
    pub async fn change(
        &self,
        owner: &TenantId,
        id: &str,
        change: EndpointChange,
    ) -> Result<EndpointView> {
        let url = change.url.as_deref().map(|url| self.called(url));
        let url = url.transpose()?;
        let apply = |endpoint: &mut Endpoint| {
            if let Some(url) = &url {
                endpoint.url = url.clone();
            }
            if let Some(description) = &change.description {
                endpoint.description.clone_from(description);
            }
            if change.types.is_some() {
                endpoint.types.clone_from(&change.types);
            }
            match change.enabled {
                Some(true) => endpoint.disabled = None,
                Some(false) => endpoint.disabled = Some(Reason::new("webhook-disabled")),
                None => {}
            }
        };
        let endpoint = self.changed(owner, id, apply).await?;
        self.wake(owner, id);
        Ok(EndpointView::named(id, &endpoint))
    }

    /// Gives an endpoint a new secret. The former one signs too for a day.
    ///
    /// # Errors
    /// `NotFound` if this tenant has no such endpoint.
    pub async fn rotate(&self, owner: &TenantId, id: &str) -> Result<CreatedEndpoint> {
        let ctx = self.shared.clock.ctx();
        let endpoint = self.changed(owner, id, |endpoint| endpoint.rotate(&ctx));
        Ok(CreatedEndpoint::named(id, &endpoint.await?))
    }

    /// Removes an endpoint with its deliveries.
    ///
    /// # Errors
    /// `NotFound` if this tenant has no such endpoint.
    pub async fn remove(&self, owner: &TenantId, id: &str) -> Result<()> {
        let store = &self.shared.store;
        for _ in 0..RACES_MAX {
            let found = self.found(owner, id).await?;
            let batch = Batch::new(owner.clone())
                .expect(ENDPOINT, id, Expect::Version(found.version))
                .delete(ENDPOINT, id);
            let owned = OwnedCount::read(store, owner).await?;
            let batch = owned.one_less(batch, owner, &found.endpoint.form)?;
            match store.commit(batch).await {
                Ok(_) => return self.remove_deliveries(owner, id).await,
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(changed())
    }

    /// Sends a test message, in the way of all others.
    ///
    /// # Errors
    /// `NotFound` if this tenant has no such endpoint; `Conflict` if it is disabled.
    pub async fn test(&self, owner: &TenantId, id: &str) -> Result<WebhookDelivery> {
        self.enabled(owner, id).await?;
        let ctx = self.shared.clock.ctx();
        let told = ToldEvent {
            event_type: EventType::WebhookTest,
            subject: ctx.token("webhook/test"),
            at: ctx.now(),
            cursor: None,
            notice: None,
            trace: selfsame_traces::present(),
        };
        let message = told.message_id(id);
        self.write(owner, &message, &told.to(id, ctx.now())).await
    }

    /// The deliveries of an endpoint in one state, newest first. Those that were confirmed are not kept.
    ///
    /// # Errors
    /// `NotFound` if this tenant has no such endpoint; `BadRequest` for an unknown page.
    pub async fn deliveries(
        &self,
        owner: &TenantId,
        id: &str,
        which: &WhichDeliveries,
    ) -> Result<Listing<WebhookDelivery>> {
        self.found(owner, id).await?;
        let (tag, paging) = (records::state_tag(id, which.state), &which.paging);
        let store = &self.shared.store;
        let found = store.find(owner, DELIVERY, &tag, &page(paging)).await?;
        listing(&found, paging, WebhookDelivery::read)
    }

    /// How many deliveries of an endpoint are kept, by their state; each number is at most [`COUNTED_MAX`].
    ///
    /// # Errors
    /// The store's.
    pub async fn counts(&self, owner: &TenantId, id: &str) -> Result<DeliveryCounts> {
        let count = async |state| -> Result<usize> {
            let (tag, page) = (records::state_tag(id, state), Page::first(COUNTED_MAX));
            let found = self.shared.store.find(owner, DELIVERY, &tag, &page);
            Ok(found.await?.len())
        };
        Ok(DeliveryCounts {
            pending: count(DeliveryState::Pending).await?,
            failed: count(DeliveryState::Failed).await?,
        })
    }

    /// Sends a delivery that was given up once more, as if it were new.
    ///
    /// # Errors
    /// `NotFound` if there is no such delivery; `Conflict` if it waits already, or if the endpoint is disabled.
    pub async fn resend(
        &self,
        owner: &TenantId,
        id: &str,
        message: &str,
    ) -> Result<WebhookDelivery> {
        self.enabled(owner, id).await?;
        let absent = || Error::not_found("webhook-delivery-absent");
        let record = self.shared.store.read(owner, DELIVERY, message).await?;
        let delivery: Delivery = decode(&record.ok_or_else(absent)?.value)?;
        if delivery.endpoint != id {
            return Err(absent());
        }
        if delivery.state == DeliveryState::Pending {
            return Err(Error::new(ErrorKind::Conflict, "webhook-delivery-waits"));
        }
        let again = delivery.told.to(id, self.shared.clock.now());
        self.write(owner, message, &again).await
    }

    async fn write(
        &self,
        owner: &TenantId,
        message: &str,
        delivery: &Delivery,
    ) -> Result<WebhookDelivery> {
        let store = &self.shared.store;
        let put = records::delivery_put(message, delivery)?;
        store.commit(Batch::new(owner.clone()).put(put)).await?;
        self.wake(owner, &delivery.endpoint);
        Ok(WebhookDelivery::of(message, delivery))
    }

    fn wake(&self, owner: &TenantId, id: &str) {
        self.senders.wake(&EndpointAt {
            owner: owner.clone(),
            id: id.to_owned(),
        });
    }

    /// The URL of this text, if this instance may call it. The address is checked again at each call.
    fn called(&self, url: &str) -> Result<Url> {
        let refused = |detail: &dyn std::fmt::Display| {
            Error::bad_request("webhook-url-refused").with("detail", &detail.to_string())
        };
        let url = Url::parse(url).map_err(|error| refused(&error))?;
        let checked = self.shared.net.check(&url);
        checked.map_err(|error| refused(&error))?;
        Ok(url)
    }

    async fn found(&self, owner: &TenantId, id: &str) -> Result<FoundEndpoint> {
        let (owner, id) = (owner.clone(), id.to_owned());
        let found = records::endpoint(&self.shared.store, &EndpointAt { owner, id }).await?;
        found.ok_or_else(|| Error::not_found("webhook-absent"))
    }

    async fn enabled(&self, owner: &TenantId, id: &str) -> Result<FoundEndpoint> {
        let found = self.found(owner, id).await?;
        match &found.endpoint.disabled {
            None => Ok(found),
            Some(_) => Err(Error::new(ErrorKind::Conflict, "webhook-is-disabled")),
        }
    }

    /// Changes the record of an endpoint.
    async fn changed(
        &self,
        owner: &TenantId,
        id: &str,
        change: impl Fn(&mut Endpoint),
    ) -> Result<Endpoint> {
        for _ in 0..RACES_MAX {
            let mut found = self.found(owner, id).await?;
            change(&mut found.endpoint);
            found.endpoint.check()?;
            let value = encode(&found.endpoint)?;
            let batch = Batch::new(owner.clone());
            let batch = batch.update_version(ENDPOINT, id, found.version, value);
            match self.shared.store.commit(batch).await {
                Ok(_) => return Ok(found.endpoint),
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(changed())
    }

    async fn remove_deliveries(&self, owner: &TenantId, id: &str) -> Result<()> {
        let store = &self.shared.store;
        for state in [DeliveryState::Pending, DeliveryState::Failed] {
            let tag = records::state_tag(id, state);
            loop {
                let page = Page::first(MAX_PAGE);
                let found = store.find(owner, DELIVERY, &tag, &page).await?;
                if found.is_empty() {
                    break;
                }
                let delete = |batch: Batch, record: &selfsame_store::Record| {
                    batch.delete(DELIVERY, &record.id)
                };
                let batch = found.iter().fold(Batch::new(owner.clone()), delete);
                store.commit(batch).await?;
            }
        }
        Ok(())
    }
}

fn changed() -> Error {
    Error::new(ErrorKind::Conflict, "changed-meanwhile")
}
