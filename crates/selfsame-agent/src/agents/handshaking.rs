//! Messages of the protocols that make connections: the record of the thread or of the invitation is given them, and what
//! the invitation leads to goes on.

use selfsame_aries::out_of_band::{OobInput, OobRole, OobState};
use selfsame_core::machine::{At, Machine as _};
use selfsame_driver::Result;
use selfsame_store::{Record, Tag, TenantId};

use super::Agents;
use super::inbound::{Inbound, unknown};
use crate::connections::{
    ConnectionWhat, HandshakeMessage, INVITATION, INVITED, ReceivedHandshake, THREAD,
};
use crate::oob::OobGiven;

impl Agents {
    /// A message of a protocol that makes connections.
    pub(super) async fn take_handshake(
        &self,
        inbound: &Inbound,
        message: HandshakeMessage,
    ) -> Result<()> {
        let received = ReceivedHandshake {
            message,
            recipient: Some(inbound.recipient.clone()),
            sender: inbound.sender.clone(),
            has_line: inbound.has_line(),
        };
        self.take_received(&inbound.tenant, received).await
    }

    /// A message of a protocol that makes connections, from the peer or brought by the controller.
    pub(super) async fn take_received(
        &self,
        tenant: &TenantId,
        received: ReceivedHandshake,
    ) -> Result<()> {
        let thread = received.thread_id().to_owned();
        let found = match self.tagged(tenant, Tag::hashed(THREAD, &thread)).await? {
            None if received.is_request() => self.invitation_of(tenant, &received).await?,
            found => found,
        };
        let found = self.read_connection(&found.ok_or_else(unknown)?)?;
        let oob_id = found.entry.oob_id.clone();
        let what = ConnectionWhat::Received(Box::new(received));
        self.give_found(tenant, found, what).await?;
        match oob_id {
            Some(oob_id) => self.went_on(tenant, &oob_id, &thread).await,
            None => Ok(()),
        }
    }

    /// The invitation that a request answers: the one that it names, or the one with the key that it is encrypted to.
    async fn invitation_of(
        &self,
        tenant: &TenantId,
        received: &ReceivedHandshake,
    ) -> Result<Option<Record>> {
        if let Some(id) = received.invitation_id() {
            let found = self.tagged(tenant, Tag::hashed(INVITED, id)).await?;
            if found.is_some() {
                return Ok(found);
            }
        }
        match (&received.message, &received.recipient) {
            (HandshakeMessage::Connection(_), Some(key)) => {
                let key = Tag::hashed(INVITATION, key.to_base58());
                self.tagged(tenant, key).await
            }
            (HandshakeMessage::Connection(_), None) | (HandshakeMessage::V2(_), _) => Ok(None),
            (HandshakeMessage::Exchange(_), _) => self.implicit_invitation(tenant, received).await,
        }
    }

    /// The invitation of out-of-band behind a connection of this thread goes on: the one that was made is answered, and
    /// what is attached to the one that was received is taken once the connection is ready. If the process dies before
    /// that, the message that came is delivered again, and leads here again.
    pub(super) async fn went_on(
        &self,
        tenant: &TenantId,
        oob_id: &str,
        thread: &str,
    ) -> Result<()> {
        let found = self.tagged(tenant, Tag::hashed(THREAD, thread)).await?;
        let Some(found) = found else {
            return Ok(());
        };
        let connection = self.read_connection(&found)?;
        let Some((entry, version)) = self.oob_found(tenant, oob_id).await? else {
            return Ok(());
        };
        let is_ready = connection.entry.record.state.is_ready();
        let (role, state) = (entry.record.role, entry.record.state);
        match (role, state) {
            (OobRole::Sender, OobState::AwaitResponse) => {
                let what = OobInput::Answered {
                    connection_id: Some(connection.id),
                };
                let at = At { tenant, id: oob_id };
                let given = OobGiven { what, way: None };
                self.oob
                    .give_read(at, Some((entry, version)), given)
                    .await?;
                Ok(())
            }
            (OobRole::Receiver, state) if state != OobState::Done && is_ready => {
                self.oob.records().keep(version, entry);
                self.answer_attached(tenant, oob_id, Some(connection)).await
            }
            _ => Ok(()),
        }
    }
}
