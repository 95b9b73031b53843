//! What controllers do with DID exchange: the calls of ACA-Py's group `did-exchange`, and the public DID.

use selfsame_agent_view::connection::ConnectionView;
use selfsame_aries::connection::{
    ConnectionRecord, ConnectionRole, HandshakeRejection, InvitationMode, InvitationTerms,
};
use selfsame_aries::did_exchange::DidExchangeMessage;
use selfsame_aries::wire::{Incoming, Vocabulary as _, fresh_id};
use selfsame_core::machine::At;
use selfsame_did::Did;
use selfsame_didcomm::message::{MessageType, Semver};
use selfsame_didcomm::{Message, Version};
use selfsame_driver::{Error, Result};
use selfsame_mediation::error::unreadable;
use selfsame_mediation::own_side::OwnSide;
use selfsame_mediation::public_did::{self, PublicDid};
use selfsame_store::{Batch, Expect, Record, Tag, TenantId};
use serde_json::{Map, Value};

use super::Agents;
use super::beginning::{NewConnection, accepting};
use crate::connections::{
    ConnectionEntry, ConnectionGiven, ConnectionWhat, Connections, HandshakeMessage,
    ReceivedHandshake, THREAD,
};
use crate::machine::{AgentProtocol as _, ProtocolMachine};

/// How long the record of an implicit invitation is kept in seconds if the request that it was made for is refused.
const IMPLICIT_SECONDS: u64 = 60;

/// A request to the public DID of another agent.
#[derive(Clone, Debug)]
pub struct DidRequestWish {
    /// The DID.
    pub their_did: Did,
    /// The controller's name for the connection.
    pub alias: Option<String>,
    /// This side.
    pub side: OwnSide,
    /// The minor version of the protocol.
    pub minor_version: u16,
}

impl Agents {
    /// Asks the subject of a public DID for a connection, without an invitation (RFC 0023, "Implicit Invitation").
    ///
    /// # Errors
    /// `BadRequest` if the DID can't be resolved or has no service; the store's.
    pub async fn request_connection(
        &self,
        tenant: &TenantId,
        wish: DidRequestWish,
    ) -> Result<ConnectionView> {
        let terms = InvitationTerms {
            role: ConnectionRole::Invitee,
            id: wish.their_did.to_string(),
            key: None,
            did: Some(wish.their_did.to_string()),
            mode: InvitationMode::Once,
            label: None,
            alias: wish.alias,
            accept: accepting(true),
        };
        let ctx = self.parts.shared.clock.ctx();
        let kind = exchange_kind(wish.minor_version);
        let entry = ConnectionEntry::new(ConnectionRecord::begin(terms, kind, &ctx).record);
        let id = fresh_id("connection", &ctx);
        let new = NewConnection {
            tenant,
            id: &id,
            entry: &entry,
        };
        self.keep(new, Batch::new(tenant.clone())).await?;
        let accepted = self.accept_connection_as(tenant, &id, wish.side).await;
        if accepted.is_err() {
            // Without a request nothing refers to the record.
            let batch = Batch::new(tenant.clone()).delete(Connections::KIND, &id);
            self.parts.shared.store.commit(batch).await?;
        }
        accepted
    }

    /// Takes a request of DID exchange that the controller brings, for the public DID of this agent or for one of its
    /// invitations. A request whose document is not signed by its own key is refused.
    ///
    /// # Errors
    /// `BadRequest` if it is not valid; the refusal of the protocol.
    pub async fn receive_connection_request(
        &self,
        tenant: &TenantId,
        request: Map<String, Value>,
    ) -> Result<ConnectionView> {
        let message = Message::from_members(request, Version::V1);
        let message = message.map_err(|error| unreadable(&error))?;
        let read = Incoming::<DidExchangeMessage>::read(&message);
        let incoming = read.map_err(|error| unreadable(&error))?;
        let thread = incoming.thread_id.clone();
        let received = ReceivedHandshake {
            message: HandshakeMessage::Exchange(Box::new(incoming)),
            recipient: None,
            sender: None,
            has_line: false,
        };
        if !received.is_request() {
            return Err(unreadable(&"the message is no request"));
        }
        self.take_received(tenant, received).await?;
        let tag = Tag::hashed(THREAD, thread);
        let found = self.tagged(tenant, tag).await?;
        let found = found.ok_or_else(|| Error::not_found("connection-absent"))?;
        self.connection(tenant, &found.id).await
    }

