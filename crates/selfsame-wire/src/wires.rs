//! The recorded flows of a tenant: switched on, recorded, listed, erased.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::seal::random_seed;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::clock::Clock;
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Expect, Page, Put, Record, Store, StoreError, Tag, TenantId};
use serde::{Deserialize, Serialize};

use crate::exchange::WireExchange;
use crate::links::{WireLink, of_id};
use crate::parties::FlowKind;
use crate::record::{RecordedFlow, RecordedMessage, RecordedSummary, WireSwitch};

/// Seconds for which a flow is kept from its beginning.
pub const KEPT_SECONDS: u64 = 24 * 3_600;
/// Seconds for which recording stays on; then it ends by itself.
pub const ON_SECONDS: u64 = 7 * 24 * 3_600;
/// Flows that a tenant keeps: an organisation of its three kinds, a person of their wallet. Each kind has a share, and a
/// further flow replaces the oldest of its kind, so that sign-ins, which anybody can begin, displace no issuance.
pub const FLOWS_MAX: u64 = 200;
/// Messages that a flow keeps.
pub const MESSAGES_MAX: usize = 64;
/// Bytes that the messages of a flow take at most.
pub const FLOW_BYTES: usize = 128 * 1024;

/// The kind of the record of a switch.
const SWITCH: &str = "wire_switch";
/// There is one switch.
const THE_SWITCH: &str = "switch";
/// Seconds for which a process remembers a switch.
const REMEMBERED_SECONDS: u64 = 2;
/// Switches that a process remembers.
const REMEMBERED_MAX: usize = 10_000;
/// What ties further messages to a flow, at most.
const LINKS_MAX: usize = 48;
/// Exchanges that belong to no flow yet: a nonce is given to whoever asks, and only its use tells to which flow.
const WAITING_MAX: usize = 512;
/// Those of one tenant, so that whoever asks one for nonces displaces no other's.
const WAITING_EACH: usize = 64;
/// A message that was stored meanwhile is no accident more often than this.
const RACES_MAX: usize = 4;
/// Flows above the bound for which one commit makes room.
const ROOM_AT_ONCE: u64 = 16;
/// Flows that are erased in one commit.
const ERASED_AT_ONCE: usize = 100;

/// The recorded flows of all tenants.
#[derive(Clone)]
pub struct Wires(Arc<WireParts>);

struct WireParts {
    store: Store,
    clock: Clock,
    switches: Mutex<HashMap<TenantId, RememberedSwitch>>,
    waiting: Mutex<VecDeque<WaitingExchange>>,
}

/// A switch as it was read last.
#[derive(Clone, Copy)]
struct RememberedSwitch {
    is_on: bool,
    read: UnixTime,
}

/// An exchange that belongs to no flow yet.
struct WaitingExchange {
    tenant: TenantId,
    links: Vec<WireLink>,
    messages: [RecordedMessage; 2],
}

/// A switch as it is stored.
#[derive(Deserialize, Serialize)]
struct StoredSwitch {
    until: UnixTime,
}

/// A flow as it is stored.
#[derive(Deserialize, Serialize)]
struct StoredFlow {
    flow: RecordedFlow,
    /// Until when it is kept.
    until: UnixTime,
    /// What ties further messages to it.
    links: Vec<WireLink>,
}

/// A flow as it was found.
struct FoundFlow {
    stored: StoredFlow,
    version: u64,
    seq: u64,
}

impl Wires {
    /// Flows in this store.
    #[must_use]
    pub fn new(store: Store, clock: Clock) -> Self {
        Self(Arc::new(WireParts {
            store,
            clock,
            switches: Mutex::default(),
            waiting: Mutex::default(),
        }))
    }

    /// The present time.
    #[must_use]
    pub fn now(&self) -> UnixTime {
        self.0.clock.now()
    }

    /// Whether the flows of a tenant are recorded. Another process may have switched it a moment ago.
    ///
    /// # Errors
    /// The store's.
    pub async fn is_on(&self, tenant: &TenantId) -> Result<bool> {
        let now = self.0.clock.now();
        let known = self.switches().get(tenant).copied();
        if let Some(known) = known
            && now.seconds_since(known.read) < REMEMBERED_SECONDS
        {
            return Ok(known.is_on);
        }
        let is_on = self.switch(tenant).await?.is_on;
        self.remember(tenant, is_on);
        Ok(is_on)
    }

