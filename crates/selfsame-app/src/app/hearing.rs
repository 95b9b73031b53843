//! What an agent tells its controllers, for one that follows it on a connection of this process.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use selfsame_core::Shared;
use selfsame_core::events::EventKind;
use selfsame_core::notice::{NOTICE, Told};
use selfsame_crypto::encoding::hex_encode;
use selfsame_driver::record::decode;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::TenantId;
use selfsame_store::backend::StoredEvent;
use selfsame_webhooks::{FOLLOWED_SECONDS, Following, Webhooks};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::{App, receiver_of, wallets};

/// The number of events that are read at once.
const READ_AT_ONCE: usize = 50;
/// How often events of other processes are looked for.
const LOOKED_EVERY: Duration = Duration::from_secs(1);
/// How often other processes are told that somebody follows.
const NOTED_EVERY: Duration = Duration::from_secs(FOLLOWED_SECONDS / 3);
/// The tenants that are remembered, at most.
const KNOWN_MAX: usize = 10_000;

/// The webhooks of an instance, until it stops.
pub(super) fn webhooks(shared: &Arc<Shared>, stopping: &watch::Sender<bool>) -> Arc<Webhooks> {
    let stopping = stopping.subscribe();
    Arc::new(Webhooks::new(shared.clone(), receiver_of, stopping))
}

/// What an agent and its sub-wallets tell, from now on.
pub struct AgentNotices {
    app: Arc<App>,
    tenant: TenantId,
    /// The agent's organisation, if its sub-wallets are followed too.
    agent: Option<String>,
    /// The tenants of events so far, with whose they are.
    known: HashMap<TenantId, Teller>,
    cursor: Option<String>,
    ahead: VecDeque<HeardNotice>,
    wakings: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
    follower: FollowerNotes,
    _following: Following,
}

/// What other processes are told of this follower.
struct FollowerNotes {
    /// The identifier of its note.
    id: String,
    /// Whose agents it follows; all without it.
    owner: Option<TenantId>,
    noted: Option<Instant>,
}

/// What was told of a record.
#[derive(Clone, Debug)]
pub struct HeardNotice {
    /// The identifier of the sub-wallet whose record it is, if it is one's.
    pub wallet: Option<String>,
    /// The topic, and the record as it was then.
    pub told: Told,
}

/// Who told something.
#[derive(Clone)]
enum Teller {
    /// The agent itself.
    Agent,
    /// One of its sub-wallets.
    Wallet(String),
    /// Somebody else.
    Other,
}

impl App {
    /// What an agent tells its controllers from now on, with what its sub-wallets tell if it has some. While the returned
    /// value lives, this process writes what there is to tell, whether the agent has other controllers or not.
    ///
    /// # Errors
    /// `NotFound` if the settings name no such agent; the store's.
    pub async fn agent_notices(
        self: &Arc<Self>,
        organisation: &str,
        with_wallets: bool,
    ) -> Result<AgentNotices> {
        let tenant = self.agent_of(organisation)?;
        let hearers = self.webhooks.hearers();
        let owner = receiver_of(&tenant).filter(|_| !with_wallets);
        let following = match &owner {
            Some(owner) => hearers.follow(owner.clone()),
            None => hearers.follow_all(),
        };
        let mut follower = FollowerNotes {
            id: hex_encode(&self.shared.clock.ctx().random::<16>("agent/follower")),
            owner,
            noted: None,
        };
        follower.note(self).await?;
        // What is committed from here on is told.
        let cursor = self.shared.store.newest_event().await?;
        Ok(AgentNotices {
            tenant,
            agent: with_wallets.then(|| organisation.to_owned()),
            known: HashMap::new(),
            cursor,
            ahead: VecDeque::new(),
            wakings: self.shared.events.wakings(),
            stopping: self.stopping.subscribe(),
            app: self.clone(),
            follower,
            _following: following,
        })
    }
}

impl FollowerNotes {
    /// Notes for other processes that this follower is still there.
    async fn note(&mut self, app: &App) -> Result<()> {
        if self.noted.is_none_or(|at| at.elapsed() >= NOTED_EVERY) {
            let noted = app.webhooks.note_follower(&self.id, self.owner.as_ref());
            noted.await?;
            self.noted = Some(Instant::now());
        }
        Ok(())
    }
}

impl AgentNotices {
    /// Waits for the next notice; `None` once the instance stops. If the wait is cancelled, no notice is lost.
    ///
    /// # Errors
    /// `Gone` if events were removed before they were read; the store's.
    pub async fn next(&mut self) -> Result<Option<HeardNotice>> {
        loop {
            if let Some(next) = self.ahead.pop_front() {
                return Ok(Some(next));
            }
            if *self.stopping.borrow() {
                return Ok(None);
            }
            self.follower.note(&self.app).await?;
            self.wakings.borrow_and_update();
            if self.read().await? {
                continue;
            }
            tokio::select! {
                _ = self.stopping.changed() => return Ok(None),
                _ = timeout(LOOKED_EVERY, self.wakings.changed()) => {}
            }
        }
    }

    /// Reads on. Returns whether there were events.
    async fn read(&mut self) -> Result<bool> {
        let store = self.app.shared.store.clone();
        let events = store.events_after(self.cursor.as_deref(), READ_AT_ONCE);
        let missed = || Error::new(ErrorKind::Gone, "agent-notices-missed");
        let events = events.await?.ok_or_else(missed)?;
        let mut heard = Vec::new();
        for event in &events {
            heard.extend(self.heard(event).await?);
        }
        let Some(last) = events.last() else {
            return Ok(false);
        };
        self.cursor = Some(last.cursor());
        self.ahead.extend(heard);
        Ok(true)
    }

    /// What an event tells, if it is one of the agent or its sub-wallets. A notice that is not kept any more tells
    /// nothing.
    async fn heard(&mut self, event: &StoredEvent) -> Result<Option<HeardNotice>> {
        if EventKind::named(&event.place.kind) != Some(EventKind::AgentNotice) {
            return Ok(None);
        }
        let tenant = &event.place.tenant;
        let wallet = match self.teller(tenant).await? {
            Teller::Agent => None,
            Teller::Wallet(id) => Some(id),
            Teller::Other => return Ok(None),
        };
        let store = &self.app.shared.store;
        let stored = store.read(tenant, NOTICE, &event.place.id).await?;
        let told = stored.map(|stored| decode(&stored.value)).transpose()?;
        Ok(told.map(|told| HeardNotice { wallet, told }))
    }

    async fn teller(&mut self, tenant: &TenantId) -> Result<Teller> {
        if *tenant == self.tenant {
            return Ok(Teller::Agent);
        }
        let Some(agent) = &self.agent else {
            return Ok(Teller::Other);
        };
        if let Some(known) = self.known.get(tenant) {
            return Ok(known.clone());
        }
        let found = match self.app.organisations().of_tenant(tenant).await? {
            Some(hosted) => wallets::id_of(&hosted.name.to_string()),
            None => None,
        };
        let teller = match found {
            Some(id) if self.app.wallet_of(agent, &id).await.is_ok() => Teller::Wallet(id),
            _ => Teller::Other,
        };
        if self.known.len() >= KNOWN_MAX {
            self.known.clear();
        }
        self.known.insert(tenant.clone(), teller.clone());
        Ok(teller)
    }
}
