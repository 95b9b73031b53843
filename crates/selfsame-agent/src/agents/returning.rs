//! Answers on the connection that a message came on (RFC 0092).

use selfsame_aries::message_pickup::{PickupMessage, PickupSession};
use selfsame_aries::trust_ping::TrustPingMessage;
use selfsame_aries::wire::{Incoming, Vocabulary as _};
use selfsame_didcomm::message::ReturnRoute;
use selfsame_driver::{ErrorKind, Result};
use selfsame_mediation::destination::OwnKey;
use selfsame_mediation::line::{LiveMailbox, ReturnLine, Returning};
use selfsame_mediation::mailbox::Mailbox;
use selfsame_mediation::pickup::{PickupPlace, PickupReply, ToldEnvelopes};
use selfsame_mediation::speaker::Speaker;
use selfsame_store::Tag;

use super::Agents;
use super::inbound::{FoundConnection, Inbound, incoming, unknown};
use super::ways::way;
use crate::connections::{Aside, ConnectionEntry, THREAD};
use crate::exchanges::Way;

/// The mailboxes of what this agent sends to the peer: that of its key, and of former ones.
pub(super) fn mailboxes(entry: &ConnectionEntry) -> impl Iterator<Item = Mailbox> {
    let present = entry.peer_at.iter().flat_map(|peer| peer.keys.first());
    let former = entry.former.theirs.iter().filter_map(Speaker::key);
    let keys = present.chain(former);
    keys.map(|key| Mailbox::OfKey(key.clone()))
}

impl Agents {
    /// A connection of a peer, on which envelopes come and go.
    #[must_use]
    pub fn line(&self, is_persistent: bool) -> ReturnLine {
        ReturnLine::new(self.parts.mediation.clone(), is_persistent)
    }

    /// Takes an envelope that came on a line, and opens the line for answers if its sender takes them there. Returns the
    /// answer that does not wait.
    ///
    /// # Errors
    /// As [`Self::receive`].
    pub async fn receive_on(
        &self,
        line: &mut ReturnLine,
        envelope: Vec<u8>,
    ) -> Result<Option<Vec<u8>>> {
        let inbound = self.opened(envelope).await?;
        if !inbound.has_line() {
            return self.taken(&inbound).await.map(|()| None);
        }
        let protocol = inbound.message.kind.protocol.as_str();
        if protocol == PickupMessage::PROTOCOL {
            self.open(line, &inbound).await?;
            return self.pick_up_on(line, &inbound).await.map(Some);
        }
        let is_ping = protocol == TrustPingMessage::PROTOCOL;
        let taken = self.taken(&inbound).await;
        // A refusal goes this way too.
        let found = self.open(line, &inbound).await?;
        taken?;
        if let Some(found) = found.filter(|_| is_ping && !line.has_picked_up) {
            // Agents that do not know pickup ask so for what others sent them.
            let grants = &self.parts.mediation.grants;
            if grants.is_granted(&inbound.tenant, &found.id).await? {
                line.open_mediated(&inbound.tenant, &found.id);
            }
        }
        Ok(None)
    }

    /// Opens a line for answers to the sender of a message, if it has a connection; `None` if the line stays as it was.
    async fn open(
        &self,
        line: &mut ReturnLine,
        inbound: &Inbound,
    ) -> Result<Option<FoundConnection>> {
        let sender = inbound.sender.as_ref().and_then(Speaker::key);
        let (Some(found), Some(sender)) = (self.spoken_on(inbound).await?, sender) else {
            return Ok(None);
        };
        // What has an address gets nothing here, and need not wait for it.
        let is_reached = found.entry.peer().is_ok_and(|peer| peer.endpoint.is_some());
        if is_reached && found.entry.former.theirs.is_empty() {
            return Ok(None);
        }
        let terms = self.parts.terms(&inbound.tenant);
        let returning = Returning {
            tenant: &inbound.tenant,
            sender,
            message_id: &inbound.message.id,
            mailboxes: mailboxes(&found.entry).collect(),
            thread: match &inbound.message.return_route {
                Some(ReturnRoute::Thread(thread)) => Some(thread.as_str()),
                _ => None,
            },
            terms: &terms.mediation,
        };
        let is_open = line.open(returning).await?;
        Ok(Some(found).filter(|_| is_open))
    }

    /// The connection of a message. That of a handshake is found by its thread: its keys are new.
    async fn spoken_on(&self, inbound: &Inbound) -> Result<Option<FoundConnection>> {
        let known = match self.connection_of(inbound).await {
            Ok(found) => Some(found),
            Err(error) if error.kind == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if known.is_some() {
            return Ok(known);
        }
        let tag = Tag::hashed(THREAD, inbound.message.thread_id());
        let Some(found) = self.tagged(&inbound.tenant, tag).await? else {
            return Ok(None);
        };
        let found = self.read_connection(&found)?;
        let (peer, sender) = (found.entry.peer_at.as_ref(), inbound.sender.as_ref());
        let is_its_own = peer
            .zip(sender)
            .is_some_and(|(peer, sender)| peer.is(sender));
        Ok(Some(found).filter(|_| is_its_own))
    }

    /// Answers a message of pickup that came on a line.
    async fn pick_up_on(&self, line: &mut ReturnLine, inbound: &Inbound) -> Result<Vec<u8>> {
        let found = self.connection_of(inbound).await?;
        let message: Incoming<PickupMessage> = incoming(&inbound.message)?;
        let (kind, content) = (message.kind.clone(), message.content.clone());
        let place = PickupPlace {
            tenant: &inbound.tenant,
            connection_id: &found.id,
            session: line.pickup,
            is_persistent: line.is_persistent,
        };
        let pickup = &self.parts.mediation.pickup;
        let reply = pickup.answer(place, message).await?;
        line.pickup = reply.session;
        line.has_picked_up = true;
        line.confirmed(&reply.confirmed);
        let Way { from, to, .. } = way(&found.entry).ok_or_else(unknown)?;
        if matches!(content, PickupMessage::LiveDelivery(_)) {
            let live = reply.session.live_delivery.then(|| LiveMailbox {
                tenant: inbound.tenant.clone(),
                mailbox: Mailbox::OfConnection(found.id.clone()),
                from: from.clone(),
                to: to.clone(),
                told: ToldEnvelopes::new(kind),
            });
            line.set_live(live);
        }
        let own = OwnKey {
            tenant: &inbound.tenant,
            key: &from,
        };
        let sealed = to.seal(&self.parts.shared, own, &reply.message).await?;
        self.confirmed(inbound, found).await?;
        Ok(sealed)
    }

    /// A message of pickup whose answer goes the way of all others.
    pub(super) async fn take_pickup(&self, inbound: &Inbound) -> Result<()> {
        let found = self.connection_of(inbound).await?;
        let place = PickupPlace {
            tenant: &inbound.tenant,
            connection_id: &found.id,
            session: PickupSession::default(),
            is_persistent: false,
        };
        let message = incoming(&inbound.message)?;
        let pickup = &self.parts.mediation.pickup;
        let PickupReply { message, .. } = pickup.answer(place, message).await?;
        let heard = Aside {
            answers: vec![message],
            ..Aside::default()
        };
        self.hear(&inbound.tenant, found, heard).await
    }

    /// A message shows that the peer has the connection (RFC 0160 §3).
    async fn confirmed(&self, inbound: &Inbound, found: FoundConnection) -> Result<()> {
        if found.entry.record.state.is_complete() {
            return Ok(());
        }
        self.hear(&inbound.tenant, found, Aside::default()).await
    }
}