    /// Refuses a connection: the inviting side the request, the invited side the invitation or the response.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; `Conflict` if its state does not allow it.
    pub async fn reject_connection(
        &self,
        tenant: &TenantId,
        id: &str,
        reason: Option<String>,
    ) -> Result<ConnectionView> {
        let rejection = HandshakeRejection {
            may_retry: false,
            explain: reason,
        };
        let given = ConnectionGiven::new(ConnectionWhat::Reject(rejection));
        self.connections.give(At { tenant, id }, given).await?;
        self.connection(tenant, id).await
    }

    /// The public DID of an agent; `None` if it has none.
    ///
    /// # Errors
    /// The store's.
    pub async fn public_did(&self, tenant: &TenantId) -> Result<Option<PublicDid>> {
        public_did::find(&self.parts.shared, tenant).await
    }

    /// Makes a DID the public one of an agent. The agent holds a key that messages to the DID are encrypted to.
    ///
    /// # Errors
    /// `BadRequest` if the DID can't be resolved, or the agent holds no such key; the store's.
    pub async fn set_public_did(&self, tenant: &TenantId, did: &Did) -> Result<PublicDid> {
        public_did::adopt(&self.parts.shared, tenant, did).await
    }

    /// The record of the invitation that a public DID is, if the agent takes requests through it. The record is new for
    /// each request, and becomes its connection.
    pub(super) async fn implicit_invitation(
        &self,
        tenant: &TenantId,
        received: &ReceivedHandshake,
    ) -> Result<Option<Record>> {
        let terms = self.parts.terms(tenant);
        let public = self.public_did(tenant).await?;
        let Some(public) = public.filter(|_| terms.settings.requests_through_public_did) else {
            return Ok(None);
        };
        // RFC 0023: the parent thread is the DID, or the DID URL of its service.
        let parent = received.invitation_id();
        let named = parent.map(|parent| parent.split(['#', ';', '?']).next().unwrap_or_default());
        let is_meant = match &received.recipient {
            Some(recipient) => *recipient == public.key,
            None => true,
        };
        let Some(parent) = parent.filter(|_| is_meant && named == Some(public.did.as_str())) else {
            return Ok(None);
        };
        let terms = InvitationTerms {
            role: ConnectionRole::Inviter,
            id: parent.to_owned(),
            key: Some(public.key),
            did: Some(public.did.to_string()),
            mode: InvitationMode::Once,
            label: None,
            alias: None,
            accept: accepting(terms.settings.auto_accept_requests),
        };
        let shared = &self.parts.shared;
        let ctx = shared.clock.ctx();
        let begun = ConnectionRecord::begin(terms, received.kind().clone(), &ctx);
        let entry = ConnectionEntry {
            is_branch: true,
            ..ConnectionEntry::new(begun.record)
        };
        let id = fresh_id("connection", &ctx);
        let expires = shared.clock.now().plus(IMPLICIT_SECONDS);
        let put = ProtocolMachine::<Connections>::put(&id, &entry)?.expires(expires);
        let batch = Batch::new(tenant.clone()).expect(Connections::KIND, &id, Expect::Absent);
        shared.store.commit(batch.put(put)).await?;
        Ok(shared.store.read(tenant, Connections::KIND, &id).await?)
    }
}

/// The type of the requests of DID exchange in this minor version.
pub(super) fn exchange_kind(minor: u16) -> MessageType {
    MessageType::new(
        DidExchangeMessage::PROTOCOL,
        Semver::new(1, minor),
        "request",
    )
}
