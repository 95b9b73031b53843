//! What arrives: an envelope is opened, and its message goes to the machine of its protocol.

use std::pin::Pin;

use selfsame_aries::advance::Outset;
use selfsame_aries::basic_message::BasicMessage;
use selfsame_aries::connections::ConnectionMessage;
use selfsame_aries::coordinate_mediation::MediationMessage;
use selfsame_aries::did_exchange::DidExchangeMessage;
use selfsame_aries::did_rotate::RotateMessage;
use selfsame_aries::discover_features::FeatureMessage;
use selfsame_aries::exchange::Course as _;
use selfsame_aries::issue_credential::IssueCredential;
use selfsame_aries::key::VerKey;
use selfsame_aries::message_pickup::PickupMessage;
use selfsame_aries::notification::NotificationMessage;
use selfsame_aries::out_of_band::OobMessage;
use selfsame_aries::present_proof::PresentProof;
use selfsame_aries::revocation_notification::RevocationMessage;
use selfsame_aries::trust_ping::TrustPingMessage;
use selfsame_aries::wire::{Incoming, Unreadable, Vocabulary};
use selfsame_aries_v2::forms;
use selfsame_core::machine::{At, Machine as _};
use selfsame_crypto::time::UnixTime;
use selfsame_didcomm::Message;
use selfsame_didcomm::message::{MessageType, ReturnRoute};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_mediation::destination::Destination;
use selfsame_mediation::error::unreadable;
use selfsame_mediation::opening::{OfV2, open};
use selfsame_mediation::speaker::Speaker;
use selfsame_store::{Page, Record, Tag, TenantId};

use super::Agents;
use crate::connections::{
    ConnectionEntry, ConnectionGiven, ConnectionWhat, Connections, HandshakeMessage, pair,
};
use crate::machine::AgentProtocol as _;

/// The protocol of problem reports that others adopt (RFC 0035).
const REPORTS: &str = "report-problem";
/// The protocol of forwards (RFC 0094).
const ROUTING: &str = "routing";

/// A message that arrived, with the keys of its envelope. One that is attached to an invitation has the keys of the
/// connection that the invitation led to.
pub(super) struct Inbound {
    pub tenant: TenantId,
    pub recipient: VerKey,
    pub sender: Option<Speaker>,
    pub message: Message,
    /// Where the answers go if there is no connection (RFC 0056).
    pub service: Option<Destination>,
    /// Whether it is attached to an invitation.
    pub is_attached: bool,
    /// When the exchange that it begins expires; `None` for never.
    pub expires: Option<UnixTime>,
    /// Why it can't be read as a message of the RFCs; then it stays as it is.
    pub unread: Option<Unreadable>,
    /// What its envelope says, if it is one of DIDComm v2.
    pub v2: Option<OfV2>,
}

impl Inbound {
    /// Whether the sender takes answers on the connection that it came on (RFC 0092).
    pub fn has_line(&self) -> bool {
        let route = self.message.return_route.as_ref();
        route.is_some_and(|route| *route != ReturnRoute::None)
    }
}

/// The connection that a message came on.
pub(super) struct FoundConnection {
    pub id: String,
    pub entry: ConnectionEntry,
    /// The version of its record.
    pub version: u64,
}

/// A message on its way to its record.
type NextTaking<'a> = Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

impl Agents {
    /// Takes an envelope from outside.
    ///
    /// # Errors
    /// `BadRequest` if it can't be opened or read, or if nothing here can take its message.
    pub async fn receive(&self, envelope: Vec<u8>) -> Result<()> {
        let inbound = self.opened(envelope).await?;
        self.taken(&inbound).await
    }

    /// Takes a message, and tells its sender if it can't be read.
    pub(super) async fn taken(&self, inbound: &Inbound) -> Result<()> {
        let taken = match &inbound.v2 {
            Some(v2) => Box::pin(self.take_v2(inbound, v2)).await,
            None => self.take(inbound).await,
        };
        if let Err(error) = &taken
            && error.kind == ErrorKind::BadRequest
            && let Err(error) = self.answer_unreadable(inbound).await
        {
            tracing::debug!(%error, "the sender of a message that can't be read is not told");
        }
        taken
    }

    /// As [`Self::take`], for a message that another one leads to.
    pub(super) fn take_next<'a>(&'a self, inbound: &'a Inbound) -> NextTaking<'a> {
        Box::pin(self.take(inbound))
    }

