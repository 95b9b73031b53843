//! One connection of a peer, and what goes back on it (RFC 0092): the envelopes that wait for those who sent something on
//! it and asked for that, and deliveries of a mediator.

use std::time::Duration;

use selfsame_aries::key::VerKey;
use selfsame_aries::message_pickup::PickupSession;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash;
use selfsame_driver::Result;
use selfsame_store::{Batch, Expect, Put, StoreError, TenantId};
use tokio::time::timeout;

use crate::destination::{Destination, OwnKey};
use crate::mailbox::Mailbox;
use crate::mediation::Mediation;
use crate::pickup::{LiveDelivery, ToldEnvelopes};
use crate::presence::{Handing, Presence};
use crate::queue::{EnvelopeQueue, WaitingEnvelope};
use crate::terms::MediationTerms;

/// Senders for whom one connection carries answers. The ones before are forgotten.
const ROUTES_MAX: usize = 32;
/// Slips that are looked at together.
const LOOKED_AT: usize = 50;
/// The longest wait without a look. It should not be needed: who is watched is woken.
const LOOKED_EVERY: Duration = Duration::from_secs(30);
/// Envelopes that were delivered without being asked for and are not confirmed; then no more are until some are.
const UNCONFIRMED_MAX: usize = 100;
/// The kind of the notes of messages that opened a way back.
const OPENED: &str = "aries_return_route";

/// One connection of a peer, and what goes back on it.
pub struct ReturnLine {
    mediation: Mediation,
    /// Whether it stays open after an answer.
    pub is_persistent: bool,
    /// What it knows of pickup.
    pub pickup: PickupSession,
    /// Whether its peer has spoken of pickup on it. Then nothing is handed out that it can't confirm.
    pub has_picked_up: bool,
    /// How long an answer is waited for.
    patience: Duration,
    presence: Option<Presence>,
    routes: Vec<WayBack>,
    live: Option<LiveMailbox>,
}

/// Whose envelopes go back.
struct WayBack {
    tenant: TenantId,
    mailbox: Mailbox,
    /// The one thread whose messages do; `None` for all.
    thread: Option<String>,
}

/// A sender who asks for answers on its connection.
#[derive(Clone, Debug)]
pub struct Returning<'a> {
    /// The agent that it wrote to.
    pub tenant: &'a TenantId,
    /// Its key, which encrypted the message.
    pub sender: &'a VerKey,
    /// The identifier of the message.
    pub message_id: &'a str,
    /// The mailboxes of what the agent sends it.
    pub mailboxes: Vec<Mailbox>,
    /// The one thread whose messages go back; `None` for all.
    pub thread: Option<&'a str>,
    /// How far the agent serves peers without an address.
    pub terms: &'a MediationTerms,
}

/// A mailbox whose envelopes are delivered without being asked for.
pub struct LiveMailbox {
    /// The agent.
    pub tenant: TenantId,
    /// The mailbox.
    pub mailbox: Mailbox,
    /// The agent's key in the connection.
    pub from: VerKey,
    /// The peer.
    pub to: Destination,
    /// What was delivered so.
    pub told: ToldEnvelopes,
}

/// An envelope that goes back.
pub struct Returned {
    /// The envelope.
    pub bytes: Vec<u8>,
    what: ReturnedWhat,
}

enum ReturnedWhat {
    /// One that waited as it is.
    Waited {
        tenant: TenantId,
        mailbox: Mailbox,
        id: String,
        /// Held until it is removed.
        _handing: Handing,
    },
    /// A delivery of these.
    Delivery(Vec<String>),
}

impl Returned {
    /// Whether it is removed only once its recipient confirms it by a message.
    pub fn is_delivery(&self) -> bool {
        matches!(self.what, ReturnedWhat::Delivery(_))
    }
}

impl ReturnLine {
    /// A connection on which nothing was sent yet.
    pub fn new(mediation: Mediation, is_persistent: bool) -> Self {
        Self {
            mediation,
            is_persistent,
            pickup: PickupSession::default(),
            has_picked_up: false,
            patience: Duration::ZERO,
            presence: None,
            routes: Vec::new(),
            live: None,
        }
    }

    /// Whether anything can go back.
    pub fn is_open(&self) -> bool {
        !self.routes.is_empty() || self.live.is_some()
    }

    /// From now on the sender's envelopes go back. A message that came before opens no way: the sender of a copy would
    /// take what waits. Returns whether the way is open.
    ///
    /// # Errors
    /// The store's.
    pub async fn open(&mut self, returning: Returning<'_>) -> Result<bool> {
        let store = &self.mediation.shared.store;
        let Returning {
            tenant,
            sender,
            message_id,
            mailboxes,
            thread,
            terms,
        } = returning;
        let digest = hash::sha256(format!("{sender}\0{message_id}").as_bytes());
        let id = hex_encode(&digest);
        let until = self.mediation.shared.clock.now().plus(terms.kept_seconds);
        let note = Put::new(OPENED, &id, b"{}".to_vec()).expires(until);
        let batch = Batch::new(tenant.clone())
            .expect(OPENED, &id, Expect::Absent)
            .put(note)
            .deferred();
        match store.commit(batch).await {
            Ok(_) => {}
            Err(StoreError::Conflict { .. }) => return Ok(false),
            Err(other) => return Err(other.into()),
        }
        self.patience = terms.return_wait;
        for mailbox in mailboxes {
            self.add(WayBack {
                tenant: tenant.clone(),
                mailbox,
                thread: thread.map(str::to_owned),
            });
        }
        Ok(true)
    }

