//! A protocol that another crate speaks on the connections of these agents.

use async_trait::async_trait;
use selfsame_aries::discover_features::Feature;
use selfsame_aries::protocol::{self, Protocol};
use selfsame_didcomm::Message;
use selfsame_didcomm::message::MessageType;
use selfsame_driver::Result;
use selfsame_mediation::beside::BesideFormat;
use selfsame_mediation::error::unreadable;
use selfsame_store::{Batch, TenantId};

use super::Agents;
use super::inbound::Inbound;
use crate::connections::{Aside, ConnectionWhat};

/// A protocol whose records another crate keeps.
#[async_trait]
pub trait BesideProtocol: Send + Sync {
    /// Its name, its versions and how its messages are read.
    fn protocol(&self) -> Protocol;

    /// What follows from a message that came on a connection for the first time.
    async fn take(&self, tenant: &TenantId, connection: &str, message: &Message) -> Result<Aside>;
}

impl Agents {
    /// Has messages of this protocol taken too.
    pub fn set_beside(&self, protocol: std::sync::Arc<dyn BesideProtocol>) {
        let _ = self.beside.set(protocol);
    }

    /// Has the attachments of these formats made too.
    pub fn set_formats(&self, formats: Vec<std::sync::Arc<dyn BesideFormat>>) {
        self.parts.set_formats(formats);
    }

    /// Whether somebody hears of the states of this tenant's records.
    #[must_use]
    pub fn is_heard(&self, tenant: &TenantId) -> bool {
        self.parts.is_heard(tenant)
    }

    /// Says something on a connection once it is ready, in one commit with what is written and told.
    ///
    /// # Errors
    /// `NotFound` if there is no such connection; `Forbidden` if it does not become ready in time; the store's.
    pub async fn say_beside(&self, tenant: &TenantId, id: &str, said: Aside) -> Result<()> {
        self.ready_way(tenant, id).await?;
        self.give_connection(tenant, id, ConnectionWhat::Say(said))
            .await
    }

    pub(super) async fn take_beside(&self, inbound: &Inbound) -> Result<()> {
        let (tenant, message) = (&inbound.tenant, &inbound.message);
        let beside = self.beside.get();
        let beside = beside.filter(|beside| beside.protocol().speaks(&message.kind));
        let unspoken = || unreadable(&"no protocol of this agent has such a message");
        let beside = beside.ok_or_else(unspoken)?;
        let found = self.connection_of(inbound).await?;
        let Some(seen) = self.unseen(tenant, &found, &message.id).await? else {
            return Ok(());
        };
        let heard = beside.take(tenant, &found.id, message).await?;
        let writes = heard.writes.unwrap_or_else(|| Batch::new(tenant.clone()));
        let writes = Some(writes.and(seen));
        self.hear(tenant, found, Aside { writes, ..heard }).await
    }

    /// The protocol of a type of message, in a version that is spoken.
    pub(super) fn protocol_of(&self, kind: &MessageType) -> Option<Protocol> {
        let beside = self.beside.get().map(|beside| beside.protocol());
        let known = protocol::find(kind).copied();
        known.or(beside.filter(|beside| beside.speaks(kind)))
    }

    /// What these agents speak.
    pub(super) fn features(&self) -> Vec<Feature> {
        let beside = self.beside.get().map(|beside| beside.protocol());
        let beside = beside.iter().flat_map(Protocol::features);
        protocol::features().into_iter().chain(beside).collect()
    }
}
