//! How those for whom an agent mediates fetch what waits for them (RFC 0685), as the mediator.

use std::collections::HashSet;
use std::sync::Arc;

use selfsame_aries::advance::{Outset, Recipient};
use selfsame_aries::key::VerKey;
use selfsame_aries::message_pickup::{
    Delivered, PickupInput, PickupMessage, PickupSession, Queue as SeenQueue, QueueStatus, step,
};
use selfsame_aries::wire::{Incoming, Vocabulary as _, fresh_id};
use selfsame_core::Shared;
use selfsame_crypto::time::UnixTime;
use selfsame_didcomm::Message;
use selfsame_didcomm::message::MessageType;
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, TenantId};

use crate::error::refused;
use crate::mailbox::Mailbox;
use crate::queue::{EnvelopeQueue, WaitingEnvelope};

/// Envelopes of one delivery, at most.
const DELIVERED_MAX: usize = 100;
/// Envelopes of one delivery that was not asked for.
const LIVE_MAX: usize = 10;
/// The bytes of the envelopes of one delivery. It has one envelope at least.
const DELIVERED_BYTES: u64 = 1 << 20;

/// What waits for those for whom the agents of a process mediate. Clones are the same.
#[derive(Clone)]
pub struct Pickup {
    shared: Arc<Shared>,
    queue: EnvelopeQueue,
}

/// Who fetches.
#[derive(Clone, Copy, Debug)]
pub struct PickupPlace<'a> {
    /// The agent.
    pub tenant: &'a TenantId,
    /// The connection.
    pub connection_id: &'a str,
    /// What its line knows.
    pub session: PickupSession,
    /// Whether the line stays open.
    pub is_persistent: bool,
}

/// The answer to a message.
pub struct PickupReply {
    /// The answer.
    pub message: Message,
    /// What the line knows then.
    pub session: PickupSession,
    /// The envelopes that the message confirmed.
    pub confirmed: Vec<String>,
}

/// Envelopes that are delivered without being asked for.
pub struct LiveDelivery {
    /// The message with them.
    pub message: Message,
    /// Their identifiers.
    pub ids: Vec<String>,
}

impl Pickup {
    /// What waits in this queue.
    pub fn new(shared: Arc<Shared>, queue: EnvelopeQueue) -> Self {
        Self { shared, queue }
    }

    /// Answers a message of the protocol.
    ///
    /// # Errors
    /// The refusal of the protocol; the store's.
    pub async fn answer(
        &self,
        place: PickupPlace<'_>,
        message: Incoming<PickupMessage>,
    ) -> Result<PickupReply> {
        let mailbox = Mailbox::OfConnection(place.connection_id.to_owned());
        let mut waiting = self.queue.waiting(place.tenant, &mailbox).await?;
        let mut confirmed = Vec::new();
        if let PickupMessage::MessagesReceived(ids) = &message.content {
            confirmed = self.confirm(place.tenant, &mailbox, ids, &waiting).await?;
            waiting.retain(|one| !confirmed.contains(&one.id));
        }
        let (asked, limit) = asked(&message.content);
        if let Some(key) = asked {
            let key = VerKey::parse(key).ok();
            waiting.retain(|one| Some(&one.slip.to) == key.as_ref());
        }
        let now = self.shared.clock.now();
        let seen = SeenQueue {
            status: status(&waiting, now),
            waiting: self
                .gathered(place.tenant, &mailbox, &waiting, limit)
                .await?,
            is_persistent: place.is_persistent,
        };
        let outset = Outset {
            kind: message.kind.clone(),
            connection_id: Some(place.connection_id.to_owned()),
            parent_thread_id: None,
        };
        let input = PickupInput::Asked {
            message,
            queue: seen,
        };
        let ctx = self.shared.clock.ctx();
        let advance = step(place.session, &outset, &input, &ctx);
        let advance = advance.map_err(|problem| refused(&problem))?;
        let mut answers = advance.send.into_iter();
        let answer = answers.find(|sent| sent.to == Recipient::Peer);
        let answer = answer.ok_or_else(|| Error::internal("pickup answers each message"))?;
        Ok(PickupReply {
            message: answer.message,
            session: advance.record,
            confirmed,
        })
    }