    /// Whether the flows of a tenant are recorded, and until when.
    ///
    /// # Errors
    /// The store's.
    pub async fn switch(&self, tenant: &TenantId) -> Result<WireSwitch> {
        let record = self.0.store.read(tenant, SWITCH, THE_SWITCH).await?;
        let stored: Option<StoredSwitch> = match &record {
            Some(record) => Some(decode(&record.value)?),
            None => None,
        };
        let until = stored.map(|stored| stored.until);
        let until = until.filter(|until| *until > self.0.clock.now());
        Ok(WireSwitch {
            is_on: until.is_some(),
            until: until.map(UnixTime::rfc3339),
        })
    }

    /// Switches recording on for [`ON_SECONDS`], or off. What was recorded stays until it is erased or its time is over.
    ///
    /// # Errors
    /// The store's.
    pub async fn set(&self, tenant: &TenantId, is_on: bool) -> Result<WireSwitch> {
        let batch = Batch::new(tenant.clone());
        let batch = match is_on {
            true => {
                let until = self.0.clock.now().plus(ON_SECONDS);
                let value = encode(&StoredSwitch { until })?;
                batch.put(Put::new(SWITCH, THE_SWITCH, value).expires(until))
            }
            false => batch.delete(SWITCH, THE_SWITCH),
        };
        self.0.store.commit(batch).await?;
        self.remember(tenant, is_on);
        self.switch(tenant).await
    }

    /// Records a request and its answer in the flow that they belong to.
    ///
    /// # Errors
    /// The store's.
    pub async fn record(&self, tenant: &TenantId, exchange: &WireExchange<'_>) -> Result<()> {
        let links = exchange.links();
        let messages = exchange.messages();
        for _ in 0..RACES_MAX {
            let found = self.found(tenant, exchange.step.kind, &links).await?;
            if found.is_empty() && !exchange.begins() {
                return Ok(());
            }
            if found.is_empty() && exchange.step.is_stateless {
                self.wait(tenant, links, messages);
                return Ok(());
            }
            let seen = SeenExchange {
                kind: exchange.step.kind,
                at: exchange.at,
                links: &links,
                messages: &messages,
            };
            match self.store(tenant, found, &seen).await {
                Err(StoreError::Conflict { .. }) => {}
                other => return Ok(other.map(drop)?),
            }
        }
        Ok(())
    }

