//! What controllers do with DID rotate: this side of a connection gets another DID, or ends the connection.

use selfsame_aries::did_rotate::RotateMessage;
use selfsame_aries::wire::Incoming;
use selfsame_core::machine::At;
use selfsame_did::Did;
use selfsame_driver::{Error, Result};
use selfsame_mediation::own_side::OwnSide;
use selfsame_store::TenantId;
use serde_json::Value;

use super::Agents;
use super::inbound::{Inbound, incoming};
use crate::connections::{ConnectionGiven, ConnectionWhat, Rotating};

impl Agents {
    /// Changes this agent's DID in a connection: to one whose key it holds, or to a new one of the kind that the side
    /// says. The peer acknowledges it; until then messages come to both. Returns the message to the peer.
    ///
    /// # Errors
    /// `NotFound` if there is no such connection; `Conflict` if it is not ready, or another change is under way;
    /// `BadRequest` for a DID whose key is not held.
    pub async fn rotate_did(&self, tenant: &TenantId, id: &str, to: Option<Did>) -> Result<Value> {
        let rotating = match to {
            Some(did) => Rotating::ToHeld(did),
            None => Rotating::To(OwnSide::default()),
        };
        self.rotate(tenant, id, rotating).await
    }

    /// Ends a connection and tells the peer. The connection is removed once the peer was told. Returns the
    /// message to the peer.
    ///
    /// # Errors
    /// `NotFound` if there is no such connection; `Conflict` if it is not ready.
    pub async fn hang_up(&self, tenant: &TenantId, id: &str) -> Result<Value> {
        self.rotate(tenant, id, Rotating::Hangup).await
    }

    async fn rotate(&self, tenant: &TenantId, id: &str, rotating: Rotating) -> Result<Value> {
        let given = ConnectionGiven::new(ConnectionWhat::Rotate(rotating));
        let outcome = self.connections.give(At { tenant, id }, given).await?;
        let unshown = || Error::internal("a change of a DID shows its message");
        outcome.shown.ok_or_else(unshown)
    }

    pub(super) async fn take_rotation(&self, inbound: &Inbound) -> Result<()> {
        let found = self.connection_of(inbound).await?;
        let message: Incoming<RotateMessage> = incoming(&inbound.message)?;
        let what = ConnectionWhat::Rotated(Box::new(message));
        self.give_found(&inbound.tenant, found, what).await
    }
}