    /// What is delivered without being asked for: the first envelopes that were not `told` of yet; `None` if there is
    /// none.
    ///
    /// # Errors
    /// The store's.
    pub async fn live(
        &self,
        tenant: &TenantId,
        mailbox: &Mailbox,
        told: &ToldEnvelopes,
    ) -> Result<Option<LiveDelivery>> {
        let mut waiting = self.queue.waiting(tenant, mailbox).await?;
        waiting.retain(|one| !told.ids.contains(&one.id));
        let messages = self.gathered(tenant, mailbox, &waiting, LIVE_MAX).await?;
        if messages.is_empty() {
            return Ok(None);
        }
        let ids = messages.iter().map(|one| one.id.clone()).collect();
        let delivery = PickupMessage::Delivery {
            recipient_key: None,
            messages,
        };
        let id = fresh_id(delivery.name(), &self.shared.clock.ctx());
        let mut message = Message::new(told.kind.sibling(delivery.name()), id);
        delivery.write(&mut message);
        Ok(Some(LiveDelivery { message, ids }))
    }

    /// Removes the envelopes of this mailbox that are confirmed, and names them.
    async fn confirm(
        &self,
        tenant: &TenantId,
        mailbox: &Mailbox,
        ids: &[String],
        waiting: &[WaitingEnvelope],
    ) -> Result<Vec<String>> {
        let own: HashSet<&str> = waiting.iter().map(|one| one.id.as_str()).collect();
        let mut confirmed: Vec<String> = Vec::new();
        for id in ids.iter().filter(|id| own.contains(id.as_str())) {
            if !confirmed.contains(id) {
                confirmed.push(id.clone());
            }
        }
        let batch = Batch::new(tenant.clone());
        let batch = confirmed.iter().fold(batch, |batch, id| {
            EnvelopeQueue::removed(batch, mailbox, id)
        });
        self.shared.store.commit(batch).await?;
        Ok(confirmed)
    }

    /// The first of these envelopes, as many as fit into one delivery.
    async fn gathered(
        &self,
        tenant: &TenantId,
        mailbox: &Mailbox,
        waiting: &[WaitingEnvelope],
        limit: usize,
    ) -> Result<Vec<Delivered>> {
        let (mut gathered, mut bytes) = (Vec::new(), 0_u64);
        for one in waiting.iter().take(limit.min(DELIVERED_MAX)) {
            bytes = bytes.saturating_add(one.slip.bytes);
            if bytes > DELIVERED_BYTES && !gathered.is_empty() {
                break;
            }
            let found = self.queue.envelope(tenant, mailbox, &one.id).await?;
            gathered.extend(found.map(|envelope| Delivered {
                id: one.id.clone(),
                envelope,
            }));
        }
        Ok(gathered)
    }
}

/// What was delivered on a line without being asked for, and is not confirmed yet.
#[derive(Clone, Debug)]
pub struct ToldEnvelopes {
    /// A type with the prefix and the version of the protocol's messages.
    pub kind: MessageType,
    /// The identifiers.
    pub ids: HashSet<String>,
}

impl ToldEnvelopes {
    /// Nothing was delivered yet.
    pub fn new(kind: MessageType) -> Self {
        Self {
            kind,
            ids: HashSet::new(),
        }
    }
}

/// The key that is asked about, and how many envelopes are wanted.
fn asked(content: &PickupMessage) -> (Option<&String>, usize) {
    match content {
        PickupMessage::StatusRequest { recipient_key } => (recipient_key.as_ref(), 0),
        PickupMessage::DeliveryRequest {
            limit,
            recipient_key,
        } => {
            let limit = usize::try_from(*limit).unwrap_or(DELIVERED_MAX);
            (recipient_key.as_ref(), limit)
        }
        _ => (None, 0),
    }
}

fn status(waiting: &[WaitingEnvelope], now: UnixTime) -> QueueStatus {
    let came = |one: Option<&WaitingEnvelope>| one.map(|one| one.slip.came);
    let (oldest, newest) = (came(waiting.first()), came(waiting.last()));
    let bytes = waiting.iter().map(|one| one.slip.bytes);
    QueueStatus {
        message_count: u64::try_from(waiting.len()).unwrap_or(u64::MAX),
        longest_waited_seconds: oldest.map(|oldest| now.seconds_since(oldest)),
        newest_received_time: newest.map(UnixTime::rfc3339),
        oldest_received_time: oldest.map(UnixTime::rfc3339),
        total_bytes: Some(bytes.fold(0, u64::saturating_add)),
        ..QueueStatus::default()
    }
}