    /// The flows of a kind, newest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn list(
        &self,
        tenant: &TenantId,
        kind: FlowKind,
        paging: &Paging,
    ) -> Result<Listing<RecordedSummary>> {
        let store = &self.0.store;
        let records = store.list(tenant, stored_as(kind), &page(paging)).await?;
        listing(&records, paging, |record| Ok(read(record)?.flow.summary()))
    }

    /// A flow of a kind with its messages.
    ///
    /// # Errors
    /// `NotFound`, also for a flow of another tenant.
    pub async fn flow(&self, tenant: &TenantId, kind: FlowKind, id: &str) -> Result<RecordedFlow> {
        let record = self.0.store.read(tenant, stored_as(kind), id).await?;
        let flow = record.as_ref().map(read).transpose()?;
        let flow = flow.map(|stored| stored.flow);
        let flow = flow.filter(|flow| flow.kind == kind);
        flow.ok_or_else(|| Error::not_found("wire-flow-unknown"))
    }

    /// The flow of an offer, a request for a presentation or a sign-in with this identifier.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn flow_of(
        &self,
        tenant: &TenantId,
        kind: FlowKind,
        subject: &str,
    ) -> Result<RecordedFlow> {
        let links = [of_id(kind.as_str(), subject)];
        let found = self.found(tenant, kind, &links).await?.into_iter().next();
        let found = found.ok_or_else(|| Error::not_found("wire-flow-unknown"))?;
        Ok(found.stored.flow)
    }

    /// Erases a flow of a kind.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn erase(&self, tenant: &TenantId, kind: FlowKind, id: &str) -> Result<()> {
        self.flow(tenant, kind, id).await?;
        let batch = Batch::new(tenant.clone()).delete(stored_as(kind), id);
        self.0.store.commit(batch).await?;
        Ok(())
    }

    /// Erases all flows of a tenant.
    ///
    /// # Errors
    /// The store's.
    pub async fn erase_all(&self, tenant: &TenantId) -> Result<()> {
        self.waiting().retain(|waiting| waiting.tenant != *tenant);
        for kind in FlowKind::ALL {
            self.erase_kind(tenant, stored_as(kind)).await?;
        }
        Ok(())
    }

    async fn erase_kind(&self, tenant: &TenantId, kind: &str) -> Result<()> {
        let page = Page::first(ERASED_AT_ONCE);
        loop {
            let records = self.0.store.list(tenant, kind, &page).await?;
            let without = |batch: Batch, record: &Record| batch.delete(kind, &record.id);
            let batch = records.iter().fold(Batch::new(tenant.clone()), without);
            self.0.store.commit(batch).await?;
            if records.len() < ERASED_AT_ONCE {
                return Ok(());
            }
        }
    }

    /// The flows of a kind with one of these links, the oldest first.
    async fn found(
        &self,
        tenant: &TenantId,
        kind: FlowKind,
        links: &[WireLink],
    ) -> Result<Vec<FoundFlow>> {
        let mut found: Vec<FoundFlow> = Vec::new();
        for link in links {
            let (tag, page) = (of_link(link), Page::first(2));
            let records = self.0.store.find(tenant, stored_as(kind), &tag, &page);
            for record in records.await? {
                if found.iter().all(|known| known.seq != record.seq) {
                    found.push(FoundFlow {
                        stored: read(&record)?,
                        version: record.version,
                        seq: record.seq,
                    });
                }
            }
        }
        found.sort_by_key(|one| one.seq);
        Ok(found)
    }

    /// Adds messages to the first of these flows, or to a new one. Others turn out to be the same flow, and go into it.
    async fn store(
        &self,
        tenant: &TenantId,
        found: Vec<FoundFlow>,
        seen: &SeenExchange<'_>,
    ) -> std::result::Result<(), StoreError> {
        let kind = stored_as(seen.kind);
        let mut batch = Batch::new(tenant.clone());
        let mut found = found.into_iter();
        let mut stored = match found.next() {
            Some(FoundFlow {
                stored, version, ..
            }) => {
                batch = batch.expect(kind, &stored.flow.id, Expect::Version(version));
                stored
            }
            None => {
                batch = self.with_room(tenant, seen.kind, batch).await?;
                StoredFlow::new(seen)
            }
        };
        for FoundFlow {
            stored: other,
            version,
            ..
        } in found
        {
            batch = batch.expect(kind, &other.flow.id, Expect::Version(version));
            batch = batch.delete(kind, &other.flow.id);
            stored.take_in(other.flow.messages, &other.links);
        }
        for waiting in self.waiting_for(tenant, seen.links) {
            stored.take_in(waiting.messages.into(), &waiting.links);
        }
        stored.take_in(seen.messages.to_vec(), seen.links);
        let put = stored
            .put()
            .map_err(|_| StoreError::Malformed("wire flow"))?;
        self.0.store.commit(batch.put(put).deferred()).await?;
        Ok(())
    }

    /// A batch that makes room for one more flow of a kind, and for those above the bound that began at the same moment.
    async fn with_room(
        &self,
        tenant: &TenantId,
        kind: FlowKind,
        batch: Batch,
    ) -> std::result::Result<Batch, StoreError> {
        let (store, most, kind) = (&self.0.store, kept_most(kind), stored_as(kind));
        let looked = most.saturating_add(ROOM_AT_ONCE);
        let kept = store.count(tenant, kind, looked).await?;
        let above = kept.saturating_add(1).saturating_sub(most);
        let Ok(above @ 1..) = usize::try_from(above) else {
            return Ok(batch);
        };
        let oldest = store.list(tenant, kind, &Page::first(above)).await?;
        let without = |batch: Batch, record: &Record| batch.delete(kind, &record.id);
        Ok(oldest.iter().fold(batch, without))
    }

    fn wait(&self, tenant: &TenantId, links: Vec<WireLink>, messages: [RecordedMessage; 2]) {
        let mut waiting = self.waiting();
        let is_own = |one: &WaitingExchange| one.tenant == *tenant;
        if waiting.iter().filter(|one| is_own(one)).count() >= WAITING_EACH
            && let Some(oldest) = waiting.iter().position(is_own)
        {
            waiting.remove(oldest);
        }
        if waiting.len() >= WAITING_MAX {
            waiting.pop_front();
        }
        waiting.push_back(WaitingExchange {
            tenant: tenant.clone(),
            links,
            messages,
        });
    }

    /// Takes the exchanges that waited for one of these links.
    fn waiting_for(&self, tenant: &TenantId, links: &[WireLink]) -> Vec<WaitingExchange> {
        let mut waiting = self.waiting();
        let all = std::mem::take(&mut *waiting).into_iter();
        let (found, rest): (VecDeque<_>, VecDeque<_>) = all.partition(|one| {
            one.tenant == *tenant && one.links.iter().any(|link| links.contains(link))
        });
        *waiting = rest;
        found.into()
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<WaitingExchange>> {
        self.0
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn switches(&self) -> MutexGuard<'_, HashMap<TenantId, RememberedSwitch>> {
        self.0
            .switches
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, tenant: &TenantId, is_on: bool) {
        let read = self.0.clock.now();
        let mut switches = self.switches();
        if switches.len() >= REMEMBERED_MAX {
            switches.clear();
        }
        switches.insert(tenant.clone(), RememberedSwitch { is_on, read });
    }
}