    async fn take(&self, inbound: &Inbound) -> Result<()> {
        match inbound.message.kind.protocol.as_str() {
            ConnectionMessage::PROTOCOL => {
                let message = HandshakeMessage::Connection(Box::new(incoming(&inbound.message)?));
                self.take_handshake(inbound, message).await
            }
            DidExchangeMessage::PROTOCOL => {
                let message = HandshakeMessage::Exchange(Box::new(incoming(&inbound.message)?));
                self.take_handshake(inbound, message).await
            }
            OobMessage::PROTOCOL => self.take_out_of_band(inbound).await,
            TrustPingMessage::PROTOCOL => self.take_ping(inbound).await,
            BasicMessage::PROTOCOL => self.take_text(inbound).await,
            FeatureMessage::PROTOCOL => self.take_discovery(inbound).await,
            RevocationMessage::PROTOCOL => self.take_revocation(inbound).await,
            RotateMessage::PROTOCOL => self.take_rotation(inbound).await,
            MediationMessage::PROTOCOL => self.take_mediation(inbound).await,
            PickupMessage::PROTOCOL => self.take_pickup(inbound).await,
            ROUTING => self.take_forward(inbound).await,
            IssueCredential::PROTOCOL => self.take_exchange(&self.issuing, inbound).await,
            PresentProof::PROTOCOL => self.take_exchange(&self.proving, inbound).await,
            // Acknowledgements and problem reports that other protocols adopt.
            NotificationMessage::PROTOCOL | REPORTS => self.take_adopted(inbound).await,
            _ => self.take_beside(inbound).await,
        }
    }

    pub(super) async fn opened(&self, envelope: Vec<u8>) -> Result<Inbound> {
        let opened = open(&self.parts.shared, envelope).await?;
        // The machines know the messages of the RFCs.
        let (message, unread) = match opened.v2 {
            Some(_) if opened.message.kind.protocol != ROUTING => {
                match forms::read(&opened.message) {
                    Ok(read) => (read, None),
                    Err(why) => (opened.message, Some(why)),
                }
            }
            _ => (opened.message, None),
        };
        Ok(Inbound {
            tenant: opened.tenant,
            recipient: opened.recipient,
            sender: opened.sender,
            message,
            service: opened.service,
            is_attached: false,
            expires: None,
            unread,
            v2: opened.v2,
        })
    }

    /// The connection that a message came on: its recipient's key is ours in it, its sender's key or DID the peer's.
    pub(super) async fn connection_of(&self, inbound: &Inbound) -> Result<FoundConnection> {
        let sender = inbound.sender.as_ref().ok_or_else(unknown)?;
        let found = self.connection_from(inbound, sender).await?;
        found.ok_or_else(unknown)
    }

    /// The connection of the message's recipient with this sender.
    pub(super) async fn connection_from(
        &self,
        inbound: &Inbound,
        sender: &Speaker,
    ) -> Result<Option<FoundConnection>> {
        let pair = pair(&inbound.recipient, sender);
        let found = self.tagged(&inbound.tenant, pair).await?;
        found.map(|found| self.read_connection(&found)).transpose()
    }

    pub(super) fn read_connection(&self, record: &Record) -> Result<FoundConnection> {
        Ok(FoundConnection {
            id: record.id.clone(),
            entry: self.connections.records().read(record)?,
            version: record.version,
        })
    }

    /// Gives an input to a connection.
    pub(super) async fn give_connection(
        &self,
        tenant: &TenantId,
        id: &str,
        what: ConnectionWhat,
    ) -> Result<()> {
        let given = ConnectionGiven::new(what);
        self.connections.give(At { tenant, id }, given).await?;
        Ok(())
    }

    /// Gives an input to a connection as it was found.
    pub(super) async fn give_found(
        &self,
        tenant: &TenantId,
        found: FoundConnection,
        what: ConnectionWhat,
    ) -> Result<()> {
        let FoundConnection { id, entry, version } = found;
        let (at, given) = (At { tenant, id: &id }, ConnectionGiven::new(what));
        let read = Some((entry, version));
        self.connections.give_read(at, read, given).await?;
        Ok(())
    }

    pub(super) async fn tagged(&self, tenant: &TenantId, tag: Tag) -> Result<Option<Record>> {
        let store = &self.parts.shared.store;
        let page = Page::newest(1);
        let found = store.find(tenant, Connections::KIND, &tag, &page).await?;
        Ok(found.into_iter().next())
    }
}

pub(super) fn unknown() -> Error {
    Error::not_found("connection-absent")
}

/// What a record begins with that a message of this type begins.
pub(super) fn outset(kind: &MessageType, connection_id: Option<&String>) -> Outset {
    Outset {
        kind: kind.clone(),
        connection_id: connection_id.cloned(),
        parent_thread_id: None,
    }
}

/// A message of the protocol.
pub(super) fn incoming<M: Vocabulary>(message: &Message) -> Result<Incoming<M>> {
    Incoming::read(message).map_err(|error| unreadable(&error))
}
