//! How connections begin: at an invitation, made or received, of either protocol.

use selfsame_aries::connection::Accepting;
use selfsame_aries::key::VerKey;
use selfsame_core::events::{Event, EventKind};
use selfsame_did::Did;
use selfsame_driver::Result;
use selfsame_mediation::keys;
use selfsame_store::{Batch, Expect, TenantId};

use super::Agents;
use crate::connections::{ConnectionEntry, Connections};
use crate::machine::{AgentProtocol as _, ProtocolMachine};
use crate::notice::Untold;
use crate::public_did;

/// How an invitation can be answered.
pub struct InvitationDoor {
    /// The key that the answer is encrypted to, and that signs the response.
    pub key: VerKey,
    /// The public DID, if the invitation names it.
    pub did: Option<Did>,
    /// What was made for it.
    pub writes: Batch,
}

/// A connection that begins.
pub struct NewConnection<'a> {
    pub tenant: &'a TenantId,
    pub id: &'a str,
    pub entry: &'a ConnectionEntry,
}

impl Agents {
    /// How an invitation can be answered: at a new key of this agent, or at its public DID.
    pub(super) async fn door(&self, tenant: &TenantId, public: bool) -> Result<InvitationDoor> {
        let shared = &self.parts.shared;
        if public {
            let public = public_did::required(shared, tenant).await?;
            return Ok(InvitationDoor {
                key: public.key,
                did: Some(public.did),
                writes: Batch::new(tenant.clone()),
            });
        }
        let (key, writes) = keys::create(shared, tenant)?;
        Ok(InvitationDoor {
            key,
            did: None,
            writes,
        })
    }

    /// Begins a connection at its invitation, in one commit with what was made for it.
    pub(super) async fn keep(&self, new: NewConnection<'_>, writes: Batch) -> Result<()> {
        let NewConnection { tenant, id, entry } = new;
        let shared = &self.parts.shared;
        let batch = writes
            .expect(Connections::KIND, id, Expect::Absent)
            .put(ProtocolMachine::<Connections>::put(id, entry)?);
        if !self.parts.is_heard(tenant) {
            shared.store.commit(batch).await?;
            return Ok(());
        }
        let notice = Untold::default().note(id, &shared.clock.ctx());
        let put = entry.notice(id).put(&notice, shared.clock.now())?;
        let event = Event::new(EventKind::AgentNotice, notice);
        shared.events.commit_all(batch.put(put), &[event]).await?;
        Ok(())
    }
}

/// Whether the agent goes on by itself.
pub fn accepting(auto: bool) -> Accepting {
    match auto {
        true => Accepting::Auto,
        false => Accepting::Manual,
    }
}
