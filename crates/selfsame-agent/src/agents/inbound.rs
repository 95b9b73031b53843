//! What arrives: an envelope is opened, and its message goes to the machine of its protocol.

use selfsame_aries::connections::ConnectionMessage;
use selfsame_aries::key::VerKey;
use selfsame_aries::notification::NotificationMessage;
use selfsame_aries::trust_ping::{PingResponse, TrustPingMessage};
use selfsame_aries::wire::{Incoming, Vocabulary};
use selfsame_core::machine::At;
use selfsame_crypto::encoding::hex_encode;
use selfsame_didcomm::v2::Documents;
use selfsame_didcomm::{Message, kids, receive};
use selfsame_driver::record::decode;
use selfsame_driver::{Error, Result};
use selfsame_store::{Page, Record, Tag, TenantId};

use super::Agents;
use crate::connections::{
    ConnectionEntry, ConnectionGiven, ConnectionWhat, Connections, INVITATION, OWN_KEY, THREAD,
};
use crate::error::unreadable;
use crate::exchanges::ExchangeProtocol as _;
use crate::exchanges::issuing::Issuing;
use crate::exchanges::proving::Proving;
use crate::keys;
use crate::machine::AgentProtocol as _;

/// The protocol of problem reports that others adopt (RFC 0035).
const REPORTS: &str = "report-problem";

/// A message that arrived, with the keys of its envelope.
pub(super) struct Inbound {
    pub tenant: TenantId,
    pub recipient: VerKey,
    pub sender: Option<VerKey>,
    pub message: Message,
}

/// The connection that a message came on.
pub(super) struct FoundConnection {
    pub id: String,
    pub entry: ConnectionEntry,
}

impl Agents {
    /// Takes an envelope from outside.
    ///
    /// # Errors
    /// `BadRequest` if it can't be opened or read, or if nothing here can take its message.
    pub async fn receive(&self, envelope: Vec<u8>) -> Result<()> {
        let inbound = self.opened(envelope).await?;
        match inbound.message.kind.protocol.as_str() {
            ConnectionMessage::PROTOCOL => self.take_connection(inbound).await,
            TrustPingMessage::PROTOCOL => self.take_ping(inbound).await,
            Issuing::NAME => self.take_exchange(&self.issuing, &inbound).await,
            Proving::NAME => self.take_exchange(&self.proving, &inbound).await,
            // Acknowledgements and problem reports that other protocols adopt.
            NotificationMessage::PROTOCOL | REPORTS => self.take_adopted(&inbound).await,
            _ => Err(unreadable(&"no protocol of this agent has such a message")),
        }
    }

    async fn opened(&self, envelope: Vec<u8>) -> Result<Inbound> {
        let shared = &self.parts.shared;
        let kids = kids(&envelope).map_err(|error| unreadable(&error))?;
        let held = keys::held(shared, &kids).await?;
        let held = held.ok_or_else(|| Error::bad_request("aries-key-unknown"))?;
        let ring = held.ring;
        let opening = move || receive(&envelope, &ring, &Documents::default());
        let received = shared.reading.run(opening).await?;
        match received.map_err(|error| unreadable(&error))? {
            selfsame_didcomm::Incoming::V1(received) => Ok(Inbound {
                tenant: held.tenant,
                recipient: VerKey::new(received.recipient).map_err(|error| unreadable(&error))?,
                sender: received
                    .sender
                    .map(VerKey::new)
                    .transpose()
                    .map_err(|error| unreadable(&error))?,
                message: received.message,
            }),
            selfsame_didcomm::Incoming::V2(_) => {
                Err(unreadable(&"DIDComm v2 has no connection here yet"))
            }
        }
    }

    async fn take_connection(&self, inbound: Inbound) -> Result<()> {
        let read = Incoming::<ConnectionMessage>::read(&inbound.message);
        let incoming = read.map_err(|error| unreadable(&error))?;
        let thread = self
            .tagged(&inbound.tenant, Tag::hashed(THREAD, &incoming.thread_id))
            .await?;
        let found = match (&thread, &incoming.content) {
            (Some(_), _) => thread,
            (None, ConnectionMessage::Request(_)) => {
                let key = Tag::hashed(INVITATION, inbound.recipient.to_base58());
                self.tagged(&inbound.tenant, key).await?
            }
            (None, _) => None,
        };
        let found = found.ok_or_else(|| Error::not_found("connection-absent"))?;
        let what = ConnectionWhat::Received(Box::new(incoming));
        self.give_connection(&inbound.tenant, &found.id, what).await
    }

    async fn take_ping(&self, inbound: Inbound) -> Result<()> {
        let id = self.connection_of(&inbound).await?.id;
        let read = Incoming::<TrustPingMessage>::read(&inbound.message);
        let incoming = read.map_err(|error| unreadable(&error))?;
        let answers = match &incoming.content {
            TrustPingMessage::Ping(ping) if ping.response_requested => {
                let response = TrustPingMessage::Response(PingResponse::default());
                let kind = incoming.kind.sibling(response.name());
                let ctx = self.parts.shared.clock.ctx();
                let fresh = hex_encode(&ctx.random::<16>("aries/ping"));
                let mut answer = inbound.message.reply(kind, fresh);
                response.write(&mut answer);
                vec![answer]
            }
            TrustPingMessage::Ping(_) | TrustPingMessage::Response(_) => Vec::new(),
        };
        let what = ConnectionWhat::Heard(answers);
        self.give_connection(&inbound.tenant, &id, what).await
    }

    /// The connection that a message came on: its recipient's key is ours in it, its sender's key the peer's.
    pub(super) async fn connection_of(&self, inbound: &Inbound) -> Result<FoundConnection> {
        let unknown = || Error::not_found("connection-absent");
        let tag = Tag::hashed(OWN_KEY, inbound.recipient.to_base58());
        let found = self
            .tagged(&inbound.tenant, tag)
            .await?
            .ok_or_else(unknown)?;
        let entry: ConnectionEntry = decode(&found.value)?;
        let peer = entry.peer().map_err(|_| unknown())?;
        let sender = inbound.sender.as_ref().ok_or_else(unknown)?;
        match peer.keys.contains(sender) {
            true => Ok(FoundConnection {
                id: found.id,
                entry,
            }),
            false => Err(unknown()),
        }
    }

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

    async fn tagged(&self, tenant: &TenantId, tag: Tag) -> Result<Option<Record>> {
        let store = &self.parts.shared.store;
        let page = Page::first(1);
        let found = store.find(tenant, Connections::KIND, &tag, &page).await?;
        Ok(found.into_iter().next())
    }
}
