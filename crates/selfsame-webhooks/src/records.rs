//! The records of webhooks: endpoints and deliveries of tenants, and of the instance who has endpoints and how far the
//! events were read.

use std::collections::HashSet;

use selfsame_book::news::{BookNews, NEWS};
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::{all, decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Expect, MAX_PAGE, Page, Put, Record, Store, Tag, TenantId};
use serde::{Deserialize, Serialize};

use crate::delivery::{Delivery, DeliveryState, ToldEvent};
use crate::endpoint::{Endpoint, EndpointForm};
use crate::hearing::FollowedOwners;
use crate::window::Pending;

pub(crate) const ENDPOINT: &str = "webhook_endpoint";
pub(crate) const DELIVERY: &str = "webhook_delivery";
/// The kind of the turns of processes to send to an endpoint: the order of messages needs one sender.
pub(crate) const TURN: &str = "webhook_turn";
const OWNER: &str = "webhook_owner";
/// The kind of the notes of connections that follow agents.
const FOLLOWER: &str = "agent_follower";
const CURSOR: &str = "webhook_cursor";
const CURSOR_ID: &str = "events";
/// How long a delivery is kept, in seconds: 30 days.
const KEPT_SECONDS: u64 = 30 * 86_400;
/// The maximum number of endpoints of a tenant.
pub(crate) const ENDPOINTS_MAX: u32 = 20;
/// The maximum number of subscriptions of a tenant's credential book, and of those of one subscriber.
pub(crate) const READERS_MAX: u32 = 500;
pub(crate) const READERS_EACH: usize = 10;

/// The place of an endpoint.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct EndpointAt {
    pub owner: TenantId,
    pub id: String,
}

/// An endpoint as it was read.
pub(crate) struct FoundEndpoint {
    pub id: String,
    pub version: u64,
    pub endpoint: Endpoint,
}

impl FoundEndpoint {
    fn read(record: &Record) -> Result<Self> {
        Ok(Self {
            id: record.id.clone(),
            version: record.version,
            endpoint: decode(&record.value)?,
        })
    }
}

/// The endpoints of a tenant. One that can't be read is left out, so that it does not hold up the others.
pub(crate) async fn endpoints(store: &Store, owner: &TenantId) -> Result<Vec<FoundEndpoint>> {
    let page = Page::first(MAX_PAGE);
    let records = store.list(owner, ENDPOINT, &page).await?;
    let found = records.iter().filter_map(|record| {
        let read = FoundEndpoint::read(record);
        read.inspect_err(|error| {
            tracing::error!(endpoint = record.id, %error, "the record of a webhook can't be read");
        })
        .ok()
    });
    Ok(found.collect())
}

/// An endpoint; `None` if it does not exist.
pub(crate) async fn endpoint(store: &Store, at: &EndpointAt) -> Result<Option<FoundEndpoint>> {
    let record = store.read(&at.owner, ENDPOINT, &at.id).await?;
    record.as_ref().map(FoundEndpoint::read).transpose()
}

/// Whether any tenant has an endpoint.
pub(crate) async fn has_owner(store: &Store) -> Result<bool> {
    let page = Page::first(1);
    let records = store.list(&TenantId::instance(), OWNER, &page).await?;
    Ok(!records.is_empty())
}

/// The tenants that have endpoints.
pub(crate) async fn owners(store: &Store) -> Result<Vec<TenantId>> {
    let (mut owners, mut page) = (Vec::new(), Page::first(MAX_PAGE));
    loop {
        let records = store.list(&TenantId::instance(), OWNER, &page).await?;
        for record in &records {
            owners.push(TenantId::parse(&record.id)?);
        }
        match records.last() {
            Some(last) if records.len() == MAX_PAGE => page = page.after(last.cursor()),
            _ => return Ok(owners),
        }
    }
}

/// The tenants that have endpoints of controllers.
pub(crate) async fn heard_owners(store: &Store) -> Result<HashSet<TenantId>> {
    let mut heard = HashSet::new();
    for owner in owners(store).await? {
        let found = endpoints(store, &owner).await?;
        let is_heard = |one: &FoundEndpoint| {
            matches!(one.endpoint.form, EndpointForm::Agent(_)) && one.endpoint.disabled.is_none()
        };
        if found.iter().any(is_heard) {
            heard.insert(owner);
        }
    }
    Ok(heard)
}

