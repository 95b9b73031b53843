//! What controllers do with connections.

use selfsame_aries::advance::{Advance, Footing, Outset, Recipient};
use selfsame_aries::connection::{Accepting, ConnectionRecord, InvitationMode};
use selfsame_aries::connections::{
    ConnectionAct, ConnectionInput, ConnectionInvitation, ConnectionMessage, Invited, InvitedTo,
    step,
};
use selfsame_aries::out_of_band::write_invitation;
use selfsame_aries::trust_ping::{Ping, TrustPingMessage};
use selfsame_aries::wire::{Incoming, Vocabulary};
use selfsame_core::machine::At;
use selfsame_core::machine::Machine as _;
use selfsame_credential::evidence::{Evidence, Step};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::hex_encode;
use selfsame_didcomm::message::{MessageType, Semver};
use selfsame_didcomm::{Message, Version};
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::decode;
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Expect, TenantId};
use serde_json::{Map, Value};

use super::Agents;
use crate::connections::{ConnectionEntry, ConnectionGiven, ConnectionWhat, Connections};
use crate::destination::Destination;
use crate::error::{refused, unreadable};
use crate::keys;
use crate::machine::{AgentProtocol as _, ProtocolMachine};
use crate::notice::Untold;
use crate::view::{ConnectionView, InvitationView};

type ConnectionMachine = ProtocolMachine<Connections>;

/// An invitation to make.
#[derive(Clone, Debug, Default)]
pub struct NewInvitation {
    /// The controller's name for the connection.
    pub alias: Option<String>,
    /// Whether a request is answered without the controller.
    pub auto_accept: bool,
    /// Whether many may use it.
    pub multi_use: bool,
    /// How the agent calls itself in it, if not by its own label.
    pub label: Option<String>,
}

/// How an invitation that was received is taken.
#[derive(Clone, Debug, Default)]
pub struct InvitationAnswer {
    /// The controller's name for the connection.
    pub alias: Option<String>,
    /// Whether the request is sent at once.
    pub auto_accept: bool,
}

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
        let (key, writes) = keys::create(shared, tenant)?;
        let invitation = ConnectionInvitation {
            label: Some(new.label.unwrap_or_else(|| terms.label.clone())),
            image_url: None,
            to: InvitedTo::Keys {
                recipient_keys: vec![key.clone()],
                endpoint: terms.endpoint.to_string(),
                routing_keys: Vec::new(),
            },
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
            record: advance.record,
            own_key: None,
            invited_to: None,
            untold: Untold::default(),
        };
        let id = fresh(&ctx);
        self.keep(writes, &id, &entry).await?;
        Ok(InvitationView {
            connection_id: id,
            invitation_url: write_invitation(&terms.endpoint, &message).to_string(),
            invitation: Value::Object(message.to_members(Version::V1)),
        })
    }

    /// Takes an invitation of connections 1.0 that was received.
    ///
    /// # Errors
    /// `BadRequest` if it is none, or leads to no endpoint with keys; the store's.
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
            ConnectionMessage::Invitation(invitation) => destination(invitation)?,
            _ => return Err(unreadable(&"the message is no invitation")),
        };
        let advance = begun(&ConnectionInput::Received(incoming), &ctx)?;
        let mut record = advance.record;
        record.alias = how.alias;
        record.accept = accepting(how.auto_accept);
        let entry = ConnectionEntry {
            record,
            own_key: None,
            invited_to: Some(invited_to),
            untold: Untold::default(),
        };
        let id = fresh(&ctx);
        self.keep(Batch::new(tenant.clone()), &id, &entry).await?;
        match how.auto_accept {
            true => self.accept_connection(tenant, &id).await,
            false => Ok(ConnectionView::of(&id, &entry)),
        }
    }

    /// Goes on with a connection: sends the request as the invited side, the response as the inviting one.
    ///
    /// # Errors
    /// `NotFound` if there is none; `Conflict` if its state does not allow it.
    pub async fn accept_connection(&self, tenant: &TenantId, id: &str) -> Result<ConnectionView> {
        let given = ConnectionGiven::new(ConnectionWhat::Accept);
        self.connections.give(At { tenant, id }, given).await?;
        self.connection(tenant, id).await
    }

    /// A connection.
    ///
    /// # Errors
    /// `NotFound` if there is none.
    pub async fn connection(&self, tenant: &TenantId, id: &str) -> Result<ConnectionView> {
        let store = &self.parts.shared.store;
        let records = self.connections.records();
        let found = records.find(store, tenant, Connections::KIND, id).await?;
        let (entry, version) = found.ok_or_else(|| Error::not_found("connection-absent"))?;
        let view = ConnectionView::of(id, &entry);
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
            Ok(ConnectionView::of(&stored.id, &entry))
        })
    }

    /// Sends a trust ping on a connection. Returns the identifier of its thread.
    ///
    /// # Errors
    /// `NotFound` if there is no such connection; `Conflict` if it is not ready.
    pub async fn ping(
        &self,
        tenant: &TenantId,
        id: &str,
        comment: Option<String>,
    ) -> Result<String> {
        let ping = TrustPingMessage::Ping(Ping {
            comment,
            ..Ping::default()
        });
        let kind = MessageType::new(TrustPingMessage::PROTOCOL, Semver::new(1, 0), ping.name());
        let mut message = Message::new(kind, fresh(&self.parts.shared.clock.ctx()));
        ping.write(&mut message);
        let thread = message.id.clone();
        let given = ConnectionGiven::new(ConnectionWhat::Say(vec![message]));
        self.connections.give(At { tenant, id }, given).await?;
        Ok(thread)
    }

    async fn keep(&self, writes: Batch, id: &str, entry: &ConnectionEntry) -> Result<()> {
        let batch = writes
            .expect(Connections::KIND, id, Expect::Absent)
            .put(ConnectionMachine::put(id, entry)?);
        self.parts.shared.store.commit(batch).await?;
        Ok(())
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

/// Where an invitation asks to send the request.
fn destination(invitation: &ConnectionInvitation) -> Result<Destination> {
    match &invitation.to {
        InvitedTo::Keys {
            recipient_keys,
            endpoint,
            routing_keys,
        } => Ok(Destination {
            keys: recipient_keys.clone(),
            through: routing_keys.clone(),
            endpoint: endpoint.parse().map_err(|error| unreadable(&error))?,
        }),
        InvitedTo::Did(did) => Err(Error::bad_request("aries-did-unresolved").with("did", did)),
    }
}

fn accepting(auto: bool) -> Accepting {
    match auto {
        true => Accepting::Auto,
        false => Accepting::Manual,
    }
}

/// A new identifier.
pub fn fresh(ctx: &Ctx) -> String {
    hex_encode(&ctx.random::<16>("aries/new"))
}