    /// From now on what others send to the peer of this connection goes back as it is, as agents want it that do not
    /// know pickup.
    pub fn open_mediated(&mut self, tenant: &TenantId, connection_id: &str) {
        self.add(WayBack {
            tenant: tenant.clone(),
            mailbox: Mailbox::OfConnection(connection_id.to_owned()),
            thread: None,
        });
    }

    /// From now on a mailbox is delivered without being asked for; or none is.
    pub fn set_live(&mut self, live: Option<LiveMailbox>) {
        self.live = live;
        self.presence = None;
    }

    /// Envelopes are confirmed that were delivered.
    pub fn confirmed(&mut self, ids: &[String]) {
        if let Some(live) = &mut self.live {
            for id in ids {
                live.told.ids.remove(id);
            }
        }
    }

    fn add(&mut self, way: WayBack) {
        let is_same = |one: &&mut WayBack| one.tenant == way.tenant && one.mailbox == way.mailbox;
        if let Some(known) = self.routes.iter_mut().find(is_same) {
            known.thread = way.thread;
            return;
        }
        if self.routes.len() >= ROUTES_MAX {
            self.routes.remove(0);
        }
        self.routes.push(way);
        // Its mailbox is not watched yet.
        self.presence = None;
    }

    /// Waits for the next envelope that goes back. If the wait is given up, nothing is lost.
    ///
    /// # Errors
    /// The store's.
    pub async fn next(&mut self) -> Result<Returned> {
        if !self.is_open() {
            return std::future::pending().await;
        }
        self.attend().await?;
        loop {
            if let Some(found) = self.look().await? {
                return Ok(found);
            }
            if let Some(presence) = &self.presence {
                let _ = timeout(LOOKED_EVERY, presence.woken()).await;
            }
        }
    }

    /// The next envelope that goes back, if there is one soon. It counts as gone back then.
    ///
    /// # Errors
    /// The store's.
    pub async fn soon(&mut self) -> Result<Option<Vec<u8>>> {
        let Ok(found) = timeout(self.patience, self.next()).await else {
            return Ok(None);
        };
        let mut found = found?;
        let bytes = std::mem::take(&mut found.bytes);
        self.returned(found).await?;
        Ok(Some(bytes))
    }

    /// Notes that an envelope went back.
    ///
    /// # Errors
    /// The store's.
    pub async fn returned(&mut self, returned: Returned) -> Result<()> {
        match returned.what {
            ReturnedWhat::Waited {
                tenant,
                mailbox,
                id,
                _handing,
            } => {
                let batch = EnvelopeQueue::removed(Batch::new(tenant), &mailbox, &id);
                self.mediation.shared.store.commit(batch).await?;
            }
            ReturnedWhat::Delivery(ids) => {
                if let Some(live) = &mut self.live {
                    live.told.ids.extend(ids);
                }
            }
        }
        Ok(())
    }

    /// Is woken for all mailboxes from now on.
    async fn attend(&mut self) -> Result<()> {
        if self.presence.is_some() {
            return Ok(());
        }
        let mut presence = self.mediation.presences.open().await?;
        for way in &self.routes {
            presence.watch(&way.tenant, &way.mailbox);
        }
        if let Some(live) = &self.live {
            presence.watch(&live.tenant, &live.mailbox);
        }
        self.presence = Some(presence);
        Ok(())
    }

    async fn look(&self) -> Result<Option<Returned>> {
        for way in &self.routes {
            if let Some(found) = self.waiting(way).await? {
                return Ok(Some(found));
            }
        }
        match &self.live {
            Some(live) if live.told.ids.len() < UNCONFIRMED_MAX => self.delivery(live).await,
            _ => Ok(None),
        }
    }

    /// The first envelope that goes this way.
    async fn waiting(&self, way: &WayBack) -> Result<Option<Returned>> {
        let WayBack {
            tenant, mailbox, ..
        } = way;
        let queue = &self.mediation.queue;
        let mut after = None;
        loop {
            let page = queue.page(tenant, mailbox, after, LOOKED_AT).await?;
            for one in page.iter().filter(|one| way.takes(one)) {
                let presences = &self.mediation.presences;
                let Some(handing) = presences.hand(&one.id, tenant, mailbox) else {
                    continue;
                };
                let Some(bytes) = queue.envelope(tenant, mailbox, &one.id).await? else {
                    continue;
                };
                let what = ReturnedWhat::Waited {
                    tenant: tenant.clone(),
                    mailbox: mailbox.clone(),
                    id: one.id.clone(),
                    _handing: handing,
                };
                return Ok(Some(Returned { bytes, what }));
            }
            match page.last() {
                Some(last) if page.len() == LOOKED_AT => after = Some(last.cursor.clone()),
                _ => return Ok(None),
            }
        }
    }

    async fn delivery(&self, live: &LiveMailbox) -> Result<Option<Returned>> {
        let pickup = &self.mediation.pickup;
        let found = pickup.live(&live.tenant, &live.mailbox, &live.told).await?;
        let Some(LiveDelivery { message, ids }) = found else {
            return Ok(None);
        };
        let from = OwnKey {
            tenant: &live.tenant,
            key: &live.from,
        };
        let sealed = live.to.seal(&self.mediation.shared, from, &message);
        Ok(Some(Returned {
            bytes: sealed.await?,
            what: ReturnedWhat::Delivery(ids),
        }))
    }
}

impl WayBack {
    /// Whether an envelope goes this way.
    fn takes(&self, one: &WaitingEnvelope) -> bool {
        self.thread.is_none() || self.thread == one.slip.thread
    }
}