/// What was seen of an exchange.
struct SeenExchange<'a> {
    kind: FlowKind,
    at: UnixTime,
    links: &'a [WireLink],
    messages: &'a [RecordedMessage; 2],
}

impl StoredFlow {
    fn new(seen: &SeenExchange<'_>) -> Self {
        let id = base64url_encode(random_seed().get(..16).unwrap_or_default());
        Self {
            flow: RecordedFlow::new(id, seen.kind, seen.at),
            until: seen.at.plus(KEPT_SECONDS),
            links: Vec::new(),
        }
    }

    fn put(&self) -> Result<Put> {
        let kind = stored_as(self.flow.kind);
        let put = Put::new(kind, &self.flow.id, encode(self)?).expires(self.until);
        Ok(self
            .links
            .iter()
            .map(|link| of_link(link))
            .fold(put, Put::tag))
    }

    /// Adds messages and what ties further ones to them, within the bounds of a flow.
    fn take_in(&mut self, messages: Vec<RecordedMessage>, links: &[WireLink]) {
        let length = |message: &RecordedMessage| message.content.to_string().len();
        let flow = &mut self.flow;
        let mut bytes: usize = flow.messages.iter().map(length).sum();
        for message in messages {
            bytes = bytes.saturating_add(length(&message));
            match flow.messages.len() < MESSAGES_MAX && bytes <= FLOW_BYTES {
                true => flow.messages.push(message),
                false => flow.left_out = flow.left_out.saturating_add(1),
            }
        }
        // RFC 3339 sorts as the times do; what came in the same second keeps its order.
        flow.messages.sort_by(|one, other| one.at.cmp(&other.at));
        for link in links {
            if self.links.len() < LINKS_MAX && !self.links.contains(link) {
                self.links.push(link.clone());
            }
        }
    }
}

/// The kind of the records of flows of a kind. Each has its own, so that they are counted apart.
const fn stored_as(kind: FlowKind) -> &'static str {
    match kind {
        FlowKind::Issuance => "wire_issuance",
        FlowKind::Presentation => "wire_presentation",
        FlowKind::SignIn => "wire_sign_in",
        FlowKind::Wallet => "wire_wallet",
    }
}

/// Flows of a kind that a tenant keeps. Those of wallets are the only ones of a person.
const fn kept_most(kind: FlowKind) -> u64 {
    match kind {
        FlowKind::Issuance | FlowKind::Presentation => 75,
        FlowKind::SignIn => 50,
        FlowKind::Wallet => FLOWS_MAX,
    }
}

fn of_link(link: &str) -> Tag {
    Tag::hashed("wire_link", link)
}

fn read(record: &Record) -> Result<StoredFlow> {
    decode(&record.value)
}

#[cfg(test)]
mod tests;