/// A note that a connection of some process follows the agents of a tenant, or of all tenants.
#[derive(Deserialize, Serialize)]
struct FollowerNote {
    owner: Option<String>,
}

/// The note of the connection with this identifier. Its loss does no harm: it is written again soon.
pub(crate) fn follower(id: &str, owner: Option<&TenantId>, until: UnixTime) -> Result<Batch> {
    let owner = owner.map(|owner| owner.as_str().to_owned());
    let put = Put::new(FOLLOWER, id, encode(&FollowerNote { owner })?);
    let batch = Batch::new(TenantId::instance());
    Ok(batch.put(put.expires(until)).deferred())
}

/// What connections follow, of whatever process.
pub(crate) async fn followed(store: &Store) -> Result<FollowedOwners> {
    let mut followed = FollowedOwners::default();
    let instance = TenantId::instance();
    let notes = all(store, &instance, FOLLOWER, |note| {
        decode::<FollowerNote>(&note.value)
    });
    for note in notes.await? {
        match note.owner {
            Some(owner) => drop(followed.owners.insert(TenantId::parse(&owner)?)),
            None => followed.all = true,
        }
    }
    Ok(followed)
}

/// The news of a book that an event tells; `None` if its entry was erased, or it is not kept any more, or can't be read.
pub(crate) async fn news(store: &Store, told: &ToldEvent) -> Result<Option<BookNews>> {
    let Some(at) = told.notice.as_ref().filter(|_| told.is_news()) else {
        return Ok(None);
    };
    let tenant = TenantId::parse(&at.tenant)?;
    let Some(record) = store.read(&tenant, NEWS, &at.id).await? else {
        return Ok(None);
    };
    // News that can't be read must not hold up the events behind it.
    let news: Result<BookNews> = decode(&record.value);
    Ok(news
        .inspect_err(|error| {
            tracing::error!(entry = at.id, %error, "the news of a credential book can't be read");
        })
        .ok())
}

/// How many endpoints a tenant has, as its record says.
pub(crate) struct OwnedCount {
    owned: OwnerRecord,
    version: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
struct OwnerRecord {
    endpoints: u32,
    /// Those of subscribers of its credential book, which are counted apart.
    #[serde(default)]
    readers: u32,
}

impl OwnerRecord {
    /// The number of those that are counted together with an endpoint of this form, and their maximum.
    fn beside(&mut self, form: &EndpointForm) -> (&mut u32, u32) {
        match form {
            EndpointForm::Book(_) => (&mut self.readers, READERS_MAX),
            EndpointForm::Standard | EndpointForm::Agent(_) => (&mut self.endpoints, ENDPOINTS_MAX),
        }
    }
}

impl OwnedCount {
    pub async fn read(store: &Store, owner: &TenantId) -> Result<Self> {
        let instance = TenantId::instance();
        let record = store.read(&instance, OWNER, owner.as_str()).await?;
        let owned = record.as_ref().map(|record| decode(&record.value));
        Ok(Self {
            owned: owned.transpose()?.unwrap_or_default(),
            version: record.map(|record| record.version),
        })
    }

    /// Whether the tenant's credential book has subscriptions.
    pub fn has_readers(&self) -> bool {
        self.owned.readers > 0
    }

    /// Counts one more endpoint of this form in the batch that adds it.
    pub fn one_more(&self, batch: Batch, at: &TenantId, form: &EndpointForm) -> Result<Batch> {
        let mut owned = self.owned;
        let (count, most) = owned.beside(form);
        if *count >= most {
            return Err(match form {
                EndpointForm::Book(_) => {
                    Error::new(ErrorKind::Conflict, "book-subscriptions-many").with("most", &most)
                }
                EndpointForm::Standard | EndpointForm::Agent(_) => {
                    Error::new(ErrorKind::Conflict, "webhooks-too-many").with("most", &most)
                }
            });
        }
        *count = count.saturating_add(1);
        self.noted(batch, at, owned)
    }

    /// Counts one endpoint of this form less in the batch that removes it.
    pub fn one_less(&self, batch: Batch, at: &TenantId, form: &EndpointForm) -> Result<Batch> {
        let mut owned = self.owned;
        let (count, _) = owned.beside(form);
        *count = count.saturating_sub(1);
        self.noted(batch, at, owned)
    }

