//! Messages of DIDComm v2: what their envelopes say of the DIDs comes first, and the first one makes the connection.

use selfsame_aries::notification::ProblemReport;
use selfsame_aries::trust_ping::TrustPingMessage;
use selfsame_aries::wire::{Incoming, Vocabulary as _, fresh_id, is_report};
use selfsame_aries_v2::forms::{acknowledgement, is_empty};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_mediation::error::unreadable;
use selfsame_mediation::opening::OfV2;
use selfsame_mediation::relation::RelationMessage;
use selfsame_mediation::speaker::Speaker;
use selfsame_store::Tag;

use super::Agents;
use super::inbound::{FoundConnection, Inbound, unknown};
use crate::connections::{
    Aside, ConnectionWhat, HandshakeMessage, INVITED, ReceivedHandshake, V2What,
};

impl Agents {
    /// Takes a message of DIDComm v2.
    pub(super) async fn take_v2(&self, inbound: &Inbound, v2: &OfV2) -> Result<()> {
        if v2.rotation.is_some() && self.has_left(inbound, v2).await? {
            return Ok(());
        }
        if let Some(why) = &inbound.unread {
            return Err(unreadable(why));
        }
        let Some(found) = Box::pin(self.met(inbound, v2)).await? else {
            // A forward is anonymous.
            return self.take_next(inbound).await;
        };
        let entry = &found.entry;
        let is_settled = entry.own_key.as_ref() == Some(&inbound.recipient)
            && entry.peer_at.as_ref().is_some_and(|peer| {
                let mut dids = peer.dids.iter();
                dids.any(|dids| dids.from_prior.is_some())
            });
        if is_settled {
            let what = ConnectionWhat::V2(V2What::Settled);
            self.give_connection(&inbound.tenant, &found.id, what)
                .await?;
        }
        match (
            entry.record.state.is_complete(),
            is_report(&inbound.message.kind),
        ) {
            (false, true) => return self.give_relation(inbound, found, report(inbound)).await,
            // The controller has not decided yet. A ping that is the first message says nothing more.
            (false, false) if entry.is_asked() => return not_ready(inbound),
            _ => {}
        }
        if is_empty(&inbound.message) {
            self.hear(&inbound.tenant, found, Aside::default()).await?;
        } else {
            self.take_next(inbound).await?;
        }
        Box::pin(self.followed(inbound)).await
    }

    /// What follows once the message was taken: the invitation goes on, and the sender gets its acknowledgement.
    async fn followed(&self, inbound: &Inbound) -> Result<()> {
        let found = self.connection_of(inbound).await?;
        let thread = &found.entry.record.dialogue.thread_id;
        if let Some(oob_id) = &found.entry.oob_id
            && inbound.message.thread_id() == thread
        {
            self.went_on(&inbound.tenant, oob_id, thread).await?;
        }
        let (message, wish) = (&inbound.message, inbound.message.please_ack.as_ref());
        // DIDComm v2.1, "ACKs": an empty identifier is that of the message itself.
        let is_meant = |id: &String| id.is_empty() || *id == message.id;
        if !wish.is_some_and(|wish| wish.ids.is_empty() || wish.ids.iter().any(is_meant)) {
            return Ok(());
        }
        let ctx = self.parts.shared.clock.ctx();
        let id = fresh_id("acknowledgement", &ctx);
        let answer = acknowledgement(message.thread_id(), vec![message.id.clone()], id);
        let heard = Aside {
            answers: vec![answer],
            ..Aside::default()
        };
        self.hear(&inbound.tenant, found, heard).await
    }

    /// The connection of a message, which the first message of somebody invited begins; `None` for an anonymous one.
    async fn met(&self, inbound: &Inbound, v2: &OfV2) -> Result<Option<FoundConnection>> {
        let Some(sender) = &inbound.sender else {
            return Ok(None);
        };
        if let Some(found) = self.connection_from(inbound, sender).await? {
            return Ok(Some(found));
        }
        let invitation = inbound.message.thread.pthid.as_ref();
        let (Some(invitation), Some(from)) = (invitation, &v2.from) else {
            return Err(unknown());
        };
        let tag = Tag::hashed(INVITED, invitation);
        let found = self.tagged(&inbound.tenant, tag).await?;
        let found = self.read_connection(&found.ok_or_else(unknown)?)?;
        let invited = found.entry.record.invitation_did.as_ref();
        let invited = invited.and_then(|did| did.parse().ok());
        let is_own = invited.is_some_and(|did| Speaker::of(&did) == Speaker::of(&v2.own));
        if !found.entry.is_v2() || !is_own {
            return Err(unknown());
        }
        let first = RelationMessage::First {
            did: from.to_string(),
        };
        self.give_relation(inbound, found, first).await?;
        self.connection_of(inbound).await.map(Some)
    }

    async fn give_relation(
        &self,
        inbound: &Inbound,
        found: FoundConnection,
        content: RelationMessage,
    ) -> Result<()> {
        let message = &inbound.message;
        let incoming = Incoming {
            id: message.id.clone(),
            thread_id: match &content {
                RelationMessage::First { .. } => message.thread_id().to_owned(),
                RelationMessage::Report(_) => found.entry.record.dialogue.thread_id.clone(),
            },
            parent_thread_id: message.thread.pthid.clone(),
            kind: message.kind.clone(),
            content,
        };
        let (oob_id, thread) = (found.entry.oob_id.clone(), incoming.thread_id.clone());
        let received = ReceivedHandshake {
            message: HandshakeMessage::V2(Box::new(incoming)),
            recipient: Some(inbound.recipient.clone()),
            sender: inbound.sender.clone(),
            has_line: false,
        };
        let what = ConnectionWhat::Received(Box::new(received));
        self.give_found(&inbound.tenant, found, what).await?;
        match oob_id {
            Some(oob_id) => self.went_on(&inbound.tenant, &oob_id, &thread).await,
            None => Ok(()),
        }
    }

    /// The peer has another DID than before. Returns whether it has none any more, and ended the connection.
    async fn has_left(&self, inbound: &Inbound, v2: &OfV2) -> Result<bool> {
        let Some(rotation) = &v2.rotation else {
            return Ok(false);
        };
        let prior = Speaker::of(&rotation.prior);
        let Some(found) = self.connection_from(inbound, &prior).await? else {
            return Ok(false);
        };
        let now = rotation.now.as_ref();
        let peer = found.entry.peer_at.as_ref();
        // Each message tells of the change until we write to the new DID, and a former DID changes nothing.
        if now.is_some() && !peer.is_some_and(|peer| peer.is(&prior)) {
            return Ok(false);
        }
        let what = ConnectionWhat::V2(match now {
            Some(did) => V2What::Moved(did.clone()),
            None => V2What::Left,
        });
        self.give_found(&inbound.tenant, found, what).await?;
        Ok(now.is_none())
    }
}

fn report(inbound: &Inbound) -> RelationMessage {
    RelationMessage::Report(ProblemReport::read(&inbound.message))
}

fn not_ready(inbound: &Inbound) -> Result<()> {
    match inbound.message.kind.protocol == TrustPingMessage::PROTOCOL {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::Forbidden, "aries-relation-undecided")),
    }
}
