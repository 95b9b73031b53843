//! What controllers do with connections.

use selfsame_agent_view::connection::{ConnectionView, InvitationView};
use selfsame_aries::advance::{Advance, Footing, Outset, Recipient};
use selfsame_aries::connection::{ConnectionRecord, InvitationMode};
use selfsame_aries::connections::{
    ConnectionAct, ConnectionInput, ConnectionInvitation, ConnectionMessage, Invited, InvitedTo,
    step,
};
use selfsame_aries::out_of_band::write_invitation;
use selfsame_aries::wire::{Incoming, Vocabulary, fresh_id};
use selfsame_core::machine::{At, Machine as _};
use selfsame_credential::evidence::{Evidence, Step};
use selfsame_crypto::ctx::Ctx;
use selfsame_didcomm::message::{MessageType, Semver};
use selfsame_didcomm::{Message, Version};
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::decode;
use selfsame_driver::{Error, Result};
use selfsame_mediation::destination::Destination;
use selfsame_mediation::error::{refused, unreadable};
use selfsame_mediation::own_side::OwnSide;
use selfsame_mediation::wishes::{InvitationAnswer, NewInvitation};
use selfsame_store::{Batch, TenantId};
use serde_json::{Map, Value};

use super::Agents;
use super::beginning::{InvitationDoor, NewConnection, accepting};
use crate::connections::{ConnectionEntry, ConnectionGiven, ConnectionWhat, Connections};
use crate::machine::AgentProtocol as _;

impl Agents {
    /// Makes an invitation of connections 1.0.
    ///
    /// # Errors
    /// The store's.
    pub async fn create_invitation(
        &self,
        tenant: &TenantId,
        new: NewInvitation,
    ) -> Result<InvitationView> {
        let shared = &self.parts.shared;
        let (ctx, terms) = (shared.clock.ctx(), self.parts.terms(tenant));
        let label = new.label.clone();
        let InvitationDoor { key, did, writes } = self.door(tenant, new.public).await?;
        let to = match did {
            Some(did) => InvitedTo::Did(did.to_string()),
            None => InvitedTo::Keys {
                recipient_keys: vec![key.clone()],
                endpoint: terms.endpoint.to_string(),
                routing_keys: Vec::new(),
            },
        };
        let invitation = ConnectionInvitation {
            label: label.clone().or_else(|| Some(terms.label.clone())),
            image_url: None,
            to,
        };
        let invited = Invited {
            invitation,
            key,
            mode: match new.multi_use {
                true => InvitationMode::Multi,
                false => InvitationMode::Once,
            },
            alias: new.alias,
            accept: accepting(new.auto_accept),
        };
        let input = ConnectionInput::Act(ConnectionAct::Invite(invited));
        let mut advance = begun(&input, &ctx)?;
        let sent = advance.send.pop();
        let message = sent.filter(|sent| sent.to == Recipient::OutOfBand);
        let message = message
            .ok_or_else(|| Error::internal("no invitation"))?
            .message;
        let entry = ConnectionEntry {
            label,
            ..ConnectionEntry::new(advance.record)
        };
        let id = fresh_id("connection", &ctx);
        let new = NewConnection {
            tenant,
            id: &id,
            entry: &entry,
        };
        self.keep(new, writes).await?;
        Ok(InvitationView {
            connection_id: id,
            invitation_url: write_invitation(&terms.endpoint, &message).to_string(),
            invitation: Value::Object(message.to_members(Version::V1)),
        })
    }

    /// Takes an invitation of connections 1.0 that was received.
    ///
    /// # Errors
    /// `BadRequest` if it is not valid, or leads to no endpoint with keys; the store's.
    pub async fn receive_invitation(
        &self,
        tenant: &TenantId,
        invitation: Map<String, Value>,
        how: InvitationAnswer,
    ) -> Result<ConnectionView> {
        let ctx = self.parts.shared.clock.ctx();
        let message = Message::from_members(invitation, Version::V1);
        let message = message.map_err(|error| unreadable(&error))?;
        let read = Incoming::<ConnectionMessage>::read(&message);
        let incoming = read.map_err(|error| unreadable(&error))?;
        let invited_to = match &incoming.content {
            ConnectionMessage::Invitation(invitation) => Destination::invited(invitation)?,
            _ => return Err(unreadable(&"the message is no invitation")),
        };
        let advance = begun(&ConnectionInput::Received(incoming), &ctx)?;
        let mut record = advance.record;
        record.alias = how.alias;
        record.accept = accepting(how.auto_accept);
        let entry = ConnectionEntry {
            invited_to,
            ..ConnectionEntry::new(record)
        };
        let id = fresh_id("connection", &ctx);
        let new = NewConnection {
            tenant,
            id: &id,
            entry: &entry,
        };
        self.keep(new, Batch::new(tenant.clone())).await?;
        match how.auto_accept {
            true => self.accept_connection(tenant, &id).await,
            false => Ok(entry.view(&id)),
        }
    }

    /// Goes on with a connection: sends the request as the invited side, the response as the inviting one.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; `Conflict` if its state does not allow it.
    pub async fn accept_connection(&self, tenant: &TenantId, id: &str) -> Result<ConnectionView> {
        self.accept_connection_as(tenant, id, OwnSide::default())
            .await
    }

    /// As [`Self::accept_connection`], with this side as the controller wants it.
    ///
    /// # Errors
    /// As [`Self::accept_connection`]; `BadRequest` if the agent has no public DID and is to use it.
    pub async fn accept_connection_as(
        &self,
        tenant: &TenantId,
        id: &str,
        side: OwnSide,
    ) -> Result<ConnectionView> {
        let given = ConnectionGiven::new(ConnectionWhat::Accept(side));
        self.connections.give(At { tenant, id }, given).await?;
        self.connection(tenant, id).await
    }

    /// A connection.
    ///
    /// # Errors
    /// `NotFound` if it does not exist.
    pub async fn connection(&self, tenant: &TenantId, id: &str) -> Result<ConnectionView> {
        let store = &self.parts.shared.store;
        let records = self.connections.records();
        let found = records.find(store, tenant, Connections::KIND, id).await?;
        let (entry, version) = found.ok_or_else(|| Error::not_found("connection-absent"))?;
        let view = entry.view(id);
        records.keep(version, entry);
        Ok(view)
    }

    /// The connections, newest first.
    ///
    /// # Errors
    /// `BadRequest` for a cursor that was made up; the store's.
    pub async fn connections(
        &self,
        tenant: &TenantId,
        paging: &Paging,
    ) -> Result<Listing<ConnectionView>> {
        let store = &self.parts.shared.store;
        let stored = store.list(tenant, Connections::KIND, &page(paging)).await?;
        listing(&stored, paging, |stored| {
            let entry: ConnectionEntry = decode(&stored.value)?;
            Ok(entry.view(&stored.id))
        })
    }
}

/// The first step of a connection.
fn begun(input: &ConnectionInput, ctx: &Ctx) -> Result<Advance<ConnectionRecord>> {
    let kind = MessageType::new(ConnectionMessage::PROTOCOL, Semver::new(1, 0), "invitation");
    let opening = Outset {
        kind,
        connection_id: None,
        parent_thread_id: None,
    };
    match step(Footing::New(&opening), input, &Evidence::default(), ctx) {
        Ok(Step::Done(advance)) => Ok(advance),
        Ok(Step::Needs(_)) => Err(Error::internal("an invitation needs nothing")),
        Err(problem) => Err(refused(&problem)),
    }
}