    /// The batch that notes the endpoints of a tenant whose records came from another instance. They are sent the events
    /// from now on.
    ///
    /// # Errors
    /// The store's.
    pub async fn arrived(store: &Store, owner: &TenantId) -> Result<Batch> {
        let batch = Batch::new(TenantId::instance());
        let mut owned = OwnerRecord::default();
        for found in endpoints(store, owner).await? {
            let (count, _) = owned.beside(&found.endpoint.form);
            *count = count.saturating_add(1);
        }
        if owned == OwnerRecord::default() {
            return Ok(batch);
        }
        let batch = Self::read(store, owner).await?.noted(batch, owner, owned)?;
        let so_far = ReadSoFar::read(store).await?;
        if so_far.is_begun() && has_owner(store).await? {
            return Ok(batch);
        }
        // As for the first endpoint of all: it is not sent what happened before it was there.
        let newest = store.newest_event().await?;
        Ok(batch.and(so_far.moved_to(newest.as_deref())?))
    }

    fn noted(&self, batch: Batch, owner: &TenantId, owned: OwnerRecord) -> Result<Batch> {
        let expected = self.version.map_or(Expect::Absent, Expect::Version);
        let batch = batch.for_tenant(TenantId::instance());
        let batch = batch.expect(OWNER, owner.as_str(), expected);
        Ok(match owned == OwnerRecord::default() {
            true => batch.delete(OWNER, owner.as_str()),
            false => batch.put(Put::new(OWNER, owner.as_str(), encode(&owned)?)),
        })
    }
}

/// How far the events were read.
pub(crate) struct ReadSoFar {
    /// `None` before the first event of all.
    pub cursor: Option<String>,
    version: Option<u64>,
}

impl ReadSoFar {
    pub async fn read(store: &Store) -> Result<Self> {
        let record = store.read(&TenantId::instance(), CURSOR, CURSOR_ID).await?;
        let cursor = record.as_ref().map(|record| decode(&record.value));
        Ok(Self {
            cursor: cursor.transpose()?.flatten(),
            version: record.map(|record| record.version),
        })
    }

    /// Whether anything was ever read.
    pub fn is_begun(&self) -> bool {
        self.version.is_some()
    }

    /// A batch that notes that the events were read up to this cursor. Another process that did so first wins.
    pub fn moved_to(&self, cursor: Option<&str>) -> Result<Batch> {
        let expected = self.version.map_or(Expect::Absent, Expect::Version);
        let put = Put::new(CURSOR, CURSOR_ID, encode(&cursor)?);
        let batch = Batch::new(TenantId::instance()).expect(CURSOR, CURSOR_ID, expected);
        Ok(batch.put(put))
    }
}

/// Writes a delivery.
pub(crate) fn delivery_put(id: &str, delivery: &Delivery) -> Result<Put> {
    let put = Put::new(DELIVERY, id, encode(delivery)?);
    let put = put.tag(state_tag(&delivery.endpoint, delivery.state));
    Ok(put.expires(delivery.since.plus(KEPT_SECONDS)))
}

/// The tag of an endpoint's deliveries in this state.
pub(crate) fn state_tag(endpoint: &str, state: DeliveryState) -> Tag {
    let state = match state {
        DeliveryState::Pending => "pending",
        DeliveryState::Failed => "failed",
    };
    Tag::hashed("endpoint", format!("{endpoint} {state}"))
}

/// The oldest pending deliveries of an endpoint after this place in their order.
pub(crate) async fn pending_after(
    store: &Store,
    at: &EndpointAt,
    after: Option<u64>,
    limit: usize,
) -> Result<Vec<Pending>> {
    let page = Page::first(limit.min(MAX_PAGE));
    let page = match after {
        Some(seq) => page.after(seq.to_string()),
        None => page,
    };
    let tag = state_tag(&at.id, DeliveryState::Pending);
    let found = store.find(&at.owner, DELIVERY, &tag, &page).await?;
    let read = |record: Record| {
        Ok(Pending {
            seq: record.seq,
            id: record.id,
            version: record.version,
            delivery: decode(&record.value)?,
        })
    };
    found.into_iter().map(read).collect()
}
